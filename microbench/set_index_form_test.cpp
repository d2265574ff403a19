#include "microbench/set_index_form.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <vector>

namespace gpusim::microbench {
namespace {

/// Of the set of `anchor`, by lot.
std::string form_of(uint64_t line, uint64_t sets, const std::function<uint64_t(uint64_t)>& set_of,
                    uint64_t anchor = 0) {
  const AddressSpace space{line, 24};
  std::mt19937 random(1);
  std::vector<uint64_t> of_one_set;
  while (of_one_set.size() < samples_for_form(space)) {
    const uint64_t address = random() % (1u << space.bits) / line * line;
    if (set_of(address) == set_of(anchor)) of_one_set.push_back(address);
  }
  return set_index_form(space, sets, of_one_set);
}

uint64_t bit(uint64_t a, int from, int to) { return (a >> from & 1) << to; }

TEST(SetIndexForm, FindsModulo) {
  EXPECT_EQ(form_of(128, 32, [](uint64_t a) { return a / 128 % 32; }), "modulo");
  EXPECT_EQ(form_of(
                64, 96, [](uint64_t a) { return a / 64 % 96; }, 64ul * 7),
            "modulo");
  EXPECT_EQ(form_of(128, 1, [](uint64_t) { return 0; }), "one set");
}

TEST(SetIndexForm, FindsTheHashOfFermi) {
  // Address bits as the paper gives them (reuse-distance-cache-model-2014), 16 KB and 48 KB.
  const auto small = [](uint64_t a) {
    return bit(a ^ a >> 6, 7, 0) | bit(a ^ a >> 6, 8, 1) | bit(a ^ a >> 6, 9, 2) | bit(a ^ a >> 7, 10, 3) |
           bit(a ^ a >> 8, 11, 4);
  };
  EXPECT_EQ(form_of(128, 32, small), "a7^a13 a8^a14 a9^a15 a10^a17 a11^a19");
  EXPECT_EQ(form_of(
                128, 64, [&](uint64_t a) { return small(a) | bit(a, 12, 5); }, 5ul * 65536),
            "a7^a13 a8^a14 a9^a15 a10^a17 a11^a19 a12");
}

TEST(SetIndexForm, FindsFoldedBits) {
  const auto folded = [](uint64_t a) {
    uint64_t index = 0;
    for (uint64_t line = a / 128; line != 0; line >>= 3) index ^= line & 7;
    return index;
  };
  EXPECT_EQ(form_of(128, 8, folded), "a7^a10^a13^a16^a19^a22 a8^a11^a14^a17^a20^a23 a9^a12^a15^a18^a21");
}

TEST(SetIndexForm, FindsSumsOfThreeBits) {
  // Bit 12 is the sum of three others.
  const auto hash = [](uint64_t a) {
    return (a / 128 & 7) ^ (bit(a, 12, 0) | bit(a, 12, 1) | bit(a, 12, 2));
  };
  EXPECT_EQ(form_of(128, 8, hash), "a7^a12 a8^a12 a9^a12");
}

TEST(SetIndexForm, FindsARemainderBehindAHash) {
  // Slices by a hash of bits 9 to 17, and of each slice's lines every 75th shares a set.
  const auto sets = [](uint64_t a) {
    const uint64_t slice = (a >> 9 ^ a >> 12 ^ a >> 15) & 7, line = a >> 12 << 2 | (a >> 7 & 3);
    return slice * 300 + line % 300;
  };
  EXPECT_EQ(form_of(128, 8ul * 300, sets, 777ul * 4096),
            "a7 a8 a9^a12^a15 a10^a13^a16 a11^a14^a17 (a>>12)%75");
}

TEST(SetIndexForm, FindsALongSum) {
  const auto hash = [](uint64_t a) { return std::popcount(a & 0xabcd80) % 2; };
  EXPECT_EQ(form_of(128, 2, hash), "a7^a8^a10^a11^a14^a15^a16^a17^a19^a21^a23");
}

TEST(SetIndexForm, SaysWhenNothingFits) {
  EXPECT_EQ(form_of(128, 24, [](uint64_t a) { return (a / 128 ^ a >> 13) % 24; }), "unknown");
}

}  // namespace
}  // namespace gpusim::microbench
