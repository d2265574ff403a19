// Whole programs through comp::Simulation: SystemC and direct activation agree in every table, runs repeat
// exactly, timing never changes values, and what the simulated program does wrong is reported with its place.
#include "components/simulation/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "components/testing/run_program.h"
#include "simcore/text/text_file.h"

namespace gpusim::comp {
namespace {

constexpr const char* kOrderedTables[] = {"events/issue ", "events/stall ", "events/branch ",
                                          "events/phase "};

using test::Outcome;
using test::program;
using test::run_apart;
using testing::AllOf;
using testing::HasSubstr;

/// Shared memory, barriers, a loop that diverges, constant look-ups of different lanes, atomics with and
/// without result: the one that is read changes no value, as it depends on who comes first.
constexpr const char* kMix = R"(
.version 1.4
.target sm_13
.const .align 4 .u32 table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5,
                                  0, 2, 8, 8, 4, 1, 9, 7, 1, 6, 9, 3, 9, 9, 3, 7, 5, 1, 0, 5, 8, 2, 0, 9, 7, 4, 9, 4, 4, 5, 9, 2};
.entry mix(.param .u32 out, .param .u32 in, .param .u32 bins)
{
  .reg .u32 %r<32>;
  .reg .u16 %h<4>;
  .reg .pred %p<4>;
  .shared .align 4 .b8 tile[512];
  cvt.u32.u16 %r1, %tid.x;
  mov.u16 %h1, %ctaid.x;
  mov.u16 %h2, %ntid.x;
  mul.wide.u16 %r2, %h1, %h2;
  add.u32 %r2, %r2, %r1;
  shl.b32 %r3, %r2, 2;
  ld.param.u32 %r4, [in];
  add.u32 %r4, %r4, %r3;
  ld.global.u32 %r5, [%r4];
  mov.u32 %r6, tile;
  shl.b32 %r7, %r1, 2;
  add.u32 %r8, %r6, %r7;
  st.shared.u32 [%r8], %r5;
  bar.sync 0;
  xor.b32 %r9, %r7, 252;
  add.u32 %r9, %r6, %r9;
  ld.shared.u32 %r10, [%r9];
  and.b32 %r11, %r10, 15;
  mov.u32 %r12, table;
  mov.u32 %r20, 0;
LOOP:
  setp.eq.u32 %p1, %r11, 0;
  @%p1 bra DONE;
  and.b32 %r13, %r10, 63;
  shl.b32 %r13, %r13, 2;
  add.u32 %r13, %r12, %r13;
  ld.const.u32 %r14, [%r13];
  add.u32 %r20, %r20, %r14;
  shr.u32 %r10, %r10, 1;
  sub.u32 %r11, %r11, 1;
  bra LOOP;
DONE:
  and.b32 %r15, %r20, 31;
  shl.b32 %r15, %r15, 2;
  ld.param.u32 %r16, [bins];
  add.u32 %r15, %r16, %r15;
  red.global.add.u32 [%r15], 1;
  atom.global.max.u32 %r17, [%r16+128], %r20;
  and.b32 %r17, %r17, 0;
  add.u32 %r20, %r20, %r17;
  bar.sync 0;
  ld.param.u32 %r18, [out];
  add.u32 %r18, %r18, %r3;
  st.global.u32 [%r18], %r20;
  exit;
}
)";
constexpr const char* kMixLaunch = R"toml(
[[buffer]]
name = "out"
type = "u32"
count = 3072
[[buffer]]
name = "in"
type = "u32"
count = 3072
init = "randint(0, 1000000)"
[[buffer]]
name = "bins"
type = "u32"
count = 33
[[launch]]
kernel = "mix"
grid = [48]
block = [64]
args = ["out", "in", "bins"]
repeat = 2
)toml";

std::string scratch(const std::string& name) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("gpusim_components_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

SimulationOptions mix(std::vector<std::string> sets = {}) {
  SimulationOptions o = program(kMix, kMixLaunch, std::move(sets));
  o.events = core::EventLevel::kAll;
  return o;
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.status, "complete") << a.reason;
  EXPECT_EQ(b.status, "complete") << b.reason;
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.timing, b.timing);
  EXPECT_EQ(a.recorded, b.recorded);
}

/// Without the order of the rows that depends on how far an SM ran ahead: with direct activation it never
/// does.
std::string tables_in_any_order(const std::string& recorded) {
  std::istringstream lines(recorded);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool ordered = std::any_of(std::begin(kOrderedTables), std::end(kOrderedTables),
                                     [&](const char* t) { return line.find(t) != std::string::npos; }) &&
                         line.find(" rows:") != std::string::npos;
    if (!ordered) kept += line + "\n";
  }
  return kept;
}

TEST(Equivalence, SystemCAndDirectActivationAgree) {
  const std::vector<std::string> sets = {"tlb.l1_entries=16"};
  SimulationOptions systemc = mix(sets);
  systemc.direct_driver = false;
  systemc.out = scratch("systemc.h5");
  SimulationOptions direct = mix(sets);
  direct.out = scratch("direct.h5");
  Outcome a = run_apart(systemc), b = run_apart(direct);
  EXPECT_THAT(a.recorded, HasSubstr("events/issue"));
  a.recorded = tables_in_any_order(a.recorded);
  b.recorded = tables_in_any_order(b.recorded);
  expect_same(a, b);
  EXPECT_THAT(a.recorded, AllOf(HasSubstr("per_pc"), HasSubstr("events/memory"), HasSubstr("events/block")));
  std::filesystem::remove_all(std::filesystem::path(systemc.out).parent_path());
}

TEST(Equivalence, ModuleEventsAndCallsByTheDomainAgreeInEveryTable) {
  SimulationOptions called = mix();
  called.direct_driver = false;
  called.out = scratch("called.h5");
  SimulationOptions notified = called;
  notified.module_events = true;
  notified.out = scratch("notified.h5");
  expect_same(run_apart(called), run_apart(notified));
  std::filesystem::remove_all(std::filesystem::path(called.out).parent_path());
}

TEST(Equivalence, SystemCAndDirectActivationAgreeWithTightQueues) {
  SimulationOptions systemc =
      mix({"interconnect.queue=1", "l2.queue=1", "dram.queue=1", "dram.reply_queue=1", "lsu.queue=1",
           "lsu.mshrs=1", "lsu.store_buffer=1", "constant.mshrs=1", "dram.write_high=1", "dram.write_low=0"});
  SimulationOptions direct = systemc;
  systemc.direct_driver = false;
  expect_same(run_apart(systemc), run_apart(direct));
}

class PlanningAhead : public testing::TestWithParam<const char*> {};

/// Recording MSHR events makes the load/store units decide each transaction in its own cycle and wake for
/// every reply; without, they plan ahead. An SM of the direct driver does not run ahead either.
TEST_P(PlanningAhead, ChangesNoTime) {
  std::istringstream words(GetParam());
  const std::vector<std::string> sets{std::istream_iterator<std::string>(words), {}};
  SimulationOptions ahead = mix(sets);
  ahead.direct_driver = false;
  ahead.events = core::EventLevel::kOff;
  SimulationOptions stepwise = mix(sets);
  stepwise.out = scratch("stepwise.h5");
  Outcome a = run_apart(ahead), b = run_apart(stepwise);
  EXPECT_THAT(b.recorded, HasSubstr("events/mshr"));
  b.recorded = a.recorded;
  expect_same(a, b);
  std::filesystem::remove_all(std::filesystem::path(stepwise.out).parent_path());
}
INSTANTIATE_TEST_SUITE_P(
    Machines, PlanningAhead,
    testing::Values("gpu.sms=30", "tlb.l1_entries=16", "tlb.l1_entries=2 tlb.l1_ways=1 tlb.page=4K",
                    "tlb.l1_entries=2 tlb.l1_ways=2 tlb.page=4K gpu.sms=3 dram.queue=4 dram.write_high=2 "
                    "dram.write_low=1",
                    "tlb.l1_entries=1 tlb.l1_ways=1 tlb.page=4K lsu.queue=1 interconnect.queue=1",
                    "tlb.l1_entries=3 tlb.l1_ways=3 tlb.page=4K lsu.mshrs=2 lsu.store_buffer=1",
                    "tlb.l1_entries=1 tlb.l1_ways=1 tlb.page=8K tlb.l1_misses=1 tlb.walkers=1", "lsu.queue=1",
                    "lsu.queue=2 lsu.mshrs=3", "lsu.mshrs=2 lsu.store_buffer=1", "interconnect.queue=1",
                    "coalescer.cycles_per_transaction=7 lsu.queue=3", "coalescer.rule=cc10 lsu.mshrs=20",
                    "coalescer.rule=cc20", "coalescer.rule=cc20 l1.size=4K l1.index=fermi l1.warp_mshrs=2",
                    "coalescer.rule=cc20 l1.size=4K l1.latency=1 l1.allocate=fill",
                    "coalescer.rule=cc20 l1.size=128 l1.ways=1 l1.mshrs=1 l1.merges=1 "
                    "lsu.queue=1 lsu.mshrs=1 lsu.store_buffer=1",
                    "l2.size=64K", "coalescer.rule=cc20 l1.size=4K l2.size=64K l2.hash=xor",
                    "coalescer.rule=cc20 l1.size=4K l2.size=8K l2.ways=1 l2.mshrs=1 l2.merges=1 "
                    "l2.queue=1 interconnect.queue=1",
                    "scheduler.count=4", "scheduler.count=3 sm.register_banks=2 l2.queue=1",
                    "scheduler.count=4 scheduler.issue_cycles=1 scheduler.policy=gto "
                    "pipes.sp.per_scheduler=true pipes.sfu.per_scheduler=true",
                    "scheduler.count=2 scheduler.issue_width=2 coalescer.rule=cc20 l1.size=4K",
                    "coalescer.rule=cc20 l1.size=1K l1.ways=2 scheduler.count=2 scheduler.policy=ccws",
                    "scheduler.policy=two_level scheduler.group=4", "scheduler.policy=gto l2.queue=1",
                    "coalescer.rule=cc20 l1.size=4K scheduler.count=4 scheduler.issue_cycles=1 "
                    "scheduler.policy=gto scheduler.dependences=control_codes",
                    "coalescer.rule=cc20 l1.size=4K l1.sector=32 l1.write_local=back l1.write_global=evict "
                    "interconnect.queue=2 gpu.block_start_cycles=300",
                    "coalescer.rule=cc20 l1.size=1K l1.ways=2 l1.write_local=back l1.mshrs=2 lsu.queue=1 "
                    "lsu.mshrs=2 lsu.store_buffer=2 gpu.block_start_cycles=300",
                    "interconnect.reply_latency=0ns gpu.block_start_cycles=0"));

/// Tiles of matrices on few SMs of a V100: warps that a barrier releases meet loads of others in one cycle,
/// and the link to the interconnect is full most of the time. As far ahead as replies allow, or not at all.
TEST(RunningAhead, OfManyWarpsThatWaitForEachOtherAndForTheLinkChangesNoTime) {
  const std::string folder = std::string(GPUSIM_SOURCE_DIR) + "/workloads/matmul/tiled_16x16";
  const std::vector<std::string> sets = {"gpu.block_start_cycles=300"}, size = {"N=96"};
  const std::vector<std::string> configs = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
  SimulationOptions ahead;
  ahead.machine = core::load_machine("tesla_v100", sets, configs);
  ahead.sms = 4;
  ahead.ptx_name = folder + ".ptx";
  ahead.ptx_text = core::read_text_file(ahead.ptx_name);
  ahead.launch = core::load_launch(folder + ".toml", size, 1);
  ahead.lowering = isa::LoweringLevel::kSchedule;
  SimulationOptions stepwise = ahead;
  stepwise.direct_driver = true;
  expect_same(run_apart(ahead), run_apart(stepwise));
}

/// Cycles of the kernel, which is called "nothing".
uint64_t cycles_of(const SimulationOptions& o) {
  const Outcome outcome = run_apart(o);
  EXPECT_EQ(outcome.status, "complete") << outcome.reason;
  const std::string before = "nothing: ";
  return std::stoull(outcome.timing.substr(outcome.timing.find(before) + before.size()));
}
constexpr const char* kOneWarp = "[[launch]]\nkernel = \"nothing\"\ngrid = [1]\nblock = [32]\n";

/// Three SMs of a cluster store at the same time, through ports of a byte a cycle.
TEST(Ports, SmsWithPortsOfTheirOwnDoNotWaitForEachOther) {
  const auto cycles = [](const char* set) {
    SimulationOptions o =
        program(R"(
.version 1.4
.target sm_13
.entry nothing(.param .u32 out)
{
  .reg .u32 %r<6>;
  cvt.u32.u16 %r1, %tid.x;
  cvt.u32.u16 %r2, %ctaid.x;
  shl.b32 %r1, %r1, 7;
  shl.b32 %r2, %r2, 12;
  ld.param.u32 %r3, [out];
  add.u32 %r3, %r3, %r1;
  add.u32 %r3, %r3, %r2;
  st.global.u32 [%r3], %r2;
  exit;
})",
                "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 3072\n"
                "[[launch]]\nkernel = \"nothing\"\ngrid = [3]\nblock = [32]\nargs = [\"out\"]\n",
                {"interconnect.flit=1", set});
    o.sms = 3;
    return cycles_of(o);
  };
  // Three times as long, but for what the launch and the memory take.
  EXPECT_GT(cycles("interconnect.sms_per_port=3"), cycles("interconnect.sms_per_port=1") * 3 / 2);
}

TEST(BranchToATable, TakesTheLatencyOfACall) {
  constexpr const char* kSwitch = R"(
.version 6.0
.target sm_30
.address_size 64
.entry nothing()
{
  .reg .u32 %r<2>;
  mov.u32 %r1, 1;
TABLE: .branchtargets FIRST, SECOND;
  brx.idx %r1, TABLE;
FIRST:
  exit;
SECOND:
  exit;
})";
  const auto cycles = [](const char* call) {
    return cycles_of(
        program(kSwitch, kOneWarp, {"gpu.compute_capability=3.0", "pipes.control.call=4", call}));
  };
  EXPECT_EQ(cycles("latency.call=500"), cycles("latency.call=100") + 400);
}

TEST(BlockStart, TakesTheConfiguredCycles) {
  const auto cycles = [](const char* set) {
    return cycles_of(program(".version 1.4\n.target sm_13\n.entry nothing() { exit; }\n", kOneWarp, {set}));
  };
  EXPECT_EQ(cycles("gpu.block_start_cycles=520"), cycles("gpu.block_start_cycles=20") + 500);
}

TEST(Determinism, TwoRunsAndAnyNumberOfRecorderThreads) {
  std::vector<Outcome> runs;
  for (const int threads : {1, 1, 0, 2}) {
    SimulationOptions o = mix();
    o.direct_driver = false;
    o.threads = threads;
    o.out = scratch("run" + std::to_string(runs.size()) + ".h5");
    runs.push_back(run_apart(o));
  }
  for (size_t i = 1; i < runs.size(); ++i) expect_same(runs[0], runs[i]);
  std::filesystem::remove_all(std::filesystem::path(scratch("x")).parent_path());
}

TEST(TimingIndependence, SchedulersDifferInCyclesOnly) {
  const Outcome lrr = run_apart(mix({"scheduler.policy=lrr"}));
  const Outcome gto = run_apart(mix({"scheduler.policy=gto"}));
  EXPECT_EQ(lrr.status, "complete");
  EXPECT_EQ(lrr.values, gto.values);
  EXPECT_EQ(lrr.counts, gto.counts);
  EXPECT_NE(lrr.timing, gto.timing);
}

class TimingParameter : public testing::TestWithParam<const char*> {};

TEST_P(TimingParameter, ChangesNeitherValuesNorCounts) {
  std::istringstream words(GetParam());
  const std::vector<std::string> sets{std::istream_iterator<std::string>(words), {}};
  const Outcome plain = run_apart(mix());
  const Outcome changed = run_apart(mix(sets));
  EXPECT_EQ(plain.status, "complete");
  EXPECT_EQ(changed.status, "complete") << changed.reason;
  EXPECT_EQ(plain.values, changed.values);
  EXPECT_EQ(plain.counts, changed.counts);
  EXPECT_NE(plain.timing, changed.timing) << "the parameter must have an effect";
}
INSTANTIATE_TEST_SUITE_P(Parameters, TimingParameter,
                         testing::Values("latency.int=48", "clocks.dram=400MHz", "interconnect.queue=1",
                                         "lsu.mshrs=1", "lsu.queue=1", "lsu.store_buffer=1",
                                         "dram.queue=1 dram.write_high=1 dram.write_low=0",
                                         "l2.latency=100ns", "constant.mshrs=1", "constant.l2_latency=200ns",
                                         "coalescer.rule=cc10", "scheduler.count=2", "l2.atomic_cycles=40",
                                         "gpu.launch_cycles=0", "interconnect.request_latency=0ns",
                                         "dram.cl=20ck", "shared.cycles_per_access=4",
                                         "dram.starvation_limit=1"));

TEST(TimingIndependence, FunctionalRunGivesTheSameValuesAndCounts) {
  SimulationOptions o = mix();
  const Outcome timed = run_apart(o);
  o.functional = true;
  const Outcome functional = run_apart(o);
  EXPECT_EQ(functional.status, "complete") << functional.reason;
  EXPECT_EQ(timed.values, functional.values);
  // Accesses are counted by the timing model only; instructions by both.
  const auto head = [](const std::string& counts) {
    size_t at = 0;
    for (int i = 0; i < 8; ++i) at = counts.find(' ', at + 1);
    return counts.substr(0, at);
  };
  EXPECT_EQ(head(timed.counts), head(functional.counts));
}

TEST(TimingIndependence, OneSmComputesTheSame) {
  SimulationOptions o = mix();
  const Outcome all = run_apart(o);
  o.sms = 1;
  const Outcome one = run_apart(o);
  EXPECT_EQ(all.values, one.values);
  EXPECT_EQ(all.counts, one.counts);
}

TEST(Accounting, SlotsAddUpToTheCyclesOfEverySm) {
  SimulationOptions o = mix();
  Simulation simulation(o);
  const SimulationResult r = simulation.run();
  ASSERT_EQ(r.status, SimulationResult::Status::kComplete) << r.reason;
  ASSERT_EQ(simulation.launches().size(), 2u);
  for (const PreparedLaunch& launch : simulation.launches())
    for (const SmStats& sm : launch.run->sm) {
      uint64_t slots = 0;
      for (const uint64_t s : sm.slots) slots += s;
      EXPECT_EQ(slots, (launch.run->end - launch.run->start) / 2);
    }
}

// ---- program errors
// ---------------------------------------------------------------------------------------------------------

/// A kernel of one buffer of 64 words; `body` from line 5 on.
Outcome run_body(const std::string& body, bool functional = false, uint64_t max_cycles = 10'000'000,
                 uint32_t threads = 32) {
  const std::string ptx = ".version 1.4\n.target sm_13\n.entry k(.param .u32 out)\n{\n" + body + "\n}\n";
  SimulationOptions o = program(ptx,
                                "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 64\n[[launch]]\nkernel "
                                "= \"k\"\ngrid = [2]\nblock = [" +
                                    std::to_string(threads) + "]\nargs = [\"out\"]\n");
  o.functional = functional;
  o.max_cycles = max_cycles;
  return run_apart(o);
}

class ProgramErrors : public testing::TestWithParam<bool> {};

TEST_P(ProgramErrors, OutOfBoundsNamesLineThreadAndAddress) {
  const Outcome o = run_body(
      ".reg .u32 %r<8>;\ncvt.u32.u16 %r1, %tid.x;\nmul.lo.u32 %r1, %r1, 16;\nld.param.u32 %r2, "
      "[out];\nadd.u32 %r2, %r2, %r1;\n"
      "st.global.u32 [%r2], %r1;\nexit;",
      GetParam());
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("line 10"), HasSubstr("thread (16,0,0)"), HasSubstr("out of bounds"),
                              HasSubstr("0x10000100")));
}

TEST_P(ProgramErrors, MisalignedNamesTheAddress) {
  const Outcome o = run_body(
      ".reg .u32 %r<8>;\nld.param.u32 %r2, [out];\nadd.u32 %r2, %r2, 2;\nld.global.u32 %r3, "
      "[%r2];\nst.global.u32 [%r2], %r3;\nexit;",
      GetParam());
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("line 8"), HasSubstr("misaligned"), HasSubstr("0x10000002")));
}

TEST_P(ProgramErrors, DivergentBarrierThatNeverOpensIsADeadlockWithItsPlace) {
  const Outcome o = run_body(
      ".reg .u32 %r<8>;\n.reg .pred %p;\ncvt.u32.u16 %r1, %tid.x;\nsetp.lt.u32 %p, %r1, 16;\n@%p bra "
      "SKIP;\nbar.sync 1, 96;\nSKIP:\nbar.sync 0;\nexit;",
      GetParam());
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("deadlock"), HasSubstr("line 10"), HasSubstr("bar.sync"),
                              HasSubstr("block (0,0,0)"), HasSubstr("thread (16,0,0)")));
  EXPECT_THAT(o.reason, HasSubstr("0x0000ffff")) << "the lanes that never arrive";
}

TEST_P(ProgramErrors, BarrierForThreadsThatDoNotExist) {
  const Outcome o = run_body("bar.sync 0;\nbar.sync 1, 96;\nexit;", GetParam());
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("deadlock"), HasSubstr("line 6")));
}

TEST_P(ProgramErrors, EndlessLoopMeetsTheLimit) {
  const Outcome o = run_body(
      ".reg .u32 %r;\n.reg .pred %p;\nLOOP:\nadd.u32 %r, %r, 1;\nsetp.ne.u32 %p, %r, 0;\n@%p bra "
      "LOOP;\nexit;",
      GetParam(), 100'000);
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("still running"), testing::ContainsRegex("line (8|9|10)")));
}

TEST_P(ProgramErrors, ALoopThatChangesNothingIsADeadlock) {
  const Outcome o = run_body("LOOP:\nbra LOOP;\nexit;", GetParam(), 10'000'000);
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason,
              AllOf(HasSubstr("deadlock"), HasSubstr("line 6"), HasSubstr("what no other warp will do")));
}

TEST_P(ProgramErrors, TrapEndsTheRun) {
  const Outcome o = run_body("trap;\nexit;", GetParam());
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("trap"), HasSubstr("line 5"), HasSubstr("thread (0,0,0)")));
}
INSTANTIATE_TEST_SUITE_P(TimedAndFunctional, ProgramErrors, testing::Bool());

// ---- modules
// ---------------------------------------------------------------------------------------------------------

class Modules : public testing::TestWithParam<bool> {
 protected:
  /// Runs `k` of the first text, linked with the second.
  static Outcome run(const std::string& first, const std::string& second = "") {
    const std::string header = ".version 7.0\n.target sm_75\n.address_size 64\n";
    SimulationOptions o = program(header + first, "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n");
    if (!second.empty()) o.linked.push_back({"second.ptx", header + second});
    o.functional = GetParam();
    return run_apart(o);
  }
};

TEST_P(Modules, InitialValuesAreBytesOfAddressesAndVariablesOfFunctionsHaveTheirPlace) {
  const auto text = [](const std::string& second_byte) {
    return R"(
.global .align 8 .b32 target[4] = {1, 2, 3, 0x1234};
.global .align 8 .u8 bytes[8] = {0xFF(target+12), )" +
           second_byte + R"((target+12), 0xFF0000(target+12), 0xFF000000(target+12),
  0xFF00000000(target+12), 0xFF0000000000(target+12), 0xFF000000000000(generic(target)+12),
  0xFF00000000000000(generic(target)+12)};
.visible .entry k() {
  .global .align 8 .u64 own = generic(bytes);
  .reg .b64 %rd<4>; .reg .b32 %r; .reg .pred %p, %q, %e;
  ld.global.u64 %rd0, [own];
  mov.u64 %rd1, bytes;
  setp.ne.u64 %p, %rd0, %rd1;
  ld.u64 %rd2, [%rd0];
  mov.u64 %rd3, target;
  add.u64 %rd3, %rd3, 12;
  setp.ne.u64 %q, %rd2, %rd3;
  or.pred %e, %p, %q;
  @%e trap;
  ld.global.u32 %r, [%rd2];
  setp.ne.u32 %p, %r, 0x1234;
  @%p trap;
  ret; })";
  };
  EXPECT_EQ(run(text("0xFF00")).reason, "");
  EXPECT_THAT(run(text("0xFF")).reason, HasSubstr("trap"));
}

TEST_P(Modules, AnErrorInALinkedFileNamesIt) {
  const Outcome o = run(".extern .func f();\n.visible .entry k() { call f; ret; }\n",
                        ".visible .func f() {\n  trap;\n  ret; }\n");
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, HasSubstr("kernel 'k', second.ptx, PTX line 5 `trap`"));
  const Outcome missing = run(".extern .func f();\n.visible .entry k() { call f; ret; }\n");
  EXPECT_THAT(missing.reason, HasSubstr("test.ptx:5:23: error: call of 'f', which is only declared"));
}
INSTANTIATE_TEST_SUITE_P(TimedAndFunctional, Modules, testing::Bool());

TEST(InputErrors, UnknownKernelNamesTheNearest) {
  try {
    Simulation simulation(program(kMix, "[[launch]]\nkernel = \"mixx\"\ngrid = [1]\nblock = [32]\n"));
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("mixx"), HasSubstr("mix")));
  }
}

TEST(InputErrors, BlockThatFitsNoSm) {
  try {
    Simulation simulation(program(kMix, "[[launch]]\nkernel = \"mix\"\ngrid = [1]\nblock = [1024]\n"));
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("512"));
  }
}

}  // namespace
}  // namespace gpusim::comp
