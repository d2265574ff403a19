#include "components/sm/simt/cluster.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

TEST(ClusterBarrier, APhaseIsOverWhenAllThreadsThatAreLeftHaveArrived) {
  Cluster c;
  c.begin(2, 64);
  EXPECT_FALSE(c.arrive(64, 10));
  EXPECT_FALSE(c.arrive(32, 30));
  EXPECT_TRUE(c.arrive(32, 20));
  EXPECT_EQ(c.phases(), 1u);
  EXPECT_EQ(c.opened(), 30u) << "the last arrival in time, not in order";
  EXPECT_FALSE(c.arrive(96, 40));
  EXPECT_TRUE(c.leave(32, 0, 50)) << "those that exit are not waited for";
  EXPECT_EQ(c.opened(), 50u);
  EXPECT_EQ(c.live(), 96u);
}

TEST(ClusterBarrier, ThreadsThatExitAfterTheyHaveArrivedDoNotCountTwice) {
  Cluster c;
  c.begin(1, 64);
  EXPECT_FALSE(c.arrive(32, 1));
  EXPECT_FALSE(c.leave(16, 16, 2));
  EXPECT_EQ(c.arrived(), 16u);
  EXPECT_TRUE(c.arrive(32, 3));
  EXPECT_FALSE(c.leave(48, 0, 4)) << "nobody is left to wait";
  EXPECT_EQ(c.phases(), 1u);
}

TEST(ClusterBarrier, ArrivalsBecomeOpenWithThePhase) {
  Cluster c;
  c.begin(1, 64);
  ClusterArrivals first, second;
  first.pending = isa::LaneMask::all();
  EXPECT_FALSE(c.arrive(32, 1));
  first.update(c);
  EXPECT_TRUE(first.pending.full());
  EXPECT_TRUE(c.arrive(32, 2));
  first.update(c);
  EXPECT_TRUE(first.pending.none());
  EXPECT_TRUE(first.open.full());
  second.update(c);
  EXPECT_TRUE(second.open.none());
}

TEST(ClusterBlocks, HaveTheirMemoryWhileTheyRun) {
  Clusters clusters;
  Cluster& c = clusters.begin(2, 32);
  std::byte a{}, b{};
  c.begin_block(0, &a);
  EXPECT_FALSE(c.runs(1));
  EXPECT_EQ(c.memory.shared[1], nullptr);
  c.begin_block(1, &b);
  EXPECT_EQ(c.memory.shared[1], &b);
  EXPECT_FALSE(c.end_block(1));
  EXPECT_EQ(c.memory.shared[1], nullptr);
  EXPECT_FALSE(c.runs(1));
  EXPECT_TRUE(c.end_block(0));
  clusters.end(c);
  Cluster& again = clusters.begin(1, 32);
  EXPECT_EQ(again.phases(), 0u);
  EXPECT_EQ(again.live(), 32u);
}

}  // namespace
}  // namespace gpusim::comp
