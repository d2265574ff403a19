// Which launches and transfers may start, by streams, hardware queues, engines and kernel slots.
#include "components/launch/work_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "components/launch/kernel_launch.h"

namespace gpusim::comp {
namespace {

using Items = std::vector<uint32_t>;

class WorkQueueTest : public testing::Test {
 protected:
  void build(const WorkQueue::Rules& rules) { queue = WorkQueue(rules); }
  void kernel(uint32_t stream) { queue.add({&run, stream}); }
  void copy(uint32_t stream, bool to_device = true) { queue.add({nullptr, stream, 10, to_device, 0}); }
  /// What starts now, in order.
  Items starts(uint64_t now = 1000) {
    Items items;
    while (const auto item = queue.start_next(now)) items.push_back(*item);
    return items;
  }
  KernelLaunch run;
  WorkQueue queue{WorkQueue::Rules{8, 2, 8, 0}};
};

TEST_F(WorkQueueTest, AStreamRunsInOrder) {
  kernel(3);
  copy(3);
  kernel(3);
  EXPECT_EQ(starts(), Items{0});
  EXPECT_EQ(starts(), Items{});
  queue.finish(0);
  EXPECT_EQ(starts(), Items{1});
  queue.finish(1);
  EXPECT_EQ(starts(), Items{2});
  EXPECT_FALSE(queue.all_done());
  queue.finish(2);
  EXPECT_TRUE(queue.all_done());
}

TEST_F(WorkQueueTest, StreamsRunAtTheSameTimeInTheOrderOfTheFile) {
  for (const uint32_t stream : {5u, 0u, 5u, 7u}) kernel(stream);
  EXPECT_EQ(starts(), (Items{0, 1, 3}));
  queue.finish(1);
  EXPECT_EQ(starts(), Items{});
  queue.finish(0);
  EXPECT_EQ(starts(), Items{2});
}

TEST_F(WorkQueueTest, KernelSlotsLimitKernelsNotTransfers) {
  build({2, 1, 8, 0});
  for (const uint32_t stream : {1u, 2u, 3u}) kernel(stream);
  copy(4);
  EXPECT_EQ(starts(), (Items{0, 1, 3}));
  queue.finish(1);
  EXPECT_EQ(starts(), Items{2});
}

TEST_F(WorkQueueTest, OneEngineCarriesOneTransferTwoOneInEachDirection) {
  for (const uint32_t engines : {1u, 2u}) {
    build({1, engines, 8, 0});
    copy(1, true);
    copy(2, true);
    copy(3, false);
    EXPECT_EQ(starts(), engines == 1 ? Items{0} : (Items{0, 2}));
    queue.finish(0);
    EXPECT_EQ(starts(), Items{1});
    queue.finish(1);
    EXPECT_EQ(starts(), engines == 1 ? Items{2} : Items{});
  }
}

TEST_F(WorkQueueTest, WhatWaitsInAHardwareQueueHoldsUpWhatIsBehind) {
  for (const uint32_t queues : {1u, 2u}) {
    build({8, 1, queues, 0});
    kernel(1);
    kernel(1);
    kernel(2);
    copy(2);
    // With one queue the second stream's kernel stands behind one that waits for its own stream.
    EXPECT_EQ(starts(), queues == 1 ? Items{0} : (Items{0, 2}));
    queue.finish(0);
    EXPECT_EQ(starts(), queues == 1 ? (Items{1, 2}) : Items{1});
    queue.finish(2);
    EXPECT_EQ(starts(), Items{3}) << "transfers have queues of their own";
  }
}

TEST_F(WorkQueueTest, TheLegacyDefaultStreamWaitsForAllAndAllForIt) {
  queue.use_legacy_default_stream();
  for (const uint32_t stream : {1u, 2u, 0u, 1u, 3u}) kernel(stream);
  EXPECT_EQ(starts(), (Items{0, 1}));
  queue.finish(1);
  EXPECT_EQ(starts(), Items{});
  queue.finish(0);
  EXPECT_EQ(starts(), Items{2});
  queue.finish(2);
  EXPECT_EQ(starts(), (Items{3, 4}));
}

TEST_F(WorkQueueTest, WhatStandsBehindABarrierWaitsForAllStreams) {
  kernel(1);
  copy(2);
  queue.add_barrier();
  kernel(3);
  kernel(1);
  EXPECT_EQ(starts(), (Items{0, 1}));
  queue.finish(0);
  EXPECT_EQ(starts(), Items{});
  queue.finish(1);
  EXPECT_EQ(starts(), (Items{2, 3}));
}

TEST_F(WorkQueueTest, AKernelStartsAGapAfterTheOneBeforeItInItsStream) {
  build({8, 2, 8, 0, 100});
  kernel(1);
  kernel(1);
  kernel(2);
  EXPECT_EQ(starts(1000), (Items{0, 2}));
  queue.finish(0, 1500);
  EXPECT_EQ(starts(1599), Items{});
  EXPECT_EQ(queue.next_issue(), 1600u);
  EXPECT_EQ(starts(1600), Items{1});
}

TEST_F(WorkQueueTest, TheHostIssuesOneItemAfterAnother) {
  build({8, 1, 8, 300});
  for (const uint32_t stream : {1u, 2u, 3u}) kernel(stream);
  EXPECT_EQ(starts(299), Items{0});
  EXPECT_EQ(queue.next_issue(), 300u);
  EXPECT_EQ(starts(300), Items{1});
  EXPECT_EQ(queue.next_issue(), 600u);
  EXPECT_EQ(starts(700), Items{2});
  EXPECT_EQ(queue.next_issue(), WorkQueue::kNothing);
}

TEST_F(WorkQueueTest, AMarkerComesBehindItsStreamAndTakesNeitherSlotNorEngine) {
  build({1, 1, 8, 0});
  kernel(1);
  WorkQueue::Item marker;
  marker.stream = 1;
  marker.marker = true;
  queue.add(marker);
  marker.stream = 2;
  queue.add(marker);
  EXPECT_EQ(starts(), (Items{0, 2}));  // the only kernel slot is taken
  queue.finish(2);
  EXPECT_EQ(starts(), Items{});
  queue.finish(0);
  EXPECT_EQ(starts(), Items{1});
  EXPECT_EQ(queue.unfinished(), 1u);
  queue.finish(1);
  EXPECT_EQ(queue.unfinished(), 0u);
  EXPECT_TRUE(queue.all_done());
}

TEST_F(WorkQueueTest, AnItemWaitsForThoseThatItNames) {
  kernel(1);
  kernel(2);
  WorkQueue::Item waits;
  waits.run = &run;
  waits.stream = 3;
  waits.after = {0, 1};
  EXPECT_EQ(queue.add(waits), 2u);
  EXPECT_EQ(starts(), (Items{0, 1}));
  queue.finish(1);
  EXPECT_EQ(starts(), Items{});
  queue.finish(0);
  EXPECT_EQ(starts(), Items{2});
}

TEST_F(WorkQueueTest, WhatTheHostAddsLaterIsIssuedLater) {
  build({8, 2, 8, 100});
  kernel(1);
  EXPECT_EQ(starts(0), Items{0});
  queue.finish(0, 500);
  queue.issue_no_sooner(500);
  kernel(2);
  kernel(3);
  EXPECT_EQ(starts(499), Items{});
  EXPECT_EQ(queue.next_issue(), 500u);
  EXPECT_EQ(starts(500), Items{1});
  EXPECT_EQ(starts(600), Items{2});
}

TEST_F(WorkQueueTest, WhatIsForgottenStillHoldsUpItsStream) {
  build({8, 2, 8, 0, 50});
  queue.use_legacy_default_stream();
  kernel(0);
  kernel(1);
  EXPECT_EQ(starts(0), Items{0});
  queue.finish(0, 500);
  EXPECT_EQ(starts(500), Items{1});
  queue.finish(1, 700);
  queue.forget_finished();
  EXPECT_TRUE(queue.all_done());
  EXPECT_EQ(queue.unfinished(), 0u);
  kernel(1);
  kernel(0);
  copy(0);
  EXPECT_EQ(queue.unfinished(), 3u);
  EXPECT_EQ(starts(749), Items{});  // launch_gap after the kernel that is forgotten
  EXPECT_EQ(starts(750), Items{0});
  queue.finish(0, 800);
  EXPECT_EQ(starts(800), Items{1});
  queue.finish(1, 900);
  EXPECT_EQ(starts(900), Items{2});
}

}  // namespace
}  // namespace gpusim::comp
