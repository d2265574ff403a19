#include "simcore/stats/stats.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

TEST(Stats, ReadsMembersWhenAsked) {
  uint64_t hits = 0, misses = 2;
  double energy = 1.5;
  Stats root("gpu");
  Stats& l1 = root.group("sm0").group("l1");
  l1.add("hits", "accesses", "look-ups that hit", hits);
  l1.add("misses", "accesses", "look-ups that missed", misses);
  l1.add_derived("hit_rate", "1", "hits per look-up",
                 [&] { return static_cast<double>(hits) / static_cast<double>(hits + misses); });
  root.add("energy", "J", "total", energy);
  hits = 6;
  const auto all = root.read();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "gpu.energy");
  EXPECT_EQ(all[1].name, "gpu.sm0.l1.hits");
  EXPECT_EQ(all[1].value, 6);
  EXPECT_EQ(all[1].unit, "accesses");
  EXPECT_EQ(all[3].value, 0.75);
}

TEST(Stats, TotalsAddUpEqualNames) {
  uint64_t a = 3, b = 4;
  Stats root;
  root.group("sm0").group("l1").add("hits", "accesses", "hits", a);
  root.group("sm1").group("l1").add("hits", "accesses", "hits", b);
  root.group("sm1").add_derived("rate", "1", "", [] { return 1.0; });
  const auto totals = root.totals();
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].name, "l1.hits");
  EXPECT_EQ(totals[0].value, 7);
  EXPECT_EQ(&root.group("sm0"), &root.group("sm0"));
}

}  // namespace
}  // namespace gpusim::core
