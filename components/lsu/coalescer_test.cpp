// Coalescer against a second implementation written from the text of the CUDA C Programming Guide, and
// against transaction lists worked out by hand.
#include "components/lsu/coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace gpusim::comp {
namespace {

using Sizes = std::vector<std::pair<uint64_t, uint32_t>>;

isa::MemoryAccess access_of(uint16_t bytes, uint32_t lanes, const std::function<uint64_t(int)>& address) {
  isa::MemoryAccess access{};
  access.bytes = bytes;
  access.lanes = isa::LaneMask(lanes);
  for (int lane = 0; lane < isa::kWarpSize; ++lane) access.address[lane] = address(lane);
  return access;
}

Sizes transactions(CoalescingRule rule, const isa::MemoryAccess& access) {
  TransactionList list;
  coalesce(rule, access, list);
  Sizes sizes;
  for (uint32_t i = 0; i < list.count; ++i) sizes.emplace_back(list.items[i].address, list.items[i].bytes);
  return sizes;
}

/// The guide's steps for 1.2 and 1.3, with sets of bytes instead of bounds: find the segment of the
/// lowest-numbered active thread, find the threads in it, reduce 128 to 64 and 64 to 32 if only one half is
/// used, carry out, repeat.
Sizes guide_cc12(const isa::MemoryAccess& access) {
  Sizes result;
  for (int half = 0; half < 2; ++half) {
    std::map<int, uint64_t> waiting;
    for (int lane = half * 16; lane < half * 16 + 16; ++lane)
      if (access.lanes.test(lane)) waiting[lane] = access.address[lane];
    while (!waiting.empty()) {
      uint64_t size = access.bytes == 1 ? 32 : access.bytes == 2 ? 64 : 128;
      uint64_t base = waiting.begin()->second / size * size;
      std::set<uint64_t> bytes;
      for (auto it = waiting.begin(); it != waiting.end();) {
        if (it->second / size * size != base) {
          ++it;
          continue;
        }
        for (uint64_t b = 0; b < access.bytes; ++b) bytes.insert(it->second + b);
        it = waiting.erase(it);
      }
      for (int reductions = 0; reductions < 2 && size > 32; ++reductions) {
        const uint64_t middle = base + size / 2;
        const bool lower = std::any_of(bytes.begin(), bytes.end(), [&](uint64_t b) { return b < middle; });
        const bool upper = std::any_of(bytes.begin(), bytes.end(), [&](uint64_t b) { return b >= middle; });
        if (lower && upper) break;
        size /= 2;
        if (upper) base = middle;
      }
      result.emplace_back(base, static_cast<uint32_t>(size));
    }
  }
  return result;
}

/// The guide's condition for 1.0 and 1.1: 4-, 8- or 16-byte words, the k-th thread accesses the k-th word of
/// an aligned segment of 64, 128 or 2 x 128 bytes; else one 32-byte transaction a thread.
Sizes guide_cc10(const isa::MemoryAccess& access) {
  Sizes result;
  for (int half = 0; half < 2; ++half) {
    bool any = false, fits = access.bytes >= 4;
    std::set<uint64_t> segments;
    const uint64_t segment = uint64_t{16} * access.bytes;
    for (int k = 0; k < 16; ++k) {
      const int lane = half * 16 + k;
      if (!access.lanes.test(lane)) continue;
      any = true;
      const uint64_t a = access.address[lane];
      segments.insert(a / segment);
      fits = fits && a % segment == static_cast<uint64_t>(k) * access.bytes;
    }
    if (!any) continue;
    if (fits && segments.size() == 1) {
      const uint64_t base = *segments.begin() * segment;
      result.emplace_back(base, static_cast<uint32_t>(std::min<uint64_t>(segment, 128)));
      if (segment == 256) result.emplace_back(base + 128, 128);
      continue;
    }
    for (int k = 0; k < 16; ++k)
      if (access.lanes.test(half * 16 + k)) result.emplace_back(access.address[half * 16 + k] / 32 * 32, 32);
  }
  return result;
}

TEST(Coalescer, FullWarpOfWordsTakesOneSegmentAHalfWarp) {
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(4, ~0u, [](int l) { return 0x1000u + 4u * l; })),
            (Sizes{{0x1000, 64}, {0x1040, 64}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(8, ~0u, [](int l) { return 0x1000u + 8u * l; })),
            (Sizes{{0x1000, 128}, {0x1080, 128}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(16, ~0u, [](int l) { return 0x1000u + 16u * l; })),
            (Sizes{{0x1000, 128}, {0x1080, 128}, {0x1100, 128}, {0x1180, 128}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(1, ~0u, [](int l) { return 0x1000u + l; })),
            (Sizes{{0x1000, 32}, {0x1000, 32}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(2, ~0u, [](int l) { return 0x1000u + 2u * l; })),
            (Sizes{{0x1000, 32}, {0x1020, 32}}));
}

TEST(Coalescer, MisalignedWordsSpillIntoASmallTransaction) {
  // 16 words from 0x1004 lie in one 128-byte segment but in both its halves; the second half-warp ends in the
  // next segment.
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(4, ~0u, [](int l) { return 0x1004u + 4u * l; })),
            (Sizes{{0x1000, 128}, {0x1040, 64}, {0x1080, 32}}));
  // On 1.0 every thread goes alone.
  EXPECT_EQ(
      transactions(CoalescingRule::kCc10, access_of(4, ~0u, [](int l) { return 0x1004u + 4u * l; })).size(),
      32u);
}

TEST(Coalescer, BroadcastIsOneSmallTransaction) {
  EXPECT_EQ(transactions(CoalescingRule::kCc12, access_of(4, 0xffff, [](int) { return 0x1234u; })),
            (Sizes{{0x1220, 32}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc10, access_of(4, 0xffff, [](int) { return 0x1234u; })).size(),
            16u);
}

TEST(Coalescer, PermutationIsFreeOn12AndSerialOn10) {
  const auto permuted = access_of(4, 0xffff, [](int l) { return 0x2000u + 4u * ((l * 5) % 16); });
  EXPECT_EQ(transactions(CoalescingRule::kCc12, permuted), (Sizes{{0x2000, 64}}));
  EXPECT_EQ(transactions(CoalescingRule::kCc10, permuted).size(), 16u);
}

TEST(Coalescer, InactiveLanesDoNotBreakThe10Pattern) {
  EXPECT_EQ(transactions(CoalescingRule::kCc10, access_of(4, 0x8421, [](int l) { return 0x2000u + 4u * l; })),
            (Sizes{{0x2000, 64}}));
  EXPECT_EQ(
      transactions(CoalescingRule::kCc10, access_of(16, 0x8000, [](int l) { return 0x2000u + 16u * l; })),
      (Sizes{{0x2000, 128}, {0x2080, 128}}));
}

TEST(Coalescer, NoActiveLaneNoTransaction) {
  EXPECT_TRUE(transactions(CoalescingRule::kCc12, access_of(4, 0, [](int) { return 0u; })).empty());
}

class CoalescerProperty : public testing::TestWithParam<uint16_t> {};

TEST_P(CoalescerProperty, AgreesWithTheGuide) {
  const uint16_t bytes = GetParam();
  std::mt19937_64 random(bytes);
  for (int round = 0; round < 4000; ++round) {
    const uint64_t base = 0x1000'0000 + random() % 64 * bytes;
    const uint64_t stride = random() % 40;
    const uint64_t spread = uint64_t{1} << (random() % 12);
    const auto pattern = random() % 4;
    const auto mask = static_cast<uint32_t>(random() % 3 == 0   ? random()
                                            : random() % 2 == 0 ? ~0u
                                                                : random() & random());
    const auto access = access_of(bytes, mask, [&](int lane) -> uint64_t {
      const auto l = static_cast<uint64_t>(lane);
      switch (pattern) {
        case 0:
          return base + l * bytes;
        case 1:
          return base + l * stride * bytes;
        case 2:
          return base + random() % spread * bytes;
        default:
          return base + (l * 7 % 32) * bytes;
      }
    });
    ASSERT_EQ(transactions(CoalescingRule::kCc12, access), guide_cc12(access)) << "round " << round;
    ASSERT_EQ(transactions(CoalescingRule::kCc10, access), guide_cc10(access)) << "round " << round;
  }
}
INSTANTIATE_TEST_SUITE_P(WordSizes, CoalescerProperty, testing::Values(1, 2, 4, 8, 16));

TEST(CoalescerAtomics, BeforeCc20OperationsAreTheBusiestWordOfEachTransaction) {
  // Lanes 0-15: five of them on word 0, the others apart; lanes 16-31: all on one word of another segment.
  const auto access = access_of(4, ~0u, [](int l) -> uint64_t {
    return l < 5 ? 0x1000 : l < 16 ? 0x1000 + 4 * l : 0x2000;
  });
  TransactionList list;
  coalesce(CoalescingRule::kCc12, access, list);
  count_atomic_operations(CoalescingRule::kCc12, access, list);
  ASSERT_EQ(list.count, 2u);
  EXPECT_EQ(list.items[0].operations, 5);
  EXPECT_EQ(list.items[1].operations, 16);
}

TEST(CoalescerAtomics, FromCc20OnEachSectorTakesTheLanesOfItsBusiestWord) {
  const auto access = access_of(4, ~0u, [](int l) -> uint64_t {
    return l < 5 ? 0x1000 : l < 16 ? 0x1000 + 4 * l : 0x2000;
  });
  TransactionList list;
  coalesce(CoalescingRule::kCc20, access, list);
  count_atomic_operations(CoalescingRule::kCc20, access, list);
  ASSERT_EQ(list.count, 2u);
  EXPECT_EQ(list.items[0].operations, 5 + 1) << "words 0 (five lanes), 5 to 7; words 8 to 15";
  EXPECT_EQ(list.items[1].operations, 16);
}

TEST(CoalescerAtomics, EveryUpdateIsCountedInOneTransactionOnly) {
  // Both half-warps update one word: each half-warp is a transaction of its own, with its own 16 updates.
  const auto access = access_of(4, ~0u, [](int) { return 0x1000u; });
  TransactionList list;
  coalesce(CoalescingRule::kCc12, access, list);
  count_atomic_operations(CoalescingRule::kCc12, access, list);
  ASSERT_EQ(list.count, 2u);
  EXPECT_EQ(list.items[0].operations + list.items[1].operations, 32);
}

/// From 2.0 on: the sectors of each line, found byte by byte.
TEST(CoalescerCc20, AtomicsAreSplitIntoRunsOfSectors) {
  // Words 0 to 3 of sectors 0, 1, 3 and 5 of a line of 256 bytes, four lanes each; then sector 7 alone.
  constexpr uint64_t kSectors[] = {0, 3, 1, 5, 7, 7, 7, 7};
  const isa::MemoryAccess access = access_of(4, ~0u, [&](int lane) {
    return 0x1000 + 32 * kSectors[lane / 4] + 4 * static_cast<uint64_t>(lane % 4);
  });
  TransactionList list;
  coalesce(CoalescingRule::kCc20, access, list, 256);
  ASSERT_EQ(list.count, 1u);
  split_into_runs(access, list);
  ASSERT_EQ(list.count, 4u);
  const std::pair<uint8_t, uint32_t> expected[] = {
      {0b11, 0x00000f0fu}, {0b1000, 0xf0u}, {0b100000, 0xf000u}, {0b10000000, 0xffff0000u}};
  for (uint32_t t = 0; t < 4; ++t) {
    EXPECT_EQ(list.items[t].address, 0x1000u);
    EXPECT_EQ(list.items[t].sectors, expected[t].first);
    EXPECT_EQ(list.items[t].lanes, expected[t].second);
    EXPECT_EQ(list.items[t].bytes, 32 * std::popcount(expected[t].first));
  }
}

TEST(CoalescerCc20, LinesAndSectorsOfRandomAccesses) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 3000; ++i) {
    const uint16_t word = static_cast<uint16_t>(1 << random() % 5);
    const uint32_t line = 32u << random() % 4;
    const uint64_t range = uint64_t{word} << random() % 9;
    const isa::MemoryAccess access = access_of(word, static_cast<uint32_t>(random()),
                                               [&](int) { return 0x1000 + random() % range / word * word; });
    std::map<std::pair<int, uint64_t>, uint32_t> sectors, lanes;  // by group of lanes and line
    const int group = word <= 4 ? 32 : word == 8 ? 16 : 8;
    for (int lane = 0; lane < 32; ++lane) {
      if (!access.lanes.test(lane)) continue;
      const uint64_t a = access.address[lane];
      const std::pair key{lane / group, a / line};
      lanes[key] |= uint32_t{1} << lane;
      for (uint64_t b = a; b < a + word; ++b) sectors[key] |= uint32_t{1} << b % line / 32;
    }
    TransactionList list;
    coalesce(CoalescingRule::kCc20, access, list, line);
    ASSERT_EQ(list.count, lanes.size());
    for (uint32_t t = 0; t < list.count; ++t) {
      const Transaction& item = list.items[t];
      const std::pair key{std::countr_zero(item.lanes) / group, item.address / line};
      EXPECT_EQ(item.address % line, 0u);
      EXPECT_EQ(item.lanes, lanes[key]);
      EXPECT_EQ(item.sectors, sectors[key]);
      EXPECT_EQ(item.bytes, 32 * std::popcount(sectors[key]));
    }
  }
}

}  // namespace
}  // namespace gpusim::comp
