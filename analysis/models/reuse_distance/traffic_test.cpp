// What requests meet on their way to memory, on streams whose counts follow by hand.
#include "analysis/models/reuse_distance/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/models/reuse_distance/coalescer.h"
#include "analysis/models/reuse_distance/memory.h"
#include "analysis/models/reuse_distance/model.h"
#include "simcore/config/load.h"

namespace gpusim::analysis {
namespace {

core::MachineConfig c1060(std::vector<std::string> sets = {}) {
  return core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", sets, {});
}

/// One channel's requests of 32 bytes, `apart` cycles from one to the next.
class Channel {
 public:
  explicit Channel(const core::MachineConfig& m) : rows_(m) {}
  double ask(uint32_t bank, uint64_t row, double apart, bool write = false) {
    now_ += apart;
    return last = rows_.add({now_, row, bank, 3.24, write});
  }
  void end() { rows_.drain(); }
  [[nodiscard]] uint64_t opened() const { return rows_.rows_opened(); }
  double last = 0;

 private:
  RowWindow rows_;
  double now_ = 0;
};

TEST(RowWindow, AStreamOpensEachRowOnceAndAgainAfterARefresh) {
  Channel channel(c1060({"dram.refi=0ns"}));
  for (uint64_t i = 0; i < 640; ++i) channel.ask(static_cast<uint32_t>(i / 64 % 8), i / 64 / 8, 3.3);
  channel.end();
  EXPECT_EQ(channel.opened(), 10u);

  Channel refreshed(c1060());  // every 3900 ns: 5054 core cycles
  for (uint64_t i = 0; i < 4000; ++i) refreshed.ask(0, 0, 5);
  refreshed.end();
  EXPECT_EQ(refreshed.opened(), 4u);
}

TEST(RowWindow, ABankIsRefreshedWhileTheOthersGoOn) {
  // One of eight banks every 3900 / 8 ns, for 100 ns, the first at 631.8 core cycles.
  const core::MachineConfig m = c1060({"dram.refresh=bank"});
  const auto answered = [&](uint32_t bank, double at) {
    Channel channel(m);
    return channel.ask(bank, 0, at) - at;
  };
  const double cycles = 1.296, interval = 3900 * cycles / 8, lasts = 100 * cycles;
  EXPECT_DOUBLE_EQ(answered(0, interval - 1), answered(1, interval - 1));
  EXPECT_NEAR(answered(0, interval + 1) - answered(1, interval + 1), lasts - 1, 1e-6);
  EXPECT_NEAR(answered(1, 2 * interval + 1) - answered(0, 2 * interval + 1), lasts - 1, 1e-6);
  EXPECT_NEAR(answered(0, 9 * interval + 1) - answered(1, 9 * interval + 1), lasts - 1, 1e-6);
  EXPECT_DOUBLE_EQ(answered(0, 9 * interval + lasts), answered(1, 9 * interval + lasts));
  // Each closes the bank's row.
  Channel refreshed(m);
  for (uint64_t i = 0; i < 4000; ++i) refreshed.ask(0, 0, 5);
  refreshed.end();
  EXPECT_EQ(refreshed.opened(), 1 + 4u);
}

TEST(RowWindow, WhatWaitsForAnOpenRowGoesFirst) {
  // Two rows of a bank in turn, all of them there at once: each row is opened once for what fits the window.
  const auto opened = [](std::vector<std::string> sets) {
    Channel channel(c1060(std::move(sets)));
    for (uint64_t i = 0; i < 32; ++i) channel.ask(0, i % 2, 0);
    channel.end();
    return channel.opened();
  };
  EXPECT_EQ(opened({}), 2u);
  EXPECT_EQ(opened({"dram.scheduler=fcfs"}), 32u);
  const uint64_t narrow = opened({"dram.queue=8", "dram.write_high=4", "dram.write_low=2"});
  EXPECT_GT(narrow, 2u) << "a row serves as many as the window shows it";
  EXPECT_LT(narrow, 8u);
}

TEST(RowWindow, RowsOfOneBankTakeTheTimeOfItsCycle) {
  const core::MachineConfig m = c1060({"dram.refi=0ns"});
  Channel one(m), many(m);
  for (uint64_t i = 0; i < 1000; ++i) {
    one.ask(0, i, 0);
    many.ask(static_cast<uint32_t>(i % 8), i / 8, 0);
  }
  // A row of a bank each 35 memory clocks of 1.62 core cycles; over 8 banks each 8, the distance of
  // activations.
  EXPECT_NEAR(one.last / (1000 * 35 * 1.62), 1, 0.1);
  EXPECT_NEAR(many.last / (1000 * 8 * 1.62), 1, 0.1);
  // Four activations in the time in which there may be no more.
  Channel fewer(c1060({"dram.refi=0ns", "dram.faw=80ns"}));
  for (uint64_t i = 0; i < 1000; ++i) fewer.ask(static_cast<uint32_t>(i % 8), i / 8, 0);
  EXPECT_NEAR(fewer.last / (1000 * 20 * 1.296), 1, 0.1);
}

TEST(RowWindow, WritesWaitUntilThereAreMany) {
  // A read and a write in turn, to two rows of a bank: written in runs, not one by one.
  Channel channel(c1060({"dram.refi=0ns"}));
  for (uint64_t i = 0; i < 400; ++i) channel.ask(0, i % 2, 3, i % 2 == 1);
  channel.end();
  EXPECT_LT(channel.opened(), 60u);
  EXPECT_GT(channel.opened(), 10u);
}

TEST(RowWindow, WhatARequestCostIsTheMeanOfThe32BeforeIt) {
  // A cycle is a nanosecond. Rows of one bank, all asked for at once: the first has its data after 10 + 10
  // cycles, all others 40 after the one before, and each takes the bus for 4.
  const core::MachineConfig m =
      c1060({"clocks.core=1GHz", "dram.rcd=10ns", "dram.cl=10ns", "dram.rp=10ns", "dram.ras=30ns",
             "dram.rc=40ns", "dram.rrd=5ns", "dram.faw=0ns", "dram.refi=0ns", "dram.rfc=0ns"});
  RowWindow rows(m);
  const uint32_t window = m.dram.queue;
  // The first is served when the second comes, for which the bus is free, and the others as the window
  // overflows.
  double mean = 24.0 / 32, bus_free = 24;
  for (uint64_t i = 0; i < window + 200ul; ++i) {
    const double about = rows.add({0, i, 0, 4, false});
    if (i <= window) continue;
    mean = mean * 31 / 32 + 40.0 / 32;
    bus_free += 40;
    ASSERT_NEAR(about, bus_free + window * std::max(mean, 4.0) + 10, 1e-6) << i;
  }
}

TEST(PageBuffer, ForgetsThePageUsedLongestAgo) {
  PageBuffer pages(4, 2);  // two sets of two
  for (const uint64_t page : {0, 2, 4}) pages.put(page, 1);
  EXPECT_LT(pages.find(0), 0);
  EXPECT_GE(pages.find(2), 0);
  pages.put(6, 1);
  EXPECT_LT(pages.find(4), 0);
  EXPECT_GE(pages.find(2), 0);
}

TEST(ReuseTraffic, PagesComeFromTheSecondLevelOrFromMemory) {
  ReuseTraffic traffic(c1060(), 30);
  traffic.begin_kernel();
  const double core_cycles = 1.296;  // of a nanosecond
  const double walked = traffic.translate(1000, 0, 7);
  EXPECT_NEAR(walked - 1000, 4 + 190 * core_cycles, 1);
  EXPECT_EQ(traffic.translate(2000, 0, 7), 2000);
  EXPECT_NEAR(traffic.translate(2000, 1, 7) - 2000, 4 + 40 * core_cycles, 1);
  // While a page is on its way to one SM it is a miss for another, which waits for the same walk.
  const double first = traffic.translate(3000, 0, 8);
  EXPECT_EQ(traffic.translate(3100, 1, 8), first);
  EXPECT_EQ(traffic.counts().pages, 5u);
  EXPECT_EQ(traffic.counts().sm_page_misses, 4u);
  EXPECT_EQ(traffic.counts().page_misses, 3u);
}

TEST(ReuseTraffic, AWalkIsShortWhereAnotherHasReadTheTable) {
  // Pages of 512 KB, of which a line of the table has the translations of 16.
  const core::MachineConfig m = c1060({"tlb.table=8M", "tlb.table_latency=50ns"});
  ReuseTraffic traffic(m, 2);
  const double look_up = 40 * 1.296 + 4, walk = 150 * 1.296, short_walk = 50 * 1.296;
  EXPECT_NEAR(traffic.translate(0, 0, 3), look_up + walk, 1e-9);
  EXPECT_NEAR(traffic.translate(1e4, 0, 4), 1e4 + look_up + short_walk, 1e-9);
  EXPECT_NEAR(traffic.translate(2e4, 1, 16), 2e4 + look_up + walk, 1e-9) << "the next line";
  traffic.begin_kernel();
  EXPECT_NEAR(traffic.translate(0, 1, 17), look_up + short_walk, 1e-9) << "lines stay";
  // Who asks for a page that is on its way to this SM waits for it.
  EXPECT_NEAR(traffic.translate(10, 1, 17), look_up + short_walk, 1e-9);
  EXPECT_EQ(traffic.counts().sm_page_misses, 1u);
}

TEST(ReuseTraffic, BusiestPartitionOfEachWindow) {
  const core::MachineConfig m = c1060();
  ReuseTraffic even(m, 30), changing(m, 30);
  even.begin_kernel();
  changing.begin_kernel();
  for (uint64_t i = 0; i < 8 * 2048; ++i) {
    even.request(static_cast<uint32_t>(i % 8));
    changing.request(static_cast<uint32_t>(i / 2048));
  }
  even.end_kernel();
  changing.end_kernel();
  EXPECT_EQ(even.counts().to_busiest * 8, even.counts().requests);
  EXPECT_EQ(changing.counts().to_busiest, changing.counts().requests);
}

TEST(ReuseTraffic, BusiestChannelOfEachWindow) {
  const core::MachineConfig m = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  // Ten channels: all in turn, and five of them, then the other five, as rows of 512 bytes go.
  ReuseTraffic even(m, 14), half(m, 14);
  even.begin_kernel();
  half.begin_kernel();
  for (uint32_t i = 0; i < 10 * 2560; ++i) {
    even.move(20.0 * i, i % 10, 32 * uint64_t{i}, 32, false);
    half.move(20.0 * i, i % 5 + (i < 10 * 1280 ? 0 : 5), 32 * uint64_t{i}, 32, false);
  }
  even.end_kernel();
  half.end_kernel();
  EXPECT_EQ(even.counts().dram_to_busiest * 10, even.counts().dram_requests);
  EXPECT_EQ(half.counts().dram_to_busiest * 5, half.counts().dram_requests);
  half.begin_kernel();
  half.end_kernel();
  EXPECT_EQ(half.counts().dram_to_busiest, 0u);
}

TEST(ReuseCoalescer, SegmentsOfHalfWarps) {
  const ReuseCoalescer coalescer(128, core::CoalescingRule::kCc12);
  const auto lines = [&](uint64_t first, uint64_t apart, uint32_t bytes, uint32_t lanes = ~0u) {
    WarpStep step;
    step.kind = WarpStep::Kind::kAccess;
    step.bytes = bytes;
    step.lanes = lanes;
    for (uint32_t l = 0; l < WarpStep::kLanes; ++l) step.address[l] = first + l * apart;
    WarpEncoder encoder;
    encoder.append(step);
    LaneRuns runs;
    WarpCursor cursor(
        std::string_view(reinterpret_cast<const char*>(encoder.bytes().data()), encoder.bytes().size()));
    EXPECT_TRUE(cursor.next(step, runs));
    LineTransactions out;
    coalescer.coalesce(step, runs, 0, out);
    std::vector<std::pair<uint64_t, uint32_t>> found;
    for (const LineTransaction& t : out) found.emplace_back(t.line, t.sectors);
    return found;
  };
  using Lines = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(lines(0, 4, 4), (Lines{{0, 0x3}, {0, 0xc}}));           // 64 bytes for each half
  EXPECT_EQ(lines(0, 8, 8), (Lines{{0, 0xf}, {1, 0xf}}));           // 128 bytes each
  EXPECT_EQ(lines(64, 0, 4), (Lines{{0, 0x4}, {0, 0x4}}));          // one word: 32 bytes each
  EXPECT_EQ(lines(32, 4, 4, 0xffff), (Lines{{0, 0xf}}));            // across the middle of a segment
  EXPECT_EQ(lines(96, 4, 4, 0xffff), (Lines{{0, 0x8}, {1, 0x1}}));  // across its end
  EXPECT_EQ(lines(0, 128, 4, 0x3), (Lines{{0, 0x1}, {1, 0x1}}));    // a segment each
}

/// A machine without an L1: all that warps ask for goes to memory, and a load waits for it.
TEST(ReuseModel, FollowsAccessesWithoutAnL1) {
  WarpTraceHeader h;
  h.block_threads = 32;
  h.block_warps = 1;
  h.blocks = 1;
  WarpTrace trace(h);
  std::vector<WarpEncoder> warps(1);
  WarpStep access, wait;
  access.kind = WarpStep::Kind::kAccess;
  access.bytes = 4;
  access.lanes = 1;
  wait.kind = WarpStep::Kind::kWait;
  constexpr uint64_t kLoads = 100;
  for (uint64_t i = 0; i < kLoads; ++i) {
    access.address[0] = 4 * i;
    warps[0].append(access);
    warps[0].append(wait);
  }
  trace.append_block(warps);
  const core::MachineConfig m = c1060({"dram.refi=0ns"});
  ReuseTraffic traffic(m, 30);
  ReuseMemory memory(m, 30, {}, &traffic);
  ReuseOptions options;
  options.memory = &memory;
  const ReuseRun run = run_reuse(m, trace, options);
  EXPECT_EQ(run.accesses, kLoads);
  EXPECT_EQ(traffic.counts().requests, kLoads);
  EXPECT_EQ(traffic.counts().rows_opened, 2u) << "400 bytes lie in two partitions";
  EXPECT_EQ(traffic.counts().dram_read_bytes, 32 * kLoads);
  // The microbenchmarks find 561 core cycles, of which 24 are the SM's own.
  EXPECT_NEAR(run.cycles / kLoads, 561 - 24, 30);
  EXPECT_THROW((void)run_reuse(m, trace), core::InputError);
}

TEST(ReuseMemory, AHitOfTheL2DoesNotTakeTheWayToTheChannel) {
  const std::string v100 = GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg";
  const auto second_read = [&](std::vector<std::string> sets) {
    const core::MachineConfig m = core::load_machine(v100, sets, {});
    ReuseMemory memory(m, 80);
    const double there = memory.read(0, 0, 0, 1);
    return std::pair(there, memory.read(1e4, 0, 0, 1) - 1e4);
  };
  const auto [missed, hit] = second_read({});
  const auto [slower_miss, same_hit] = second_read({"l2.latency=120ns"});
  EXPECT_NEAR(slower_miss - missed, 100 * 1.38, 1e-6) << "from a request's arrival to the DRAM's queue";
  EXPECT_DOUBLE_EQ(same_hit, hit);
  // A chase through the L2 takes 214 core cycles a step in the machine, of which some are the SM's.
  const core::MachineConfig m = core::load_machine(v100, {}, {});
  EXPECT_NEAR(
      hit, 1.38 * (m.interconnect.request_latency_ns + m.l2.hit_latency_ns + m.interconnect.reply_latency_ns),
      1e-6);
}

TEST(ReuseMemory, DramHasItsRowsAndRefreshes) {
  const core::MachineConfig m = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  constexpr double kMhz = 1215, kLater = 1e4;
  const auto latency = [&](const ReuseNeighbours& neighbours, double later) {
    ReuseMemory memory(m, 14, neighbours);
    const double opens = memory.read(kLater, 0, 0, 1) - kLater;
    return std::pair(opens, memory.read(kLater + later, 0, 0, 2) - kLater - later);
  };
  const auto [opens, hits] = latency({}, 1000);
  EXPECT_NEAR(opens - hits, m.dram.rcd_ns * kMhz / 1e3, 1e-6) << "the row is open";
  // Every 3.9 us all rows close for a refresh: here in between, and just when the second one comes.
  const double refresh = 3 * m.dram.refi_ns * kMhz / 1e3 - kLater;
  EXPECT_DOUBLE_EQ(latency({}, refresh + 2000).second, opens);
  EXPECT_GT(latency({}, refresh - 100).second, opens + 100);
  const auto [one, other] = latency({.copies = 2}, 1000);
  EXPECT_NEAR(one, other, 0.01) << "the rows that neighbours open are not known";
  // A copy of the memory has rows of its own, as the second pass of a prediction needs.
  ReuseMemory memory(m, 14);
  ReuseMemory copy = memory;
  memory.read(kLater - 400, 0, 0, 1);
  EXPECT_DOUBLE_EQ(copy.read(kLater, 0, 0, 2) - kLater, opens);
  EXPECT_DOUBLE_EQ(memory.read(kLater, 0, 0, 2) - kLater, hits);
}

}  // namespace
}  // namespace gpusim::analysis
