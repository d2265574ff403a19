// What `gpusim init` sees of kernels: addresses, numbers and textures among the parameters, what lies there.
#include "isa/ptx/kernel_use.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/ptx/parser/parser.h"

namespace gpusim::isa {
namespace {

using UseKind = PointerUse::Kind;

Module parse(const std::string& text,
             const std::string& header = ".version 7.0\n.target sm_75\n.address_size 64\n") {
  ParseResult parsed = parse_module(header + text);
  EXPECT_TRUE(parsed.ok());
  return std::move(parsed.module);
}
KernelUse use_of_first(const Module& module) { return use_of(module, *module.entries().front()); }

std::string use_text(const PointerUse& use) {
  if (use.kind == UseKind::kNumber) return "number";
  return fmt::format("{} {}x{}", use.kind == UseKind::kAddress ? "address" : "texture",
                     type_name(use.element), use.vector);
}
std::vector<std::string> params_of(const std::string& params, const std::string& body,
                                   const std::string& before = "") {
  const Module m = parse(fmt::format(
      "{}.entry k ({}) {{\n.reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\n{}\n}}\n",
      before, params, body));
  std::vector<std::string> texts;
  for (const PointerUse& use : use_of_first(m).params) texts.push_back(use_text(use));
  return texts;
}
using Texts = std::vector<std::string>;

TEST(KernelUse, AddressesAreThoseThatAreReached) {
  EXPECT_EQ(
      params_of(
          ".param .u64 a, .param .u64 n, .param .u32 m, .param .u64 b",
          "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; ld.param.u32 %r1, [m]; ld.param.u64 %rd3, [b];"
          "cvta.to.global.u64 %rd4, %rd1; shl.b64 %rd5, %rd2, 2; add.s64 %rd4, %rd4, %rd5;"
          "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4]; mad.lo.s64 %rd6, %rd2, 8, %rd3; st.u64 [%rd6+8], "
          "%rd2;"),
      (Texts{"address f32x4", "number", "number", "address u64x1"}));
}

TEST(KernelUse, AnIndexThatIsAddedIsNoAddress) {
  const std::string body =
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; {} add.s64 %rd4, %rd2, %rd1; ld.global.u8 %r1, "
      "[%rd4]; mul.lo.s64 %rd5, %rd2, 3;";
  EXPECT_EQ(params_of(".param .u64 a, .param .u64 n",
                      fmt::format(fmt::runtime(body), "cvta.to.global.u64 %rd1, %rd1;")),
            (Texts{"address u8x1", "number"}));
  EXPECT_EQ(
      params_of(".param .u64 .ptr .global .align 4 a, .param .u64 n", fmt::format(fmt::runtime(body), "")),
      (Texts{"address u8x1", "number"}));
  EXPECT_EQ(params_of(".param .u64 a, .param .u64 n", fmt::format(fmt::runtime(body), "")),
            (Texts{"address u8x1", "number"}))
      << "what is multiplied is a number";
}

TEST(KernelUse, AddressesGoThroughCallsAndLoops) {
  EXPECT_EQ(
      params_of(
          ".param .u64 a, .param .u64 n",
          "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; {.param .b64 p0; .param .b64 p1; st.param.b64 "
          "[p0], %rd1;"
          "st.param.b64 [p1], %rd2; call.uni f, (p0, p1);}",
          ".func f (.param .b64 x, .param .b64 y) {.reg .u64 %rd<5>; .reg .u32 %r<2>; ld.param.u64 %rd1, [x];"
          "ld.param.u64 %rd4, [y];\nL: mov.u64 %rd2, %rd3; add.u64 %rd3, %rd1, 4; atom.global.add.u32 %r1, "
          "[%rd2], 1; bra L;}\n"),
      (Texts{"address u32x1", "number"}));
  const Module endless = parse(
      ".func f (.param .b64 x);\n.func f (.param .b64 x) {.param .b64 p; call f, (p); ret;}\n"
      ".entry k () {.param .b64 p; call f, (p);}\n");
  EXPECT_TRUE(use_of_first(endless).params.empty());
}

TEST(KernelUse, NarrowParametersAreAddressesIn32BitModulesOnly) {
  const std::string text =
      ".entry k (.param .u32 a, .param .u32 n, .param .u64 b) {.reg .u32 %r<4>; .reg .u64 %d;\n"
      "ld.param.u32 %r1, [a]; ld.param.u32 %r3, [n]; ld.global.s32 %r2, [%r1+4]; "
      "ld.param.u64 %d, [b]; st.global.u8 [%d], %r2; }\n";
  const KernelUse use = use_of_first(parse(text, ".version 1.4\n.target sm_13\n"));
  EXPECT_EQ(use_text(use.params[0]), "address s32x1");
  EXPECT_EQ(use_text(use.params[1]), "number");
  EXPECT_EQ(use_text(use.params[2]), "address u8x1")
      << "PTX 1.x may have 64-bit addresses and does not say so";
  EXPECT_EQ(
      params_of(".param .u32 a", "ld.param.u32 %r1, [a]; cvt.u64.u32 %rd1, %r1; ld.global.f32 %f1, [%rd1];"),
      Texts{"number"});
}

TEST(KernelUse, PointerVariables) {
  const Module m = parse(
      ".global .align 8 .u64 sink;\n.global .align 8 .u64 count;\n.entry k () {.reg .u64 %d<4>; .reg .u32 "
      "%r;\n"
      "ld.global.u64 %d1, [sink]; add.s64 %d2, %d1, 8; st.u32 [%d2], %r; ld.global.u64 %d3, [count]; }\n");
  const KernelUse use = use_of_first(m);
  EXPECT_EQ(use_text(use.contents[0]), "address u32x1");
  EXPECT_EQ(use_text(use.contents[1]), "number");
  EXPECT_EQ(use_text(use.variables[0]), "address u64x1");
  const Module index = parse(
      ".global .align 8 .u64 at;\n.entry k (.param .u64 a) {.reg .u64 %d<5>; .reg .u32 %r;\n"
      "ld.param.u64 %d1, [a]; cvta.to.global.u64 %d2, %d1; ld.global.u64 %d3, [at]; add.s64 %d4, %d2, %d3;\n"
      "st.global.u8 [%d4], %r; }\n");
  EXPECT_EQ(use_text(use_of_first(index).contents[0]), "number") << "an index that is added to an address";
}

TEST(KernelUse, TexturesVariablesAndGeometry) {
  const Module m = parse(
      ".const .align 4 .b8 c[16];\n.global .u32 g;\n.extern .shared .align 4 .b8 s[];\n"
      ".entry k (.param .u64 t, .param .align 8 .b8 v[16]) {.reg .u64 %rd<4>; .reg .f32 %f<9>; .reg .u32 "
      "%r<4>;\n"
      "ld.param.u64 %rd1, [t]; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %tid.z; ld.param.u64 %rd2, [v+8];\n"
      "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}]; mov.u64 %rd3, c; ld.const.f32 %f7, "
      "[%rd3+4];\n"
      "mov.u32 %r3, s; }\n");
  const KernelUse use = use_of_first(m);
  EXPECT_EQ(use.params[0].kind, UseKind::kTexture);
  EXPECT_EQ(use.params[0].shape, TextureShape::k2d);
  EXPECT_EQ(use.params[0].element, Type::kF32);
  EXPECT_EQ(use_text(use.params[1]), "number");
  EXPECT_EQ(use_text(use.variables[0]), "address f32x1");
  EXPECT_EQ(use_text(use.variables[1]), "number") << "it is not used";
  EXPECT_EQ(use.dimensions, 3);
  EXPECT_EQ(use.grid_dimensions, 2);
  EXPECT_TRUE(use.dynamic_shared);
}

}  // namespace
}  // namespace gpusim::isa
