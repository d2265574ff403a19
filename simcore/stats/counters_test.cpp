#include "simcore/stats/counters.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

bool has_l1(const MachineConfig& machine) { return machine.l1.bytes != 0; }

#define TEST_COUNTERS(COUNTER)                                              \
  COUNTER(hits, "cache_hit", "1", "look-ups that hit", {.present = has_l1}) \
  COUNTER(waited, "cache_wait", "core cycles", "waited")                    \
  COUNTER(bytes, "", "bytes", "for a rate only")                            \
  COUNTER(longest, "longest_wait", "core cycles", "of all", {.sum = CounterSum::kMost})
struct TestCounters {
  GPUSIM_COUNTERS(TestCounters, TEST_COUNTERS)
};

TestCounters counts(uint64_t hits, uint64_t waited, uint64_t bytes, uint64_t longest) {
  TestCounters c;
  c.hits = hits, c.waited = waited, c.bytes = bytes, c.longest = longest;
  return c;
}

TEST(Counters, AddUpOrKeepTheGreatest) {
  TestCounters sum = counts(1, 2, 3, 9);
  add(sum, counts(10, 20, 30, 4));
  EXPECT_EQ(sum.hits, 11u);
  EXPECT_EQ(sum.waited, 22u);
  EXPECT_EQ(sum.bytes, 33u);
  EXPECT_EQ(sum.longest, 9u);
}

TEST(Counters, DifferenceIsOfTheTimeBetween) {
  const TestCounters d = difference(counts(10, 20, 30, 9), counts(1, 2, 3, 7));
  EXPECT_EQ(d.hits, 9u);
  EXPECT_EQ(d.waited, 18u);
  EXPECT_EQ(d.bytes, 27u);
  EXPECT_EQ(d.longest, 9u);
}

TEST(Counters, ReportNamesWhatTheMachineHas) {
  MachineConfig machine;
  machine.l1.bytes = 0;
  std::vector<Counter> out;
  report(out, counts(1, 2, 3, 4), machine);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].name, "cache_wait");
  EXPECT_EQ(out[0].value, 2);
  EXPECT_EQ(out[0].unit, "core cycles");
  EXPECT_EQ(out[1].name, "longest_wait");
  machine.l1.bytes = 16384;
  out.clear();
  report(out, counts(1, 2, 3, 4), machine);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].name, "cache_hit");
}

}  // namespace
}  // namespace gpusim::core
