// Divisor and Ring.
#include "simcore/divisor.h"

#include <gtest/gtest.h>

#include "simcore/ring.h"

namespace gpusim::core {
namespace {

TEST(Divisor, DividesLikeTheOperator) {
  for (const uint64_t d : {1ull, 2ull, 3ull, 8ull, 12ull, 256ull, 5120ull, 1ull << 40}) {
    const Divisor divisor(d);
    EXPECT_EQ(divisor.value(), d);
    for (const uint64_t n : {0ull, 1ull, 7ull, 8ull, 255ull, 256ull, 99999ull, (1ull << 63) + 5}) {
      EXPECT_EQ(n / divisor, n / d);
      EXPECT_EQ(n % divisor, n % d);
      EXPECT_EQ(divisor.up(n), n / d + (n % d != 0 ? 1 : 0)) << n << " / " << d;
    }
  }
}

TEST(Ring, KeepsOrderPastItsEnd) {
  Ring<int> ring(3);
  int next = 0, expected = 0;
  for (int round = 0; round < 20; ++round) {
    while (ring.size() < 3) ring.push(next++);
    EXPECT_EQ(ring.front(), expected);
    EXPECT_EQ(ring.pop(), expected++);
    EXPECT_EQ(ring.pop(), expected++);
  }
  EXPECT_EQ(ring.size(), 1u);
}

TEST(Ring, TakesMemoryForMoreThanTheUsualOnlyWhenItHoldsThat) {
  Ring<int> ring(1'000'000);
  EXPECT_LE(ring.slots(), 1024u);
  ring.reserve(100'000'000);
  EXPECT_LE(ring.slots(), 1024u);
  int next = 0, expected = 0;
  for (; next < 700; ++next) ring.push(next);  // so that growth finds the first element in the middle
  for (; expected < 600; ++expected) EXPECT_EQ(ring.pop(), expected);
  for (; next < 5000; ++next) ring.push(next);
  EXPECT_EQ(ring.size(), 4400u);
  EXPECT_EQ(ring.slots(), 8192u);
  for (; expected < 5000; ++expected) ASSERT_EQ(ring.pop(), expected);
}

}  // namespace
}  // namespace gpusim::core
