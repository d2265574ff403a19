#include "simcore/memory/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gpusim::core {
namespace {

std::vector<std::byte> counting(size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

TEST(Fingerprint, EqualBytesAreEqual) {
  for (const size_t bytes : {0, 1, 7, 8, 31, 32, 33, 1000})
    EXPECT_EQ(fingerprint(counting(bytes)), fingerprint(counting(bytes)));
}

TEST(Fingerprint, EveryBitOfEveryLengthCounts) {
  std::set<uint64_t> seen;
  size_t expected = 0;
  for (size_t bytes = 0; bytes <= 100; ++bytes) {
    std::vector<std::byte> data = counting(bytes);
    seen.insert(fingerprint(data));
    ++expected;
    for (size_t bit = 0; bit < 8 * bytes; ++bit) {
      data[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      seen.insert(fingerprint(data));
      data[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      ++expected;
    }
  }
  EXPECT_EQ(seen.size(), expected);
}

TEST(Fingerprint, ZerosOfDifferentLengthsDiffer) {
  std::set<uint64_t> seen;
  for (size_t bytes = 0; bytes < 4096; ++bytes) seen.insert(fingerprint(std::vector<std::byte>(bytes)));
  EXPECT_EQ(seen.size(), 4096u);
}

TEST(Fingerprint, WordsThatChangePlacesCount) {
  std::vector<std::byte> data = counting(512);
  const uint64_t before = fingerprint(data);
  for (const size_t other : {8, 16, 32, 40, 256}) {
    std::vector<std::byte> swapped = data;
    std::swap_ranges(swapped.begin(), swapped.begin() + 8, swapped.begin() + static_cast<long>(other));
    EXPECT_NE(fingerprint(swapped), before) << other;
  }
}

/// Recorded files of other computers and versions are compared with: the value may not change.
TEST(Fingerprint, IsWhatItWas) { EXPECT_EQ(fingerprint(counting(100)), 0xf0ea'b3ec'e155'e73du); }

}  // namespace
}  // namespace gpusim::core
