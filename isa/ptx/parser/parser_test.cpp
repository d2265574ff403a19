#include "isa/ptx/parser/parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ctime>

#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

using test::kernel;
using test::kernel_ok;
using test::parse_ok;
using Kind = Operand::Kind;

const Operand& operand(const Module& m, size_t statement, size_t index) {
  return m.functions.at(0).body.at(statement).operands.at(index);
}

std::string first_message(std::string_view text) {
  const ParseResult r = parse_module(text);
  return r.diagnostics.empty() ? "" : format_diagnostic("f", r.diagnostics[0]);
}

// --- header ---

TEST(ParseHeader, ReadsVersionTargetAndAddressSize) {
  const Module m =
      parse_ok(".version 9.0\n.target sm_90a, debug\n.address_size 64\n.section .debug_info { .b8 1 }\n");
  EXPECT_EQ(m.version_major, 9);
  EXPECT_EQ(m.version_minor, 0);
  EXPECT_EQ(m.target_sm, 90);
  EXPECT_EQ(m.target_text, "sm_90a, debug");
  EXPECT_EQ(m.address_size, 64);
}

// As ptxas finds it: 32 bits if an address of global or generic memory has them anywhere, 64 otherwise.
TEST(ParseHeader, AddressSizeWithoutTheDirective) {
  const auto size = [](std::string_view statements, std::string_view registers = ".reg .u32 %a;") {
    return parse_ok(".version 2.0\n.target sm_20\n.global .u32 g; .shared .u32 s;\n.entry k()\n{" +
                    std::string(registers) + " .reg .u32 %r; .reg .u64 %d;" + std::string(statements) + "}")
        .address_size;
  };
  for (const char* s : {"ld.global.u32 %r, [%a];", "ld.u32 %r, [%a];", "red.global.add.u32 [%a], %r;",
                        "mov.u32 %r, g;", "cvta.shared.u32 %r, %a;", "prefetch.global.L1 [%a];",
                        "ld.global.u32 %r, [%d]; ld.global.u32 %r, [%a];"})
    EXPECT_EQ(size(s), 32) << s;
  for (const char* s : {"exit;", "ld.global.u32 %r, [%d];", "ld.global.u32 %r, [g];", "mov.u32 %r, s;",
                        "ld.shared.u32 %r, [%a];", "ld.const.u32 %r, [%a];", "ld.local.u32 %r, [%a];"})
    EXPECT_EQ(size(s), 64) << s;
}

TEST(ParseHeader, OldTargets) {
  const Module m = parse_ok(".version 1.4\n.target sm_10, map_f64_to_f32\n");
  EXPECT_TRUE(m.has_any_address_size);
  EXPECT_TRUE(m.map_f64_to_f32);
  EXPECT_EQ(m.target_sm, 10);
}

TEST(ParseHeader, ReportsWhatIsMissingOrWrong) {
  EXPECT_EQ(
      first_message(""),
      "f:1:1: error: the file has no .version directive\n  hint: a PTX file begins with '.version M.N'");
  EXPECT_EQ(
      first_message(".target sm_20"),
      "f:1:1: error: the first directive must be .version\n  hint: a PTX file begins with '.version M.N'");
  EXPECT_EQ(first_message(".version 12.0\n.target sm_20"),
            "f:1:10: error: PTX version 12.0 is not supported\n  hint: PTX 1.0 to 9.x are");
  EXPECT_EQ(first_message(".version 8.0\n.target sm_foo"),
            "f:2:9: error: unknown target 'sm_foo'\n  hint: targets are sm_10 to sm_121");
  EXPECT_EQ(first_message(".version 8.0\n.target sm_90\n.address_size 16"),
            "f:3:15: error: .address_size 16 is neither 32 nor 64");
}

// --- variables ---

TEST(ParseVariable, SizesAndAlignment) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.global .align 16 .b8 a[3][4];
.extern .shared .align 8 .b8 dyn[];
.const .v4 .f32 v;
.visible .global .u32 x, y[2];)");
  ASSERT_EQ(m.variables.size(), 5u);
  EXPECT_EQ(m.variables[0].bytes, 12u);
  EXPECT_EQ(m.variables[0].align, 16u);
  EXPECT_EQ(m.variables[0].dims, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(m.variables[1].bytes, 0u);
  EXPECT_EQ(m.variables[1].linkage, Linkage::kExtern);
  EXPECT_EQ(m.variables[2].bytes, 16u);
  EXPECT_EQ(m.variables[2].align, 16u);
  EXPECT_EQ(m.variables[3].linkage, Linkage::kVisible);
  EXPECT_EQ(m.variables[4].bytes, 8u);
  EXPECT_TRUE(m.variables[4].is_array());
}

std::vector<int> bytes_of(const Variable& v) {
  std::vector<int> result;
  for (const std::byte b : v.init) result.push_back(static_cast<int>(b));
  return result;
}

TEST(ParseInitialiser, BytesRowsAndUnsizedArrays) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.global .b8 a[8] = {1, 0xFF, 3};
.global .b8 b[2][3] = {{1}, {4, 5}};
.global .u16 c[] = {1, -1};
.global .u32 d = 0x01020304;
.const .f32 e[2] = {0f3F800000, 2.0};
.const .f64 f = 1.0;
.global .v2 .u8 g[2] = {{1, 2}, {3, 4}};
.global .s32 h = (2 + 3) * -4;)");
  EXPECT_EQ(bytes_of(m.variables[0]), (std::vector<int>{1, 255, 3}));
  EXPECT_EQ(m.variables[0].bytes, 8u);
  EXPECT_EQ(bytes_of(m.variables[1]), (std::vector<int>{1, 0, 0, 4, 5}));
  EXPECT_EQ(bytes_of(m.variables[2]), (std::vector<int>{1, 0, 255, 255}));
  EXPECT_EQ(m.variables[2].dims, (std::vector<uint64_t>{2}));
  EXPECT_EQ(m.variables[2].bytes, 4u);
  EXPECT_EQ(bytes_of(m.variables[3]), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(bytes_of(m.variables[4]), (std::vector<int>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  EXPECT_EQ(bytes_of(m.variables[5]), (std::vector<int>{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(bytes_of(m.variables[6]), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(bytes_of(m.variables[7]), (std::vector<int>{0xec, 0xff, 0xff, 0xff}));
}

TEST(ParseInitialiser, Addresses) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.address_size 64
.global .u32 x;
.extern .func f;
.global .u64 t[4] = {x, x+8, generic(x), f};)");
  const auto& r = m.variables[1].relocations;
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(r[1].symbol, "x");
  EXPECT_EQ(r[1].addend, 8);
  EXPECT_EQ(r[1].offset, 8u);
  EXPECT_FALSE(r[1].generic);
  EXPECT_TRUE(r[2].generic);
  EXPECT_EQ(r[3].symbol, "f");
  EXPECT_EQ(m.variables[1].init.size(), 32u);
}

// --- functions ---

// Not registers alone: GCC's offloaded code passes parameters so.
TEST(ParseVariable, NamesWithANumberBehindAreSeveralVariables) {
  const std::string header = ".version 6.3\n.target sm_75\n.address_size 64\n";
  const Module m = parse_ok(header + R"(.global .align 8 .u32 g<3>, h;
.func f(.param .u64 a, .param .u64 b) { ret; }
.visible .entry k()
{
  .reg .u64 %R<2>; .reg .u32 %r; .shared .u32 s<2>;
  {
    .param .u64 %P<2>;
    st.param.u64 [%P0], %R0; st.param.u64 [%P1], %R1;
    call f, (%P0, %P1);
  }
  ld.global.u32 %r, [g2]; st.shared.u32 [s1], %r;
  ret;
})");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  ASSERT_EQ(m.variables.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(m.variables[i].name, "g" + std::to_string(i));
    EXPECT_EQ(m.variables[i].align, 8u);
  }
  EXPECT_EQ(m.variables[3].name, "h");
  EXPECT_NE(first_message(header + ".global .u32 g<3>[2];"), "");
  EXPECT_NE(first_message(header + ".global .u32 g<3> = 1;"), "");
  EXPECT_NE(first_message(header + ".global .u32 g<0>;"), "");
  EXPECT_NE(first_message(header + ".global .u32 g<100000000>;"), "");
  EXPECT_NE(first_message(header + ".func f(.param .u64 a<2>) { ret; }"), "");
}

TEST(ParseModule, ManagedVariablesAreKnown) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared;
.visible .global .attribute(.unified(1, 2)) .align 4 .u32 unified;
.visible .global .align 4 .u32 plain;)");
  EXPECT_TRUE(m.find_variable("shared")->is_managed);
  EXPECT_FALSE(m.find_variable("unified")->is_managed);
  EXPECT_FALSE(m.find_variable("plain")->is_managed);
}

TEST(ParseFunction, SignaturesAndDirectives) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24]) .maxntid 256, 2, 1 .minnctapersm 3
.pragma "nounroll";
{ ret; }
.entry bare { exit; }
.func noret .noreturn { trap; })");
  ASSERT_EQ(m.functions.size(), 4u);
  EXPECT_TRUE(m.functions[0].is_declaration);
  EXPECT_EQ(m.functions[0].linkage, Linkage::kExtern);
  EXPECT_EQ(m.functions[0].returns.size(), 1u);
  const Function& k = m.functions[1];
  EXPECT_TRUE(k.is_entry);
  EXPECT_EQ(k.maxntid[0], 256u);
  EXPECT_EQ(k.maxntid[1], 2u);
  EXPECT_EQ(k.minnctapersm, 3u);
  EXPECT_TRUE(k.params[0].is_pointer);
  EXPECT_EQ(k.params[0].align, 8u);
  EXPECT_EQ(k.params[1].bytes, 24u);
  EXPECT_EQ(k.params[1].align, 8u);
  EXPECT_TRUE(m.functions[2].params.empty());
  EXPECT_EQ(m.entries().size(), 2u);
  EXPECT_EQ(m.find_function("k"), &m.functions[1]);
}

TEST(ParseFunction, DefinitionWinsOverDeclaration) {
  const Module m = parse_ok(".version 8.0\n.target sm_90\n.func f();\n.func f() { ret; }");
  EXPECT_EQ(m.find_function("f"), &m.functions[1]);
  EXPECT_EQ(m.find_function("g"), nullptr);
}

// --- operands ---

TEST(ParseOperand, Kinds) {
  const Module m = kernel_ok(R"(
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>; .reg .f32 %f<3>;
    .shared .b32 s[8];
    mov.u32 %r1, %tid.y;
    mov.b64 {%r2, %r3}, %rd1;
    setp.lt.and.s32 %p1|%p2, %r1, -5, !%p1;
    ld.shared.u32 %r4, [s+8];
    ld.global.u32 %r4, [%rd1+-4];
    mov.u64 %rd2, s;
    mov.f32 %f1, 0f3F800000;
    ld.local.u32 %r4, [256];
    shfl.sync.down.b32 %r5|%p1, %r4, 1, 31, -1;
    mov.b64 {_, %r3}, %rd1;)");
  EXPECT_EQ(operand(m, 0, 1).kind, Kind::kSpecial);
  EXPECT_EQ(operand(m, 0, 1).special, SpecialRegister::kTidY);
  EXPECT_EQ(operand(m, 1, 0).kind, Kind::kVector);
  EXPECT_EQ(operand(m, 1, 0).elements.size(), 2u);
  EXPECT_NE(operand(m, 2, 0).reg2, kNoRegister);
  EXPECT_EQ(static_cast<int64_t>(operand(m, 2, 2).imm), -5);
  EXPECT_TRUE(operand(m, 2, 3).negated);
  EXPECT_EQ(operand(m, 3, 1).kind, Kind::kAddress);
  EXPECT_EQ(operand(m, 3, 1).symbol, "s");
  EXPECT_EQ(operand(m, 3, 1).offset, 8);
  EXPECT_EQ(operand(m, 4, 1).offset, -4);
  EXPECT_EQ(m.functions[0].registers[operand(m, 4, 1).reg].name, "%rd1");
  EXPECT_EQ(operand(m, 5, 1).kind, Kind::kSymbol);
  EXPECT_EQ(operand(m, 6, 1).imm_kind, Operand::ImmKind::kF32);
  EXPECT_EQ(operand(m, 6, 1).imm, 0x3f800000u);
  EXPECT_EQ(operand(m, 7, 1).reg, kNoRegister);
  EXPECT_EQ(operand(m, 7, 1).offset, 256);
  EXPECT_NE(operand(m, 8, 0).reg2, kNoRegister);
  EXPECT_EQ(operand(m, 9, 0).elements[0].kind, Kind::kSink);
}

TEST(ParseOperand, SpecialRegisters) {
  const Module m = kernel_ok(R"(
    .reg .b32 %r<9>; .reg .b64 %rd<4>;
    mov.u32 %r1, %envreg2;
    mov.u64 %rd1, %clock64;
    mov.u32 %r1, %lanemask_lt;
    mov.u32 %r1, %cluster_nctaid.x;
    mov.u32 %r1, %tid.w;
    mov.u32 %r1, %pm3;)");
  EXPECT_EQ(operand(m, 0, 1).special, SpecialRegister::kEnvreg);
  EXPECT_EQ(operand(m, 0, 1).imm, 2u);
  EXPECT_EQ(operand(m, 1, 1).special, SpecialRegister::kClock64);
  EXPECT_EQ(operand(m, 2, 1).special, SpecialRegister::kLanemaskLt);
  EXPECT_EQ(operand(m, 3, 1).special, SpecialRegister::kClusterNctaidX);
  EXPECT_EQ(operand(m, 4, 1).special, SpecialRegister::kZero);
  EXPECT_EQ(operand(m, 5, 1).imm, 3u);
}

struct Expression {
  const char* text;
  int64_t value;
};
class ConstantExpressions : public testing::TestWithParam<Expression> {};
TEST_P(ConstantExpressions, Evaluate) {
  const Module m = kernel_ok(std::string(".reg .b64 %rd; mov.b64 %rd, ") + GetParam().text + ";");
  EXPECT_EQ(static_cast<int64_t>(operand(m, 0, 1).imm), GetParam().value);
}
INSTANTIATE_TEST_SUITE_P(
    Parse, ConstantExpressions,
    testing::Values(Expression{"2+3*4", 14}, Expression{"(2+3)*4", 20}, Expression{"-7/2", -3},
                    Expression{"-7%3", -1}, Expression{"1<<10", 1024}, Expression{"-8>>1", -4},
                    Expression{"0xF0&0x3C", 0x30}, Expression{"1|6^3", 5}, Expression{"~0", -1},
                    Expression{"!5", 0}, Expression{"!0", 1}, Expression{"7-2-1", 4},
                    Expression{"WARP_SZ*2", 64}, Expression{"3>2?10:20", 10}, Expression{"1==2||4", 1},
                    Expression{"(.u64)-1/2", 0x7fffffffffffffff}, Expression{"0xFFFFFFFFFFFFFFFF>>63", 1},
                    Expression{"1<<64", 0}, Expression{"-9223372036854775807-1", INT64_MIN},
                    Expression{"(-9223372036854775807-1)/-1", INT64_MIN}));

// --- statements ---

TEST(ParseStatement, KeepsTextGuardAndPosition) {
  const Module m = kernel_ok(".reg .pred %p; .reg .b32 %r;\n  @!%p   add.s32 /* x */ %r,\n   %r, 1;");
  const Instruction& i = m.functions[0].body[0];
  EXPECT_EQ(i.text, "@!%p add.s32 %r, %r, 1");
  EXPECT_TRUE(i.guard_negated);
  EXPECT_EQ(i.guard, 0u);
  EXPECT_EQ(i.loc, (SourceLoc{7, 10}));
  EXPECT_EQ(opcode_text(i), "add.s32");
}

TEST(ParseStatement, LineNumbersOfTheSource) {
  const Module m = parse_ok(kernel(R"(
    .loc 1 17 3
    bar.sync 0;
    .loc 2 5 1, function_name $L__info_string0, inlined_at 1 20 4
    bar.sync 0;
    .loc 2 9 3, function_name $L__info_string1+4, inlined_at 2 5 1
    bar.sync 0;
    .loc 1 21 3
    bar.sync 0;)") + ".file 1 \"a.cu\"\n.file 2 \"b.h\", 1234, 99\n");
  EXPECT_EQ(m.functions[0].body[0].source_line, 17u);
  EXPECT_EQ(m.functions[0].body[0].source_file, 1u);
  EXPECT_EQ(m.functions[0].body[1].source_file, 2u);
  EXPECT_EQ(m.source_files.at(2), "b.h");
  // Inlined once, inlined into what is inlined, and not inlined.
  const auto call = [&](size_t i) {
    return std::pair(m.functions[0].body[i].inlined_file, m.functions[0].body[i].inlined_line);
  };
  EXPECT_EQ(call(0), std::pair(0u, 0u));
  EXPECT_EQ(call(1), std::pair(1u, 20u));
  EXPECT_EQ(call(2), std::pair(1u, 20u));
  EXPECT_EQ(call(3), std::pair(0u, 0u));
}

// --- errors ---

TEST(ParseErrors, AllOfAFileAreReported) {
  const ParseResult r = parse_module(kernel(R"(.reg .b32 %r<4>;
    ad.s32 %r1, %r2, %r3;
    add.s32 %r1, %r9, %r3;
    add.s32 %r1, %r2, %r3
    add.s32x %r1, %r2, %r3;
    mov.b64 {%r1, %x}, 1;
    mov.u32 %r1, 5;)"));
  EXPECT_EQ(test::messages(r.diagnostics),
            "ptx:7:5: error: unknown instruction 'ad'\n  hint: did you mean 'add'?\n"
            "ptx:8:18: error: undefined register '%r9'\n  hint: '%r<4>' declares %r0 to %r3\n"
            "ptx:9:26: error: expected ';' at the end of the statement\n"
            "ptx:10:8: error: unknown modifier '.s32x' of 'add'\n  hint: did you mean '.s32'?\n"
            "ptx:11:19: error: undefined register '%x'\n  hint: declare it with .reg\n");
  ASSERT_EQ(r.module.functions.size(), 1u);
  EXPECT_EQ(r.module.functions[0].body.size(), 2u);  // the good ones
}

TEST(ParseErrors, WhatAWrongDeclarationDeclaresIsNotMissed) {
  for (const char* declaration :
       {".reg .b32 %r<4000000000>;", ".reg .b32 %r<99999999999999999999>;", ".reg .b31 %r<4>;"}) {
    const ParseResult r =
        parse_module(kernel(std::string(declaration) + "\nadd.s32 %r1, %r2, %r3;\nad.s32 %r1;") +
                     ".entry other() { .reg .b32 %a; mov.b32 %a, %r1; }");
    ASSERT_EQ(r.diagnostics.size(), 3u) << test::messages(r.diagnostics);
    EXPECT_EQ(r.diagnostics[0].loc.line, 6u);
    EXPECT_EQ(r.diagnostics[1].message, "unknown instruction 'ad'");
    EXPECT_EQ(r.diagnostics[2].message, "undefined register '%r1'") << "of another function";
  }
}

TEST(ParseErrors, RecoveryLeavesLaterFunctionsWhole) {
  const ParseResult r = parse_module(R"(.version 8.0
.target sm_90
.entry a(.param .u32x p) { ret; }
.entry b() { .reg .b32 %r; mov.u32 %r, ; { add %r } ret; }
.entry c() { ret; })");
  EXPECT_EQ(r.diagnostics.size(), 3u) << test::messages(r.diagnostics);
  EXPECT_NE(r.module.find_function("b"), nullptr);
  EXPECT_NE(r.module.find_function("c"), nullptr);
}

TEST(ParseErrors, AreLimitedInNumber) {
  std::string body;
  for (int i = 0; i < 500; ++i) body += "bogus;\n";
  const ParseResult r = parse_module(kernel(body));
  EXPECT_EQ(r.diagnostics.size(), kMaxDiagnostics);
}

// --- size limits ---

TEST(ParseLimits, HugeDeclarationsAreRefused) {
  EXPECT_EQ(first_message(kernel(".reg .b32 %r<4000000000>;")),
            "f:6:14: error: more than 1073741824 registers in a range");
  EXPECT_EQ(first_message(kernel(".reg .b32 %r<1048577>; mov.u32 %r1048576, %r7;")), "")
      << "a range beyond the limit has the registers that are named";
  EXPECT_EQ(first_message(kernel(".reg .b32 %r<1048576>; .reg .b32 %one; mov.u32 %one, %r7;")), "")
      << "registers that have a name each are as many as the text has";
  EXPECT_EQ(first_message(".version 8.0\n.target sm_90\n.global .b8 x[99999999999999];"),
            "f:3:13: error: 'x' is larger than 1099511627776 bytes");
  EXPECT_EQ(first_message(".version 8.0\n.target sm_90\n.global .b64 x[4294967296][4294967296];"),
            "f:3:14: error: 'x' is larger than 1099511627776 bytes");
  EXPECT_EQ(first_message(".version 8.0\n.target sm_90\n.global .b8 x[4][1000000000] = {{1},{2}};"),
            "f:3:38: error: more than 67108864 bytes of initial values");
}

TEST(ParseLimits, DeepNestingIsRefused) {
  EXPECT_NE(first_message(kernel(std::string(100000, '{'))), "");
  EXPECT_NE(first_message(kernel(".reg .b32 %r; mov.b32 %r, " + std::string(100000, '(') + ";")), "");
  EXPECT_NE(first_message(kernel(".reg .b32 %r; mov.b32 %r, " + std::string(100000, '-') + "1;")), "");
  EXPECT_NE(first_message(kernel(".reg .b32 %r; mov.b32 " + std::string(100000, '{') + ";")), "");
  EXPECT_NE(first_message(kernel(".reg .b32 %r; mov.b32 " + std::string(100000, '[') + ";")), "");
  EXPECT_NE(first_message(".version 8.0\n.global .b8 x[2] = " + std::string(100000, '{')), "");
}

/// CPU seconds to parse a kernel of `count` statements and labels.
double seconds_to_parse(int count) {
  std::string body = ".reg .b32 %r<35000>;\n";
  for (int i = 0; i < count; ++i) {
    body += "add.s32 %r" + std::to_string(i % 35000) + ", %r" + std::to_string((i * 7919) % 35000) +
            ", 1;\nL" + std::to_string(i) + ":\n";
  }
  const std::clock_t start = std::clock();
  const Module m = kernel_ok(body);
  const std::clock_t end = std::clock();
  EXPECT_EQ(m.functions[0].body.size(), static_cast<size_t>(count));
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

TEST(ParseLimits, TimeGrowsWithTheFileNotWithItsSquare) {
  constexpr int kSmall = 30000;
  const auto twice = [](int count) { return std::min(seconds_to_parse(count), seconds_to_parse(count)); };
  seconds_to_parse(kSmall);  // warms up
  // Caches that others fill make the larger file up to twice as slow as linear.
  EXPECT_LT(twice(4 * kSmall), 10 * twice(kSmall)) << "4 would be linear, 16 quadratic";
}

}  // namespace
}  // namespace gpusim::isa
