#include "components/cache/mshr_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gpusim::comp {
namespace {

std::vector<uint32_t> filled(MshrTable& table, uint32_t entry, SectorMask sectors, bool& freed) {
  std::vector<uint32_t> woken;
  freed = table.fill(entry, sectors, [&](uint32_t who) { woken.push_back(who); });
  return woken;
}

TEST(MshrTable, WaitersGoWhenAllTheirSectorsHaveCome) {
  MshrTable table({2, 3, 0, 0});
  const uint32_t e = table.allocate(77, 0, 100, 0b0011);
  EXPECT_EQ(table.find(77), e);
  EXPECT_EQ(table.find(78), MshrTable::kNoEntry);
  EXPECT_EQ(table.merge(e, 101, 0b0010), 0u) << "asked for already";
  EXPECT_EQ(table.merge(e, 102, 0b0110), 0b0100u);
  bool freed = true;
  EXPECT_EQ(filled(table, e, 0b0010, freed), (std::vector<uint32_t>{101}));
  EXPECT_FALSE(freed);
  EXPECT_EQ(filled(table, e, 0b0100, freed), (std::vector<uint32_t>{102}));
  EXPECT_EQ(filled(table, e, 0b0001, freed), (std::vector<uint32_t>{100}));
  EXPECT_TRUE(freed);
  EXPECT_EQ(table.in_use(), 0u);
  EXPECT_EQ(table.find(77), MshrTable::kNoEntry);
}

TEST(MshrTable, EachLimitIsNamed) {
  MshrTable table({3, 2, 2, 4});
  EXPECT_EQ(table.can_allocate(1), MshrRefusal::kNone);
  const uint32_t e = table.allocate(1, 1, 0, 1);
  table.allocate(2, 1, 1, 1);
  EXPECT_EQ(table.can_allocate(1), MshrRefusal::kWarp);
  EXPECT_EQ(table.can_allocate(2), MshrRefusal::kNone);
  EXPECT_EQ(table.can_merge(e), MshrRefusal::kNone);
  table.merge(e, 2, 1);
  EXPECT_EQ(table.can_merge(e), MshrRefusal::kMerges);
  table.allocate(3, 2, 3, 1);
  EXPECT_TRUE(table.full());
  EXPECT_EQ(table.can_allocate(2), MshrRefusal::kEntries);
  bool freed = false;
  EXPECT_EQ(filled(table, e, 1, freed).size(), 2u);
  EXPECT_EQ(table.can_allocate(1), MshrRefusal::kNone) << "the warp's entry is free again";
}

/// Entries come and go at random; the table agrees with a map.
TEST(MshrTable, FindsEveryLineAfterAnyHistory) {
  MshrTable table({13, 1, 0, 0});
  std::map<uint64_t, uint32_t> lines;
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 50000; ++i) {
    const uint64_t line = random() % 40 * (i % 2 == 0 ? 1 : 1 << 20);
    const auto at = lines.find(line);
    ASSERT_EQ(table.find(line), at == lines.end() ? MshrTable::kNoEntry : at->second);
    if (at != lines.end()) {
      bool freed = false;
      EXPECT_EQ(filled(table, at->second, 1, freed).size(), 1u);
      ASSERT_TRUE(freed);
      lines.erase(at);
    } else if (!table.full()) {
      lines[line] = table.allocate(line, 0, i, 1);
    }
    ASSERT_EQ(table.in_use(), lines.size());
  }
}

}  // namespace
}  // namespace gpusim::comp
