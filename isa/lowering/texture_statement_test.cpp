// tex and txq: the statements through parser, verifier and lowering; handles, faults, the sectors of a warp.
#include <fmt/format.h>

#include <span>
#include <sstream>

#include "isa/tests/lowering_test_util.h"
#include "isa/tests/texture_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

Texture shaped(int dimensions, bool array = false) {
  Texture t = four(Type::kS32);
  t.dimensions = static_cast<uint8_t>(dimensions);
  t.array = array;
  if (dimensions > 1) {
    t.size = {2, 2, 1};
    t.pitch = 8;
  }
  if (array) t.size = {2, 1, 1}, t.layers = 2, t.pitch = 8;
  return t;
}

struct Ran {
  RunResult result;
  std::vector<uint32_t> out;
};
/// Kernel body with %out (256 bytes per thread), %h with the handle of the texture, %r1 the thread's number.
Ran run_body(const std::string& body, const Texture& texture, uint64_t handle = texture_handle(0)) {
  const std::string text =
      thread_kernel(".reg .b64 %h; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .pred %p; .reg .pred %q;",
                    "mov.u64 %h, %in; sub.s64 %h, %h, %off; mov.u32 %r1, %tid0; cvt.rn.f32.u32 %f1, %r1;\n" +
                        body + "\nst.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};\nret;");
  Ran ran;
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean}) {
    TextureMemory memory;
    memory.textures = {texture};
    const uint64_t out = memory.add(32ul * 256);
    const KernelImage image = lower_ok(text, level(l));
    BlockRunner runner(image, memory, pack_params({handle, out}), 32);
    ran.result = runner.run();
    ran.out = memory.read<uint32_t>(out, 32ul * 64);
  }
  return ran;
}

TEST(TextureStatements, ResultsMayReplaceCoordinates) {
  const Ran ran =
      run_body("mov.u32 %r4, %r1; tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r4}];", shaped(1));
  ASSERT_TRUE(ran.result.finished);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(ran.out[64ul * i], i < 4 ? 10 * (i + 1) : 0);
    EXPECT_EQ(ran.out[64 * i + 3], 1u);
  }
}

TEST(TextureStatements, EveryTexelIsResident) {
  const Ran ran = run_body(
      "setp.ne.u32 %p, 0, 0; setp.lt.u32 %q, %r1, 20;\n"
      "@%q tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}|%p, [%h, {%r1}];\n"
      "selp.u32 %r7, 5, 6, %p;",
      shaped(1));
  ASSERT_TRUE(ran.result.finished);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[64 * i + 3], i < 20 ? 5u : 6u);
  EXPECT_EQ(ran.out[0], 10u);
}

TEST(TextureStatements, GuardedLanesKeepTheirRegisters) {
  const Ran ran = run_body(
      "mov.u32 %r4, 7; mov.u32 %r5, 7; mov.u32 %r6, 7; mov.u32 %r7, 7; setp.eq.u32 %p, %r1, 2;\n"
      "@%p tex.1d.v4.s32.f32 {%r4, %r5, %r6, _}, [%h, %f1];",
      shaped(1));
  ASSERT_TRUE(ran.result.finished);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[64ul * i], i == 2 ? 30u : 7u);
  EXPECT_EQ(ran.out[64 * 2 + 3], 7u);
}

TEST(TextureStatements, LayersAndRows) {
  const std::string two = "and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; cvt.rn.f32.u32 %f2, %r2;\n";
  const Ran layers =
      run_body(two + "tex.a1d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%h, {%r3, %f2}];", shaped(1, true));
  const Ran rows = run_body(two + "tex.2d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r2, %r3}];", shaped(2));
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t expected = 10 * (1 + (i & 1) + 2 * std::min(i / 2, 1u));
    EXPECT_EQ(layers.out[64ul * i], expected);
    EXPECT_EQ(rows.out[64ul * i], expected);
  }
}

TEST(TextureStatements, Queries) {
  Texture t = shaped(2);
  t.normalized = true;
  t.channels = 2;
  t.address_mode[1] = AddressMode::kMirror;
  const Ran ran = run_body(
      "txq.width.b32 %r4, [%h]; txq.addr_mode_1.b32 %r5, [%h]; txq.channel_order.b32 %r6, [%h];\n"
      "txq.channel_data_type.b32 %r7, [%h];",
      t);
  EXPECT_EQ(std::vector<uint32_t>(ran.out.begin(), ran.out.begin() + 4),
            (std::vector<uint32_t>{2, 1, 0x10b2, 0x10d9}));
  const Ran more = run_body(
      "txq.height.b32 %r4, [%h]; txq.depth.b32 %r5, [%h]; txq.normalized_coords.b32 %r6, [%h];\n"
      "txq.filter_mode.b32 %r7, [%h];",
      t);
  EXPECT_EQ(std::vector<uint32_t>(more.out.begin(), more.out.begin() + 4),
            (std::vector<uint32_t>{2, 0, 1, 0}));
}

TEST(TextureStatements, Faults) {
  const std::string fetch_1d = "tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r1}];";
  const Ran none = run_body(fetch_1d, shaped(1), 12345);
  EXPECT_EQ(none.result.fault, FaultKind::kNoTexture);
  EXPECT_EQ(none.result.access.fault_address, 12345u);
  EXPECT_EQ(run_body(fetch_1d, shaped(2)).result.fault, FaultKind::kTextureShape);
  EXPECT_EQ(run_body(fetch_1d, shaped(1, true)).result.fault, FaultKind::kTextureShape);
}

TEST(TextureStatements, SectorsOfAWarp) {
  Texture t = shaped(1);
  std::vector<int32_t> many(4096);
  t.data = std::as_bytes(std::span(many)).data();
  t.address = 0x1000'0010;
  t.size[0] = 4096;
  alignas(64) std::array<std::array<uint32_t, 32>, 8> rows{};
  WarpContext ctx;
  TextureMemory memory;
  memory.textures = {t};
  ctx.global = &memory;
  ctx.bank[0] = reinterpret_cast<std::byte*>(rows.data());
  for (size_t l = 0; l < 32; ++l) {
    reinterpret_cast<uint64_t*>(rows[0].data())[l] = texture_handle(0);
    rows[2][l] = static_cast<uint32_t>(l);
  }
  MicroOp op;
  op.imm = static_cast<uint64_t>(TextureShape::k1d);
  op.modifiers = 1;
  op.num_src = 2, op.src[1].offset = 256;
  op.num_dst = 1, op.dst[0].offset = 384;
  MemoryAccess access;
  execute_tex(op, ctx, LaneMask::all(), access);
  // 128 bytes from byte 16 of a sector: five sectors.
  EXPECT_EQ(access.lanes, LaneMask::first(5));
  EXPECT_EQ(access.bytes, 32);
  EXPECT_EQ(access.address[0], 0x1000'0000u);
  EXPECT_EQ(access.address[4], 0x1000'0080u);
  for (size_t l = 0; l < 32; ++l) rows[2][l] = 8 * static_cast<uint32_t>(l);
  execute_tex(op, ctx, LaneMask::first(3), access);
  EXPECT_EQ(access.lanes, LaneMask::first(3));
}

/// A statement of a form of the census.
std::string statement_of(const std::string& form) {
  if (form.starts_with("txq")) return form + " %r4, [%h];";
  const bool integer = form.ends_with(".s32"), to_float = form.find(".v4.f32") != std::string::npos;
  const std::string c = integer ? "%r1" : "%f1";
  const std::string vector = form.starts_with("tex.1d")   ? fmt::format("{{{}}}", c)
                             : form.starts_with("tex.2d") ? fmt::format("{{{}, {}}}", c, c)
                                                          : fmt::format("{{{}, {}, {}, {}}}", c, c, c, c);
  const std::string to = to_float ? "{%f4, %f5, %f6, %f7}" : "{%r4, %r5, %r6, %r7}";
  return fmt::format("{} {}, [%h, {}];{}", form, to, vector, to_float ? " mov.b32 %r4, %f4;" : "");
}

TEST(TextureStatements, EveryFormOfTheCensusRuns) {
  int count = 0;
  for (const char* file : {"census_forms.txt", "required_forms.txt"}) {
    std::istringstream lines(read_file(std::string(GPUSIM_SOURCE_DIR "/isa/tests/") + file));
    for (std::string form; std::getline(lines, form);) {
      if (!form.starts_with("tex.") && !form.starts_with("txq.")) continue;
      SCOPED_TRACE(form);
      ++count;
      const Ran ran = run_body(statement_of(form), shaped(form.starts_with("tex") ? form[4] - '0' : 2));
      EXPECT_TRUE(ran.result.finished) << fault_name(ran.result.fault);
      const bool query = form.starts_with("txq");
      EXPECT_EQ(ran.out[0], !query                          ? 10u
                            : form == "txq.width.b32"       ? 2u
                            : form == "txq.filter_mode.b32" ? 0u
                                                            : 3u);
    }
  }
  EXPECT_EQ(count, 15);
}

TEST(TextureReferences, BindByName) {
  const std::string text = R"(.version 1.4
.target sm_13
.tex .u64 t;
.entry k(.param .u64 out) { .reg .u64 %o; .reg .u32 %r<9>; ld.param.u64 %o, [out]; mov.s32 %r1, 2;
  tex.1d.v4.s32.s32 {%r4,%r5,%r6,%r7},[t,{%r1,%r1,%r1,%r1}]; st.global.u32 [%o], %r4; exit; })";
  TextureMemory memory;
  memory.textures = {shaped(1), shaped(1)};
  memory.textures[1].size[0] = 2;
  for (const uint64_t number : {0, 1}) {
    const uint64_t out = memory.add(4);
    LoweringOptions options = level(LoweringLevel::kClean);
    options.address_of = [=](const Variable& v) { return v.name == "t" ? texture_handle(number) : 0; };
    const KernelImage image = lower_ok(text, options);
    BlockRunner runner(image, memory, pack_params({out}), 1);
    EXPECT_TRUE(runner.run().finished);
    EXPECT_EQ(memory.read<uint32_t>(out, 1)[0], number == 0 ? 30u : 0u);
  }
  EXPECT_THAT(lower_error(text), testing::HasSubstr("the texture reference 't' is not bound"));
}

/// What the verifier says about one statement.
std::string complaint(const std::string& statement) {
  const ParseResult parsed = parse_module(
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t; .global .u32 g;\n.entry k() {\n"
      ".reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n" +
      statement + "\nret; }");
  Diagnostics all = parsed.diagnostics;
  if (!has_errors(all))
    for (const Diagnostic& d : verify_module(parsed.module)) all.push_back(d);
  return all.empty() ? "" : all[0].message;
}

TEST(TextureStatements, Verifier) {
  const std::string to = "{%f1, %f2, %f3, %f4}, ";
  EXPECT_EQ(complaint("tex.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}];"), "");
  EXPECT_EQ(complaint("tex.a2d.v4.f32.f32 " + to + "[%rd1, {%r1, %f5, %f6, %f6}];"), "");
  EXPECT_EQ(complaint("tex.v4.f32.f32 " + to + "[t, {%f5}];"), "'tex.v4.f32.f32' needs a geometry");
  EXPECT_EQ(complaint("tex.1d.f32.f32 %f1, [t, {%f5}];"), "'tex.1d.f32.f32' needs .v4");
  EXPECT_EQ(complaint("tex.1d.v4.f32.u32 " + to + "[t, {%r5}];"),
            "'tex.1d.v4.f32.u32': coordinates are .s32 or .f32, not .u32");
  EXPECT_EQ(complaint("tex.3d.v4.f32.f32 " + to + "[t, {%f5, %f6}];"),
            "'tex.3d.v4.f32.f32' needs 3 coordinates, found 2");
  EXPECT_EQ(complaint("tex.1d.v4.f32.s32 " + to + "[t, {%f5}];"),
            "'%f5' is a .f32 register, 'tex.1d.v4.f32.s32' needs .s32");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[g, {%f5}];"), "'g' is not a texture reference");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[tt, {%f5}];"), "undefined variable or function 'tt'");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[%r1, {%f5}];"),
            "'%r1' is a .b32 register and cannot hold a texture's handle");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 {%f1, %f2}, [t, {%f5}];"),
            "'tex.1d.v4.f32.f32' needs 4 elements, found 2");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[t];"),
            "'tex.1d.v4.f32.f32' needs coordinates behind the texture");
  EXPECT_EQ(complaint("txq.b32 %r1, [t];"), "'txq.b32' does not say what it asks for");
  EXPECT_EQ(complaint("tex.level.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}], %f7;"), "");
  EXPECT_EQ(complaint("tex.level.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}];"),
            "'tex.level.2d.v4.f32.f32' takes 3 operands, found 2");
  EXPECT_EQ(complaint("tex.grad.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}], {%f5, %r6}, {%f5, %f6};"), "");
  EXPECT_EQ(complaint("tex.cube.v4.f32.f32 " + to + "[t, {%f5, %f6, %f7, %f7}];"), "");
  EXPECT_EQ(complaint("tex.cube.v4.f32.f32 " + to + "[t, {%f5, %f6}];"),
            "'tex.cube.v4.f32.f32' needs 3 coordinates, found 2");
  EXPECT_EQ(complaint("tex.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}], {%r1, %r1};"), "");
  EXPECT_EQ(complaint("tex.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}], {%r1, %r1}, %f7;"),
            "'tex.2d.v4.f32.f32' is not supported yet");
}

}  // namespace
}  // namespace gpusim::isa
