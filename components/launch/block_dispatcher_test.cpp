// The block dispatcher between a script of launches and transfers and SMs that keep each block for a fixed
// time. Core cycles; a launch takes 100 cycles to its first block, which its SM sees one cycle after it
// leaves.
#include "components/launch/block_dispatcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "components/launch/occupancy_limits.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

using Times = std::vector<uint64_t>;

/// An SM that keeps each block for a fixed time and reports its end.
class MockSm : public core::Clocked {
 public:
  MockSm(const char* name, core::ClockDomain& domain, uint16_t index, uint64_t duration)
      : Clocked(name, domain), index_(index), duration_(duration) {}
  core::Link<BlockStart>* in = nullptr;
  core::Link<SmReport>* out = nullptr;
  struct Started {
    const KernelLaunch* run;
    uint64_t block, at;
    bool fresh;
  };
  std::vector<Started> started;
  size_t most_resident = 0;
  bool fresh_beside_others = false;

  [[nodiscard]] Times blocks() const {
    Times t;
    for (const Started& s : started) t.push_back(s.block);
    return t;
  }
  [[nodiscard]] Times started_at() const {
    Times t;
    for (const Started& s : started) t.push_back(s.at);
    return t;
  }
  [[nodiscard]] size_t count_of(const KernelLaunch& run) const {
    return static_cast<size_t>(std::ranges::count(started, &run, &Started::run));
  }

 protected:
  core::Cycle tick(core::Cycle now) override {
    while (!resident_.empty() && resident_.front().end <= now.count() && out->can_push()) {
      const auto slot = static_cast<uint8_t>(resident_.front().run->slot);
      resident_.erase(resident_.begin());
      const bool drained =
          std::ranges::none_of(resident_, [slot](const Resident& r) { return r.run->slot == slot; });
      out->push({index_, 1, drained, slot});
    }
    while (in->front() != nullptr) {
      const BlockStart start = in->pop();
      fresh_beside_others |= start.fresh && !resident_.empty();
      started.push_back({start.run, start.block, now.count(), start.fresh});
      resident_.push_back({start.run, now.count() + duration_});
      most_resident = std::max(most_resident, resident_.size());
    }
    const core::Cycle end =
        resident_.empty() ? core::kNever : core::Cycle(std::max(resident_.front().end, now.count() + 1));
    return std::min(end, in->next_visible());
  }

 private:
  struct Resident {
    const KernelLaunch* run;
    uint64_t end;
  };
  uint16_t index_;
  uint64_t duration_;
  std::vector<Resident> resident_;
};

class DispatcherTest : public testing::Test {
 protected:
  void build(uint32_t sms, uint64_t duration, DispatchRules rules = {}) {
    rules.launch_cycles = 100;
    rules.sm = {8, 32, 1024, 16384, 16384};
    dispatcher = std::make_unique<BlockDispatcher>("dispatcher", domain, rules);
    for (uint32_t i = 0; i < sms; ++i) {
      mocks.push_back(std::make_unique<MockSm>(("sm" + std::to_string(i)).c_str(), domain,
                                               static_cast<uint16_t>(i), duration));
      starts.push_back(std::make_unique<core::Link<BlockStart>>(*dispatcher, *mocks[i], 8));
      reports.push_back(std::make_unique<core::Link<SmReport>>(*mocks[i], *dispatcher, 8));
      mocks[i]->in = starts[i].get();
      mocks[i]->out = reports[i].get();
      dispatcher->connect_sm(i, *starts[i], *reports[i]);
    }
    dispatcher->set_hooks({[this](KernelLaunch& r) { log += "begin" + std::to_string(r.id) + " "; },
                           [this](KernelLaunch& r) { log += "end" + std::to_string(r.id) + " "; },
                           [this] {
                             log += "done";
                             engine.stop();
                           },
                           [this](const BlockDispatcher::Copy& c) { copies.push_back(c); }});
  }
  static DispatchRules kernels_at_once(uint32_t n) {
    DispatchRules rules;
    rules.work.concurrent_kernels = n;
    rules.work.launch_queues = 8;
    return rules;
  }
  KernelLaunch& launch(uint64_t blocks, uint32_t per_sm, uint32_t stream = 0) {
    runs.push_back(std::make_unique<KernelLaunch>());
    KernelLaunch& run = *runs.back();
    run.image = &empty_image;
    run.id = static_cast<uint32_t>(runs.size() - 1);
    run.num_blocks = blocks;
    run.blocks_per_sm = per_sm;
    run.carved = 16384;
    run.share = {1, 4, 128, 16384 / per_sm, 0};
    dispatcher->enqueue(run, stream);
    return run;
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kStopped);
    for (const auto& sm : mocks) EXPECT_FALSE(sm->fresh_beside_others);
  }

  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  std::unique_ptr<BlockDispatcher> dispatcher;
  std::vector<std::unique_ptr<MockSm>> mocks;
  std::vector<std::unique_ptr<core::Link<BlockStart>>> starts;
  std::vector<std::unique_ptr<core::Link<SmReport>>> reports;
  isa::KernelImage empty_image;  ///< of all launches: without operations
  std::vector<std::unique_ptr<KernelLaunch>> runs;
  std::vector<BlockDispatcher::Copy> copies;
  std::string log;
};

TEST_F(DispatcherTest, KernelsOfPartsRunOnTheirSmsAndDoNotWaitForEachOther) {
  build(4, 1000, kernels_at_once(3));
  const auto part = [](uint32_t first, uint32_t last) {
    std::vector<bool> sms(4);
    for (uint32_t n = first; n <= last; ++n) sms[n] = true;
    return std::make_shared<const std::vector<bool>>(std::move(sms));
  };
  KernelLaunch& long_one = launch(8, 1, 1);
  KernelLaunch& other = launch(2, 1, 2);
  KernelLaunch& behind = launch(2, 1, 3);
  long_one.part = part(0, 1);
  other.part = part(2, 3);
  behind.part = part(1, 3);
  run();
  uint64_t last_of_long = 0, first_of_other = ~uint64_t{0}, first_of_behind = ~uint64_t{0};
  for (size_t n = 0; n < mocks.size(); ++n) {
    for (const auto& block : mocks[n]->started) {
      EXPECT_TRUE(block.run->may_run_on(static_cast<uint32_t>(n))) << "SM " << n;
      if (block.run == &long_one) last_of_long = std::max(last_of_long, block.at);
      if (block.run == &other) first_of_other = std::min(first_of_other, block.at);
      if (block.run == &behind) first_of_behind = std::min(first_of_behind, block.at);
    }
  }
  EXPECT_LT(first_of_other, 1000u) << "it has SMs of its own";
  EXPECT_GT(first_of_behind, last_of_long) << "it shares one with an older kernel that has blocks left";
}

TEST_F(DispatcherTest, OneBlockACycleToTheNextSm) {
  build(3, 1000);
  const KernelLaunch& kernel = launch(6, 4);
  run();
  // The kernel begins at the first issue slot, 2; blocks leave from 102 on and are seen one cycle later.
  EXPECT_EQ(kernel.start.count(), 2u);
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(mocks[i]->blocks(), (Times{i, i + 3}));
    EXPECT_EQ(mocks[i]->started_at(), (Times{103 + i, 106 + i}));
  }
  // The last block ends at 108 + 1000, is reported one cycle later; rounded up to an issue slot.
  EXPECT_EQ(kernel.end.count(), 1110u);
  EXPECT_EQ(log, "begin0 end0 done");
}

TEST_F(DispatcherTest, DepthFirstFillsAnSmBeforeTheNext) {
  DispatchRules rules;
  rules.depth_first = true;
  build(3, 1000, rules);
  launch(6, 4);
  run();
  EXPECT_EQ(mocks[0]->blocks(), (Times{0, 1, 2, 3}));
  EXPECT_EQ(mocks[1]->blocks(), (Times{4, 5}));
  EXPECT_TRUE(mocks[2]->started.empty());
}

TEST_F(DispatcherTest, OccupancyLimitsAndFreedSlotsAreRefilled) {
  build(2, 50);
  launch(20, 3);
  run();
  EXPECT_EQ(mocks[0]->started.size() + mocks[1]->started.size(), 20u);
  EXPECT_EQ(mocks[0]->most_resident, 3u);
  EXPECT_EQ(mocks[1]->most_resident, 3u);
  // Block 0 started at 103 and ends at 153; the report is read at 154, the next block is seen at 155.
  EXPECT_EQ(mocks[0]->started_at().at(3), 155u);
}

TEST_F(DispatcherTest, LaunchesOfAStreamRunOneAfterAnother) {
  build(2, 50, kernels_at_once(4));
  const KernelLaunch& first = launch(3, 8);
  const KernelLaunch& second = launch(2, 8);
  run();
  EXPECT_EQ(log, "begin0 end0 begin1 end1 done");
  EXPECT_EQ(second.start, first.end);
  EXPECT_EQ(mocks[0]->started_at().back(), second.start.count() + 100 + 1)
      << "launch_cycles count for each launch";
  EXPECT_TRUE(mocks[0]->started.back().fresh) << "L1 caches are empty at a kernel's start";
}

TEST_F(DispatcherTest, OneKernelAtATimeWhateverTheStream) {
  build(2, 50);
  const KernelLaunch& first = launch(3, 8, 1);
  const KernelLaunch& second = launch(2, 8, 2);
  run();
  EXPECT_EQ(log, "begin0 end0 begin1 end1 done");
  EXPECT_EQ(second.start, first.end);
}

TEST_F(DispatcherTest, KernelsOfTwoStreamsShareTheSms) {
  build(2, 1000, kernels_at_once(2));
  const KernelLaunch& first = launch(3, 8, 1);
  const KernelLaunch& second = launch(3, 4, 2);
  run();
  EXPECT_EQ(log, "begin0 begin1 end0 end1 done");
  // The older kernel's blocks first, all six one cycle apart and dealt out in turn.
  EXPECT_EQ(mocks[0]->started_at(), (Times{103, 105, 107}));
  EXPECT_EQ(mocks[1]->started_at(), (Times{104, 106, 108}));
  EXPECT_EQ(mocks[0]->count_of(first), 2u);
  EXPECT_EQ(mocks[1]->count_of(first), 1u);
  EXPECT_NE(first.slot, second.slot);
  EXPECT_FALSE(mocks[0]->started.back().fresh) << "who joins finds the caches as they are";
  // Its last block ends at 105 + 1000, of the other kernel at 108 + 1000.
  EXPECT_EQ(first.end.count(), 1106u);
  EXPECT_EQ(second.end.count(), 1110u);
}

TEST_F(DispatcherTest, NobodyOvertakesTheOldestKernelThatHasBlocksLeft) {
  build(1, 1000, kernels_at_once(2));
  const KernelLaunch& first = launch(3, 1, 1);    // one block fills the SM
  const KernelLaunch& second = launch(1, 16, 2);  // a sixteenth of it
  run();
  EXPECT_EQ(log, "begin0 begin1 end0 end1 done");
  // 103, then behind each end: reported and read two cycles later, seen one after that.
  EXPECT_EQ(mocks[0]->started_at(), (Times{103, 1105, 2107, 3109}));
  EXPECT_EQ(mocks[0]->started.back().run, &second);
  EXPECT_EQ(mocks[0]->most_resident, 1u) << "no registers are left beside a block of the first";
  EXPECT_LT(first.end, second.end);
}

TEST_F(DispatcherTest, KernelsMayTakeTurns) {
  DispatchRules rules = kernels_at_once(2);
  rules.in_turn = true;
  build(1, 1000, rules);
  const KernelLaunch& first = launch(2, 8, 1);
  const KernelLaunch& second = launch(2, 8, 2);
  run();
  std::vector<const KernelLaunch*> order;
  for (const auto& s : mocks[0]->started) order.push_back(s.run);
  EXPECT_EQ(order, (std::vector<const KernelLaunch*>{&first, &second, &first, &second}));
}

TEST_F(DispatcherTest, BlocksFitWhatOthersLeave) {
  build(1, 1000, kernels_at_once(3));
  launch(1, 2, 1);  // half of the registers
  launch(2, 4, 2);  // a quarter each
  const KernelLaunch& third = launch(1, 16, 3);
  run();
  EXPECT_EQ(mocks[0]->most_resident, 3u) << "then the registers are all taken";
  EXPECT_EQ(mocks[0]->started.back().run, &third);
  EXPECT_EQ(mocks[0]->started.back().at, 103u + 1000 + 2) << "when the first block has gone";
}

TEST_F(DispatcherTest, SharedMemoryIsCarvedAnewOnAnEmptySmOnly) {
  build(1, 1000, kernels_at_once(2));
  KernelLaunch& first = launch(1, 8, 1);
  KernelLaunch& second = launch(1, 8, 2);
  first.carved = 0;  // all of it is L1
  second.carved = 8192;
  second.share.shared = 1024;
  run();
  EXPECT_EQ(mocks[0]->most_resident, 1u);
  ASSERT_EQ(mocks[0]->started.size(), 2u);
  EXPECT_TRUE(mocks[0]->started[1].fresh);
  EXPECT_EQ(mocks[0]->started[1].at, 1105u);
}

TEST_F(DispatcherTest, TransfersOfOtherStreamsOverlapKernels) {
  DispatchRules rules = kernels_at_once(2);
  rules.work.copy_engines = 2;
  build(1, 1000, rules);
  launch(1, 8, 1);
  dispatcher->enqueue_copy(300, 1, false);  // behind the kernel
  dispatcher->enqueue_copy(500, 2);
  dispatcher->enqueue_copy(200, 3);  // behind that in the engine
  run();
  ASSERT_EQ(copies.size(), 3u);
  const auto as_tuple = [](const BlockDispatcher::Copy& c) {
    return std::tuple(c.number, c.engine, c.start, c.end);
  };
  EXPECT_EQ(as_tuple(copies[0]), std::tuple(1u, 0u, 2ull, 502ull));
  EXPECT_EQ(as_tuple(copies[1]), std::tuple(2u, 0u, 502ull, 702ull));
  EXPECT_EQ(as_tuple(copies[2]), std::tuple(0u, 1u, 1104ull, 1404ull));
  EXPECT_EQ(log, "begin0 end0 done");
}

TEST_F(DispatcherTest, AHostThatIsCalledInTimeLosesNoCycle) {
  build(1, 50);
  BlockDispatcher::Hooks hooks{[this](KernelLaunch& r) { log += "begin" + std::to_string(r.id) + " "; },
                               [](KernelLaunch&) {},
                               [this] {
                                 log += "done";
                                 engine.stop();
                               },
                               [](const BlockDispatcher::Copy&) {}};
  hooks.more = [this] {
    log += "more" + std::to_string(dispatcher->unfinished()) + " ";
    if (runs.size() == 4) return;
    launch(1, 8);
    dispatcher->call_below(runs.size() == 3 ? 1 : 2);
  };
  dispatcher->set_hooks(std::move(hooks));
  launch(1, 8);
  launch(1, 8);
  dispatcher->call_below(2);
  run();
  EXPECT_EQ(log, "begin0 begin1 more1 begin2 more0 begin3 more1 done");
}

TEST_F(DispatcherTest, SharesOfABlockAddUpToTheOccupancy) {
  for (const char* name : {"tesla_c1060", "gtx480", "tesla_v100"}) {
    const std::vector<std::string> folders = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
    const core::MachineConfig m = core::load_machine(name, std::vector<std::string>{}, folders);
    isa::KernelImage image;
    KernelLaunch kernel;
    kernel.image = &image;
    for (const uint32_t threads : {32u, 96u, 256u, 512u})
      for (const uint32_t registers : {8u, 21u, 32u, 63u})
        for (const uint32_t shared : {0u, 1000u, 8192u}) {
          image.registers = registers;
          kernel.threads_per_block = threads;
          kernel.warps_per_block = threads / 32;
          kernel.taken_shared_bytes = shared;
          const SmShare share = share_of_block(m, kernel), whole = whole_sm(m);
          int64_t fitting = 0;
          while ((share * (fitting + 1)).fits(whole)) ++fitting;
          // The calculation hands registers out to warps in twos as well.
          const int64_t alone = occupancy_on(m, kernel).blocks_per_sm;
          EXPECT_GE(fitting, alone) << name << " " << threads << " " << registers << " " << shared;
          EXPECT_LE(fitting, alone + 2) << name << " " << threads << " " << registers << " " << shared;
        }
  }
}

TEST_F(DispatcherTest, TheSystemTakesAKilobyteOfSharedMemoryWithEachBlockFrom80On) {
  const auto blocks = [](const char* name, uint32_t shared) {
    const std::vector<std::string> folders = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
    const core::MachineConfig m = core::load_machine(name, std::vector<std::string>{}, folders);
    isa::KernelImage image;
    image.registers = 16;
    KernelLaunch kernel;
    kernel.image = &image;
    kernel.threads_per_block = 32;
    kernel.warps_per_block = 1;
    kernel.taken_shared_bytes = shared;
    const SmShare share = share_of_block(m, kernel), whole = whole_sm(m);
    EXPECT_TRUE((share * occupancy_on(m, kernel).blocks_per_sm).fits(whole));
    return occupancy_on(m, kernel).blocks_per_sm;
  };
  EXPECT_EQ(blocks("h200", 8 << 10), 25) << "of 9 KB in 228";
  EXPECT_EQ(blocks("h200", 113 << 10), 2);
  EXPECT_EQ(blocks("h200", 227 << 10), 1) << "the most that a block can have";
  EXPECT_EQ(blocks("tesla_v100", 8 << 10), 12) << "of 96";
}

}  // namespace
}  // namespace gpusim::comp
