// Partitions of addresses: a bijection whatever the hash, and the hashes against definitions of their own.
#include "simcore/address_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

#include "simcore/config/schema.h"

namespace gpusim::core {
namespace {

using Hash = PartitionHash;

MachineConfig::Partition config(Hash hash, int64_t partitions, int64_t interleave = 256) {
  MachineConfig::Partition c;
  c.hash = hash;
  c.partitions = partitions;
  c.interleave = interleave;
  return c;
}

TEST(AddressMap, EveryRoundOfBlocksHoldsOneOfEachPartitionAtTheSamePlace) {
  for (const Hash hash : {Hash::kModulo, Hash::kXor, Hash::kPolynomial}) {
    for (const int64_t partitions : {1, 2, 3, 4, 8, 16, 24, 32, 40, 64, 96, 128, 256}) {
      const AddressMap map(config(hash, partitions));
      std::mt19937_64 random(1);
      for (int i = 0; i < 50; ++i) {
        const uint64_t round = random() >> 24, offset = random() % 256;
        std::set<uint32_t> seen;
        for (uint64_t b = 0; b < static_cast<uint64_t>(partitions); ++b) {
          const uint64_t address = (round * static_cast<uint64_t>(partitions) + b) * 256 + offset;
          const uint32_t p = map.partition(address);
          EXPECT_TRUE(seen.insert(p).second) << core::word(hash);
          EXPECT_EQ(map.local(address), round * 256 + offset);
          EXPECT_EQ(map.global(map.local(address), p), address) << core::word(hash) << " " << partitions;
        }
        EXPECT_LT(*seen.rbegin(), static_cast<uint32_t>(partitions));
      }
    }
  }
}

TEST(AddressMap, ScatteringDealsSixtyFourRoundsOutEvenlyAndOneUnevenly) {
  for (const int64_t partitions : {1, 2, 3, 24, 48, 64, 96, 256}) {
    const AddressMap map(config(Hash::kScatter, partitions));
    const auto all = static_cast<uint64_t>(partitions);
    for (const uint64_t first : {uint64_t{0}, 64 * all, 64 * all * 123457}) {
      std::set<std::pair<uint32_t, uint64_t>> places;
      for (uint64_t b = first; b < first + 64 * all; ++b) {
        const uint64_t address = b * 256 + b % 256;
        const uint32_t p = map.partition(address);
        ASSERT_LT(p, all);
        EXPECT_EQ(map.local(address), map.round(address) * 256 + b % 256);
        EXPECT_EQ(map.round(address) / 64, first / all / 64) << "its own 64 rounds";
        EXPECT_EQ(map.global(map.local(address), p), address) << partitions;
        EXPECT_TRUE(places.emplace(p, map.round(address)).second) << partitions;
      }
    }
  }
}

TEST(AddressMap, ScatteredBlocksInARowComeAsOftenToAPartitionAsDrawnByLot) {
  constexpr int kPartitions = 64, kBlocks = 8 * kPartitions;
  const AddressMap map(config(Hash::kScatter, kPartitions));
  double squares = 0;
  for (uint64_t run = 0; run < 8; ++run) {
    std::vector<int> blocks(kPartitions);
    for (uint64_t b = 0; b < kBlocks; ++b) ++blocks[map.partition((run * kBlocks + b) * 256)];
    for (const int n : blocks) squares += (n - 8) * (n - 8);
  }
  // Variance of a draw of 512 of 4,096 without replacement, of which 64 count: 8 * 63/64 * (1 - 512/4096).
  EXPECT_NEAR(squares / (8 * kPartitions), 6.9, 1.0);
}

TEST(AddressMap, ModuloWorksWithAnyNumberOfPartitions) {
  const AddressMap map(config(Hash::kModulo, 6));
  for (uint64_t address = 0; address < 100000; address += 37) {
    EXPECT_EQ(map.partition(address), address / 256 % 6);
    EXPECT_EQ(map.global(map.local(address), map.partition(address)), address);
  }
}

TEST(AddressMap, AHashOfPartitionsThatAreNoPowerOfTwoSpreadsEveryStride) {
  const AddressMap map(config(Hash::kXor, 24));
  for (const uint64_t stride : {24, 48, 32, 512, 4096, 24 * 1024}) {
    std::vector<int> blocks(24);
    for (uint64_t i = 0; i < 2400; ++i) ++blocks[map.partition(i * stride * 256)];
    EXPECT_LT(*std::ranges::max_element(blocks), 160)
        << "blocks in one of 24 partitions at stride " << stride;
  }
}

TEST(AddressMap, XorFoldsTheBlockNumber) {
  const AddressMap map(config(Hash::kXor, 8));
  EXPECT_EQ(map.partition(0b101'011'110ull * 256), 0b101u ^ 0b011u ^ 0b110u);
}

TEST(AddressMap, AHashOfAFewBitsSpreadsStridesOfTheseAndNoLargerOnes) {
  for (const Hash hash : {Hash::kXor, Hash::kPolynomial}) {
    for (const int64_t partitions : {8, 24}) {
      MachineConfig::Partition c = config(hash, partitions);
      c.hash_bits = 2;
      const AddressMap map(c);
      const auto round = static_cast<uint64_t>(partitions) * 256;
      std::set<uint32_t> small, large;
      for (uint64_t i = 0; i < 64; ++i) {
        small.insert(map.partition(i * round));
        large.insert(map.partition(i * 4 * round));
        EXPECT_EQ(map.global(map.local(i * round + 17), map.partition(i * round + 17)), i * round + 17);
      }
      EXPECT_EQ(small.size(), 4u) << core::word(hash) << " " << partitions;
      EXPECT_EQ(large.size(), 1u) << core::word(hash) << " " << partitions;
    }
  }
}

/// Remainder of the block's number, a polynomial over GF(2), by long division.
uint32_t remainder(uint64_t block, uint64_t divisor, int degree) {
  for (int bit = 63; bit >= degree; --bit)
    if ((block >> bit & 1) != 0) block ^= divisor << (bit - degree);
  return static_cast<uint32_t>(block);
}

TEST(AddressMap, PolynomialHashIsTheRemainderOfALongDivision) {
  // x^3 + x + 1, x^5 + x^2 + 1, x^8 + x^4 + x^3 + x^2 + 1.
  const std::pair<int, uint64_t> polynomials[] = {{3, 0xb}, {5, 0x25}, {8, 0x11d}};
  for (const auto& [degree, polynomial] : polynomials) {
    const AddressMap map(config(Hash::kPolynomial, int64_t{1} << degree));
    std::mt19937_64 random(2);
    for (int i = 0; i < 1000; ++i) {
      const uint64_t block = random() >> 8;
      EXPECT_EQ(map.partition(block * 256), remainder(block, polynomial, degree));
    }
  }
}

TEST(AddressMap, HashesSpreadTheStrideThatCampsOnOnePartition) {
  for (const Hash hash : {Hash::kModulo, Hash::kXor, Hash::kPolynomial, Hash::kScatter}) {
    const AddressMap map(config(hash, 8));
    std::set<uint32_t> seen;
    for (uint64_t i = 0; i < 64; ++i) seen.insert(map.partition(i * 256 * 8));
    EXPECT_EQ(seen.size(), hash == Hash::kModulo ? 1u : 8u) << core::word(hash);
  }
}

/// What scattering maps share, and the keys of configurations, may be used last by a thread that nobody has
/// joined, or by a launch that is done when the program ends.
TEST(AddressMap, IsMadeUntilTheVeryEndOfAProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, in which none has been made
  constexpr auto kMake = [] {
    const AddressMap map(config(Hash::kScatter, 6));
    if (map.partition(0) >= 6 || schema().size() < 100) std::_Exit(2);
  };
  EXPECT_EXIT(
      {
        std::atexit(kMake);
        kMake();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gpusim::core
