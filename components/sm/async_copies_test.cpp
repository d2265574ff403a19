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

TEST(AsyncCopies, BulkCopiesHaveGroupsOfTheirOwn) {
  AsyncCopies copies;
  copies.begin(kWarp, 1, AsyncCopies::Kind::kBulk);
  copies.commit(kWarp);  // of the others
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncWaitAll));
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncBulk)) << "not committed yet";
  copies.commit(kWarp, AsyncCopies::Kind::kBulk);
  EXPECT_FALSE(copies.are_done(kWarp, isa::kAsyncBulk));
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncBulk | 1));
  EXPECT_TRUE(copies.are_done(kWarp, 0));
  EXPECT_EQ(copies.end(kWarp, 1).ranks, 0);
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncBulk));
}

TEST(AsyncCopies, WhatAnMbarrierIsToldOfBelongsToNoGroup) {
  AsyncCopies copies;
  copies.begin(kWarp, 1, AsyncCopies::Kind::kBulk, {64, 512, 1});
  copies.begin(kWarp, 2, AsyncCopies::Kind::kBulk, {64, 256, 3});
  copies.commit(kWarp, AsyncCopies::Kind::kBulk);
  EXPECT_TRUE(copies.are_done(kWarp, isa::kAsyncBulk));
  const isa::Arrival arrival = copies.end(kWarp, 1);
  EXPECT_EQ(arrival.offset, 64u);
  EXPECT_EQ(arrival.bytes, 512u);
  uint32_t told = 0;
  copies.end_all(kWarp, [&](const isa::Arrival& a) { told += a.bytes; });
  EXPECT_EQ(told, 256u) << "what is left when the block ends";
  EXPECT_EQ(copies.end(kWarp, 2).ranks, 0) << "it is told once";
}

}  // namespace
}  // namespace gpusim::comp
