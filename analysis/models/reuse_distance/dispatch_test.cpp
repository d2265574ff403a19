// How blocks come to the SMs: one after the other, to the next SM in turn that has room.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/models/reuse_distance/model.h"
#include "simcore/config/load.h"

namespace gpusim::analysis {
namespace {

/// Blocks of a warp each, which load one line; every other one works for so many cycles before.
WarpTrace blocks_of_two_kinds(uint64_t blocks, uint32_t work) {
  WarpTraceHeader h;
  h.kernel = "k";
  h.block_threads = 32;
  h.block_warps = 1;
  h.blocks = blocks;
  h.registers = 16;
  WarpTrace trace(h);
  for (uint64_t b = 0; b < blocks; ++b) {
    WarpStep load;
    load.kind = WarpStep::Kind::kAccess;
    load.access = WarpStep::Access::kLoad;
    load.returns = true;
    load.cycles = b % 2 == 0 ? 10 : work;
    load.work = 16;
    load.lanes = 1;
    load.address[0] = 128 * (b % 2);
    WarpStep wait;
    wait.kind = WarpStep::Kind::kWait;
    std::vector<WarpEncoder> encoders(1);
    encoders[0].append(load);
    encoders[0].append(wait);
    trace.append_block(encoders);
  }
  return trace;
}

ReuseRun run_with_interval(const char* interval, const WarpTrace& trace) {
  const std::vector<std::string> sets{"gpu.sms=2", interval, "l1.index=modulo"};
  return run_reuse(core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", sets, {}), trace);
}

TEST(ReuseDispatch, BlocksBeginOneAfterTheOther) {
  const WarpTrace trace = blocks_of_two_kinds(100, 10);
  EXPECT_LT(run_with_interval("gpu.block_interval=1", trace).cycles, 20000);
  EXPECT_GE(run_with_interval("gpu.block_interval=1000", trace).cycles, 99000);
}

TEST(ReuseDispatch, WhereTheyWaitForThatTheyGoToTheSmsInTurn) {
  const WarpTrace trace = blocks_of_two_kinds(100, 5000);
  // Each SM gets blocks of one kind, with one line; where blocks go to the SM that has room first, the SM
  // with the short ones soon gets long ones too.
  EXPECT_EQ(run_with_interval("gpu.block_interval=1000", trace).global.compulsory, 2u);
  EXPECT_EQ(run_with_interval("gpu.block_interval=1", trace).global.compulsory, 4u);
}

}  // namespace
}  // namespace gpusim::analysis
