// A slice of the L2 alone: what it answers, asks DRAM for, keeps and writes back.
#include "components/l2/l2_slice.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

using core::CacheResult;

/// Two sets of two lines in the slice of partition 3 of 8.
core::MachineConfig::Partition small() {
  core::MachineConfig::Partition c;
  c.partitions = 8;
  c.interleave = 256;
  c.hash = core::PartitionHash::kModulo;
  c.atomic_cycles = 4;
  c.bytes = 8 * 512;
  c.ways = 2;
  c.mshrs = 2;
  c.merges = 2;
  c.index = core::SetIndexKind::kModulo;
  c.replacement = "lru";
  return c;
}
constexpr uint32_t kPartition = 3;
constexpr uint64_t kHit = 10, kFar = 7;

/// Address of a line of the partition: two in each block.
uint64_t line(uint64_t n) { return (n / 2 * 8 + kPartition) * 256 + n % 2 * 128; }

class L2SliceTest : public testing::Test {
 protected:
  void build(const core::MachineConfig::Partition& config, std::vector<bool> far_ports = {}) {
    slice = std::make_unique<L2Slice>(config, kPartition, L2Times{kHit, 20, kFar}, std::move(far_ports));
  }
  void SetUp() override { build(small()); }
  /// `sectors` of line n as the coalescer of 2.0 asks for them.
  static MemoryRequest request(RequestKind kind, uint64_t n, uint8_t sectors, uint16_t tag = 0) {
    return {line(n), static_cast<uint16_t>(32 * std::popcount(sectors)), kind, sectors, 5, tag, true};
  }
  static MemoryRequest atomic(uint64_t n, uint32_t sector, uint8_t operations, uint16_t tag = 0) {
    return {line(n) + uint64_t{32} * sector, 32, RequestKind::kAtomic, operations, 5, tag, true};
  }
  CacheResult read(uint64_t n, uint8_t sectors, uint16_t tag = 0) {
    return slice->take(request(RequestKind::kRead, n, sectors, tag), 100, false);
  }
  CacheResult write(uint64_t n, uint8_t sectors, uint16_t tag = 0) {
    return slice->take(request(RequestKind::kWrite, n, sectors, tag), 100, false);
  }
  /// DRAM answers all it has been asked for.
  std::vector<MemoryRequest> dram(uint64_t now = 200) {
    std::vector<MemoryRequest> asked;
    while (slice->has_dram_request()) {
      const MemoryRequest r = slice->pop_dram_request();
      asked.push_back(r);
      slice->fill({r.address, r.bytes, r.kind, MemoryLevel::kDram, r.port, r.tag, true}, now);
    }
    return asked;
  }
  std::vector<MemoryReply> answers() {
    std::vector<MemoryReply> all;
    while (slice->answer_at() != L2Slice::kNever) all.push_back(slice->pop_answer());
    return all;
  }
  std::unique_ptr<L2Slice> slice;
};

TEST_F(L2SliceTest, OnlyMissingSectorsAreFetchedInContiguousRuns) {
  EXPECT_EQ(read(4, 0b0010, 7), CacheResult::kMiss);
  dram();
  const auto first = answers();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].tag, 7);
  EXPECT_EQ(first[0].port, 5);
  EXPECT_EQ(first[0].level, MemoryLevel::kDram);
  EXPECT_EQ(read(4, 0b0010), CacheResult::kHit);
  EXPECT_EQ(slice->answer_at(), 100 + kHit);
  EXPECT_EQ(answers()[0].level, MemoryLevel::kL2);
  EXPECT_EQ(read(4, 0b1111, 8), CacheResult::kMiss);
  const auto asked = dram();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].address, line(4));
  EXPECT_EQ(asked[0].bytes, 32);
  EXPECT_EQ(asked[1].address, line(4) + 64);
  EXPECT_EQ(asked[1].bytes, 64);
  const auto whole = answers();
  ASSERT_EQ(whole.size(), 1u) << "one answer when the last run has come";
  EXPECT_EQ(whole[0].bytes, 128);
  EXPECT_EQ(slice->stats().reads, 6u);
  EXPECT_EQ(slice->stats().read_hits, 2u);
  EXPECT_EQ(slice->stats().fills, 4u);
}

TEST_F(L2SliceTest, ReadsOfALineOnItsWayWaitForIt) {
  EXPECT_EQ(read(0, 0b0011, 1), CacheResult::kMiss);
  EXPECT_EQ(read(0, 0b0010, 2), CacheResult::kMissMerged);
  const MemoryRequest asked = slice->pop_dram_request();
  EXPECT_FALSE(slice->has_dram_request());
  EXPECT_EQ(slice->answer_at(), L2Slice::kNever);
  slice->fill({asked.address, asked.bytes, asked.kind, MemoryLevel::kDram, 0, asked.tag, true}, 150);
  EXPECT_EQ(slice->answer_at(), 150u);
  const auto both = answers();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].tag, 1);
  EXPECT_EQ(both[1].tag, 2);
  EXPECT_EQ(slice->stats().merged, 1u);
}

TEST_F(L2SliceTest, WritesTakeALineWithoutFetchingItAndStayThere) {
  EXPECT_EQ(write(1, 0b0110, 3), CacheResult::kWrite);
  EXPECT_FALSE(slice->has_dram_request());
  const auto ack = answers();
  ASSERT_EQ(ack.size(), 1u);
  EXPECT_FALSE(ack[0].has_data);
  EXPECT_EQ(ack[0].tag, 3);
  EXPECT_EQ(read(1, 0b0110), CacheResult::kHit);
  EXPECT_EQ(read(1, 0b0001), CacheResult::kMiss) << "not written";
  EXPECT_EQ(slice->dirty_sectors(), 2u);
  EXPECT_EQ(write(1, 0b0010), CacheResult::kWrite);
  EXPECT_EQ(slice->dirty_sectors(), 2u);
  EXPECT_EQ(slice->stats().writes, 3u);
  EXPECT_EQ(slice->stats().write_hits, 1u);
}

TEST_F(L2SliceTest, DirtySectorsOfAReplacedLineAreWrittenToTheirAddresses) {
  write(2, 0b1011);
  read(0, 0b0001);
  dram();
  answers();
  EXPECT_EQ(read(4, 0b1000), CacheResult::kMiss);  // the same set: line 2 was used first
  const auto asked = dram();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].kind, RequestKind::kWrite);
  EXPECT_EQ(asked[0].address, line(2));
  EXPECT_EQ(asked[0].bytes, 64);
  EXPECT_EQ(asked[1].kind, RequestKind::kWrite);
  EXPECT_EQ(asked[1].address, line(2) + 96);
  EXPECT_EQ(asked[2].kind, RequestKind::kRead);
  EXPECT_EQ(asked[2].address, line(4) + 96);
  EXPECT_EQ(answers().size(), 1u) << "acknowledgements of write-backs end here";
  EXPECT_EQ(slice->stats().writebacks, 3u);
  EXPECT_EQ(slice->stats().written, 3u);
  EXPECT_EQ(slice->dirty_sectors(), 0u);
  EXPECT_EQ(read(2, 0b1011), CacheResult::kMiss);
}

TEST_F(L2SliceTest, AWriteIntoALineOnItsWayStaysDirtyWhenTheLineComes) {
  read(0, 0b0011);
  EXPECT_EQ(write(0, 0b0010), CacheResult::kWrite);
  dram();
  EXPECT_EQ(slice->dirty_sectors(), 1u);
  EXPECT_EQ(read(0, 0b0011), CacheResult::kHit);
}

TEST_F(L2SliceTest, LargerSectorsAreFetchedWholeButWrittenIn32Bytes) {
  core::MachineConfig::Partition c = small();
  c.sector = 64;
  build(c);
  write(0, 0b0001);
  EXPECT_EQ(read(0, 0b0010), CacheResult::kMiss);
  auto asked = dram();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].address, line(0) + 32) << "what was written is not fetched";
  EXPECT_EQ(read(0, 0b0100), CacheResult::kMiss);
  asked = dram();
  EXPECT_EQ(asked.at(0).bytes, 64);
  EXPECT_EQ(read(0, 0b1000), CacheResult::kHit);
  EXPECT_EQ(slice->dirty_sectors(), 1u);
}

TEST_F(L2SliceTest, WritesBackTheOldestLineWhereTooManyOfASetAreModified) {
  core::MachineConfig::Partition c = small();
  c.bytes *= 2;
  c.ways = 4;
  c.dirty_share = 0.5;  // two of a set's four lines; lines 0, 2, 4, 6 have one set
  build(c);
  write(0, 0b0011);
  write(2, 0b0001);
  write(0, 0b0100);
  write(1, 0b0001);
  write(3, 0b0001);
  EXPECT_TRUE(dram().empty());
  write(4, 0b0001);
  const auto asked = dram();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, RequestKind::kWrite);
  EXPECT_EQ(asked[0].address, line(2)) << "the last write of line 0 is not so long ago";
  EXPECT_EQ(slice->stats().writebacks, 1u);
  EXPECT_EQ(slice->dirty_sectors(), 6u);
  EXPECT_EQ(read(2, 0b0001), CacheResult::kHit) << "it stays";
  write(2, 0b0010);
  ASSERT_EQ(dram().size(), 1u) << "three neighbouring sectors of line 0";
  EXPECT_EQ(slice->stats().writebacks, 4u);
  EXPECT_EQ(slice->dirty_sectors(), 4u) << "of line 2 only what was written since";
  slice->forget();
  write(0, 0b0001);
  write(6, 0b0001);
  EXPECT_TRUE(dram().empty()) << "what was forgotten is not modified any more";
  c.dirty_share = 0;
  build(c);
  write(0, 0b0001);
  EXPECT_EQ(dram().size(), 1u);
  EXPECT_EQ(slice->dirty_sectors(), 0u);
}

TEST_F(L2SliceTest, LinesThatLeaveAreNotCountedAsModified) {
  core::MachineConfig::Partition c = small();
  c.dirty_share = 0.5;  // one of two
  build(c);
  for (uint64_t n = 0; n < 20; n += 2) {
    write(n, 0b0001);
    (void)dram();
  }
  EXPECT_EQ(slice->dirty_sectors(), 1u);
  EXPECT_EQ(slice->stats().writebacks, 9u);
  write(1, 0b0001);
  EXPECT_EQ(slice->dirty_sectors(), 2u) << "of another set";
}

TEST_F(L2SliceTest, AtomicsFetchTheirSectorAreSerialAndLeaveItDirty) {
  EXPECT_EQ(slice->take(atomic(0, 2, 5), 100, false), CacheResult::kMiss);
  EXPECT_EQ(slice->atomic_free(), 120u);
  EXPECT_EQ(slice->take(atomic(0, 2, 1), 119, false), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_atomic_unit, 1u);
  EXPECT_EQ(slice->take(atomic(0, 2, 1), 120, true), CacheResult::kMissMerged);
  EXPECT_EQ(slice->dirty_sectors(), 0u);
  const auto asked = dram(150);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, RequestKind::kRead);
  EXPECT_EQ(asked[0].address, line(0) + 64);
  EXPECT_EQ(answers().size(), 2u);
  EXPECT_EQ(slice->dirty_sectors(), 1u);
  EXPECT_EQ(slice->take(atomic(0, 2, 3), 160, false), CacheResult::kHit);
  EXPECT_EQ(slice->atomic_free(), 172u);
  EXPECT_EQ(slice->answer_at(), 160 + kHit);
  EXPECT_EQ(slice->stats().atomics, 3u);
  EXPECT_EQ(slice->stats().atomic_hits, 1u);
}

TEST_F(L2SliceTest, EachRefusalHasItsCauseAndChangesNothing) {
  read(0, 1), read(0, 1);
  EXPECT_EQ(read(0, 1), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_merge, 1u);
  read(2, 1);
  EXPECT_EQ(read(4, 1), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_mshr, 1u);
  EXPECT_EQ(slice->take(request(RequestKind::kRead, 4, 1), 101, true), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_mshr, 1u) << "counted when it came";
  EXPECT_EQ(write(4, 1), CacheResult::kReservationFail) << "both lines of the set are on their way";
  EXPECT_EQ(slice->stats().no_way, 1u);
  EXPECT_EQ(slice->stats().reads, 3u);
  dram();
  EXPECT_EQ(answers().size(), 3u);
  EXPECT_EQ(read(4, 1), CacheResult::kMiss);
}

TEST_F(L2SliceTest, HitsWaitWhenAnswersDoNotLeave) {
  for (uint64_t i = 0; i <= kHit; ++i) EXPECT_EQ(write(0, 1), CacheResult::kWrite);
  EXPECT_EQ(write(0, 1), CacheResult::kReservationFail);
  EXPECT_EQ(read(0, 1), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_reply, 2u);
  slice->pop_answer();
  EXPECT_EQ(read(0, 1), CacheResult::kHit);
}

TEST_F(L2SliceTest, MissesWaitWhenDramTakesNothing) {
  core::MachineConfig::Partition c = small();
  c.mshrs = 64;
  c.bytes = 8 * 128 * 64;
  c.ways = 64;
  build(c);
  uint64_t n = 0;
  while (read(n, 0b0101) == CacheResult::kMiss) ++n;
  EXPECT_EQ(n, 7u) << "a miss needs room for two runs and two of a line that leaves: 14 + 4 are above 16";
  EXPECT_EQ(slice->stats().no_queue, 1u);
  EXPECT_EQ(read(0, 0b0001), CacheResult::kMissMerged) << "asks for nothing";
  slice->pop_dram_request(), slice->pop_dram_request();
  EXPECT_EQ(read(n, 1), CacheResult::kMiss);
}

TEST_F(L2SliceTest, AnswersToTheOtherHalfTakeLonger) {
  build(small(), {false, false, true});
  const auto read_from = [&](uint16_t port, uint64_t now) {
    MemoryRequest r = request(RequestKind::kRead, 0, 0b1, port);
    r.port = port;
    return slice->take(r, now, false);
  };
  EXPECT_EQ(read_from(2, 100), CacheResult::kMiss);
  EXPECT_EQ(read_from(1, 101), CacheResult::kMissMerged);
  dram(200);
  EXPECT_EQ(slice->answer_at(), 200u);
  EXPECT_EQ(slice->pop_answer().port, 1) << "near: as soon as the sector is there";
  EXPECT_EQ(slice->answer_at(), 200u + kFar);
  EXPECT_EQ(slice->pop_answer().port, 2);
  EXPECT_EQ(read_from(2, 300), CacheResult::kHit);
  EXPECT_EQ(read_from(1, 301), CacheResult::kHit);
  EXPECT_EQ(slice->answer_at(), 301u + kHit);
  EXPECT_EQ(slice->pop_answer().port, 1);
  EXPECT_EQ(slice->answer_at(), 300u + kHit + kFar);
  EXPECT_EQ(slice->pop_answer().port, 2);
  EXPECT_EQ(slice->stats().far, 2u);
}

/// A slice of 1.5 cycles for a sector that is read, 2 for one that is written, 0.5 for one that DRAM brings.
core::MachineConfig::Partition with_port() {
  core::MachineConfig::Partition c = small();
  c.read_cycles = 1.5, c.write_cycles = 2, c.fill_cycles = 0.5;
  return c;
}

TEST_F(L2SliceTest, WritesAndHitsFollowEachOtherThroughThePortOfTheData) {
  build(with_port());
  EXPECT_EQ(write(0, 0b0111), CacheResult::kWrite);
  EXPECT_EQ(slice->data_free(), 106u);
  EXPECT_EQ(read(0, 0b0001), CacheResult::kReservationFail) << "three sectors are being written until 106";
  EXPECT_EQ(slice->refusal(), PartitionWait::kData);
  EXPECT_EQ(write(0, 0b0001), CacheResult::kReservationFail);
  EXPECT_EQ(slice->stats().no_data, 2u);
  EXPECT_EQ(slice->take(request(RequestKind::kRead, 0, 0b0001), 106, true), CacheResult::kHit);
  EXPECT_EQ(slice->take(request(RequestKind::kRead, 0, 0b0001), 107, false), CacheResult::kHit)
      << "begins in the cycle in which the one before ends";
  EXPECT_EQ(slice->data_free(), 109u);
  EXPECT_EQ(slice->data_cycles(), 9u) << "6 and twice 1.5";
}

TEST_F(L2SliceTest, WhatDramBringsTakesThePortAndIsReadThroughIt) {
  build(with_port());
  EXPECT_EQ(write(1, 0b1111), CacheResult::kWrite);
  EXPECT_EQ(read(0, 0b0011), CacheResult::kMiss) << "a miss has nothing to read yet";
  (void)dram(105);
  EXPECT_EQ(slice->data_free(), 112u) << "written until 108, then two sectors of 0.5 and of 1.5";
  ASSERT_EQ(slice->answer_at(), 110u) << "the write";
  (void)slice->pop_answer();
  EXPECT_EQ(slice->answer_at(), 112u) << "the read";
}

TEST_F(L2SliceTest, AtomicsDoNotTakeThePort) {
  build(with_port());
  EXPECT_EQ(write(0, 0b1111), CacheResult::kWrite);
  EXPECT_EQ(slice->take(atomic(0, 0, 1), 100, false), CacheResult::kHit);
  EXPECT_EQ(slice->data_free(), 108u);
}

}  // namespace
}  // namespace gpusim::comp
