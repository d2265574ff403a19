// The time that lowering takes: a program must not seem to hang. Four times the code takes about four times
// as long, and sixteen times as long where a pass looks at everything for each thing.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <string>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

std::string kernel_of(int variables, const std::string& body) {
  return thread_kernel(fmt::format(".reg .b32 %v<{}>; .reg .b32 %r<8>; .reg .pred %p<8>;", variables),
                       body + "st.global.u32 [%out], %r1;\nret;");
}

/// CPU seconds.
double seconds_to_lower(const std::string& text) {
  const Module module = parse_ok(text);
  const std::clock_t start = std::clock();
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, 80);
  std::map<std::string, uint64_t> addresses;
  options.address_of = [&](const Variable& v) {
    return addresses.try_emplace(v.name, kDeviceMemoryBase + 4096 * addresses.size()).first->second;
  };
  const auto lowered = lower_kernel(module, *module.entries().at(0), options);
  const std::clock_t end = std::clock();
  EXPECT_TRUE(std::holds_alternative<KernelImage>(lowered));
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

/// `kernel(n)`: with n times something.
void expect_no_square(const std::function<std::string(int)>& kernel, int n) {
  constexpr double kMost = 10;
  const std::string once = kernel(n);
  seconds_to_lower(once);  // warms up
  const double small = std::min(seconds_to_lower(once), seconds_to_lower(once));
  EXPECT_LT(seconds_to_lower(kernel(4 * n)), kMost * small);
}

/// Blocks that stand in the reverse order of the one they are executed in, and values that live over some.
std::string reversed_blocks(int n) {
  std::string body = "mov.u32 %r1, %tid0;\nbra B0;\n";
  for (int i = n; i-- > 0;)
    body += fmt::format("B{0}:\nadd.s32 %v{0}, %r1, {0};\nst.global.u32 [%out+{1}], %v{2};\nbra {3};\n", i,
                        4 * i, std::max(i - 5, 0), i + 1 < n ? fmt::format("B{}", i + 1) : "E");
  return kernel_of(n, body + "E:\n");
}
TEST(LoweringTime, GrowsAsBlocksInReverseOrderDo) { expect_no_square(reversed_blocks, 500); }

/// Values that both ways of a condition write, all of which could be next.
std::string values_of_both_ways(int n) {
  std::string body = "mov.u32 %r1, %tid0;\nsetp.eq.s32 %p1, %r1, 7;\n", sum;
  for (int i = 0; i < n; ++i) {
    body += fmt::format("@%p1 add.s32 %v{0}, %r1, {0};\n@!%p1 add.s32 %v{0}, %r1, {1};\n", i, i + 3);
    sum += fmt::format("xor.b32 %r1, %r1, %v{};\n", i);
  }
  return kernel_of(n, body + sum);
}
TEST(LoweringTime, GrowsAsValuesOfBothWaysDo) { expect_no_square(values_of_both_ways, 1000); }

std::string nested_loops(int n) {
  std::string begin = "mov.u32 %r1, %tid0;\nld.global.u32 %r2, [%in];\n", end = "add.s32 %r1, %r1, 1;\n";
  for (int i = 0; i < n; ++i) begin += fmt::format("mov.u32 %v{0}, 0;\nL{0}:\n", i);
  for (int i = n; i-- > 0;)
    end += fmt::format("add.s32 %v{0}, %v{0}, 1;\nsetp.lt.u32 %p1, %v{0}, %r2;\n@%p1 bra L{0};\n", i);
  return kernel_of(n, begin + end);
}
TEST(LoweringTime, GrowsAsNestedLoopsDo) { expect_no_square(nested_loops, 500); }

/// Branches of which each may lead back to a hundred blocks.
std::string branches_of_a_table(int n) {
  std::string table = "ts: .branchtargets T0", body = "mov.u32 %r1, %tid0;\n";
  for (int i = 0; i < 100; ++i) {
    if (i > 0) table += fmt::format(", T{}", i);
    body += fmt::format("T{0}:\nadd.s32 %r1, %r1, {0};\n", i);
  }
  for (int i = 0; i < n; ++i)
    body += fmt::format("st.global.u32 [%out+{0}], %r1;\nsetp.eq.s32 %p1, %r1, {1};\n@%p1 brx.idx %r1, ts;\n",
                        4 * i, i);
  return kernel_of(1, table + ";\n" + body);
}
TEST(LoweringTime, GrowsAsBranchesOfATableDo) { expect_no_square(branches_of_a_table, 150); }

/// Stores through two pointers, each of which may touch what the other's did.
std::string stores_through_two_pointers(int n) {
  std::string body = "mov.u32 %r1, %tid0;\n";
  for (int i = 0; i < n; ++i)
    body += fmt::format("st.global.u32 [%{}+{}], %r1;\n", i % 2 == 0 ? "in" : "out", 4 * i);
  return kernel_of(1, body);
}
TEST(LoweringTime, GrowsAsStoresThroughTwoPointersDo) { expect_no_square(stores_through_two_pointers, 3000); }

/// Addresses that may be those of more and more variables.
std::string addresses_of_variables(int n) {
  std::string variables, body = "mov.u64 %d0, %in;\nld.global.u32 %r1, [%in];\n";
  for (int i = 0; i < n; ++i) {
    variables += fmt::format(".global .align 4 .b8 g{}[4096];\n", i);
    body += fmt::format(
        "mov.u64 %e, g{0};\nadd.s64 %e, %e, %off;\nsetp.eq.s32 %p, %r1, {0};\n"
        "selp.b64 %d{1}, %d{0}, %e, %p;\nst.global.u32 [%d{1}], %r1;\nld.global.u32 %r2, [%d{1}+4];\n"
        "add.s32 %r1, %r1, %r2;\n",
        i, i + 1);
  }
  return thread_kernel(fmt::format(".reg .b64 %d<{}>, %e; .reg .b32 %r<3>; .reg .pred %p;", n + 1),
                       body + "ret;", "sm_35", variables);
}
TEST(LoweringTime, GrowsAsAddressesOfVariablesDo) { expect_no_square(addresses_of_variables, 250); }

}  // namespace
}  // namespace gpusim::isa
