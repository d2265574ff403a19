// Bank groups, the four-activate window, closed rows, order of arrival and refresh in turn, each by hand; and
// streams on the timing sets of configs/dram. Clocks and times as in dram_channel_test.cpp; a burst of 32
// bytes takes 2 clocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "components/testing/dram_bench.h"
#include "simcore/address_map.h"
#include "simcore/config/schema.h"

namespace gpusim::comp {
namespace {

using namespace test::dram;

class DramPolicies : public test::DramBench {};

constexpr uint64_t kBurstTail = kCl + 2 + 1;  // column command of a burst to the sink's edge

TEST_F(DramPolicies, BurstsOfOneGroupAreTccdLApart) {
  build(plain_machine({"dram.bank_groups=4", "dram.ccd_l=6ck"}));
  send(10, place(0, 0));
  run();
  EXPECT_EQ(sink->taken_at, Times{11 + kRcd + 6 + kBurstTail}) << "two bursts";
  EXPECT_EQ(channel->stats().busy_clocks, kData);
  EXPECT_EQ(channel->stats().reads, 1u);
}

TEST_F(DramPolicies, BurstsOfTwoGroupsAlternate) {
  build(plain_machine({"dram.bank_groups=4", "dram.ccd_l=6ck"}));
  for (const uint64_t cycle : {10, 200})
    for (const uint64_t bank : {0, 1}) send(cycle, place(bank, 0));
  run();
  // Columns of bank 0 at 201 and 207, of bank 1 at 203 and 209.
  EXPECT_EQ(sink->taken_at.at(2), 207 + kBurstTail);
  EXPECT_EQ(sink->taken_at.at(3), 209 + kBurstTail);
}

TEST_F(DramPolicies, BurstsOfTwoBanksOfOneGroupDoNot) {
  build(plain_machine({"dram.bank_groups=4", "dram.ccd_l=6ck"}));
  for (const uint64_t cycle : {10, 200})
    for (const uint64_t bank : {0, 4}) send(cycle, place(bank, 0));
  run();
  // Columns of bank 0 at 201 and 207, of bank 4 at 213 and 219.
  EXPECT_EQ(sink->taken_at.at(2), 207 + kBurstTail);
  EXPECT_EQ(sink->taken_at.at(3), 219 + kBurstTail);
}

TEST_F(DramPolicies, ActivatesOfOneGroupAreTrrdLApart) {
  build(plain_machine({"dram.bank_groups=4", "dram.rrd_l=15ck"}));
  send(10, place(0, 0));
  send(10, place(4, 0));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + 15 + kRcd + 2 + kBurstTail);
}

TEST_F(DramPolicies, ActivatesOfTwoGroupsAreTrrdApart) {
  build(plain_machine({"dram.bank_groups=4", "dram.rrd_l=15ck"}));
  send(10, place(0, 0));
  send(10, place(1, 0));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + kRrd + kRcd + 2 + kBurstTail);
}

TEST_F(DramPolicies, TheFifthActivateWaitsForTfaw) {
  build(plain_machine({"dram.faw=60ck"}));
  for (uint64_t bank = 0; bank < 6; ++bank) send(10, place(bank, 0));
  run();
  EXPECT_EQ(sink->taken_at.at(3), 11 + 3 * kRrd + kRcd + kReadTail);
  EXPECT_EQ(sink->taken_at.at(4), 11 + 60 + kRcd + kReadTail);
  EXPECT_EQ(sink->taken_at.at(5), 11 + kRrd + 60 + kRcd + kReadTail) << "four of any tFAW";
}

TEST_F(DramPolicies, AClosedRowIsActivatedAgainWithoutAPrecharge) {
  build(plain_machine({"dram.page=closed"}));
  send(10, place(0, 0));
  send(100, place(0, 1));
  send(200, place(0, 1, 64));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 101 + kRcd + kReadTail);
  EXPECT_EQ(sink->taken_at.at(2), 201 + kRcd + kReadTail);
  EXPECT_EQ(channel->stats().activates, 3u);
  EXPECT_EQ(channel->stats().precharges, 3u);
  EXPECT_EQ(channel->stats().row_misses, 3u);
}

TEST_F(DramPolicies, AClosingRowIsClosedNoEarlierThanTras) {
  build(plain_machine({"dram.page=closed"}));
  send(10, place(0, 0));
  send(40, place(0, 0, 64));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + kRas + kRp + kRcd + kReadTail);
}

TEST_F(DramPolicies, ARowThatARequestStillHitsStaysOpen) {
  build(plain_machine({"dram.page=closed"}));
  for (uint64_t i = 0; i < 4; ++i) send(10, place(0, 0, 64 * i));
  run();
  EXPECT_EQ(channel->stats().activates, 1u);
  EXPECT_EQ(channel->stats().precharges, 1u);
  EXPECT_EQ(channel->stats().row_hits, 3u);
}

TEST_F(DramPolicies, InOrderOfArrivalNoHitOvertakes) {
  build(plain_machine({"dram.scheduler=fcfs"}));
  send(10, place(0, 0));
  send(10, place(0, 1));
  send(10, place(0, 0, 64));
  run();
  EXPECT_EQ(tags(), (Times{0, 1, 2}));
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(sink->taken_at[i], 11 + i * kRc + kRcd + kReadTail);
  EXPECT_EQ(channel->stats().row_conflicts, 2u);
}

TEST_F(DramPolicies, InOrderOfArrivalWritesDoNotWait) {
  build(plain_machine({"dram.scheduler=fcfs"}));
  send(10, place(0, 0));
  send(10, place(0, 0, 64), RequestKind::kWrite);
  send(10, place(0, 0, 128));
  run();
  EXPECT_EQ(tags(), (Times{0, 1, 2}));
}

TEST_F(DramPolicies, InOrderOfArrivalNoBankIsPrepared) {
  build(plain_machine({"dram.scheduler=fcfs"}));
  send(10, place(0, 0));
  send(10, place(1, 0));
  run();
  EXPECT_EQ(sink->taken_at.at(1), 11 + kRcd + 1 + kRcd + kReadTail) << "activated behind the first column";
}

TEST_F(DramPolicies, HitsMissesAndConflicts) {
  build(plain_machine());
  send(10, place(0, 0));       // miss
  send(100, place(0, 0, 64));  // hit
  send(200, place(0, 1));      // conflict
  send(300, place(1, 1));      // miss
  run();
  EXPECT_EQ(channel->stats().row_misses, 2u);
  EXPECT_EQ(channel->stats().row_hits, 1u);
  EXPECT_EQ(channel->stats().row_conflicts, 1u);
}

TEST_F(DramPolicies, RefreshInTurnTakesOneBank) {
  core::MachineConfig m = plain_machine({"dram.refresh=bank"});
  m.dram.refi_ns = 800 * kClockNs;  // eight banks: one every 100 clocks, for 80
  build(m);
  send(10, place(0, 0));
  send(105, place(0, 0, 64));
  send(106, place(1, 0));
  run();
  EXPECT_EQ(tags(), (Times{0, 2, 1}));
  EXPECT_EQ(sink->taken_at.at(1), 107 + kRcd + kReadTail) << "another bank";
  EXPECT_EQ(sink->taken_at.at(2), 100 + 80 + kRcd + kReadTail);
  EXPECT_EQ(channel->stats().refreshes, 1u);
}

/// What the energy of refreshes is computed from.
TEST_F(DramPolicies, RefreshesComeAsOftenAsTheirPolicySays) {
  for (const auto& [policy, expected] : {std::pair{"all", uint64_t{1}}, std::pair{"bank", uint64_t{8}}}) {
    core::MachineConfig m = plain_machine({fmt::format("dram.refresh={}", policy)});
    m.dram.refi_ns = 800 * kClockNs;
    const auto refresh = make_dram_refresh(m.dram, DramTiming(m.dram, domain));
    EXPECT_EQ(refresh->per_interval(), expected) << policy;
    DramChannelState state(m.dram, domain, 0, &events);
    EXPECT_EQ(refresh->refresh(state, uint64_t{10} * 800), 10 * expected) << policy;
  }
}

TEST_F(DramPolicies, BlocksGoRoundTheGroups) {
  build(plain_machine({"dram.bank_groups=4", "dram.group_interleave=256"}));
  // 4 groups of 2 banks: rows of 2 KB in the first bank of each group hold the first 8 KB.
  for (uint64_t address = 0; address < 65536; address += 64) {
    const auto at = channel->place_of(address);
    EXPECT_EQ(at.bank % 4, address / 256 % 4);
    EXPECT_EQ(at.bank / 4, address / 8192 % 2);
    EXPECT_EQ(at.row, address / 16384);
  }
}

TEST(DramPlaces, BlocksOfAPartitionGoRoundItsChannelsAndAreDenseThere) {
  for (const char* hash : {"modulo", "xor", "scatter"}) {
    const core::MachineConfig m =
        test::tesla_c1060({"dram.channels=3", "gpu.memory=3G", std::string("l2.hash=") + hash});
    const core::AddressMap map(m.l2);
    const DramPlaces places(m);
    std::map<std::pair<uint32_t, uint64_t>, std::set<uint64_t>> blocks;  // by partition and channel
    for (uint64_t block = 0; block < uint64_t{8} * 3 * 64; ++block) {
      const uint64_t address = block * 256 + 32;
      EXPECT_EQ(places.local(address) % 256, 32u);
      blocks[{map.partition(address), map.round(address) % 3}].insert(places.local(address) / 256);
    }
    EXPECT_EQ(blocks.size(), 8u * 3);
    for (const auto& [where, local] : blocks) {
      EXPECT_EQ(local.size(), 64u);
      EXPECT_EQ(*local.rbegin(), 63u);
    }
  }
}

/// A machine whose memory is a set of configs/dram.
core::MachineConfig machine_with(const std::string& set) {
  const std::string path = testing::TempDir() + "/with_" + set + ".cfg";
  std::ofstream(path) << "extends = [\"tesla_c1060.cfg\", \"dram/" << set << ".cfg\"]\n";
  const std::vector<std::string> folders{GPUSIM_SOURCE_DIR "/configs"};
  const std::vector<std::string> sets{"l2.partitions=1", "dram.channels=1"};
  return core::load_machine(path, sets, folders);
}

class DramSet : public test::DramBench, public testing::WithParamInterface<const char*> {
 protected:
  DramSet() : DramBench(static_cast<uint64_t>(machine_with(GetParam()).clocks.dram_khz)) {}
};

TEST_P(DramSet, ReadStreamReachesTheBusLessRefresh) {
  const core::MachineConfig m = machine_with(GetParam());
  build(m);
  constexpr uint64_t kRequests = 16384;
  for (uint64_t i = 0; i < kRequests; ++i) send(10, 64 * i);
  run();
  const double clocks = static_cast<double>(kRequests * 64) / static_cast<double>(2 * m.dram.bus_bytes);
  EXPECT_DOUBLE_EQ(static_cast<double>(channel->stats().busy_clocks), clocks);
  const double reached = clocks / static_cast<double>(sink->taken_at.back() - 11);
  const double refresh = m.dram.refresh == "all" ? m.dram.rfc_ns / m.dram.refi_ns : 0;
  EXPECT_LT(reached, 1 - refresh);
  EXPECT_GT(reached, 1 - refresh - 0.04);
  EXPECT_GT(channel->stats().refreshes, 0u);
}
INSTANTIATE_TEST_SUITE_P(Sets, DramSet, testing::Values("gddr3", "gddr5", "hbm2", "hbm3"),
                         [](const auto& set) { return std::string(set.param); });

TEST(DramSets, Gddr3IsTheMemoryOfTheC1060) {
  const std::vector<std::string> folders{GPUSIM_SOURCE_DIR "/configs"};
  const std::string path = testing::TempDir() + "/gddr3.cfg";
  std::ofstream(path) << "extends = [\"tesla_c1060.cfg\", \"dram/gddr3.cfg\"]\n";
  EXPECT_EQ(core::diff_machines(core::load_machine(path, {}, folders),
                                core::load_machine("tesla_c1060", {}, folders)),
            "");
}

TEST(DramTimingRange, EveryTimeOfTheSchemaHasItsClocksAtTheHighestClock) {
  const auto keys = core::schema();
  const auto clock = std::ranges::find_if(
      keys, [](const core::KeySpec& key) { return key.section == "clocks" && key.name == "dram"; });
  ASSERT_NE(clock, keys.end());
  core::Engine engine;
  core::ClockDomain domain("dram", engine, static_cast<uint64_t>(clock->max));
  size_t times = 0;
  for (const core::KeySpec& key : keys) {
    if (key.kind != core::KeyKind::kDramTime) continue;
    ++times;
    EXPECT_LE(domain.cycles_of_ns(key.max), std::numeric_limits<decltype(DramTiming::refi)>::max())
        << key.name;
  }
  EXPECT_GE(times, 15u);
}

}  // namespace
}  // namespace gpusim::comp
