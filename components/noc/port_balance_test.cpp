#include <gtest/gtest.h>

#include "components/noc/interconnect.h"

namespace gpusim::comp {
namespace {

TEST(PortBalance, TakingTurnsSendsOneOfSoManyAsThereArePortsToTheBusiest) {
  PortBalance balance(8);
  for (uint32_t i = 0; i < 4096; ++i) balance.add(i % 8);
  EXPECT_EQ(balance.to_busiest(), 4096u / 8);
}

TEST(PortBalance, OnePortAtATimeIsAsBadAsOnePortForEver) {
  PortBalance one(8), changing(8);
  for (uint32_t i = 0; i < 4096; ++i) {
    one.add(3);
    changing.add(i / (8 * PortBalance::kWindow));
  }
  EXPECT_EQ(one.to_busiest(), 4096u);
  EXPECT_EQ(changing.to_busiest(), 4096u);
}

TEST(PortBalance, CountsTheWindowThatHasNotEnded) {
  PortBalance balance(4);
  for (uint32_t i = 0; i < 6; ++i) balance.add(i % 2);
  EXPECT_EQ(balance.to_busiest(), 3u);
}

}  // namespace
}  // namespace gpusim::comp
