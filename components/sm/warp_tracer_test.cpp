// Steps of a functional run: what its warps do in shared memory takes the time and the steps of a timed one.
#include "components/sm/warp_tracer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "components/testing/run_program.h"
#include "simcore/config/load.h"

namespace gpusim::comp {
namespace {

core::MachineConfig traced_machine() {
  return core::load_machine("h200", std::vector<std::string>{},
                            std::vector<std::string>{GPUSIM_SOURCE_DIR "/configs"});
}

/// The text in a block of an H200; %r0 is the thread and %r1 an array in shared memory.
SimulationOptions traced_program(const std::string& body, int threads) {
  SimulationOptions o = test::program(
      fmt::format(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n"
                  ".shared .align 1024 .b8 s[16384]; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
                  "mov.u32 %r0, %tid.x; mov.u32 %r1, s; ld.param.u64 %rd0, [p];\n{} ret; }}\n",
                  body),
      fmt::format("[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 32\n[[launch]]\nkernel = \"k\"\n"
                  "grid = [1]\nblock = [{}]\nargs = [\"out\"]\n",
                  threads));
  o.machine = traced_machine();
  o.sms = 1;
  return o;
}

/// Runs it for values; `step` sees what its warps do.
void trace_program(const std::string& body, TraceStep step, int threads = 32) {
  SimulationOptions o = traced_program(body, threads);
  o.functional = true;
  o.trace = std::move(step);
  Simulation simulation(std::move(o));
  const SimulationResult r = simulation.run();
  EXPECT_EQ(r.status, SimulationResult::Status::kComplete) << r.reason;
}

/// Cycles until a warp whose lanes add floats to so many words stores the results, or another value.
uint64_t cycles_of_sums(int words, const char* stored = "%r3") {
  uint64_t cycles = 0;
  trace_program(
      fmt::format("and.b32 %r2, %r0, {}; shl.b32 %r2, %r2, 2; add.u32 %r2, %r1, %r2; mov.b32 %r3, 0;\n"
                  "atom.shared.add.f32 %r3, [%r2], %r3; st.global.b32 [%rd0], {};\n",
                  words - 1, stored),
      [&](const TracedStep& s) {
        if (s.kind == TracedStep::Kind::kAccess) cycles = s.cycles;
      });
  return cycles;
}

TEST(WarpTracer, SumsOfFloatsInSharedMemoryAreLoops) {
  const core::MachineConfig machine = traced_machine();
  uint64_t round = 0;
  for (const char* op_class : {"load_shared", "fp32", "atom_shared", "int", "branch"})
    round += static_cast<uint64_t>(machine.latency.at(op_class));
  EXPECT_EQ(cycles_of_sums(1) - cycles_of_sums(2), 16 * (round + 2));
  EXPECT_EQ(cycles_of_sums(1, "%r0") - cycles_of_sums(2, "%r0"), 16 * (round + 2))
      << "the warp is in the loop";
}

TEST(WarpTracer, ATestOfAnMbarrierIsALoadOfSharedMemory) {
  uint64_t arrivals = 0, tests = 0;
  trace_program(
      "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r1], 32; bar.warp.sync -1;\n"
      "mbarrier.arrive.shared.b64 _, [%r1]; bar.warp.sync -1;\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; @%p1 st.global.u32 [%rd0], %r0;\n",
      [&](const TracedStep& s) {
        if (s.kind != TracedStep::Kind::kEnd) return;
        for (size_t pc = 0; pc < s.run->image->ops.size(); ++pc) {
          const isa::MicroOp& op = s.run->image->ops[pc];
          if (op.kind != isa::OpKind::kAtomic || op.memory.space != isa::Space::kShared) continue;
          uint64_t& steps = op.pred_dst[0] != isa::kNoPredicate ? tests : arrivals;
          steps = std::max(steps, s.run->pc[pc].transactions);
        }
      });
  EXPECT_EQ(tests, 1u);
  EXPECT_EQ(arrivals, 32u) << "one lane after the other";
}

TEST(WarpTracer, WarpsOfAWarpgroupFetchAMatrixOfAllOnce) {
  std::string sums;
  for (int i = 0; i < 32; ++i) sums += fmt::format("{}%d{}", i == 0 ? "" : ", ", i);
  const uint64_t lines = uint64_t{16} << 32 | uint64_t{8} << 16;  // 128 bytes between matrices, 256 of lines
  const std::string body = fmt::format(
      ".reg .f32 %d<32>; shr.u32 %r1, %r1, 4; cvt.u64.u32 %rd1, %r1; or.b64 %rd1, %rd1, {};\n"
      "setp.eq.u32 %p1, %r1, %r1; wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{}}}, %rd1, %rd1, %p1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
      lines, sums);
  uint64_t steps = 0;
  trace_program(
      body,
      [&](const TracedStep& s) {
        if (s.kind != TracedStep::Kind::kEnd || s.warp != 3) return;
        for (size_t pc = 0; pc < s.run->image->ops.size(); ++pc) steps += s.run->pc[pc].transactions;
      },
      128);
  Simulation timed(traced_program(body, 128));
  const SimulationResult r = timed.run();
  ASSERT_EQ(r.status, SimulationResult::Status::kComplete) << r.reason;
  EXPECT_GT(steps, 0u);
  EXPECT_EQ(steps, r.kernels.at(0).total.shared_steps);
}

}  // namespace
}  // namespace gpusim::comp
