// Linking: declarations meet definitions, private names stay apart, weak and common symbols, aliases,
// conflicts.
#include "isa/ptx/linker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

using test::messages;

Module module_of(std::string_view body, std::string_view target = "sm_75") {
  const std::string text = fmt::format(".version 7.0\n.target {}\n.address_size 64\n{}", target, body);
  ParseResult parsed = parse_module(text);
  EXPECT_EQ(messages(parsed.diagnostics), "");
  EXPECT_EQ(messages(verify_module(parsed.module)), "");
  return std::move(parsed.module);
}

template <class... Texts>
LinkResult link_texts(Texts... texts) {
  std::vector<Module> modules;
  (modules.push_back(module_of(texts)), ...);
  std::vector<std::string> files;
  for (size_t i = 0; i < modules.size(); ++i) files.push_back(fmt::format("{}.ptx", char('a' + i)));
  return link_modules(std::move(modules), std::move(files));
}

constexpr std::string_view kUser = R"(
.extern .func (.param .b32 rv) work(.param .b32 x);
.extern .global .align 4 .b32 counter;
.visible .entry k() { .reg .b32 %r; .reg .b64 %rd;
  mov.u64 %rd, counter;
  { .param .b32 a; .param .b32 q; st.param.b32 [a], 1; call (q), work, (a); ld.param.b32 %r, [q]; }
  ret; }
)";

TEST(Linker, AFileWithoutAddressesLinksWithEitherSize) {
  const auto parsed = [](std::string_view statement) {
    return parse_module(".version 2.0\n.target sm_20\n.func f" + std::to_string(statement.size()) +
                        "() { .reg .u32 %a; .reg .u64 %d; " + std::string(statement) + " ret; }")
        .module;
  };
  const Module none = parsed(""), narrow = parsed("st.u32 [%a], 0;"), wide = parsed("st.global.u32 [%d], 0;");
  EXPECT_EQ(link_modules({none, narrow}, {"a", "b"}).module.address_size, 32);
  EXPECT_EQ(messages(link_modules({none, narrow}, {"a", "b"}).diagnostics), "");
  EXPECT_EQ(messages(link_modules({none, wide}, {"a", "b"}).diagnostics), "");
  EXPECT_NE(messages(link_modules({none, narrow, wide}, {"a", "b", "c"}).diagnostics), "");
}

TEST(Linker, DeclarationsMeetTheirDefinitionsInWhateverOrder) {
  const std::string_view library = R"(
.visible .global .align 4 .b32 counter = 5;
.visible .func (.param .b32 rv) work(.param .b32 x) { st.param.b32 [rv], 7; ret; }
)";
  for (const bool user_first : {true, false}) {
    const LinkResult r = user_first ? link_texts(kUser, library) : link_texts(library, kUser);
    ASSERT_EQ(messages(r.diagnostics), "");
    ASSERT_EQ(r.module.functions.size(), 2u);
    const Function* work = r.module.find_function("work");
    ASSERT_NE(work, nullptr);
    EXPECT_FALSE(work->is_declaration);
    EXPECT_EQ(work->body.front().loc.file, user_first ? 1u : 0u);
    ASSERT_EQ(r.module.variables.size(), 1u);
    EXPECT_EQ(r.module.variables[0].init.size(), 4u);
    EXPECT_EQ(r.module.files, (std::vector<std::string>{"a.ptx", "b.ptx"}));
  }
}

TEST(Linker, PrivateNamesOfTwoModulesAreTwoThings) {
  const auto text = [](int value, std::string_view kernel) {
    return fmt::format(R"(
.global .align 4 .b32 mine = {};
.global .align 8 .u64 table[2] = {{helper, generic(mine)}};
.func helper() {{ .reg .b64 %rd; mov.u64 %rd, mine; ret; }}
.visible .entry {}() {{ .reg .b64 %rd<2>; mov.u64 %rd0, table; {{ .local .b32 helper; mov.u64 %rd1, helper; }} call helper; ret; }}
)",
                       value, kernel);
  };
  const LinkResult r = link_texts(text(1, "first"), text(2, "second"));
  ASSERT_EQ(messages(r.diagnostics), "");
  ASSERT_EQ(r.module.variables.size(), 4u);
  ASSERT_EQ(r.module.functions.size(), 4u);
  for (const int m : {1, 2}) {
    const std::string suffix = fmt::format("@@{}", m);
    const Variable* mine = r.module.find_variable("mine" + suffix);
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(mine->init[0], std::byte(m));
    EXPECT_EQ(r.module.find_variable("table" + suffix)->relocations[0].symbol, "helper" + suffix);
    EXPECT_EQ(r.module.find_variable("table" + suffix)->relocations[1].symbol, "mine" + suffix);
    EXPECT_EQ(r.module.find_function("helper" + suffix)->body[0].operands[1].symbol, "mine" + suffix);
    const Function* kernel = r.module.find_function(m == 1 ? "first" : "second");
    EXPECT_EQ(kernel->body[0].operands[1].symbol, "table" + suffix);
    EXPECT_EQ(kernel->body[1].operands[1].symbol, kernel->variables[0].name) << "the function's own";
    EXPECT_EQ(kernel->body[2].operands[0].symbol, "helper" + suffix);
  }
}

TEST(Linker, StrongReplacesWeakAndTheLargestCommonStays) {
  const std::string_view weak =
      ".weak .func f() { ret; }\n.weak .global .b32 v = 1;\n.common .global .b32 c[3];\n";
  const std::string_view other =
      ".weak .func f() { trap; }\n.weak .global .b32 v = 2;\n.common .global .b32 c[9];\n";
  const std::string_view strong = ".visible .func f() { exit; }\n.visible .global .b32 v = 3;\n";
  const auto first_opcode = [](const LinkResult& r) { return r.module.find_function("f")->body[0].opcode; };
  const LinkResult two = link_texts(weak, other);
  EXPECT_EQ(messages(two.diagnostics), "");
  EXPECT_EQ(first_opcode(two), Opcode::kRet) << "the first of several weak ones";
  EXPECT_EQ(two.module.find_variable("c")->bytes, 36u);
  for (const LinkResult& r : {link_texts(weak, strong, other), link_texts(strong, other, weak)}) {
    EXPECT_EQ(messages(r.diagnostics), "");
    EXPECT_EQ(first_opcode(r), Opcode::kExit);
    EXPECT_EQ(r.module.find_variable("v")->init[0], std::byte(3));
    EXPECT_EQ(r.module.functions.size(), 1u);
  }
}

TEST(Linker, AnAliasIsItsFunctionInEveryModule) {
  const LinkResult r = link_texts(R"(
.visible .func one() { ret; }
.visible .func other_name();
.alias other_name, one;
)",
                                  R"(
.extern .func other_name();
.visible .entry k() { call other_name; ret; }
)");
  ASSERT_EQ(messages(r.diagnostics), "");
  EXPECT_EQ(r.module.functions.size(), 2u);
  EXPECT_EQ(r.module.find_function("k")->body[0].operands[0].symbol, "one");
  EXPECT_THAT(messages(link_texts(".visible .func a();\n.extern .func b();\n.alias a, b;\n").diagnostics),
              testing::HasSubstr("'a' cannot be an alias of 'b', which is no function with a body here"));
}

TEST(Linker, AnAliasFollowsItsFunctionWhenThatIsRenamed) {
  const LinkResult r = link_texts(R"(
.func g() { exit; }
.visible .func f();
.alias f, g;
)",
                                  R"(
.visible .func g() { ret; }
.extern .func f();
.visible .entry k() { call f; ret; }
)");
  ASSERT_EQ(messages(r.diagnostics), "");
  const Function* target = r.module.find_function(r.module.find_function("k")->body[0].operands[0].symbol);
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->body[0].opcode, Opcode::kExit) << "the private g of its own file";
}

TEST(Linker, ArgumentsHaveOneSizeInAllFiles) {
  EXPECT_THAT(messages(link_texts(".visible .func f(.param .b8 x[400]) { ret; }\n",
                                  ".extern .func f(.param .b8 y[4]);\n")
                           .diagnostics),
              testing::HasSubstr("'y' of function 'f' has 4 bytes here, but 400 in a.ptx"));
}

TEST(Linker, ConflictsAreNamedWithTheirFiles) {
  const std::string_view f = ".visible .func f() { ret; }\n";
  const LinkResult twice = link_texts(f, f);
  EXPECT_THAT(messages(twice.diagnostics), testing::HasSubstr("'f' is defined in a.ptx and in b.ptx"));
  EXPECT_EQ(twice.diagnostics[0].loc.file, 1u);
  EXPECT_THAT(
      messages(link_texts(f, ".extern .func f(.param .b32 x);\n").diagnostics),
      testing::HasSubstr("function 'f' has 1 parameters and 0 return values here, but 0 and 0 in a.ptx"));
  EXPECT_THAT(messages(link_texts(".visible .global .b32 x;\n", ".extern .const .b32 x;\n").diagnostics),
              testing::HasSubstr("'x' is in .const here and in .global in a.ptx"));
  const LinkResult old = link_modules({module_of(f), module_of("", "sm_13")}, {"a.ptx", "b.ptx"});
  EXPECT_THAT(
      messages(old.diagnostics),
      testing::HasSubstr("floating-point rules differ: .target is 'sm_13' here and 'sm_75' in a.ptx"));
}

TEST(Linker, BytesOfAddressesAreMaskedRelocations) {
  const Module m = module_of(
      ".global .b32 foo[4];\n"
      ".global .u8 bytes[4] = {0xFF(foo), 0xFF00(foo+4), 7, 0xFF0000(generic(foo)+8)};\n"
      ".global .u16 half = 0xFFFF00(foo);\n");
  const Variable* bytes = m.find_variable("bytes");
  ASSERT_EQ(bytes->relocations.size(), 3u);
  EXPECT_EQ(bytes->relocations[1].mask, 0xff00u);
  EXPECT_EQ(bytes->relocations[1].addend, 4);
  EXPECT_EQ(bytes->relocations[1].offset, 1u);
  EXPECT_EQ(bytes->relocations[1].bytes, 1);
  EXPECT_EQ(bytes->relocations[2].offset, 3u);
  EXPECT_TRUE(bytes->relocations[2].generic);
  EXPECT_EQ(bytes->init[2], std::byte(7));
  EXPECT_EQ(m.find_variable("half")->relocations[0].bytes, 2);
  const ParseResult bad = parse_module(
      ".version 7.0\n.target sm_75\n.global .b32 foo;\n.global .u8 b = 0x1F(foo);\n.global .u8 c = "
      "0xFFFF(foo);\n.global .b128 d = 0xFF(foo);\n");
  EXPECT_THAT(messages(bad.diagnostics), testing::HasSubstr("the mask of an address must be whole bytes"));
  EXPECT_EQ(bad.diagnostics.size(), 3u);
}

// What ptxas (without and with -c) and nvlink of CUDA 13.0 say to the same texts.
TEST(Linker, AFunctionThatIsUsedAndDefinedNowhereIsAnError) {
  const auto missing_in = [](ProgramKind kind, std::string_view text) {
    const LinkResult linked = link_texts(text);
    EXPECT_EQ(messages(linked.diagnostics), "");
    const auto of_system = [](std::string_view name) { return name == "vprintf"; };
    return messages(unresolved_functions(linked.module, kind, of_system));
  };
  const std::string declared = ".extern .func missing();\n";
  const std::string none = declared + ".visible .entry k() { ret; }";
  const std::string called = declared + ".visible .entry k() { call missing; ret; }";
  const std::string through =
      declared + ".func f() { call missing; ret; } .visible .entry k() { call f; ret; }";
  const std::string unreached =
      declared + ".visible .func f() { call missing; ret; } .visible .entry k() { ret; }";
  const std::string taken =
      declared + ".visible .entry k() { .reg .b64 %a; mov.u64 %a, missing; st.global.u64 [%a], %a; ret; }";
  const std::string in_table = declared + ".global .u64 t[1] = {missing};\n.visible .entry k() { ret; }";
  const std::string own =
      declared + ".visible .entry k() { .reg .b64 %a; .shared .b32 missing; mov.u64 %a, missing; ret; }";
  const std::string target = declared + ".visible .entry k() { t: .calltargets missing; ret; }";
  const std::string of_system = ".extern .func vprintf();\n.visible .entry k() { call vprintf; ret; }";
  for (const ProgramKind kind : {ProgramKind::kWhole, ProgramKind::kLinked}) {
    for (const std::string& text : {none, own, target, of_system})
      EXPECT_EQ(missing_in(kind, text), "") << text;
    for (const std::string& text : {called, through, taken, in_table})
      EXPECT_THAT(missing_in(kind, text), ::testing::HasSubstr("'missing' is used here and defined nowhere"))
          << text;
  }
  EXPECT_NE(missing_in(ProgramKind::kWhole, unreached), "");
  EXPECT_EQ(missing_in(ProgramKind::kLinked, unreached), "");
  const LinkResult both = link_texts(std::string_view(called), ".visible .func missing() { ret; }");
  EXPECT_EQ(messages(unresolved_functions(both.module, ProgramKind::kLinked, [](auto) { return false; })),
            "");
}

}  // namespace
}  // namespace gpusim::isa
