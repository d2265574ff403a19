// A functional run beside a timed one of the same program: what does not depend on time is the same, and what
// does is near.
#include "predict/functional_counts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "analysis/models/latency_hidden/prediction.h"
#include "analysis/models/reuse_distance/coalescer.h"
#include "components/lsu/coalescer.h"
#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/text/text_file.h"

namespace gpusim::predict {
namespace {

namespace lh = analysis::latency_hidden;

comp::SimulationOptions workload(const std::string& name, std::vector<std::string> params = {}) {
  const std::string path = std::string(GPUSIM_SOURCE_DIR) + "/workloads/" + name;
  comp::SimulationOptions o;
  o.machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {});
  o.ptx_name = name;
  o.ptx_text = core::read_text_file(path + ".ptx");
  o.launch = core::load_launch(path + ".toml", params, 0);
  o.lowering = isa::LoweringLevel::kSchedule;
  return o;
}

/// By machine; on the GTX 470 the kernel spills registers to local memory.
class TimedRun : public testing::TestWithParam<std::string> {};

TEST_P(TimedRun, CountsWhatAFunctionalRunTells) {
  const std::string out = testing::TempDir() + "functional_counts_" + GetParam() + ".h5";
  const auto program = [] {
    comp::SimulationOptions o = workload("matmul/tiled_8x8", {"N=64"});
    o.machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/" + GetParam() + ".cfg", {}, {});
    return o;
  };
  comp::SimulationOptions timed = program();
  timed.out = out;
  const std::vector<lh::FunctionalKernel> kernels = functional_counts(program());
  {
    comp::Simulation simulation(std::move(timed));
    ASSERT_EQ(simulation.run().status, comp::SimulationResult::Status::kComplete);
  }
  const analysis::Recording recording(out);
  const analysis::KernelRecord kernel = recording.kernel(0);
  ASSERT_EQ(kernels.size(), 1u);
  const lh::FunctionalKernel& k = kernels[0];
  EXPECT_EQ(k.name, kernel.name);
  EXPECT_EQ(k.grid, kernel.grid);
  EXPECT_EQ(k.followed, 1);
  const lh::Counts counted = lh::recorded_counts(kernel);
  for (const auto member : {&lh::Counts::executed, &lh::Counts::longest_sum, &lh::Counts::longest,
                            &lh::Counts::flops, &lh::Counts::accesses, &lh::Counts::pages})
    EXPECT_EQ(k.counts.*member, counted.*member);
  // Constants and instructions ask memory too.
  EXPECT_NEAR(k.counts.requests, counted.requests, 0.05 * counted.requests);
  EXPECT_NEAR(k.counts.dram_read, counted.dram_read, 0.05 * counted.dram_read + 1024);
  EXPECT_NEAR(k.counts.rows, counted.rows, 0.5 * counted.rows + 20);
  EXPECT_NEAR(k.counts.to_busiest, counted.to_busiest, 0.2 * counted.to_busiest);
  const double warps = static_cast<double>(k.code.shape.blocks) * k.code.shape.warps_per_block;
  ASSERT_EQ(k.code.counts.size(), kernel.per_pc.rows);
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    EXPECT_EQ(k.code.counts[pc].executed * warps, static_cast<double>(kernel.per_pc["executed"][pc])) << pc;
    EXPECT_EQ(k.code.counts[pc].transactions * warps, static_cast<double>(kernel.per_pc["transactions"][pc]))
        << pc;
    EXPECT_EQ(k.code.counts[pc].transferred * warps,
              static_cast<double>(kernel.per_pc["transferred_bytes"][pc]))
        << pc;
  }
  const lh::PredictedMachine machine = lh::predicted_machine(recording.machine(), "", 0);
  EXPECT_NEAR(lh::predict_kernel(machine, k).cycles / static_cast<double>(kernel.cycles), 1, 0.3);
}

INSTANTIATE_TEST_SUITE_P(Machines, TimedRun, testing::Values("tesla_c1060", "gtx470", "tesla_v100"),
                         [](const auto& machine) { return machine.param; });

/// Each of a block's 256 threads adds a float to one word of shared memory `sums` times, and uses the sum or
/// goes on without it.
comp::SimulationOptions sums_of_floats(int sums, const char* sum = "atom.shared.add.f32 %f1,") {
  comp::SimulationOptions o;
  o.machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", {}, {});
  o.ptx_name = "sums.ptx";
  o.ptx_text = fmt::format(
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry sums(.param .u64 p) {{\n"
      ".shared .align 4 .f32 s; .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
      "mov.f32 %f1, 0f00000000; st.shared.f32 [s], %f1; bar.sync 0; mov.u32 %r2, {};\n"
      "AGAIN: {} [s], %f1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;\n"
      "@%p1 bra AGAIN; st.global.f32 [%rd1], %f1; ret; }}\n",
      sums, sum);
  o.launch = core::parse_launch(
      "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = 256\n[[launch]]\nkernel = \"sums\"\n"
      "grid = [1]\nblock = [256]\nargs = [\"out\"]\n",
      "sums.toml", {}, 1, false);
  o.lowering = isa::LoweringLevel::kSchedule;
  return o;
}

analysis::Recording timed_run(comp::SimulationOptions o) {
  const std::string out = testing::TempDir() + "functional_counts_timed.h5";
  o.out = out;
  {
    comp::Simulation simulation(std::move(o));
    EXPECT_EQ(simulation.run().status, comp::SimulationResult::Status::kComplete);
  }
  return analysis::Recording(out);
}

TEST(FunctionalCounts, SumsOfFloatsInSharedMemoryTakeTheRoundsOfATimedRun) {
  const std::vector<lh::FunctionalKernel> kernels = functional_counts(sums_of_floats(16));
  const analysis::Recording recording = timed_run(sums_of_floats(16));
  const analysis::KernelRecord kernel = recording.kernel(0);
  ASSERT_EQ(kernels.size(), 1u);
  const std::vector<lh::OpCounts>& mine = kernels[0].code.counts;
  constexpr double kWarps = 8, kSums = 16, kLanes = 32;
  double rounds = 0;
  ASSERT_EQ(mine.size(), kernel.per_pc.rows);
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    EXPECT_EQ(mine[pc].transactions * kWarps, static_cast<double>(kernel.per_pc["transactions"][pc])) << pc;
    EXPECT_EQ(mine[pc].replays * kWarps, static_cast<double>(kernel.per_pc["replays"][pc])) << pc;
    EXPECT_EQ(mine[pc].rounds * kWarps, static_cast<double>(kernel.per_pc["sum_rounds"][pc])) << pc;
    rounds += mine[pc].rounds;
  }
  EXPECT_EQ(rounds, kSums * kLanes);
  const lh::PredictedMachine machine = lh::predicted_machine(recording.machine(), "", 0);
  EXPECT_NEAR(lh::predict_kernel(machine, kernels[0]).cycles / static_cast<double>(kernel.cycles), 1, 0.15);
}

TEST(FunctionalCounts, AtomicsFindTheirWordsInTheL2OnceTheyAreThere) {
  // Four times a word for each of 256 threads.
  const auto program = [] {
    comp::SimulationOptions o = sums_of_floats(4);
    const size_t at = o.ptx_text.find("atom.shared.add.f32 %f1, [s]");
    o.ptx_text.replace(at, std::string("atom.shared.add.f32 %f1, [s]").size(),
                       "atom.global.add.f32 %f1, [%rd1]");
    return o;
  };
  const lh::Counts functional = functional_counts(program()).at(0).counts;
  const analysis::Recording recording = timed_run(program());
  const lh::Counts timed = lh::recorded_counts(recording.kernel(0));
  for (const lh::Counts& c : {functional, timed}) {
    EXPECT_EQ(c.l2_atomics, 8 * 4 * 4) << "warps, their sectors, and times";
    EXPECT_EQ(c.l2_atomic_hits, 8 * 4 * 3);
    EXPECT_EQ(c.l2_reads, 0);
  }
}

TEST(FunctionalCounts, WhoDoesNotUseASumOfFloatsWaitsForItsRoundsAllTheSame) {
  constexpr const char* kSum = "red.shared.add.f32";
  const analysis::Recording recording = timed_run(sums_of_floats(16, kSum));
  const lh::PredictedMachine machine = lh::predicted_machine(recording.machine(), "", 0);
  const double predicted =
      lh::predict_kernel(machine, functional_counts(sums_of_floats(16, kSum)).at(0)).cycles;
  EXPECT_NEAR(predicted / static_cast<double>(recording.kernel(0).cycles), 1, 0.15);
}

TEST(FunctionalCounts, OfALongKernelTheFirstBlocksAreFollowed) {
  const std::vector<lh::FunctionalKernel> all = functional_counts(workload("vecadd/vecadd"));
  const std::vector<lh::FunctionalKernel> some = functional_counts(workload("vecadd/vecadd"), 1000);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(all[0].followed, 1);
  EXPECT_LT(some[0].followed, 0.5);
  EXPECT_EQ(some[0].counts.accesses, all[0].counts.accesses);
  EXPECT_EQ(some[0].code.counts[0].executed, all[0].code.counts[0].executed);
  // What was followed stands for all.
  EXPECT_NEAR(some[0].counts.requests, all[0].counts.requests, 0.01 * all[0].counts.requests);
  EXPECT_NEAR(some[0].counts.dram_read, all[0].counts.dram_read, 0.01 * all[0].counts.dram_read);
}

TEST(FunctionalCounts, SayWhyAProgramFailsAndWhatIsLeftOut) {
  comp::SimulationOptions endless = workload("vecadd/vecadd");
  endless.max_cycles = 1;
  EXPECT_THROW((void)functional_counts(std::move(endless)), core::InputError);
  const std::vector<lh::FunctionalKernel> constants = functional_counts(workload("convolution/convolution"));
  ASSERT_FALSE(constants[0].unmodelled.empty());
  EXPECT_NE(constants[0].unmodelled[0].find("constant caches"), std::string::npos);
  EXPECT_TRUE(functional_counts(workload("vecadd/vecadd"))[0].unmodelled.empty());
}

/// The model's transactions are those of the load/store unit, whatever the lanes ask for.
TEST(ReuseCoalescer, IsTheMachinesOn1x) {
  std::mt19937 random(1);
  for (const core::CoalescingRule rule : {core::CoalescingRule::kCc10, core::CoalescingRule::kCc12}) {
    const analysis::ReuseCoalescer coalescer(128, rule);
    for (int i = 0; i < 3000; ++i) {
      isa::MemoryAccess access;
      access.bytes = 1u << random() % 5;
      access.lanes = isa::LaneMask(random() % 3 == 0 ? static_cast<uint32_t>(random()) | 1u : ~0u);
      const uint64_t base = random() % 64 * access.bytes;
      const uint64_t apart = random() % 3 == 0 ? 1 : random() % 5;
      analysis::WarpStep step;
      step.kind = analysis::WarpStep::Kind::kAccess;
      step.bytes = access.bytes;
      step.lanes = access.lanes.bits();
      for (uint32_t l = 0; l < 32; ++l)
        step.address[l] = access.address[l] =
            (apart == 4 ? random() % 256 : base / access.bytes + l * apart) * access.bytes;
      analysis::WarpEncoder encoder;
      encoder.append(step);
      analysis::WarpCursor cursor(
          std::string_view(reinterpret_cast<const char*>(encoder.bytes().data()), encoder.bytes().size()));
      analysis::LaneRuns runs;
      ASSERT_TRUE(cursor.next(step, runs));
      analysis::LineTransactions mine;
      coalescer.coalesce(step, runs, 0, mine);
      comp::TransactionList machines;
      comp::coalesce(rule, access, machines);
      ASSERT_EQ(mine.size(), machines.count) << i;
      for (uint32_t t = 0; t < mine.size(); ++t) {
        const uint32_t first = static_cast<uint32_t>(std::countr_zero(mine[t].sectors));
        EXPECT_EQ(mine[t].line * 128 + 32 * first, machines.items[t].address) << i;
        EXPECT_EQ(32 * static_cast<uint32_t>(std::popcount(mine[t].sectors)), machines.items[t].bytes) << i;
      }
    }
  }
}

}  // namespace
}  // namespace gpusim::predict
