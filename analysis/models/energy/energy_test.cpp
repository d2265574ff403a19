// The energy model's formulas against values computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/models/energy/blocks.h"
#include "analysis/models/energy/clock_parts.h"
#include "analysis/models/energy/pem.h"
#include "analysis/models/energy/power.h"
#include "analysis/models/energy/report.h"
#include "analysis/models/energy/task_graph.h"
#include "analysis/testing/small_recording.h"
#include "simcore/config/load.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::energy {
namespace {

using core::EnergyTerm;
using core::PowerDomain;
using testing::ElementsAre;
using testing::HasSubstr;

core::MachineConfig c1060() {
  return core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {});
}

TEST(ClockParts, GivesTheRunsOwnTimeAtItsClock) {
  for (const double memory_share : {0.0, 0.4, 0.9}) {
    ClockParts p{.seconds = 2e-3, .core_hz = 1e9, .launch = 0.1, .drain = 0.05, .work = 0.5};
    p.compute = 0.9 - memory_share;
    p.latency = memory_share / 2;
    p.finish();
    EXPECT_NEAR(p.seconds_at(1e9), 2e-3, 1e-12);
    const ClockParts::Bounds b = p.bounds_at(1e9);
    EXPECT_NEAR(b.work + b.path + b.memory, 1, 1e-12);
  }
}

TEST(ClockParts, ComputationGoesWithTheClockAndMemoryDoesNot) {
  ClockParts core{.seconds = 1, .core_hz = 1e9, .launch = 0.2, .work = 1};
  core.finish();
  EXPECT_EQ(core.memory, 0);
  EXPECT_NEAR(core.seconds_at(5e8), 2, 1e-12);
  ClockParts memory{.seconds = 1, .core_hz = 1e9, .drain = 0.2};
  memory.finish();
  EXPECT_EQ(memory.memory, 1);
  EXPECT_NEAR(memory.seconds_at(5e8), 1, 1e-12);
  // Unless its clocks fall too: what is on its way at the end, and the data.
  EXPECT_NEAR(memory.seconds_at(5e8, {2, 3}), 0.2 * 2 + 0.8 * 3, 1e-12);
  // One warp that waits half of its life: 2 * 0.5 + 0.5.
  ClockParts path{.seconds = 1, .core_hz = 1e9, .compute = 0.5, .latency = 0.5};
  path.finish();
  EXPECT_NEAR(path.seconds_at(5e8), 1.5, 1e-12);
  EXPECT_NEAR(path.seconds_at(5e8, {2, 1}), 2, 1e-12);
  // Nothing but the launch.
  ClockParts launch{.seconds = 1, .core_hz = 1e9, .launch = 1};
  launch.finish();
  EXPECT_EQ(launch.seconds_at(5e8), 2);
  // Blocks that are given out one after the other are given out at half the rate.
  ClockParts starts{.seconds = 1, .core_hz = 1e9, .starts = 1};
  starts.finish();
  EXPECT_EQ(starts.memory, 0);
  EXPECT_NEAR(starts.seconds_at(5e8), 2, 1e-12);
  EXPECT_NEAR(starts.bounds_at(5e8).starts, 1, 1e-12);
  // Two bounds of the same length: the 4-norm of (2, 1) by that of (1, 1).
  ClockParts both{.seconds = 1, .core_hz = 1e9, .work = 1, .memory = 1};
  EXPECT_NEAR(both.seconds_at(5e8), std::pow(17.0 / 2, 0.25), 1e-12);
}

TEST(ClockParts, AWarpComputesNoLongerThanItsOperationsOneByOne) {
  core::MachineConfig m = c1060();
  m.latency["fp32"] = 24, m.latency["load_global"] = 20, m.l1.latency = 10;
  for (core::MachineConfig::Pipe& pipe : m.pipes)
    pipe.interval.erase("fp32"), pipe.interval.erase("load_global");
  m.pipes.front().interval["fp32"] = 4, m.pipes.front().interval["load_global"] = 4;
  m.coalescer.cycles_per_transaction = 2;
  KernelRecord kernel;
  kernel.per_pc.rows = 2;
  kernel.per_pc.texts["class"] = {"load_global", "fp32"};
  kernel.per_pc.numbers["executed"] = {10, 30};
  kernel.per_pc.numbers["transactions"] = {80, 0};
  EXPECT_EQ(longest_computing(kernel, m), INFINITY) << "an older recording";
  // 10 loads of 20 + 10 cycles and 8 transactions each, 30 sums of 24; of 40 operations the longest warps
  // have 20.
  kernel.counters["longest_warp_of_blocks"] = 20;
  EXPECT_DOUBLE_EQ(longest_computing(kernel, m), (10 * 30 + 80 * 2 + 30 * 24) / 2.0);
  m.pipes.front().interval["fp32"] = 32;  // a pipe that takes longer than a result
  EXPECT_DOUBLE_EQ(longest_computing(kernel, m), (10 * 30 + 80 * 2 + 30 * 32) / 2.0);
  kernel.per_pc.texts["class"][1] = "barrier";
  EXPECT_EQ(longest_computing(kernel, m), INFINITY) << "others compute meanwhile";
}

TEST(WaitCycles, OfAccessesThatOverlapCountOnce) {
  // Warp 1: [10, 20) and [15, 40), the fastest of their operation took 5; warp 2: [0, 8).
  const std::vector<Wait> waits{{1, 10, 20, 5}, {1, 15, 40, 5}, {2, 0, 8, 8}};
  const WaitCycles sum = wait_cycles(waits);
  EXPECT_EQ(sum.all, 30 + 8);
  EXPECT_EQ(sum.fastest, 10 + 8);  // [10, 20) and [0, 8)
}

TEST(LongestPath, TakesTheSlowerOfTwoAndFollowsTheSlot) {
  // Block 0: 10 + 20 cycles; block 1: 5 + 50; block 2 follows block 0 in its slot, block 3 block 1.
  const std::vector<Task> tasks{{0, 0, 0, 10}, {0, 1, 10, 30}, {1, 0, 0, 5},
                                {1, 1, 5, 55}, {2, 0, 30, 45}, {3, 0, 55, 60}};
  const std::vector<Succession> successions{{0, 2}, {1, 3}};
  EXPECT_THAT(longest_path(tasks, successions), ElementsAre(2, 3, 5));
  EXPECT_THAT(longest_path(tasks, {}), ElementsAre(2, 3));
  EXPECT_TRUE(longest_path({}, {}).empty());
}

TEST(LongestPath, RefusesACircle) {
  const std::vector<Task> tasks{{0, 0, 0, 10}, {1, 0, 10, 20}};
  EXPECT_THROW((void)longest_path(tasks, {{0, 1}, {1, 0}}), core::RecordError);
}

TEST(ScaledEnergy, FollowsEachDomainsVoltageAndTheTime) {
  const core::MachineConfig m = c1060();
  const Clocks own{m.clocks.core_khz, m.clocks.interconnect_khz, m.clocks.dram_khz};
  core::EnergyAmounts joules{};
  joules.fill(1);
  EXPECT_EQ(scaled_energy(joules, m, {own, 1e-3}, {own, 1e-3}), joules);
  // [dvfs] of the C1060: 1.18 V at 1296 MHz, f ~ (V - 0.35)^2 / V, so the clock at which 1 V is enough is
  const double clock = 1296e3 * (0.65 * 0.65 / 1.0) / (0.83 * 0.83 / 1.18);
  const Clocks slow{std::llround(clock), own[1], own[2]};
  EXPECT_NEAR(volts(m, PowerDomain::kCore, slow[0]), 1.0, 1e-5);
  const core::EnergyAmounts at = scaled_energy(joules, m, {own, 1e-3}, {slow, 1.5e-3});
  const double v = 1 / 1.18, f = clock / 1296e3;
  const auto of = [&](EnergyTerm t) { return at[static_cast<size_t>(t)]; };
  EXPECT_NEAR(of(EnergyTerm::kFp32), v * v, 1e-5);
  EXPECT_NEAR(of(EnergyTerm::kCoreClock), v * v * f * 1.5, 1e-5);
  EXPECT_NEAR(of(EnergyTerm::kCoreStatic), v * 1.5, 1e-5);
  EXPECT_NEAR(of(EnergyTerm::kDramRead), 1, 1e-12);
  EXPECT_NEAR(of(EnergyTerm::kDramClock), 1.5, 1e-12);
  EXPECT_NEAR(of(EnergyTerm::kInterconnectStatic), 1.5, 1e-12);
  EXPECT_NEAR(of(EnergyTerm::kBoard), 1.5, 1e-12);
}

TEST(Pem, IsThePrintedMethod) {
  // N = 1024, M = 8, B = 16: 2 * 128 + 6 + 1 steps of 2 cycles, 2 * 8 + 6 + 1 accesses, 7 barriers.
  const PrefixSum sum{1024, 16, 2};
  const Steps s = sum.steps(8);
  EXPECT_EQ(s.computing, 263 * 2);
  EXPECT_EQ(s.memory, 23);
  EXPECT_EQ(s.barriers, 7);
  // 10 us at 1 GHz: 10000 cycles, of which (23 + 7) * 100 are accesses; 526 of 7000 at 1 GHz.
  const PemMachine machine{1e9, 100, 2e-9, 3e-9, 50};
  const PemEnergy e = pem_energy(s, machine, 1e-5);
  EXPECT_NEAR(e.clock, 1e9 * 526 / 7000, 1);
  EXPECT_NEAR(e.computing, 2e-9 * 526 * std::pow(526.0 / 7000, 2), 1e-15);
  EXPECT_NEAR(e.memory, 69e-9, 1e-15);
  EXPECT_NEAR(e.idle, 50 * 1e-5, 1e-12);
  EXPECT_TRUE(std::isnan(pem_energy(s, machine, 2e-6).clock));
}

TEST(Pem, OptimumOfTheDerivativeIsThatOfAllNumbers) {
  constexpr uint64_t kMost = 1 << 17;
  const auto optimum = [](const PrefixSum& sum, const Sensitivity& at) {
    const double m = optimal_blocks(sum, at, kMost);
    EXPECT_NEAR(m, static_cast<double>(best_of_all_blocks(sum, at, kMost)), 1)
        << at.k << " " << at.access_cycles;
    return m;
  };
  for (const PrefixSum& sum : {PrefixSum{5959298, 1024, 2}, PrefixSum{5959298, 512, 2}}) {
    double before = 1e18;
    for (const double k : {1.0, 50.0, 500.0, 5000.0}) {
      const double m = optimum(sum, {.k = k});
      EXPECT_LT(m, before) << "the optimum falls as memory grows dearer";
      before = m;
    }
  }
  // Over M_c it first falls, then rises; without the energy of waiting it only rises.
  const PrefixSum sum{5959298, 512, 2};
  const auto over_cycles = [&](double idle) {
    std::vector<double> optima;
    for (const double cycles : {10.0, 100.0, 300.0, 500.0, 700.0})
      optima.push_back(optimum(sum, {.access_cycles = cycles, .idle = idle}));
    return optima;
  };
  const std::vector<double> with = over_cycles(0.1), without = over_cycles(0);
  EXPECT_TRUE(with[0] > with[1] && with[1] > with[2] && with[2] < with[3] && with[3] < with[4]);
  EXPECT_TRUE(std::ranges::is_sorted(without));
  // Without a slope to zero in the range, its end; if nothing ends in time, nothing.
  const PrefixSum wide{5959298, 1024, 2};
  const Sensitivity ample{.k = 1, .access_cycles = 1, .deadline_cycles = 1e9},
      hurried{.k = 1, .access_cycles = 1e6, .deadline_cycles = 10};
  EXPECT_EQ(optimal_blocks(wide, ample, 64), 64);
  EXPECT_EQ(best_of_all_blocks(wide, ample, 64), 64u);
  EXPECT_EQ(optimal_blocks(wide, hurried, 1 << 10), 0);
  EXPECT_EQ(best_of_all_blocks(wide, hurried, 1 << 10), 0u);
}

TEST(Pem, EnergyOverBlocksByHand) {
  // N = 1024, M = 8, B = 16, alpha = 2: 526 computing cycles, 23 accesses, 7 barriers; of 10,000 cycles 3000
  // wait.
  const PrefixSum sum{1024, 16, 2};
  const Sensitivity at{.k = 5, .access_cycles = 100, .deadline_cycles = 1e4, .idle = 0.1};
  EXPECT_NEAR(prefix_sum_energy(sum, at, 8), 526 * std::pow(526.0 / 7000, 2) + 5 * 23 + 0.1 * 3000, 1e-9);
}

TEST(BlockParts, DividesTheTilesAndKeepsTheRest) {
  BlockParts p{.blocks = 4, .divided = true, .elements = 6400, .threads = 100};
  p.launch = 1, p.tile_path = 2, p.fixed_path = 3, p.tile_work = 0.1, p.fixed_work = 0.2;
  p.sms = 4, p.resident = 8;
  EXPECT_EQ(p.tiles_with(4), 16);
  EXPECT_EQ(p.tiles_with(3), 22);  // pieces of 2134
  EXPECT_NEAR(p.seconds_with(4), 1 + joint_bound(16 * 2 + 3, 16 * 0.1 + 0.2, 0), 1e-12);
  // 16 blocks of four tiles: two rounds of lives, four blocks on each SM.
  EXPECT_NEAR(p.seconds_with(16), 1 + joint_bound(2 * (4 * 2 + 3), 4 * (4 * 0.1 + 0.2), 0), 1e-12);
  EXPECT_NEAR(p.work_ratio(16), 16 * (4 * 0.1 + 0.2) / (4 * (16 * 0.1 + 0.2)), 1e-12);
  BlockParts tree{.blocks = 4, .divided = false};
  tree.launch = 1, tree.fixed_path = 5;
  EXPECT_NEAR(tree.seconds_with(16), 1 + 5 * 9.0 / 5, 1e-12);
}

TEST(BlockParts, ALastRoundHasTheSmsForItself) {
  BlockParts p{.blocks = 4, .divided = true, .elements = 9600, .threads = 100};
  p.tile_path = 2, p.tile_work = 1.5, p.memory = 12, p.sms = 4, p.resident = 8;
  // 12 blocks of eight tiles: two on each SM, and then one. Each has a twelfth of the bytes.
  EXPECT_NEAR(p.seconds_with(12), joint_bound(16, 2 * 12, 8) + joint_bound(16, 12, 4), 1e-12);
}

TEST(BlockParts, PiecesThatBeginWithinATransactionMoveMoreBytes) {
  BlockParts p{.blocks = 4, .divided = true, .elements = 4096, .threads = 32};
  p.coalescing = core::CoalescingRule::kCc12, p.in_pieces = true;
  p.tile_path = p.tile_work = 0, p.memory = 12, p.sms = 4, p.resident = 64;
  EXPECT_EQ(p.bytes_ratio(8), 1) << "512 words";
  // Of two pieces one begins in the middle of 128 bytes, where half a warp's words lie.
  EXPECT_EQ(p.bytes_ratio(4096 / 16), 1);
  // Of two pieces of 4,104 words the second begins 32 bytes behind 128.
  p.elements = 8208, p.blocks = 1;
  EXPECT_DOUBLE_EQ(p.bytes_ratio(2), (128 + 192) / (2 * 128.0));
  p.elements = 4096, p.blocks = 4;
  // Of eight words, four places: none, 32, 64 and 96 bytes behind the begin of 128 bytes. From 32 bytes on,
  // the first half of a warp takes all 128 and the second 32 of either side; from 96 on, the other way round.
  EXPECT_DOUBLE_EQ(p.bytes_ratio(4096 / 8), (128 + 192 + 128 + 192) / (4 * 128.0));
  EXPECT_DOUBLE_EQ(p.seconds_with(4096 / 8), 12 * 1.25);
  p.in_pieces = false;
  EXPECT_EQ(p.bytes_ratio(4096 / 8), 1);
}

TEST(BlockParts, AKernelMovesPiecesIfItsOwnBytesSaySo) {
  KernelRecord kernel;
  kernel.per_pc.rows = 3;
  kernel.per_pc.texts["class"] = {"load_global", "store_global", "store_shared"};
  kernel.per_pc.numbers["requested_bytes"] = {100'000, 8, 100'000};
  kernel.per_pc.numbers["transferred_bytes"] = {125'000, 64, 0};
  // Two pieces of 100,000 bytes, of which the second begins 32 bytes behind 128, and two that both begin
  // there.
  EXPECT_TRUE(moves_pieces(kernel, core::CoalescingRule::kCc12, 50'000, 2));
  EXPECT_FALSE(moves_pieces(kernel, core::CoalescingRule::kCc12, 51'200, 2));
  kernel.per_pc.numbers["transferred_bytes"][0] = 765'600;
  EXPECT_FALSE(moves_pieces(kernel, core::CoalescingRule::kCc12, 50'000, 2)) << "rows of a sparse matrix";
}

TEST(IdleBeside, IsTheWaitOfTheSideThatEndsFirst) {
  core::MachineConfig m = c1060();
  m.host.idle_power_w = 100, m.host.gpu_idle_power_w = 40;
  const IdleSide host = idle_beside(2, 5, m), gpu = idle_beside(5, 2, m);
  EXPECT_TRUE(host.host);
  EXPECT_EQ(host.joules, 300);
  EXPECT_FALSE(gpu.host);
  EXPECT_EQ(gpu.joules, 120);
}

std::string error_of(const std::string& name, const std::string& value) {
  ModelOptions options;
  options.values[name] = value;
  try {
    (void)run_model({}, options);
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(EnergyModel, RefusesOptionsThatItDoesNotKnow) {
  EXPECT_THAT(error_of("varient", "paper"), HasSubstr("variant"));
  EXPECT_THAT(error_of("variant", "papr"), HasSubstr("expected extended or paper"));
  EXPECT_THAT(error_of("study", "sms"), HasSubstr("expected clocks or blocks"));
  EXPECT_THAT(error_of("k", "-3"), HasSubstr("k: expected a positive number, found '-3'"));
  EXPECT_THAT(error_of("k", "3"), HasSubstr("--option k has no effect with study=clocks"));
  EXPECT_THAT(error_of("host_time", "1s"), HasSubstr("host_time: expected a positive number"));
}

TEST(EnergyModel, SaysWhatARecordingLacks) {
  const auto message = [](const ModelOptions& options) {
    const Recording recording(test::SmallRecording{}.write(test::temp_path("run.h5")));
    try {
      (void)run_model({&recording, 1}, options);
    } catch (const core::RecordError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message({}), HasSubstr("has no energy"));
}

}  // namespace
}  // namespace gpusim::analysis::energy
