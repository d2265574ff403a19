// DRAM channel between a scripted sender and a sink, all in the 800 MHz memory domain. Clocks of the shipped
// configuration: CL 10, tRCD 12, tRP 10, tRAS 25, tRC 35, tRRD 8, WL 7, tCCD 2, tWR 11, tCDLR 6, tRTW 6, tRFC
// 80; 64 bytes take 4 data clocks. In every expected time: +1 from sender to channel (a message is seen at
// the reader's next edge) and +1 from channel to sink.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "components/testing/dram_bench.h"

namespace gpusim::comp {
namespace {

using namespace test::dram;

class DramChannelTest : public test::DramBench {};

TEST_F(DramChannelTest, AddressesBecomeBankAndRow) {
  build(plain_machine());
  for (uint64_t bank = 0; bank < 8; ++bank) {
    EXPECT_EQ(channel->place_of(place(bank, 5, 64)).bank, bank);
    EXPECT_EQ(channel->place_of(place(bank, 5, 64)).row, 5u);
  }
}

TEST_F(DramChannelTest, ClosedBankActivatesThenReads) {
  build(plain_machine());
  send(10, place(0, 0));
  run();
  EXPECT_EQ(sink->taken_at, Times{11 + kRcd + kReadTail});
  EXPECT_EQ(sink->taken[0].level, MemoryLevel::kDram);
  EXPECT_TRUE(sink->taken[0].has_data);
  EXPECT_EQ(channel->stats().activates, 1u);
  EXPECT_EQ(channel->stats().row_hits, 0u);
}

TEST_F(DramChannelTest, OpenRowCostsOnlyTheColumn) {
  build(plain_machine());
  send(10, place(0, 0));
  send(100, place(0, 0, 64));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 101 + kReadTail);
  EXPECT_EQ(channel->stats().row_hits, 1u);
}

TEST_F(DramChannelTest, ADataBurstEndsAfterCyclesOfTheMemoryWhateverTheClockOfThePartition) {
  core::ClockDomain partition("partition", engine, 100'000);
  build(plain_machine(), 0, 4096, &partition);
  for (uint64_t i = 0; i < 12; ++i) send(10, place(0, 0, 64 * i));
  run();
  // Eight cycles of the memory are one of the partition, which sees what has ended before its edge.
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t end = 11 + kRcd + kCl + kData + i * kData;
    EXPECT_EQ(sink->taken_at[i], end / 8 + 1) << i;
  }
}

TEST_F(DramChannelTest, HitsFollowEachOtherAtTheSpeedOfTheDataBus) {
  build(plain_machine());
  for (uint64_t i = 0; i < 8; ++i) send(10, place(0, 0, 64 * i));
  run();
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(sink->taken_at[i], 11 + kRcd + kReadTail + i * kData);
}

TEST_F(DramChannelTest, OtherRowPrechargesActivatesReads) {
  build(plain_machine());
  send(10, place(0, 0));
  send(100, place(0, 1));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 101 + kRp + kRcd + kReadTail);
  EXPECT_EQ(channel->stats().precharges, 1u);
}

TEST_F(DramChannelTest, PrechargeWaitsForTras) {
  build(plain_machine());
  send(10, place(0, 0));
  send(12, place(0, 1));  // the row was opened at 11: closed no earlier than 11 + tRAS
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + kRas + kRp + kRcd + kReadTail);
}

TEST_F(DramChannelTest, ActivatesOfOneBankAreTrcApart) {
  core::MachineConfig m = plain_machine();
  m.dram.rc_ns = 40 * 1.25;  // beyond tRAS + tRP
  build(m);
  send(10, place(0, 0));
  send(12, place(0, 1));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + 40 + kRcd + kReadTail);
}

TEST_F(DramChannelTest, ActivatesOfTwoBanksAreTrrdApart) {
  build(plain_machine());
  send(10, place(0, 0));
  send(10, place(1, 0));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + kRrd + kRcd + kReadTail);
}

TEST_F(DramChannelTest, ReadAfterWriteWaitsForTcdlr) {
  build(plain_machine());
  send(10, place(0, 0), RequestKind::kWrite);
  send(30, place(0, 0, 64));
  run();
  const uint64_t write_column = 11 + kRcd, write_end = write_column + kWl + kData;
  EXPECT_EQ(sink->taken_at.at(0), write_column + kWriteTail);
  EXPECT_FALSE(sink->taken[0].has_data);
  EXPECT_EQ(sink->taken_at.at(1), write_end + 6 + kReadTail);
}

TEST_F(DramChannelTest, WriteAfterReadLeavesTheBusTimeToTurn) {
  build(plain_machine());
  send(10, place(0, 0));
  send(24, place(0, 0, 64), RequestKind::kWrite);
  run();
  // First written data no earlier than tRTW after the last read data; the command leads it by WL.
  const uint64_t read_end = 11 + kRcd + kCl + kData;
  EXPECT_EQ(sink->taken_at.at(1), read_end + 6 - kWl + kWriteTail);
}

TEST_F(DramChannelTest, PrechargeWaitsForWriteRecovery) {
  build(plain_machine());
  send(10, place(0, 0), RequestKind::kWrite);
  send(30, place(0, 1));
  run();
  const uint64_t write_end = 11 + kRcd + kWl + kData;
  EXPECT_EQ(sink->taken_at.at(1), write_end + 11 + kRp + kRcd + kReadTail);
}

TEST_F(DramChannelTest, RefreshHoldsARequestAndClosesTheRows) {
  core::MachineConfig m = plain_machine();
  m.dram.refi_ns = 200 * 1.25;
  build(m);
  send(10, place(0, 0));
  send(205,
       place(0, 0,
             64));  // the refresh of clock 200 lasts until 280; an idle channel has closed its rows before
  run();
  EXPECT_EQ(sink->taken_at.at(1), 200 + 80 + kRcd + kReadTail);
  EXPECT_EQ(channel->stats().refreshes, 1u);
  EXPECT_EQ(channel->stats().activates, 2u);
}

TEST_F(DramChannelTest, RefreshesOfIdleTimeAreCountedWhenTheChannelWakes) {
  core::MachineConfig m = plain_machine();
  m.dram.refi_ns = 200 * 1.25;
  build(m);
  send(1090, place(0, 0));
  run();
  EXPECT_EQ(channel->stats().refreshes, 5u);
  EXPECT_EQ(sink->taken_at.at(0), 1091 + kRcd + kReadTail) << "the last one ended at 1080";
}

TEST_F(DramChannelTest, RowHitsGoFirst) {
  build(plain_machine());
  send(10, place(0, 0));
  send(10, place(0, 1));
  send(10, place(0, 0, 64));
  send(10, place(0, 0, 128));
  run();
  EXPECT_EQ(tags(), (Times{0, 2, 3, 1}));
}

TEST_F(DramChannelTest, StarvedRequestIsNotOvertaken) {
  core::MachineConfig m = plain_machine();
  m.dram.starvation_limit = 40;
  build(m);
  send(10, place(0, 0));
  send(10, place(0, 1));
  for (uint64_t i = 1; i < 30; ++i) send(10, place(0, 0, 64 * i));
  run();
  const auto order = tags();
  const auto at = static_cast<size_t>(std::find(order.begin(), order.end(), 1u) - order.begin());
  // Columns start at 23, four clocks each; the request is starved at 11 + 41 = 52, when eight hits have gone.
  EXPECT_EQ(at, 8u);
}

TEST_F(DramChannelTest, OtherBanksGoOnWhileAStarvedRequestOpensItsRow) {
  core::MachineConfig m = plain_machine();
  m.dram.starvation_limit = 10;
  build(m);
  send(10, place(0, 0));
  send(10, place(0, 1));                                            // starved at 22
  for (uint64_t i = 1; i < 20; ++i) send(10, place(1, 0, 64 * i));  // hits of another bank
  run();
  const auto order = tags();
  const auto at = static_cast<size_t>(std::find(order.begin(), order.end(), 1u) - order.begin());
  // Precharge and activate of bank 0 leave time for some of them, but its column comes before the rest.
  EXPECT_GT(at, 3u);
  EXPECT_LT(at, 12u);
}

/// Counts how often it is called.
class CountedChannel : public DramChannel {
 public:
  using DramChannel::DramChannel;
  uint64_t ticks = 0;

 protected:
  core::Cycle tick(core::Cycle now) override {
    ++ticks;
    return DramChannel::tick(now);
  }
};

class LongWaits : public DramChannelTest {
 protected:
  /// A command of the given DRAM time takes 80,000 clocks, and requests are starved after 40.
  CountedChannel& build_slow(double core::MachineConfig::Dram::*time) {
    core::MachineConfig m = plain_machine();
    m.dram.starvation_limit = 40;
    m.dram.write_high = 8;
    m.dram.write_low = 1;
    m.dram.*time = 1e5;
    m.dram.rc_ns = std::max(m.dram.rc_ns, m.dram.ras_ns);
    build<CountedChannel>(m);
    return static_cast<CountedChannel&>(*channel);
  }
};

TEST_F(LongWaits, OfAStarvedRequestThatKeepsAnActivateBackCostNothing) {
  CountedChannel& counted = build_slow(&core::MachineConfig::Dram::rp_ns);
  send(10, place(0, 0));
  send(100, place(0, 1));
  send(300, place(1, 0));
  run();
  EXPECT_EQ(tags(), (Times{0, 1, 2}));
  EXPECT_GT(sink->taken_at.back(), 80'000u);
  EXPECT_LE(counted.ticks, 30u);
}

TEST_F(LongWaits, OfAStarvedRequestThatKeepsHitsBackCostNothing) {
  CountedChannel& counted = build_slow(&core::MachineConfig::Dram::rcd_ns);
  send(10, place(1, 0));
  send(90'000, place(0, 0));
  send(90'100, place(1, 0, 64));
  run();
  EXPECT_EQ(tags(), (Times{0, 1, 2}));
  EXPECT_GT(sink->taken_at.back(), 160'000u);
  EXPECT_LE(counted.ticks, 30u);
}

TEST_F(LongWaits, OfAStarvedRequestBehindHitsOfItsBankCostNothing) {
  CountedChannel& counted = build_slow(&core::MachineConfig::Dram::ras_ns);
  send(10, place(0, 0));
  send(90, place(0, 1));       // starved, and its bank's row is to stay open for long
  send(200, place(0, 0, 64));  // hits that row
  send(210, place(1, 0));
  send(220, place(1, 0, 64));
  run();
  EXPECT_GT(sink->taken_at.back(), 80'000u);
  EXPECT_LE(counted.ticks, 40u);
}

TEST_F(LongWaits, OfAStarvedWriteBehindReadsThatWantAnotherRowCostNothing) {
  CountedChannel& counted = build_slow(&core::MachineConfig::Dram::rtw_ns);
  send(10, place(0, 0));
  send(10, place(1, 0));
  send(100, place(0, 0, 64), RequestKind::kWrite);
  send(210, place(0, 1));
  send(211, place(1, 1));
  run();
  EXPECT_GT(sink->taken_at.back(), 80'000u);
  EXPECT_LE(counted.ticks, 40u);
}

TEST_F(DramChannelTest, WithoutStarvationAllHitsGoFirst) {
  build(plain_machine());
  send(10, place(0, 0));
  send(10, place(0, 1));
  for (uint64_t i = 1; i < 30; ++i) send(10, place(0, 0, 64 * i));
  run();
  EXPECT_EQ(tags().back(), 1u);
}

TEST_F(DramChannelTest, WritesWaitBelowTheHighWatermark) {
  core::MachineConfig m = plain_machine();
  m.dram.write_high = 4;
  m.dram.write_low = 1;
  build(m);
  for (uint64_t i = 0; i < 3; ++i) send(10, place(0, 0, 64 * i), RequestKind::kWrite);
  for (uint64_t i = 3; i < 6; ++i) send(10, place(0, 0, 64 * i));
  run();
  EXPECT_EQ(tags(), (Times{3, 4, 5, 0, 1, 2}));
}

TEST_F(DramChannelTest, AtTheHighWatermarkWritesDrainToTheLow) {
  core::MachineConfig m = plain_machine();
  m.dram.write_high = 4;
  m.dram.write_low = 1;
  build(m);
  for (uint64_t i = 0; i < 4; ++i) send(10, place(0, 0, 64 * i), RequestKind::kWrite);
  for (uint64_t i = 4; i < 7; ++i) send(10, place(0, 0, 64 * i));
  run();
  EXPECT_EQ(tags(), (Times{0, 1, 2, 4, 5, 6, 3}));
}

TEST_F(DramChannelTest, AtomicReadsAndWritesItsRow) {
  build(plain_machine());
  send(10, place(0, 0), RequestKind::kAtomic);
  send(100, place(0, 1));
  run();
  EXPECT_EQ(sink->taken_at.at(0), 11 + kRcd + kReadTail) << "the old value returns like a read's";
  EXPECT_EQ(channel->stats().reads, 2u);
  EXPECT_EQ(channel->stats().writes, 1u);
  EXPECT_EQ(channel->stats().busy_clocks, 3 * kData);
}

TEST_F(DramChannelTest, FullReplyLinkHoldsTheColumn) {
  build(plain_machine(), 500, 1);
  send(10, place(0, 0));
  send(10, place(0, 0, 64));
  run();
  EXPECT_EQ(sink->taken_at.at(0), 500u);
  EXPECT_EQ(sink->taken_at.at(1), 501 + kReadTail) << "the freed slot is seen one clock later";
}

TEST_F(DramChannelTest, SequentialStreamRunsAtTheDataBus) {
  build(plain_machine());
  constexpr uint64_t kRequests = 2048;
  for (uint64_t i = 0; i < kRequests; ++i) send(10, 64 * i);
  run();
  EXPECT_EQ(channel->stats().busy_clocks, kRequests * kData);
  // Closed formula: the data bus is busy throughout; only the first row's activation cannot be hidden.
  const double formula = 11 + kRcd + kCl + kRequests * kData + 1;
  EXPECT_NEAR(static_cast<double>(sink->taken_at.back()), formula, 0.01 * formula);
  EXPECT_EQ(channel->stats().activates, kRequests * 64 / 2048);
}

TEST_F(DramChannelTest, ConflictsOfOneBankAreOneRowCycleApart) {
  build(plain_machine());
  for (uint64_t i = 0; i < 100; ++i) send(10, place(3, i));
  run();
  for (size_t i = 1; i < 100; ++i) EXPECT_EQ(sink->taken_at[i] - sink->taken_at[i - 1], kRc) << i;
}

TEST_F(DramChannelTest, ScatteredReadsAreLimitedByTrrd) {
  build(plain_machine());
  // One request a row over all eight banks in turn: an activate every max(tRRD, tRC / 8) clocks.
  for (uint64_t i = 0; i < 400; ++i) send(10, place(i % 8, i / 8));
  run();
  const double formula = 11 + kRcd + kReadTail + 399 * kRrd;
  EXPECT_NEAR(static_cast<double>(sink->taken_at.back()), formula, 0.05 * formula);
}

}  // namespace
}  // namespace gpusim::comp
