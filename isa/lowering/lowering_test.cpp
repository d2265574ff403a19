// Lowering of whole modules: what is refused and why, random programs at every level.
#include "isa/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Unsupported, StatementsAreRefusedWithTheVerifiersReasonAndTheirPosition) {
  const std::string text = thread_kernel(".reg .b32 %r<4>;", "st.bulk [%in], 64, 0;\nret;", "sm_100");
  const Module module = parse_ok(text);
  const auto lowered = lower_kernel(module, *module.entries().at(0), LoweringOptions{});
  const auto* errors = std::get_if<Diagnostics>(&lowered);
  ASSERT_NE(errors, nullptr);
  ASSERT_EQ(errors->size(), 1u);
  EXPECT_EQ(errors->front().message, "'st.bulk' is not supported yet");
  const size_t at = text.find("st.bulk");
  EXPECT_EQ(errors->front().loc.line,
            1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

TEST(KnownDivisors, AnApproximateDivisionInALoopIsAProductIfItsDivisorComesFromBefore) {
  const auto classes = [](std::string_view division, std::string_view in_loop) {
    const std::string text = thread_kernel(
        ".reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<6>;",
        fmt::format(
            "cvt.rn.f32.u32 %f0, %tid0; add.f32 %f1, %f0, 0f3F800000; mov.f32 %f2, %f0; mov.u32 %r0, 0;\n"
            "LOOP: .pragma \"nounroll\"; {} %f2, %f2, %f1; add.f32 %f2, %f2, %f0; {}\n"
            "add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, %tid0; @%p bra LOOP;\n"
            "cvt.rzi.u32.f32 %r1, %f2; st.global.u32 [%out], %r1; ret;",
            division, in_loop),
        "sm_75");
    const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, 75));
    const Outcome clean = run_image(lower_ok(text, level(LoweringLevel::kClean, 0, 75)), 32);
    EXPECT_EQ(run_image(image, 32).out, clean.out) << division;
    return std::pair(count_class(image, OpClass::kFp32Mul), count_class(image, OpClass::kSfuRcp) +
                                                                count_class(image, OpClass::kFp32Div) +
                                                                count_class(image, OpClass::kFp32DivRn));
  };
  using Counts = std::pair<size_t, size_t>;
  for (const std::string_view form : {"div.approx.f32", "div.approx.ftz.f32", "div.full.f32"}) {
    EXPECT_EQ(classes(form, ""), (Counts{1, 0})) << form;
    EXPECT_EQ(classes(form, "add.f32 %f1, %f1, %f0;"), (Counts{0, 1})) << form << ": another one each time";
  }
  EXPECT_EQ(classes("div.rn.f32", ""), (Counts{0, 1})) << "ptxas makes the reciprocal each time";
}

TEST(Lowering, IeeeDivisionsAndRootsAreMarkedWhereTheMachineHasSubroutinesForSomeOperands) {
  const auto marked = [](std::string_view statement, bool machine_has) {
    const std::string text = thread_kernel(
        ".reg .b32 %r1; .reg .f32 %f<3>; .reg .f64 %d<3>; .reg .u64 %rd<3>;",
        fmt::format("cvt.rn.f32.u32 %f0, %tid0; cvt.f64.f32 %d0, %f0; cvt.u64.u32 %rd0, %tid0; {};\n"
                    "cvt.rzi.u32.f32 %r1, %f1; st.global.u32 [%out], %r1; st.global.f64 [%out], %d1;\n"
                    "st.global.u64 [%out], %rd1; ret;",
                    statement),
        "sm_75");
    LoweringOptions options = level(LoweringLevel::kNone, 0, 75);
    options.special_operands = machine_has;
    const KernelImage image = lower_ok(text, options);
    return std::ranges::count(image.ops, true, &MicroOp::has_subroutine);
  };
  for (const std::string_view s :
       {"div.rn.f32 %f1, %f0, %f0", "rcp.rn.f32 %f1, %f0", "sqrt.rn.f32 %f1, %f0", "div.rn.f64 %d1, %d0, %d0",
        "rcp.rn.f64 %d1, %d0", "sqrt.rn.f64 %d1, %d0"}) {
    EXPECT_EQ(marked(s, true), 1) << s;
    EXPECT_EQ(marked(s, false), 0) << s;
  }
  for (const std::string_view s :
       {"div.approx.f32 %f1, %f0, %f0", "div.full.f32 %f1, %f0, %f0", "rcp.approx.f32 %f1, %f0",
        "sqrt.approx.f32 %f1, %f0", "rcp.approx.ftz.f64 %d1, %d0", "div.u64 %rd1, %rd0, %rd0"})
    EXPECT_EQ(marked(s, true), 0) << s;
}

TEST(KnownDivisors, OneReciprocalServesABlockUntilItsDivisorChanges) {
  const auto reciprocals = [](std::string_view between) {
    const std::string text = thread_kernel(
        ".reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<6>;",
        fmt::format(
            "cvt.rn.f32.u32 %f0, %tid0; add.f32 %f1, %f0, 0f3F800000; div.approx.f32 %f2, %f0, %f1; {} "
            "div.approx.f32 %f3, %f2, %f1; cvt.rzi.u32.f32 %r1, %f3; st.global.u32 [%out], %r1; ret;",
            between),
        "sm_75");
    return count_class(lower_ok(text, level(LoweringLevel::kSchedule, 0, 75)), OpClass::kSfuRcp);
  };
  EXPECT_EQ(reciprocals(""), 1u);
  EXPECT_EQ(reciprocals("setp.lt.f32 %p, %f2, 0f3F000000; @%p mul.f32 %f1, %f1, %f2;"), 2u);
}

TEST(Fences, AccessesThatReleaseToOtherBlocksHaveOneBefore) {
  const auto fences = [](std::string_view statement) {
    const std::string text =
        thread_kernel(".reg .b32 %r<4>;", fmt::format("mov.u32 %r2, 1; {}\nret;", statement), "sm_90");
    const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, 90));
    return std::pair(count_class(image, OpClass::kFence), count_class(image, OpClass::kFenceBlock));
  };
  using Counts = std::pair<size_t, size_t>;
  EXPECT_EQ(fences("fence.acq_rel.gpu;"), (Counts{1, 0}));
  EXPECT_EQ(fences("fence.sc.sys;"), (Counts{1, 0}));
  EXPECT_EQ(fences("fence.acq_rel.cta;"), (Counts{0, 1}));
  EXPECT_EQ(fences("fence.proxy.async;"), (Counts{0, 1}));
  EXPECT_EQ(fences("st.release.gpu.u32 [%out], %r2;"), (Counts{1, 0}));
  EXPECT_EQ(fences("st.relaxed.gpu.u32 [%out], %r2;"), (Counts{0, 0}));
  EXPECT_EQ(fences("st.release.cta.global.u32 [%out], %r2;"), (Counts{0, 0})) << "the block sees it in order";
  EXPECT_EQ(fences("atom.acq_rel.gpu.global.add.u32 %r1, [%out], %r2;"), (Counts{1, 0}));
  EXPECT_EQ(fences("red.release.sys.global.add.u32 [%out], %r2;"), (Counts{1, 0}));
  EXPECT_EQ(fences("atom.acquire.gpu.global.add.u32 %r1, [%out], %r2;"), (Counts{0, 0}));
}

TEST(Unsupported, CompiledFilesLowerOrSaySo) {
  size_t lowered = 0;
  for (const auto& e : std::filesystem::directory_iterator(GPUSIM_SOURCE_DIR "/isa/tests/nvcc")) {
    if (e.path().extension() != ".ptx") continue;
    const Module module = parse_ok(read_file(e.path().string()));
    for (const Function* entry : module.entries()) {
      LoweringOptions options;
      options.max_registers = 255;
      options.address_of = [](const Variable&) { return kDeviceMemoryBase; };
      const auto image = lower_kernel(module, *entry, options);
      const auto* errors = std::get_if<Diagnostics>(&image);
      lowered += errors == nullptr;
      for (size_t i = 0; errors != nullptr && i < errors->size(); ++i)
        EXPECT_THAT((*errors)[i].message, testing::HasSubstr("not supported yet")) << e.path();
    }
  }
  EXPECT_GT(lowered, 0u);
}

TEST(SharedMemory, OfABlockOf1xHasItsParametersToo) {
  // Table 3 of Yuan et al. (2010): three multiplications with their parameters on a machine with 64-bit
  // pointers take 48, 560 and 1156 bytes of shared memory (the third without Volkov's `beta`, with it 1160).
  struct Case {
    const char* parameters;
    uint32_t variables, in_all;
  };
  for (const Case& c :
       {Case{".param .u64 a, .param .u64 b, .param .u64 c, .param .s32 wa, .param .s32 wb", 0, 48},
        Case{".param .u64 a, .param .u64 b, .param .u64 c, .param .s32 wa, .param .s32 wb", 512, 560},
        Case{
            ".param .u64 a, .param .s32 lda, .param .u64 b, .param .s32 ldb, .param .u64 c, .param .s32 ldc, "
            ".param .s32 k, .param .f32 alpha",
            1088, 1156}}) {
    const std::string text =
        fmt::format(".version 2.0\n.target sm_13\n.entry k({}) {{\n{}exit;\n}}\n", c.parameters,
                    c.variables == 0
                        ? ""
                        : fmt::format(".shared .align 4 .b8 tile[{}];\n.reg .u32 %r<2>;\nmov.u32 %r1, tile;\n"
                                      "st.shared.u32 [%r1], %r1;\n",
                                      c.variables));
    LoweringOptions options;
    options.machine_capability = 13;
    const KernelImage image = lower_ok(text, options);
    EXPECT_EQ(image.static_shared_bytes, c.variables);
    EXPECT_EQ(image.static_shared_bytes + image.system_shared_bytes, c.in_all);
    options.machine_capability = 20;
    EXPECT_EQ(lower_ok(text, options).system_shared_bytes, 0u);
  }
}

TEST(Classes, HalfPrecisionArithmeticIsAClassOfItsOwn) {
  const KernelImage image = lower_ok(
      thread_kernel(".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .pred %p<3>; .reg .f32 %f<3>;",
                    "ld.global.b16 %h0, [%in];\nld.global.b32 %r0, [%in+4];\nld.global.f32 %f0, [%in+8];\n"
                    "add.f16 %h1, %h0, %h0;\nfma.rn.f16x2 %r1, %r0, %r0, %r0;\nsetp.lt.f16 %p1, %h1, %h0;\n"
                    "fma.rn.f32 %f1, %f0, %f0, %f0;\n@%p1 st.global.b16 [%out], %h1;\n"
                    "st.global.b32 [%out+4], %r1;\nst.global.f32 [%out+8], %f1;\nret;",
                    "sm_53"),
      level(LoweringLevel::kNone));
  EXPECT_EQ(count_class(image, OpClass::kHalf), 3u);
  EXPECT_EQ(count_class(image, OpClass::kFp32), 1u);
}

TEST(Classes, ReadOnlyLoadsAreKnown) {
  const KernelImage image = lower_ok(
      thread_kernel(".reg .b32 %r<4>;",
                    "ld.global.nc.b32 %r0, [%in];\nld.global.b32 %r1, [%in];\nadd.s32 %r0, %r0, %r1;\n"
                    "st.global.b32 [%out], %r0;\nret;"),
      level(LoweringLevel::kNone));
  std::vector<bool> read_only;
  for (const MicroOp& op : image.ops)
    if (op.op_class == OpClass::kLoadGlobal) read_only.push_back(op.memory.read_only);
  EXPECT_EQ(read_only, (std::vector<bool>{true, false}));
}

class ProgramGenerator {
 public:
  explicit ProgramGenerator(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string body;
    for (int i = 0; i < 8; ++i)
      body += fmt::format("ld.global.b32 %r{0}, [%in+{1}];\nld.global.f32 %f{0}, [%in+{2}];\n", i, 4 * i,
                          32 + 4 * i);
    for (int i = 0; i < 4; ++i) {
      body += fmt::format("cvt.u64.u32 %d{0}, %r{0};\nsetp.lt.s32 %p{0}, %r{0}, %r{1};\n", i, i + 1);
    }
    body += "mov.u32 %n, 0;\nLOOP:\n";
    for (int part = 0; part < 4; ++part) {
      for (int i = 0; i < 12; ++i) body += statement();
      body += fmt::format("@{}%p{} bra SKIP{};\n", pick(2) ? "!" : "", pick(4), part);
      for (int i = 0; i < 6; ++i) body += statement();
      body += fmt::format("SKIP{}:\n", part);
    }
    body += "add.u32 %n, %n, 1;\nsetp.lt.u32 %q, %n, 3;\n@%q bra LOOP;\n";
    for (int i = 0; i < 8; ++i) {
      body += fmt::format("st.global.b32 [%out+{}], %r{};\n", 4 * i, i);
      body += fmt::format("st.global.f32 [%out+{}], %f{};\n", 32 + 4 * i, i);
      if (i < 4) body += fmt::format("st.global.b64 [%out+{}], %d{};\n", 64 + 8 * i, i);
    }
    return thread_kernel(
        ".reg .b32 %r<8>, %n, %c<4>; .reg .f32 %f<8>; .reg .b64 %d<4>, %a; .reg .pred %p<4>, %q; "
        ".local .align 8 .b8 store[64];",
        body + "ret;");
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string r() {
    return pick(6) == 0 ? std::to_string(static_cast<int>(pick(200)) - 100) : fmt::format("%r{}", pick(8));
  }
  std::string f() { return pick(6) == 0 ? "0f40490FDB" : fmt::format("%f{}", pick(8)); }
  std::string statement() {
    const std::string guard = pick(4) == 0 ? fmt::format("@{}%p{} ", pick(2) ? "!" : "", pick(4)) : "";
    const uint32_t d = pick(8), w = pick(4);
    switch (pick(16)) {
      case 0:
        return guard + fmt::format("add.s32 %r{}, {}, {};\n", d, r(), r());
      case 1:
        return guard + fmt::format("mul.lo.s32 %r{}, {}, {};\n", d, r(), r());
      case 2:
        return guard + fmt::format("mad.lo.s32 %r{}, {}, {}, {};\n", d, r(), r(), r());
      case 3:
        return guard + fmt::format("shl.b32 %r{}, {}, {};\n", d, r(), pick(40));
      case 4:
        return guard + fmt::format("mov.u32 %r{}, {};\n", d, r());
      case 5:
        return guard + fmt::format("setp.gt.s32 %p{}, {}, {};\n", w, r(), r());
      case 6:
        return guard + fmt::format("selp.b32 %r{}, {}, {}, %p{};\n", d, r(), r(), w);
      case 7:
        return guard + fmt::format("fma.rn.f32 %f{}, {}, {}, {};\n", d, f(), f(), f());
      case 8:
        return guard + fmt::format("mov.f32 %f{}, {};\n", d, f());
      case 9:
        return guard + fmt::format("cvt.rn.f32.s32 %f{}, %r{};\n", d, pick(8));
      case 10:
        return guard + fmt::format("mul.wide.u32 %d{}, %r{}, %r{};\n", w, pick(8), pick(8));
      case 11:
        return guard + fmt::format("add.s64 %d{}, %d{}, %d{};\n", w, pick(4), pick(4));
      case 12:
        return guard + fmt::format("cvt.u32.u64 %r{}, %d{};\n", d, w);
      case 13:
        return guard + fmt::format("mov.b64 {{%r{}, %c0}}, %d{};\n", d, w);
      case 14:
        return guard + fmt::format("st.local.b32 [store+{}], %r{};\n", 4 * pick(4), pick(8)) +
               fmt::format("mov.u64 %a, store;\nadd.s64 %a, %a, {};\nld.local.b32 %r{}, [%a];\n", 4 * w, d);
      default:
        return guard + fmt::format("xor.pred %p{}, %p{}, !%p{};\n", w, pick(4), pick(4));
    }
  }
  std::mt19937 random_;
};

TEST(RandomPrograms, EveryLoweringGivesTheSameResultsAndCounts) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_everywhere(ProgramGenerator(seed).text(), 40, 14);
    if (HasFailure()) return;
  }
}

// mov.v2 copies element by element, to and from braces too.
TEST(Statements, VectorsMoveElementByElement) {
  const Outcome o =
      run_image(lower_ok(thread_kernel(".reg .v2 .u32 %v, %w; .reg .b32 %a, %b;",
                                       "mov.u32 %v.x, 7; mov.u32 %v.y, 9; mov.v2.u32 %w, %v;\n"
                                       "mov.v2.u32 {%a, %b}, %w;\n"
                                       "st.global.u32 [%out], %a; st.global.u32 [%out+4], %b; ret;"),
                         level(LoweringLevel::kClean)),
                1);
  EXPECT_EQ(o.out.at(0), 7u);
  EXPECT_EQ(o.out.at(1), 9u);
}

// Of several results, which are in registers, one may be a predicate; vectors have elements of any size.
TEST(Statements, FunctionsReturnPredicatesBesidesAndTakeVectors) {
  const Outcome o = run_image(
      lower_ok(
          thread_kernel(
              ".reg .b32 %a; .reg .pred %p; .reg .v2 .u16 %v;",
              "mov.u16 %v.x, 3; mov.u16 %v.y, 4; call (%a, %p), sum, (%v);\n"
              "st.global.u32 [%out], %a; mov.u32 %a, 1; @%p st.global.u32 [%out+4], %a;\n"
              "@!%p st.global.u32 [%out+8], %a; ret;",
              "sm_35",
              ".func (.reg .u32 s, .reg .pred q) sum(.reg .v2 .u16 v) { .reg .u32 %x;\n"
              "cvt.u32.u16 %x, v.x; cvt.u32.u16 s, v.y; add.u32 s, s, %x; setp.eq.u32 q, s, 7; ret; }\n"),
          level(LoweringLevel::kClean)),
      1);
  EXPECT_EQ(o.out.at(0), 7u);
  EXPECT_EQ(o.out.at(1), 1u);
  EXPECT_NE(o.out.at(2), 1u);
}

// What one element of a move overwrites, another may still read.
TEST(Statements, ElementsOfAVectorMoveAtOnce) {
  const Outcome o = run_image(
      lower_ok(thread_kernel(".reg .v2 .u32 %v; .reg .b32 %a, %b, %c, %d; .reg .b64 %e;",
                             "mov.u32 %a, 1; mov.u32 %b, 2; mov.u32 %c, 3; mov.u32 %d, 4;\n"
                             "mov.v4.u32 {%d, %a, %b, %c}, {%a, %b, %c, %d};\n"
                             "mov.v2.u32 %v, {%a, %b}; mov.v2.u32 {%v.y, %v.x}, %v;\n"
                             "mov.b64 %e, %v;\n"
                             "st.global.v4.u32 [%out], {%a, %b, %c, %d}; st.global.b64 [%out+16], %e; ret;"),
               level(LoweringLevel::kClean)),
      1);
  EXPECT_EQ(std::vector<uint32_t>(o.out.begin(), o.out.begin() + 6),
            (std::vector<uint32_t>{2, 3, 4, 1, 3, 2}));
}

}  // namespace
}  // namespace gpusim::isa
