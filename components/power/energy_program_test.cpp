// Energy and clocks of whole programs: what adds up, what scales, what must not change. Every run is a
// process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "components/power/energy_terms.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;
using test::Outcome;
using testing::HasSubstr;

/// `chain`: dependent multiply-adds, one load and store. `gather`: loads that each wait for the one before.
/// `stuck`: a barrier that half of a block never reaches.
constexpr const char* kProgram = R"(
.version 1.4
.target sm_13
.entry chain(.param .u32 data, .param .u32 rounds)
{
  .reg .u32 %r<9>;
  .reg .f32 %f<4>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  cvt.u32.u16 %r2, %ctaid.x;
  cvt.u32.u16 %r3, %ntid.x;
  mad24.lo.u32 %r1, %r2, %r3, %r1;
  shl.b32 %r1, %r1, 2;
  ld.param.u32 %r4, [data];
  add.u32 %r4, %r4, %r1;
  ld.param.u32 %r5, [rounds];
  ld.global.f32 %f1, [%r4];
LOOP:
  mad.f32 %f1, %f1, 0f3F000000, 0f3F800000;
  mad.f32 %f1, %f1, 0f3F000000, 0f3F800000;
  mad.f32 %f1, %f1, 0f3F000000, 0f3F800000;
  mad.f32 %f1, %f1, 0f3F000000, 0f3F800000;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra LOOP;
  st.global.f32 [%r4], %f1;
  exit;
}
.entry gather(.param .u32 data, .param .u32 rounds)
{
  .reg .u32 %r<9>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  cvt.u32.u16 %r2, %ctaid.x;
  cvt.u32.u16 %r3, %ntid.x;
  mad24.lo.u32 %r1, %r2, %r3, %r1;
  ld.param.u32 %r4, [data];
  ld.param.u32 %r5, [rounds];
LOOP:
  mul24.lo.u32 %r6, %r1, 36;
  and.b32 %r6, %r6, 65532;
  add.u32 %r6, %r4, %r6;
  ld.global.u32 %r7, [%r6];
  add.u32 %r1, %r1, %r7;
  add.u32 %r1, %r1, 17;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra LOOP;
  st.global.u32 [%r6], %r7;
  exit;
}
.entry stuck(.param .u32 data, .param .u32 rounds)
{
  .reg .u32 %r<3>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra WAIT;
  bar.sync 1, 64;
WAIT:
  bar.sync 0, 64;
  exit;
}
)";

std::string launch(const std::string& kernel, int rounds, const std::string& more = "", int blocks = 60) {
  return fmt::format(R"(
[[launch]]
kernel = "{}"
grid = [{}]
block = [64]
args = ["data", {}]
{}
)",
                     kernel, blocks, rounds, more);
}

SimulationOptions options(const std::string& launches, std::vector<std::string> sets = {}) {
  SimulationOptions o = test::program(
      kProgram, "[[buffer]]\nname = \"data\"\ntype = \"u32\"\ncount = 16384\ninit = \"zeros\"\n" + launches,
      std::move(sets));
  o.direct_driver = false;
  return o;
}

Outcome run(const std::string& launches, std::vector<std::string> sets = {}) {
  Outcome o = test::run_apart(options(launches, std::move(sets)));
  EXPECT_EQ(o.status, "complete") << o.reason;
  return o;
}

uint64_t cycles(const Outcome& o) { return std::stoull(o.timing.substr(o.timing.find(": ") + 2)); }

/// The machine's voltages as a table, for hand calculation.
std::vector<std::string> table() {
  return {"dvfs.core_max=0kHz", "dvfs.core_voltage=1.0", "dvfs.core_points=324MHz 0.8V, 1296MHz 1.0V"};
}

TEST(EnergyOfProgram, TermsAddUpToTheTotalAndTheDomains) {
  const Outcome o = run(launch("chain", 100) + launch("gather", 20));
  for (const int k : {0, 1}) {
    double sum = 0, domain[kNumPowerDomains] = {};
    for (const TermInfo& t : energy_terms()) {
      const double joules = counter(o, t.counter, k);
      EXPECT_GE(joules, 0) << t.counter;
      sum += joules;
      domain[static_cast<size_t>(t.domain)] += joules;
    }
    const double all = counter(o, "energy", k);
    EXPECT_GT(all, 0);
    EXPECT_NEAR(sum, all, 1e-12 * all);
    EXPECT_NEAR(counter(o, "energy_core_domain", k), domain[0], 1e-12 * all);
    EXPECT_NEAR(counter(o, "energy_interconnect_domain", k), domain[1], 1e-12 * all);
    EXPECT_NEAR(counter(o, "energy_dram_domain", k), domain[2], 1e-12 * all);
  }
  // 60 blocks x 64 threads x 400 multiply-adds.
  const double pj = test::tesla_c1060().energy.fp32;
  EXPECT_NEAR(counter(o, "energy_fp32", 0), 60.0 * 64 * 400 * pj * 1e-12, 1e-15);
  EXPECT_GT(counter(o, "energy_dram_read", 1), 0);
}

TEST(EnergyOfProgram, NothingElseDependsOnIt) {
  const std::string launches = launch("chain", 50) + launch("gather", 20);
  SimulationOptions with = options(launches), without = options(launches);
  without.machine.energy = {};
  const Outcome a = test::run_apart(with), b = test::run_apart(without);
  EXPECT_EQ(counter(b, "energy"), -1);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(cycles(a), cycles(b));
}

TEST(EnergyOfProgram, TheSeriesAddsUpWhateverIsRecorded) {
  SimulationOptions o = options(launch("chain", 2000));
  const Outcome plain = test::run_apart(o);
  o.out = testing::TempDir() + "/energy_series.h5";
  for (const core::EventLevel level : {core::EventLevel::kSummary, core::EventLevel::kAll}) {
    o.events = level;
    const Outcome recorded = test::run_apart(o);
    EXPECT_EQ(recorded.timing, plain.timing);
    const core::RecordedFile file(o.out);
    const auto energy = file.reals("/kernels/0/timeseries", "energy"),
               power = file.reals("/kernels/0/timeseries", "power");
    const auto cycle = file.numbers("/kernels/0/timeseries", "cycle");
    ASSERT_GT(energy.size(), 5u);
    double sum = 0;
    for (size_t i = 0; i < energy.size(); ++i) {
      sum += energy[i];
      const double seconds = static_cast<double>(cycle[i] - (i == 0 ? 0 : cycle[i - 1])) / 1296e6;
      EXPECT_NEAR(power[i], energy[i] / seconds, 1e-6 * power[i]);
    }
    EXPECT_NEAR(sum, counter(plain, "energy"), 1e-9 * sum);
  }
}

TEST(EnergyOfProgram, SmsThatHoldWarpsDrawPowerForAsLongAsTheyDo) {
  // So much that next to it nothing else counts in the series.
  const std::vector<std::string> sets{"energy.core_active=1000nJ"};
  const Outcome few = run(launch("chain", 2000, "", 3), sets);
  EXPECT_NEAR(counter(few, "energy_core_active"),
              counter(few, "sm_efficiency") * static_cast<double>(cycles(few)) * 30 * 1e-6, 1e-9);
  const Outcome all = run(launch("chain", 2000, "", 30), sets);
  EXPECT_NEAR(counter(all, "energy_core_active") / counter(few, "energy_core_active"), 10, 0.2);
  // Warps that neither come nor go count all the same as they stay.
  SimulationOptions o = options(launch("chain", 2000, "", 30), sets);
  o.out = testing::TempDir() + "/energy_active.h5";
  EXPECT_EQ(test::run_apart(o).status, "complete");
  const auto energy = core::RecordedFile(o.out).reals("/kernels/0/timeseries", "energy");
  const size_t half = energy.size() / 2;
  const double first = std::accumulate(energy.begin(), energy.begin() + static_cast<long>(half), 0.0),
               rest = std::accumulate(energy.begin() + static_cast<long>(half), energy.end(), 0.0);
  EXPECT_NEAR(first / rest, 1, 0.25);
}

TEST(Clocks, TwiceTheFrequencyHalvesTheTimeOfComputation) {
  const Outcome full = run(launch("chain", 2000), table());
  std::vector<std::string> half = table();
  half.emplace_back("clocks.core=648MHz");
  const Outcome slow = run(launch("chain", 2000), half);
  const double f = static_cast<double>(cycles(full)), s = static_cast<double>(cycles(slow));
  EXPECT_NEAR(s / f, 1, 0.01);  // cycles stay, but for the memory's share
  // 648 MHz lies a third of the way from 0.8 to 1.0 V: (13/15)^2 of the energy of the same events.
  const double share = (0.8 + 0.2 / 3) / 1.0;
  EXPECT_NEAR(counter(slow, "energy_fp32"), share * share * counter(full, "energy_fp32"), 1e-15);
  EXPECT_NEAR(counter(slow, "energy_core_static") / (s / 648e6),
              share * counter(full, "energy_core_static") / (f / 1296e6), 1e-9);
  EXPECT_DOUBLE_EQ(counter(slow, "energy_dram_read"), counter(full, "energy_dram_read"));
}

TEST(Clocks, OfALaunchHoldWhileItRuns) {
  const Outcome o =
      run(launch("chain", 500) + launch("chain", 500, "core_clock = \"648MHz\"\ndram_clock = \"600MHz\"") +
              launch("chain", 500),
          table());
  const Outcome slow = run(launch("chain", 500), [] {
    std::vector<std::string> sets = table();
    sets.emplace_back("clocks.core=648MHz");
    return sets;
  }());
  const double share = (0.8 + 0.2 / 3) / 1.0;
  EXPECT_NEAR(counter(o, "energy_fp32", 1), share * share * counter(o, "energy_fp32", 0), 1e-15);
  EXPECT_NEAR(counter(o, "energy_fp32", 2), counter(o, "energy_fp32", 0), 1e-15);
  // The board's power is the same at all times: its energy tells the time.
  EXPECT_NEAR(counter(o, "energy_board", 1), counter(slow, "energy_board"),
              2e-3 * counter(slow, "energy_board"));
  EXPECT_NEAR(counter(o, "energy_board", 2), counter(o, "energy_board", 0),
              2e-3 * counter(o, "energy_board", 0));
}

TEST(Clocks, OfALaunchGiveTheCyclesOfARunWithTheseClocks) {
  std::vector<std::string> sets = table();
  // One queue each way: messages keep their order wherever the edges lie. No refreshes, which begin
  // elsewhere.
  sets.insert(sets.end(), {"dram.refi=0ns", "interconnect.request_queues=1", "interconnect.reply_queues=1",
                           "clocks.interconnect_follows=true", "clocks.latencies_follow=true"});
  const std::string slow = "core_clock = \"648MHz\"\ndram_clock = \"400MHz\"";
  const Outcome full = run(launch("chain", 500), sets), changed = run(launch("chain", 500, slow), sets);
  // Every domain at half its clock: the same in cycles, but that the edges of the three lie otherwise to each
  // other when the kernel starts. A message waits up to a cycle of its reader more or less: 2.2 core cycles
  // into the interconnect, 1.6 into the DRAM, 2.2 and 1 on the way back, of the load and of the store; and an
  // issue slot is two. With latencies of half as many cycles some hundred are saved.
  const auto apart = [](uint64_t a, uint64_t b) { return a < b ? b - a : a - b; };
  EXPECT_LE(apart(cycles(changed), cycles(full)), 16u);
  sets.back() = "clocks.latencies_follow=false";
  EXPECT_GT(cycles(full), cycles(run(launch("chain", 500, slow), sets)) + 50);
}

/// The first row of a column of /system.
double system(const core::RecordedFile& file, const char* column) {
  return file.reals("/system", column).at(0);
}

TEST(EnergyOfProgram, OfTheWholeSystemIsTheBoardsAndTheHosts) {
  std::vector<std::string> sets = table();
  sets.insert(sets.end(), {"host.idle_power=150", "host.gpu_idle_power=30", "host.launch_interval=100us"});
  SimulationOptions o = options(launch("chain", 300) + launch("chain", 500), sets);
  o.out = testing::TempDir() + "/energy_system.h5";
  ASSERT_EQ(test::run_apart(o).status, "complete");
  const core::RecordedFile file(o.out);
  double kernels = 0, busy = 0;
  for (const std::string k : {"/kernels/0", "/kernels/1"}) {
    const auto names = file.texts(k + "/counters", "name");
    const auto at = static_cast<size_t>(std::ranges::find(names, "energy") - names.begin());
    kernels += file.reals(k + "/counters", "value").at(at);
    busy += static_cast<double>(file.number_attribute(k, "cycles")) / 1.296e9;
  }
  const auto start = file.numbers("/timeline", "start"), end = file.numbers("/timeline", "end");
  const double elapsed = static_cast<double>(end.at(1) - start.at(0)) / 1.296e9;
  EXPECT_GT(elapsed, busy) << "launches have gaps";
  EXPECT_NEAR(system(file, "elapsed") / elapsed, 1, 1e-6);
  EXPECT_NEAR(system(file, "kernels") / kernels, 1, 1e-12);
  EXPECT_NEAR(system(file, "idle_board"), 30 * (elapsed - busy), 1e-6 * 30 * elapsed);
  EXPECT_NEAR(system(file, "host") / (150 * elapsed), 1, 1e-6);
  EXPECT_NEAR(system(file, "power") * elapsed / (kernels + 30 * (elapsed - busy) + 150 * elapsed), 1, 1e-6);
}

TEST(EnergyOfProgram, OfTheSystemIsNotKnownWhereKernelsRanAtTheSameTime) {
  std::vector<std::string> sets = table();
  sets.insert(sets.end(), {"gpu.concurrent_kernels=4", "gpu.launch_queues=4"});
  SimulationOptions o =
      options(launch("chain", 300, "stream = 1", 4) + launch("chain", 300, "stream = 2", 4), sets);
  o.out = testing::TempDir() + "/energy_beside.h5";
  ASSERT_EQ(test::run_apart(o).status, "complete");
  EXPECT_FALSE(core::RecordedFile(o.out).exists("/system"));
}

TEST(Clocks, ALaunchWithClocksRunsAlone) {
  const std::vector<std::string> sets{"gpu.concurrent_kernels=4", "gpu.launch_queues=4"};
  const auto streams = [](const std::string& clock) {
    return launch("chain", 300, "stream = 1", 4) + launch("chain", 300, "stream = 2\n" + clock, 4) +
           launch("chain", 300, "stream = 3", 4);
  };
  SimulationOptions o = options(streams("core_clock = \"800MHz\""), sets);
  o.out = testing::TempDir() + "/energy_alone.h5";
  EXPECT_EQ(test::run_apart(o).status, "complete");
  const auto start = core::RecordedFile(o.out).numbers("/timeline", "start"),
             end = core::RecordedFile(o.out).numbers("/timeline", "end");
  ASSERT_EQ(start.size(), 3u);
  const core::RecordedFile file(o.out);
  size_t alone = 0;
  for (size_t k = 0; k < 3; ++k)
    if (file.number_attribute("/kernels/" + std::to_string(k), "launch") == 1) alone = k;
  for (size_t k = 0; k < 3; ++k)
    EXPECT_TRUE(k == alone || end[k] <= start[alone] || start[k] >= end[alone]) << k;
}

TEST(Clocks, ThatTheMachineCannotHaveAreRefused) {
  const Outcome o = test::run_apart(options(launch("chain", 5, "dram_clock = \"1MHz\"")));
  EXPECT_EQ(o.status, "exception");
  EXPECT_THAT(o.reason, HasSubstr("leaves no time for an access"));
  const Outcome both =
      test::run_apart(options(launch("chain", 5, "core_clock = \"800MHz\""), {"dvfs.governor=utilisation"}));
  EXPECT_THAT(both.reason, HasSubstr("core_clock is set here, and by the governor"));
}

std::vector<std::string> governed(const std::string& kind) {
  std::vector<std::string> sets = table();
  for (const std::string& s :
       {"dvfs.governor=" + kind, std::string("dvfs.period=5us"),
        std::string("dvfs.core_points=324MHz 0.8V, 600MHz 0.85V, 900MHz 0.9V, 1296MHz 1.0V"),
        std::string("dvfs.lowest=324MHz")})
    sets.push_back(s);
  return sets;
}

TEST(GovernorOfProgram, SlowsWhatWaitsForMemoryAndLeavesTheValues) {
  const std::string launches = launch("gather", 200);
  const Outcome fixed = run(launches), slow = run(launches, governed("memory_stall"));
  EXPECT_EQ(slow.values, fixed.values);
  EXPECT_EQ(slow.counts, fixed.counts);
  EXPECT_LT(cycles(slow), cycles(fixed));  // the same waits are fewer cycles of a slower core
  EXPECT_LT(counter(slow, "energy_core_static"), counter(fixed, "energy_core_static") * 1.2);
}

/// Compares a run in all ways in which modules are activated.
void expect_the_same(const std::vector<std::string>& sets) {
  SimulationOptions o = options(launch("chain", 3000, "", 20) + launch("gather", 100), sets);
  const Outcome batched = test::run_apart(o);
  EXPECT_EQ(batched.status, "complete") << batched.reason;
  EXPECT_EQ(test::run_apart(o), batched);
  o.module_events = true;
  const Outcome events = test::run_apart(o);
  EXPECT_EQ(events.timing, batched.timing);
  o.module_events = false;
  o.direct_driver = true;
  const Outcome direct = test::run_apart(o);
  EXPECT_EQ(direct.timing, batched.timing);
  EXPECT_EQ(direct.values, batched.values);
}

TEST(GovernorOfProgram, IsDeterministicWhoeverActivatesTheModules) {
  expect_the_same(governed("utilisation"));
}

TEST(GovernorOfProgram, IsDeterministicWithCaches) {
  std::vector<std::string> sets = governed("memory_stall");
  for (const char* s : {"coalescer.rule=cc20", "l1.size=16K", "l2.size=512K"}) sets.emplace_back(s);
  expect_the_same(sets);
}

TEST(GovernorOfProgram, ChangesTheClockDuringAKernel) {
  SimulationOptions o = options(launch("gather", 400), governed("memory_stall"));
  o.out = testing::TempDir() + "/energy_governed.h5";
  EXPECT_EQ(test::run_apart(o).status, "complete");
  const core::RecordedFile file(o.out);
  const auto clock = file.numbers("/kernels/0/timeseries", "core_clock");
  ASSERT_GT(clock.size(), 2u);
  EXPECT_LT(clock.back(), clock.front());
  // The recorded time is that of all its clocks.
  const double seconds = static_cast<double>(file.number_attribute("/kernels/0", "time_fs")) * 1e-15,
               average = static_cast<double>(file.number_attribute("/kernels/0", "cycles")) / seconds;
  EXPECT_GT(average, 324e6);
  EXPECT_LT(average, 1296e6);
}

TEST(GovernorOfProgram, HidesNoDeadlock) {
  const Outcome o = test::run_apart(options(launch("stuck", 1, "", 1), governed("utilisation")));
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, HasSubstr("deadlock"));
}

}  // namespace
}  // namespace gpusim::comp
