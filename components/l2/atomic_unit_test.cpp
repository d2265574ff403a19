#include "components/l2/atomic_unit.h"

#include <gtest/gtest.h>

namespace gpusim::comp {
namespace {

TEST(AtomicUnit, PartsOfACycleAddUpWithoutAPause) {
  AtomicUnit unit(1.5);
  uint64_t now = unit.free_at();
  for (int i = 0; i < 100; ++i) {
    unit.take(1, now);
    now = unit.free_at();
  }
  EXPECT_EQ(now, 150u);
}

TEST(AtomicUnit, TakesTheWordsOfAnAccessOneByOne) {
  AtomicUnit unit(4);
  unit.take(8, 1000);
  EXPECT_EQ(unit.free_at(), 1032u);
}

TEST(AtomicUnit, APauseIsNotMadeUpFor) {
  AtomicUnit unit(1.5);
  unit.take(1, 10);
  unit.take(1, 20);
  EXPECT_EQ(unit.free_at(), 22u) << "21.5";
}

}  // namespace
}  // namespace gpusim::comp
