#include "components/launch/device_launches.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

using Kind = DeviceLaunches::Order::Kind;

class DeviceLaunchesTest : public ::testing::Test {
 protected:
  uint32_t child(uint32_t parent, DeviceLaunches::Order order, uint64_t from = 0,
                 std::vector<DeviceLaunches::Number> after = {}) {
    const uint32_t grid = next_++;
    const auto number = launches_.add({parent, order, from, true, grid, std::move(after)});
    grid_of_[number] = grid;
    return grid;
  }
  /// Grids that start at `now`, in their order.
  std::vector<uint32_t> started(uint64_t now = 0) {
    std::vector<uint32_t> grids;
    while (const auto n = launches_.start_next(now)) grids.push_back(grid_of_.at(*n));
    return grids;
  }
  static DeviceLaunches::Order stream(uint64_t number) { return {Kind::kStream, number}; }

  std::vector<uint32_t> complete_;
  DeviceLaunches launches_{[this](uint32_t grid) { complete_.push_back(grid); }, 5};
  uint32_t next_ = 100;
  std::map<DeviceLaunches::Number, uint32_t> grid_of_;
};
using V = std::vector<uint32_t>;

TEST_F(DeviceLaunchesTest, AGridThatLaunchesNothingIsCompleteAtItsEnd) {
  EXPECT_TRUE(launches_.grid_ended(1, 10));
  EXPECT_EQ(complete_, V{}) << "the caller knows it";
}

TEST_F(DeviceLaunchesTest, AGridIsCompleteWhenItsChildrenAre) {
  const uint32_t a = child(1, stream(0)), b = child(1, stream(1));
  EXPECT_EQ(started(), (V{a, b}));
  const uint32_t below = child(a, stream(0));
  EXPECT_FALSE(launches_.grid_ended(1, 10));
  EXPECT_TRUE(launches_.grid_ended(b, 11));
  EXPECT_FALSE(launches_.grid_ended(a, 12));
  EXPECT_EQ(complete_, V{});
  EXPECT_EQ(started(), V{below});
  EXPECT_TRUE(launches_.grid_ended(below, 13));
  EXPECT_EQ(complete_, V{1});
  EXPECT_TRUE(launches_.empty());
}

TEST_F(DeviceLaunchesTest, WorkOfOneStreamIsInOrderWithAllBelowIt) {
  const uint32_t first = child(1, stream(7)), second = child(1, stream(7)), other = child(1, stream(8));
  EXPECT_EQ(started(), (V{first, other}));
  const uint32_t below = child(first, stream(7));
  EXPECT_EQ(started(), V{below}) << "another grid's stream of that number";
  launches_.grid_ended(first, 20);
  EXPECT_EQ(started(100), V{});
  launches_.grid_ended(below, 30);
  EXPECT_EQ(launches_.next_start(), 35u) << "the gap";
  EXPECT_EQ(started(34), V{});
  EXPECT_EQ(started(35), V{second});
}

TEST_F(DeviceLaunchesTest, TailLaunchesFollowEverythingElseOneByOne) {
  const DeviceLaunches::Order tail{Kind::kTail, 0};
  const uint32_t first = child(1, tail), second = child(1, tail);
  const uint32_t ordinary = child(1, stream(0)), free = child(1, {Kind::kIndependent, 0});
  EXPECT_EQ(started(), (V{ordinary, free}));
  launches_.grid_ended(ordinary, 1);
  launches_.grid_ended(1, 2);
  EXPECT_EQ(started(100), V{});
  launches_.grid_ended(free, 3);
  EXPECT_EQ(started(100), V{first});
  const uint32_t of_tail = child(first, tail);
  launches_.grid_ended(first, 4);
  EXPECT_EQ(started(100), V{of_tail}) << "before the next of the grid above";
  launches_.grid_ended(of_tail, 5);
  EXPECT_EQ(complete_, V{});
  EXPECT_EQ(started(100), V{second});
  launches_.grid_ended(second, 6);
  EXPECT_EQ(complete_, V{1});
}

TEST_F(DeviceLaunchesTest, WorkWaitsForEventsOfOtherStreams) {
  const uint32_t a = child(1, stream(0));
  const auto event = launches_.last_of(1, 0);
  ASSERT_TRUE(event);
  const uint32_t b = child(1, stream(1), 0, {*event});
  const uint32_t tail = child(1, {Kind::kTail, 0}, 0, {*event});
  EXPECT_EQ(started(), V{a});
  launches_.grid_ended(a, 1);
  EXPECT_FALSE(launches_.last_of(1, 0));
  EXPECT_EQ(started(100), V{b}) << "and no tail before its turn";
  launches_.grid_ended(b, 2);
  launches_.grid_ended(1, 3);
  EXPECT_EQ(started(100), V{tail});
}

TEST_F(DeviceLaunchesTest, LaunchesStartFromTheirTimeOnWhereThereIsRoom) {
  const uint32_t late = child(1, stream(0), 50), soon = child(1, stream(1), 40);
  const auto copy = launches_.add({1, stream(2), 45, false, 0, {}});
  EXPECT_EQ(launches_.pending(), 2u);
  EXPECT_EQ(launches_.next_start(), 40u);
  EXPECT_EQ(launches_.next_start(false), 45u);
  EXPECT_EQ(launches_.start_next(45, false), copy);
  EXPECT_EQ(started(45), V{soon});
  EXPECT_EQ(started(50), V{late});
  EXPECT_EQ(launches_.pending(), 0u);
  launches_.done(copy, 60);
  launches_.grid_ended(late, 60);
  launches_.grid_ended(soon, 60);
  EXPECT_TRUE(launches_.grid_ended(1, 61));
  EXPECT_EQ(complete_, V{1});
}

}  // namespace
}  // namespace gpusim::comp
