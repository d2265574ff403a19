#include "simcore/bits.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpusim::core {

static std::vector<uint32_t> positions(uint64_t word) {
  std::vector<uint32_t> found;
  for (const uint32_t b : Bits(word)) found.push_back(b);
  return found;
}

TEST(Bits, AreTheSetPositionsLowestFirst) {
  EXPECT_EQ(positions(0), (std::vector<uint32_t>{}));
  EXPECT_EQ(positions(1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(positions(uint64_t{1} << 63 | 0x28), (std::vector<uint32_t>{3, 5, 63}));
  EXPECT_EQ(positions(~uint64_t{0}).size(), 64u);
}

TEST(Bits, WordMayChangeInTheLoop) {
  uint64_t word = 0xf;
  uint32_t steps = 0;
  for (const uint32_t b : Bits(word)) {
    word &= ~(uint64_t{1} << (b + 1));
    ++steps;
  }
  EXPECT_EQ(steps, 4u) << "the range is of the word at its start";
}

TEST(Bits, LowestSetAndClear) {
  EXPECT_EQ(lowest_bit(0x50), 4u);
  EXPECT_EQ(lowest_clear_bit(0x57), 3u);
  EXPECT_EQ(lowest_clear_bit(0), 0u);
}

}  // namespace gpusim::core
