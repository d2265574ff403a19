#include "components/cache/tag_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace gpusim::comp {
namespace {

TEST(SetIndex, FermiAgreesWithWhatStridedLoadsFound) {
  std::ifstream file(GPUSIM_SOURCE_DIR "/components/cache/fermi_set_index.csv");
  const SetIndex small(SetIndexKind::kFermi, 32), large(SetIndexKind::kFermi, 64);
  std::string text;
  ASSERT_TRUE(std::getline(file, text));
  int rows = 0;
  for (; std::getline(file, text); ++rows) {
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream fields(text);
    uint64_t address = 0, line = 0;
    uint32_t set32 = 0, set64 = 0;
    ASSERT_TRUE(fields >> address >> line >> set32 >> set64) << text;
    EXPECT_EQ(small(line), set32) << text;
    EXPECT_EQ(large(line), set64) << text;
  }
  EXPECT_EQ(rows, 407);
}

TEST(SetIndex, MostSetsAreThoseThatItReaches) {
  for (const SetIndexKind kind : {SetIndexKind::kModulo, SetIndexKind::kXor, SetIndexKind::kFermi}) {
    for (const uint64_t sets : {1, 3, 32, 63, 64, 65, 96, 128}) {
      const SetIndex index(kind, sets);
      std::set<uint32_t> reached;
      for (uint64_t line = 0; line < 1 << 14; ++line) reached.insert(index(line));
      EXPECT_EQ(reached.size(), std::min(sets, core::most_sets(kind)));
    }
  }
}

TEST(SetIndex, ModuloTakesLowBitsAndXorAllOfThem) {
  const SetIndex modulo(SetIndexKind::kModulo, 48), folded(SetIndexKind::kXor, 64);
  EXPECT_EQ(modulo(48 * 7 + 5), 5u);
  EXPECT_EQ(folded(0b101010'000111'110000), 0b101010u ^ 0b000111u ^ 0b110000u);
  // Lines a power of two apart meet in one set of the first kind and in all of the second.
  std::vector<bool> seen(64);
  for (uint64_t i = 0; i < 64; ++i) seen[folded(i * 4096)] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 64);
  EXPECT_EQ(SetIndex(SetIndexKind::kXor, 1)(12345), 0u);
}

CacheShape shape(uint32_t ways, const std::string& replacement, uint32_t sets = 4) {
  return {uint64_t{128} * ways * sets, 128, 32, ways, SetIndexKind::kModulo, replacement};
}

TEST(TagArray, SectorsOfAnAccess) {
  const TagArray tags(shape(2, "lru"));
  EXPECT_EQ(tags.all_sectors(), 0xfu);
  EXPECT_EQ(tags.sectors_of(0, 128), 0xfu);
  EXPECT_EQ(tags.sectors_of(256 + 31, 1), 1u);
  EXPECT_EQ(tags.sectors_of(256 + 31, 2), 3u);
  EXPECT_EQ(tags.sectors_of(96, 32), 8u);
  EXPECT_EQ(TagArray({4096, 128, 128, 4}).all_sectors(), 1u);
  EXPECT_EQ(TagArray({4096, 1024, 32, 1}).all_sectors(), ~0u);
}

/// Installs a line with all sectors, as after a miss.
void bring(TagArray& tags, uint64_t line) {
  const TagArray::Allocation a = tags.allocate(line);
  ASSERT_NE(a.frame, TagArray::kNoFrame);
  tags.fill(a.frame, tags.all_sectors());
}

/// Uses a random sequence of lines and compares hits with lists of lines per set.
void compare_with_lists(const std::string& kind, bool use_moves) {
  TagArray tags(shape(3, kind, 5));
  std::map<uint64_t, std::deque<uint64_t>> sets;
  std::mt19937 random(7);
  int hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t line = random() % 30;
    std::deque<uint64_t>& set = sets[line % 5];
    const auto at = std::find(set.begin(), set.end(), line);
    const uint32_t frame = tags.find(line);
    ASSERT_EQ(frame != TagArray::kNoFrame, at != set.end()) << i;
    if (at != set.end()) {
      ++hits;
      tags.touch(frame);
      if (use_moves) {
        set.erase(at);
        set.push_back(line);
      }
      continue;
    }
    bring(tags, line);
    if (set.size() == 3) set.pop_front();
    set.push_back(line);
  }
  EXPECT_GT(hits, 5000);
}

TEST(TagArray, LruIsAListThatUsesReorder) { compare_with_lists("lru", true); }
TEST(TagArray, FifoIsAListThatUsesDoNotReorder) { compare_with_lists("fifo", false); }

TEST(TagArray, TreePlruOfFourWaysByHand) {
  TagArray tags(shape(4, "plru", 1));
  for (uint64_t line = 0; line < 4; ++line) bring(tags, line);
  // Last used: 3. The root points left, the left node to 0.
  bring(tags, 10);
  EXPECT_EQ(tags.find(0), TagArray::kNoFrame);
  // Now the root points right, where 3 was used last.
  bring(tags, 11);
  EXPECT_EQ(tags.find(2), TagArray::kNoFrame);
  tags.touch(tags.find(1));
  tags.touch(tags.find(3));
  bring(tags, 12);
  EXPECT_EQ(tags.find(10), TagArray::kNoFrame);
}

TEST(TagArray, TreePlruNeverPicksTheLastUseOrAWayThatIsNotThere) {
  for (const uint32_t ways : {2u, 3u, 5u, 6u, 16u}) {
    TagArray tags(shape(ways, "plru", 1));
    for (uint64_t line = 0; line < ways; ++line) bring(tags, line);
    std::mt19937 random(ways);
    std::vector<bool> replaced(ways);
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint32_t used = random() % ways;
      tags.touch(used);
      const uint32_t frame = tags.allocate(1000 + i).frame;
      ASSERT_LT(frame, ways);
      ASSERT_NE(frame, used);
      replaced[frame] = true;
    }
    EXPECT_EQ(std::count(replaced.begin(), replaced.end(), true), ways);
  }
}

TEST(TagArray, RandomReplacesAllWaysEquallyAndRepeatsItself) {
  TagArray tags(shape(4, "random", 1)), same(shape(4, "random", 1));
  std::array<int, 4> count{};
  for (uint64_t line = 0; line < 8000; ++line) {
    const uint32_t frame = tags.allocate(line).frame;
    ASSERT_EQ(frame, same.allocate(line).frame);
    ++count[frame];
  }
  for (const int n : count) EXPECT_NEAR(n, 2000, 200);
}

TEST(TagArray, PendingLinesStayAndAFullSetIsRefused) {
  for (const char* const kind : {"lru", "plru", "fifo", "random"}) {
    TagArray tags(shape(3, kind, 1));
    for (uint64_t line = 0; line < 3; ++line) tags.reserve(tags.allocate(line).frame, 1);
    EXPECT_EQ(tags.allocate(9).frame, TagArray::kNoFrame);
    tags.fill(tags.find(1), 1);
    EXPECT_EQ(tags.allocate(9).frame, 1u);
    EXPECT_EQ(tags.find(1), TagArray::kNoFrame);
    EXPECT_NE(tags.find(0), TagArray::kNoFrame);
  }
}

TEST(TagArray, ReplacementIsFoundByItsName) {
  EXPECT_THROW(TagArray(shape(2, "lur")), std::invalid_argument);
}

TEST(TagArray, EvictionHandsOutDirtySectors) {
  TagArray tags(shape(1, "lru", 2));
  bring(tags, 4);
  EXPECT_FALSE(tags.allocate(5).replaced) << "an empty set";
  const TagArray::Allocation clean = tags.allocate(6);
  EXPECT_TRUE(clean.replaced);
  EXPECT_EQ(clean.evicted, 4u);
  EXPECT_EQ(clean.dirty, 0u);
  tags.write(tags.find(6), 0b0110);
  EXPECT_EQ(tags.frame(tags.find(6)).valid, 0b0110u);
  const TagArray::Allocation a = tags.allocate(8);
  EXPECT_EQ(a.evicted, 6u);
  EXPECT_EQ(a.dirty, 0b0110u);
  EXPECT_EQ(tags.frame(a.frame).valid, 0u);
}

TEST(TagArray, InvalidationKeepsWhatIsOnItsWay) {
  TagArray tags(shape(2, "lru", 1));
  bring(tags, 1);
  const uint32_t frame = tags.allocate(2).frame;
  tags.fill(frame, 1);
  tags.reserve(frame, 2);
  tags.invalidate_all();
  EXPECT_EQ(tags.find(1), TagArray::kNoFrame);
  EXPECT_EQ(tags.find(2), frame);
  EXPECT_EQ(tags.frame(frame).valid, 0u);
  tags.fill(frame, 2);
  tags.invalidate(frame, 2);
  EXPECT_EQ(tags.find(2), TagArray::kNoFrame);
}

}  // namespace
}  // namespace gpusim::comp
