// Passes whose time once grew faster than the code: generated kernels have thousands of blocks, and long
// chains of values.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// CPU seconds to lower a kernel with this body, which stores %r0 and %r1.
double seconds_to_lower_for(std::string_view registers, std::string_view body, int capability) {
  const std::string text = thread_kernel(fmt::format(".reg .b32 %r<16>; {}", registers),
                                         fmt::format("{} st.global.u32 [%out], %r0; st.global.u32 "
                                                     "[%out+4], %r1; ret;",
                                                     body));
  const std::clock_t begin = std::clock();
  (void)lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}
double least_of_two(const auto& seconds, int count) { return std::min(seconds(count), seconds(count)); }

TEST(LoweringGrowth, OfTestsOnSumsOfSums) {
  const auto seconds = [](int depth) {
    std::string body = "ld.global.u32 %r1, [%in]; mov.u32 %r0, 0; mov.u32 %a0, %tid0; mov.u32 %b0, %r1;";
    for (int i = 0; i < depth; ++i)
      body += fmt::format("add.u32 %a{1}, %a{0}, %b{0}; sub.u32 %b{1}, %b{0}, %a{0};", i, i + 1);
    for (int i = 0; i < 300; ++i)
      body += fmt::format("setp.eq.u32 %p, %a{0}, {1}; @%p add.u32 %r0, %r0, {1};", depth, i);
    return seconds_to_lower_for(".reg .b32 %a<32>, %b<32>; .reg .pred %p;",
                                body + "red.global.add.u32 [%in], 1;", 75);
  };
  EXPECT_LT(seconds(16), 4 * least_of_two(seconds, 2));
}

TEST(LoweringGrowth, OfConstantsInManyBlocksBelowEachOther) {
  const auto seconds = [](int count) {
    std::string tests = "mov.u32 %r0, 0; mov.u32 %r1, %ntid.x;", blocks;
    for (int i = 0; i < count; ++i) {
      tests += fmt::format("setp.eq.u32 %p{0}, %tid0, {0}; @%p{0} bra L{0}; ", i);
      blocks += fmt::format(
          "L{0}: mul.lo.u32 %r2, %r1, %tid0; bar.sync 0; add.u32 %r0, %r2, {0}; mul.lo.u32 %r0, %r0, %r1; "
          "bra END; ",
          i);
    }
    return seconds_to_lower_for(fmt::format(".reg .pred %p<{}>;", count),
                                tests + "bra END; " + blocks + "END:", 90);
  };
  EXPECT_LT(seconds(2000), 20 * least_of_two(seconds, 400)) << "25 would be quadratic, 125 cubic";
}

TEST(LoweringGrowth, OfAChainThatUniformRegistersCouldHold) {
  const auto seconds = [](int count) {
    std::string body = "mov.u32 %r1, 0; mov.u32 %r2, %ntid.x; add.u32 %x0, %r2, 1;";
    for (int i = 0; i < count; ++i)
      body += fmt::format("{} %x{}, %x{}, {};", i % 2 == 0 ? "xor.b32" : "mul.lo.u32", i + 1, i, 2 * i + 5);
    return seconds_to_lower_for(fmt::format(".reg .b32 %x<{}>;", count + 1),
                                body + fmt::format("mov.u32 %r0, %x{};", count), 90);
  };
  EXPECT_LT(seconds(10000), 30 * least_of_two(seconds, 1000)) << "100 would be quadratic";
}

TEST(LoweringGrowth, OfFunctionsThatInliningWouldRepeat) {
  // All of them get code of their own, one after another, and the code is too large even then.
  const auto seconds = [](int count) {
    std::string functions, calls;
    for (int i = 0; i < count; ++i) {
      functions += fmt::format(".func f{}() {{ .reg .b32 %r; mov.u32 %r, 0;", i);
      for (int k = 0; k < 110'000 / count; ++k) functions += "add.u32 %r, %r, 1;";
      functions += " ret; }\n";
      calls += fmt::format("call f{0}; call f{0};", i);
    }
    const std::string text = thread_kernel("", calls + "ret;", "sm_75", functions);
    const std::clock_t begin = std::clock();
    (void)lower_ok(text, level(LoweringLevel::kNone, 0, 75));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(4000), 12 * least_of_two(seconds, 500));
}

}  // namespace
}  // namespace gpusim::isa
