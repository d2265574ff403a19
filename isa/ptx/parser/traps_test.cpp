// What real PTX files contain and parsers trip over, one test each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/ptx/parser/parser.h"
#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

using test::kernel;
using test::kernel_ok;
using test::parse_ok;
using Kind = Operand::Kind;

TEST(Traps, NestedScopesShadowRegisters) {
  const Module m = kernel_ok(R"(
    .reg .b32 %r1;
    mov.u32 %r1, 1;
    {
      .reg .b64 %r1;
      mov.u64 %r1, 2;
      { .reg .f32 %r1; mov.f32 %r1, 0f00000000; }
    }
    mov.u32 %r1, 3;)");
  const Function& f = m.functions[0];
  ASSERT_EQ(f.registers.size(), 3u);
  EXPECT_EQ(f.body[0].operands[0].reg, 0u);
  EXPECT_EQ(f.body[1].operands[0].reg, 1u);
  EXPECT_EQ(f.body[2].operands[0].reg, 2u);
  EXPECT_EQ(f.body[3].operands[0].reg, 0u);
  EXPECT_EQ(f.registers[1].type, Type::kB64);
}

TEST(Traps, ScopedVariablesAndLabelsGetUniqueNames) {
  const Module m = kernel_ok(R"(
    { .param .b64 param0; st.param.b64 [param0+0], 1; bra DONE; DONE: }
    { .param .b64 param0; st.param.b64 [param0+0], 2; bra DONE; DONE: })");
  const Function& f = m.functions[0];
  ASSERT_EQ(f.variables.size(), 2u);
  EXPECT_EQ(f.variables[0].name, "param0");
  EXPECT_EQ(f.variables[1].name, "param0@2");
  EXPECT_EQ(f.body[0].operands[0].symbol, "param0");
  EXPECT_EQ(f.body[2].operands[0].symbol, "param0@2");
  ASSERT_EQ(f.labels.size(), 2u);
  EXPECT_NE(f.labels[0].name, f.labels[1].name);
  EXPECT_EQ(f.body[1].operands[0].symbol, f.labels[0].name);
  EXPECT_EQ(f.body[3].operands[0].symbol, f.labels[1].name);
  EXPECT_EQ(f.find_label(f.labels[1].name)->statement, 4u);
}

TEST(Traps, LocalVariableDoesNotHideTheGlobalOutsideItsScope) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.global .u32 x;
.entry k() { .reg .b32 %r;
  { .shared .u32 x; ld.shared.u32 %r, [x]; }
  ld.global.u32 %r, [x]; })");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  EXPECT_EQ(m.functions[0].body[0].operands[1].symbol, "x@2");
  EXPECT_EQ(m.functions[0].body[1].operands[1].symbol, "x");
}

TEST(Traps, BranchOutOfAScope) {
  const Module m = kernel_ok("{ bra OUT; { bra OUT; bra BACK; } BACK: } OUT: ret;");
  EXPECT_EQ(m.functions[0].body[0].operands[0].symbol, "OUT");
  EXPECT_EQ(m.functions[0].body[1].operands[0].symbol, "OUT");
  EXPECT_EQ(m.functions[0].body[2].operands[0].symbol, m.functions[0].labels[0].name);
}

TEST(Traps, RegisterRangesWhosePrefixEndsInADigit) {
  const Module m = kernel_ok(
      ".reg .f32 %f<5>; .reg .f64 %f1<3>; mov.f32 %f4, 0f00000000; mov.f64 %f12, 0d0000000000000000;");
  EXPECT_EQ(m.functions[0].registers[m.functions[0].body[1].operands[0].reg].type, Type::kF64);
}

TEST(Traps, OldStyleVectorRegistersAndComponents) {
  const Module m = parse_ok(R"(.version 1.4
.target sm_10, map_f64_to_f32
.entry k (.param .u32 p)
{
  .reg.v4.u16 %rv; .reg .v4 .f32 %fv; .reg .u32 %r<4>; .reg .u16 %rh<3>;
  mov.u16 %rh1, %ctaid.x;
  mul.wide.u16 %r1, %rh1, %rh1;
  cvt.u32.u16 %r2, %tid.x;
  ld.global.v4.f32 %fv, [%r1+0];
  mov.u16 %rv.x, %rh1;
  add.f32 %fv.y, %fv.x, %fv.w;
  exit;
})");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  EXPECT_EQ(m.functions[0].body[4].operands[0].component, 0);
  EXPECT_EQ(m.functions[0].body[5].operands[2].component, 3);
  EXPECT_EQ(m.functions[0].registers[0].vector, 4);
}

TEST(Traps, OldFunctionsPassRegisters) {
  const Module m = parse_ok(R"(.version 1.4
.target sm_13
.func (.reg .f32 %res) scale (.reg .f32 %a, .reg .u32 %n)
{
  .reg .f32 %t;
  mul.f32 %res, %a, 0f40000000;
  ret;
}
.entry k { .reg .f32 %f<3>;
  mov.f32 %f1, 0f3F800000;
  call (%f2), scale, (%f1, 5);
  call.uni (%f2), scale,
     (%f1,
      5);
  exit; })");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  const Function& f = m.functions[0];
  ASSERT_EQ(f.param_registers.size(), 2u);
  EXPECT_EQ(f.registers[f.param_registers[1]].name, "%n");
  EXPECT_EQ(f.registers[f.return_registers.at(0)].name, "%res");
  EXPECT_EQ(f.params[0].space, Space::kReg);
  const Instruction& call = m.functions[1].body[2];
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Kind::kList);
  EXPECT_EQ(call.operands[1].symbol, "scale");
  EXPECT_EQ(call.operands[2].elements.size(), 2u);
}

TEST(Traps, CallsSpreadOverLinesWithPrototypes) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
  .param .b64 vprintf_param_0,
  .param .b64 vprintf_param_1
)
;
.visible .entry k()
{
  .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
  { // callseq 0, 0
  .param .b64 param0;
  st.param.b64 [param0], %rd1;
  .param .b64 param1;
  st.param.b64 [param1], %rd2;
  .param .b32 retval0;
  call.uni (retval0),
  vprintf,
  (
  param0,
  param1
  );
  ld.param.b32 %r1, [retval0];
  } // callseq 0
  {
  .param .b32 param0;
  .param .b32 retval0;
  prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _) ;
  call (retval0), %rd3, (param0), prototype_1;
  }
  {
  .param .b32 param0;
  .param .b32 retval0;
  prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _) ;
  call (retval0), %rd3, (param0), prototype_1;
  }
  ret;
})");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  const Function& k = m.functions[1];
  EXPECT_EQ(k.body[2].operands[1].symbol, "vprintf");
  ASSERT_EQ(k.tables.size(), 2u);
  EXPECT_EQ(k.body[4].operands[3].symbol, k.tables[0].name);
  EXPECT_EQ(k.body[5].operands[3].symbol, k.tables[1].name);
  EXPECT_NE(k.tables[0].name, k.tables[1].name);
}

TEST(Traps, NamesWithDollarsAndGreatLength) {
  const std::string name = "_Z" + std::string(1400, 'a') + "$x";
  const Module m =
      parse_ok(".version 8.0\n.target sm_90\n.entry " + name + "() { $L__BB0_1: bra $L__BB0_1; }");
  EXPECT_EQ(m.functions[0].name, name);
  EXPECT_EQ(m.functions[0].labels[0].name, "$L__BB0_1");
}

TEST(Traps, LiteralsOfEveryKind) {
  const Module m = kernel_ok(R"(
    .reg .b32 %r; .reg .pred %p; .reg .f64 %fd; .reg .f32 %f;
    mov.pred %p, -1;
    and.b32 %r, %r, 0xFFFFFF00U;
    mov.u32 %r, WARP_SZ;
    mov.f64 %fd, 0dBFF0000000000000;
    mov.f64 %fd, 1.5;
    add.f32 %f, %f, 0fBF800000;
    mov.b32 %r, 0f3F800000;)");
  const auto& body = m.functions[0].body;
  EXPECT_EQ(static_cast<int64_t>(body[0].operands[1].imm), -1);
  EXPECT_EQ(body[1].operands[2].imm, 0xffffff00u);
  EXPECT_EQ(body[2].operands[1].imm, 32u);
  EXPECT_EQ(body[3].operands[1].imm_kind, Operand::ImmKind::kF64);
  EXPECT_EQ(body[5].operands[2].imm_kind, Operand::ImmKind::kF32);
}

TEST(Traps, DebugSectionsAndPragmas) {
  const Module m = parse_ok(R"(.version 8.0
.target sm_90
.entry k() {
  .pragma "nounroll";
  .pragma "used_bytes_mask 4095";
  bar.sync 0;
  ret;
}
.file 1 "x.cu"
.section .debug_abbrev
{
.b8 1
.b64 .debug_info
$L__x:
.b32 k-$L__x
}
.section	.debug_loc	{	}
@@DWARF .section .debug_pubnames, "", @progbits
.section .debug_info, "", @progbits
.entry after() { ret; })");
  EXPECT_EQ(m.functions.size(), 2u);
  EXPECT_EQ(m.functions[0].body[0].unused_bytes, ~uint32_t{4095});  // of the next instruction only
  EXPECT_EQ(m.functions[0].body[1].unused_bytes, 0u);
}

TEST(Traps, OldTexturesAndSurfaces) {
  const ParseResult r = parse_module(R"(.version 1.4
.target sm_10, map_f64_to_f32
.tex .u64 t;
.global .surfref s;
.global .samplerref sam = { addr_mode_0 = wrap, filter_mode = linear };
.entry k { .reg .f32 %f<9>; .reg .u32 %r<9>;
  tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f5,%f6,%f7,%f8}];
  tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [t, sam, {%r5}];
  suld.b.2d.v2.b32.trap {%r1, %r2}, [s, {%r3, %r4}];
  exit; })");
  EXPECT_EQ(test::messages(r.diagnostics), "");
  EXPECT_EQ(r.module.functions[0].body[0].operands[1].elements[0].elements.size(), 4u);
  const Diagnostics d = verify_module(r.module);
  ASSERT_EQ(d.size(), 2u) << test::messages(d);
  EXPECT_EQ(d[0].message, "'tex.1d.v4.s32.s32' is not supported yet");  // a sampler of its own
  EXPECT_EQ(d[0].severity, Diagnostic::Severity::kWarning);
}

TEST(Traps, UnsupportedFamiliesParse) {
  const Module m = parse_ok(kernel(R"(
    .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r5}, {%r1,%r2,%r3,%r4};)"));
  const Diagnostics d = verify_module(m);
  EXPECT_EQ(d.size(), m.functions[0].body.size());
  EXPECT_FALSE(has_errors(d)) << test::messages(d);
  EXPECT_EQ(d[0].message, "'mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32' is not supported yet");
}

TEST(Traps, FamiliesThatTheTableOfSpellingsJudges) {
  const Module m = parse_ok(kernel(R"(
    .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p;
    cp.async.ca.shared.global [%r1], [%rd1], 16;
    mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], %r2;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
    vadd4.u32.u32.u32.add %r1, %r2, %r3, %r4;
    vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;
    vmad.s32.u32.u32 %r1, -%r2.b0, %r3.h1, %r4;
    vmad.s32.s32.s32.sat %r1, %r2, %r3, -%r4;
    fence.proxy.async.shared::cta;
    suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3, %r4}];
    cvt.rna.tf32.f32 %r1, %r2;)"));
  EXPECT_EQ(test::messages(verify_module(m)), "");
  // What is wrong with their operands is an error, and so is a modifier that they do not have.
  for (const char* statement :
       {"vmad.s32.u32.u32 %r1, -%r2, %r3, -%r4;",
        "vmad.s32.u32.u32.po %r1, %r2, %r3, -%r4;",
        "vadd.s32.u32.u32 %r1, -%r2, %r3;",
        "cp.async.cg.shared.global [%r1], [%rd1], 8;",
        "cp.async.ca.shared.global [%r1], [%rd1], 16, 17;",
        "cp.async.ca.shared.global %r1, [%rd1], 16;",
        "mbarrier.test_wait.shared.b64 %p, [%r1], %r2;",
        "mbarrier.init.shared.b32 [%r1], %r2;",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5}, "
        "{%f1,%f2,%f3,%f4};",
        "vadd4.u32.u32.u32 %f1, %r2, %r3, %r4;",
        "vadd.u32.u32.u32.clamp %r1, %r2, %r3;",
        "suld.b.2d.v2.b32 {%r1, %r2}, [%rd1, {%r3, %r4}];",
        "suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3}];",
        "mbarrier.arrive.shared.b64 [%r1];",
        "suld.b.3d.b32.zero %r1, [%rd1, {%r3, %r4, %r5}];",
        "vadd.u32.u32.u32 %r1.b0, %r2, %r3;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r5];",
        "suld.b.1d.b32.trap %r1, [%r2, {%r3}];",
        "cvt.rna.tf32.f32 %rd1, %f2;"}) {
    const Module bad = parse_ok(kernel(
        std::string(".reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p;\n") + statement));
    EXPECT_TRUE(has_errors(verify_module(bad))) << statement;
  }
}

TEST(Traps, PartsAndOffsetsThatDoNotExist) {
  const auto messages = [](const std::string& statement) {
    return test::messages(
        verify_module(parse_ok(kernel(".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %h;\n" + statement))));
  };
  for (const char* statement :
       {"vadd4.u32.u32.u32 %r0, %r1.b76, %r2, %r3;", "vadd4.u32.u32.u32 %r0, %r1.b8654, %r2, %r3;",
        "vadd2.u32.u32.u32 %r0, %r1, %r2.h34, %r3;", "vadd2.u32.u32.u32 %r0, %r1.b3210, %r2, %r3;",
        "vadd.u32.u32.u32 %r0, %r1.b4, %r2;"})
    EXPECT_THAT(messages(statement), testing::HasSubstr("does not have these parts of its operands"))
        << statement;
  EXPECT_THAT(messages("tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2}], {%r2};"),
              testing::HasSubstr("needs an offset of 2 elements, found 1"));
  EXPECT_THAT(messages("tex.cube.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2, %f2, %f2}], {%r2, %r2};"),
              testing::HasSubstr("has no offset"));
  EXPECT_THAT(messages("tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2}], {%r2, %r2}, %f1;"),
              testing::HasSubstr("not supported yet"))
      << "a depth to compare with";
  EXPECT_EQ(messages("tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2}], {%r2, -1};\n"
                     "tld4.g.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%h, {%r1, %f1, %f2, %f2}], {%r2, 3};\n"
                     "sured.p.or.1d.b32.zero [%h, {%r1}], %r2;\n"
                     "txq.level.depth.b32 %r1, [%h], 2; txq.num_mipmap_levels.b32 %r1, [%h];\n"
                     "vadd2.u32.u32.u32 %r0, %r1.h32, %r2.h01, %r3;"),
            "");
  EXPECT_THAT(messages("txq.level.array_size.b32 %r1, [%h], %r2;"), testing::HasSubstr("does not exist"));
  EXPECT_THAT(messages("txq.width.b32 %r1, [%h], %r2;"), testing::HasSubstr("takes 2 operands, found 3"));
  EXPECT_THAT(messages("txq.level.width.b32 %r1, [%h], %f2;"), testing::HasSubstr(".f32 register"));
  for (const char* statement :
       {"sured.b.add.2d.b32.trap [%h, {%r1, %r2}], %r3;", "sured.b.and.2d.u32.trap [%h, {%r1, %r2}], %r3;",
        "sured.b.add.a2d.u32.trap [%h, {%r1, %r2, %r3, %r3}], %r3;",
        "sust.p.2d.u32.trap [%h, {%r1, %r2}], %r3;"})
    EXPECT_THAT(messages(statement), testing::HasSubstr("does not have these modifiers")) << statement;
}

TEST(Traps, TwoNamesForTheReadOnlyVectors) {
  const Module m =
      kernel_ok(".reg .b32 %r<5>; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.z; mov.u32 %r3, %ntid.y;");
  EXPECT_EQ(m.functions[0].body[1].operands[1].special, SpecialRegister::kNctaidZ);
}

TEST(Traps, ParameterNamesMayEqualVariableNames) {
  const Module m = parse_ok(
      ".version 8.0\n.target sm_90\n.global .u32 p;\n.entry k(.param .u32 p) { .reg .b32 %r; ld.param.u32 "
      "%r, [p]; }");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  EXPECT_EQ(m.functions[0].params[0].name, m.functions[0].body[0].operands[1].symbol);
}

TEST(Traps, RegistersOutsideFunctions) {
  const Module m = parse_ok(R"(.version 1.4
.target sm_10, map_f64_to_f32
.reg .u32 %ra<17>;
.reg .pred p;
.entry a { mov.u32 %ra3, 1; setp.eq.u32 p, %ra3, %ra16; exit; }
.entry b { .reg .f32 %ra<5>; mov.f32 %ra3, 0f00000000; exit; })");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  EXPECT_EQ(m.functions[0].registers.size(), 18u);
  EXPECT_EQ(m.functions[1].registers.size(), 23u);
}

TEST(Traps, ParametersInsideTheBodyOfOldKernels) {
  const Module m = parse_ok(R"(.version 1.2
.target sm_10
.entry f { .param .s32 arr, n; .reg .s32 r; ld.param.s32 r, [n]; exit; })");
  EXPECT_EQ(test::messages(verify_module(m)), "");
  ASSERT_EQ(m.functions[0].params.size(), 2u);
  EXPECT_EQ(m.functions[0].params[1].name, "n");
  EXPECT_TRUE(m.functions[0].variables.empty());
}

TEST(Traps, DotFirstDirectivesAfterLabels) {
  const Module m = kernel_ok("L0: L1: .reg .b32 %r; mov.u32 %r, 1; L2:");
  EXPECT_EQ(m.functions[0].labels.size(), 3u);
  EXPECT_EQ(m.functions[0].labels[2].statement, 1u);
}

TEST(Traps, AParameterWithoutANameBesideAVariableWithThatName) {
  const ParseResult r =
      parse_module(".version 7.0\n.target sm_70\n.global .u32 _;\n.func f(.param .b32 _) { ret; }");
  EXPECT_EQ(test::messages(r.diagnostics), "ptx:4:21: error: a .param parameter needs a name\n");
}

TEST(Traps, PrototypesOfOldCompilersEndWithoutASemicolon) {
  const Module m = parse_ok(R"(.version 3.0
.target sm_20
.func (.param .b32 r) f (.param .b32 a)
.visible .func g ()
.entry k() { ret; })");
  ASSERT_EQ(m.functions.size(), 3u);
  EXPECT_TRUE(m.functions[0].is_declaration);
  EXPECT_TRUE(m.functions[1].is_declaration);
  EXPECT_FALSE(m.functions[2].is_declaration);
}

TEST(Traps, LocalVariablesOutsideFunctionsEndWithPtx3) {
  EXPECT_EQ(parse_ok(".version 2.3\n.target sm_20\n.local .b32 x;").variables.size(), 1u);
  EXPECT_FALSE(parse_module(".version 3.0\n.target sm_20\n.local .b32 x;").ok());
}

TEST(Traps, MadNeedsARoundingFromPtx32On) {
  const std::string body = ".entry k() { .reg .f32 %f<4>; mad.f32 %f0, %f1, %f2, %f3; ret; }";
  EXPECT_EQ(test::messages(verify_module(parse_ok(".version 3.1\n.target sm_20\n" + body))), "");
  EXPECT_NE(test::messages(verify_module(parse_ok(".version 3.2\n.target sm_20\n" + body))), "");
}

// Whatever is spelled well is no syntax error.
TEST(Traps, UnsupportedFormsStopOnlyTheirKernel) {
  for (const char* statement :
       {"suq.memory_layout.b32 %r1, [%rd1];", "mov.f32 %f1, %f0+1;", "add.finite.u32 %r1, %r1, %r1;"}) {
    const Module m =
        parse_ok(std::string(".version 9.0\n.target sm_90\n.address_size 64\n.global .b32 g[4];\n"
                             ".entry k() { .reg .b64 %rd<3>; .reg .f32 %f<2>; .reg .b32 %r<2>; "
                             ".reg .b16 %h<2>;\n") +
                 statement + " ret; }");
    const Diagnostics found = verify_module(m);
    ASSERT_EQ(found.size(), 1u) << statement;
    EXPECT_NE(found[0].message.find("not supported yet"), std::string::npos) << statement;
  }
}

}  // namespace
}  // namespace gpusim::isa
