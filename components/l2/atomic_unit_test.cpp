#include "components/l2/atomic_unit.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

TEST(AtomicUnit, PartsOfACycleAddUpWithoutAPause) {
  AtomicUnit unit(1.5, 0, 0);
  uint64_t now = unit.free_at();
  for (int i = 0; i < 100; ++i) {
    unit.take(1, false, now);
    now = unit.free_at();
  }
  EXPECT_EQ(now, 150u);
}

TEST(AtomicUnit, TakesTheWordsOfAnAccessOneByOne) {
  AtomicUnit unit(4, 0, 0);
  unit.take(8, false, 1000);
  EXPECT_EQ(unit.free_at(), 1032u);
}

TEST(AtomicUnit, AnAccessTakesCyclesBesidesThoseOfItsWords) {
  AtomicUnit unit(1.25, 0, 0.5);
  unit.take(4, false, 1000);
  unit.take(1, false, unit.free_at());
  EXPECT_EQ(unit.free_at(), 1008u) << "5.5 and 1.75";
  EXPECT_EQ(unit.busy_cycles(), 7u);
}

TEST(AtomicUnit, FloatingPointNumbersHaveCyclesOfTheirOwn) {
  AtomicUnit unit(1.25, 2.75, 0.5);
  unit.take(4, true, 1000);
  EXPECT_EQ(unit.free_at(), 1012u) << "11.5";
  unit.take(4, false, 2000);
  EXPECT_EQ(unit.free_at(), 2006u) << "5.5";
  AtomicUnit same(1.25, 0, 0);
  same.take(4, true, 1000);
  EXPECT_EQ(same.free_at(), 1005u) << "as integers, where none are given";
}

TEST(AtomicUnit, APauseIsNotMadeUpFor) {
  AtomicUnit unit(1.5, 0, 0);
  unit.take(1, false, 10);
  unit.take(1, false, 20);
  EXPECT_EQ(unit.free_at(), 22u) << "21.5";
}

}  // namespace
}  // namespace gpusim::comp
