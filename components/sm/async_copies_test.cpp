#include "components/sm/async_copies.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

constexpr uint32_t kWarp = 5, kOther = 6;

TEST(AsyncCopies, NothingIsUnderWayAtFirst) {
  AsyncCopies copies;
  EXPECT_TRUE(copies.are_done(kWarp, 0));
  copies.commit(kWarp);
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncWaitAll));
}

TEST(AsyncCopies, AWaitForGroupsLetsTheLatestGoOn) {
  AsyncCopies copies;
  copies.begin(kWarp, 10);
  copies.begin(kWarp, 11);
  copies.commit(kWarp);
  copies.begin(kWarp, 12);
  copies.commit(kWarp);
  EXPECT_FALSE(copies.are_done(kWarp, 0));
  EXPECT_FALSE(copies.are_done(kWarp, 1)) << "the first of two groups";
  EXPECT_TRUE(copies.are_done(kWarp, 2));
  EXPECT_TRUE(copies.are_done(kOther, 0));
  copies.end(kWarp, 10);
  EXPECT_FALSE(copies.are_done(kWarp, 1)) << "a copy of the first is missing";
  copies.end(kWarp, 11);
  EXPECT_TRUE(copies.are_done(kWarp, 1));
  EXPECT_FALSE(copies.are_done(kWarp, 0));
  copies.end(kWarp, 12);
  EXPECT_TRUE(copies.are_done(kWarp, 0));
}

TEST(AsyncCopies, OnlyWaitAllWaitsForWhatIsNotCommitted) {
  AsyncCopies copies;
  copies.begin(kWarp, 1);
  EXPECT_TRUE(copies.are_done(kWarp, 0));
  EXPECT_FALSE(copies.are_done(kWarp, isa::kAsyncWaitAll));
  copies.reset_warp(kWarp);
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncWaitAll));
}

}  // namespace
}  // namespace gpusim::comp
