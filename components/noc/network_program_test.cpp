// Whole programs over other interconnects than the shipped machine's: the same values and counts, other
// times.
#include <gtest/gtest.h>

#include <string>

#include "components/testing/gather_program.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;

test::Outcome run(std::vector<std::string> sets, bool direct = false) {
  SimulationOptions o = test::program(test::kGatherPtx, test::gather_launch(64, 128), std::move(sets));
  o.direct_driver = direct;
  return test::run_apart(o);
}

struct Case {
  const char* name;
  std::vector<std::string> sets;
};
class NetworkProgram : public testing::TestWithParam<Case> {};

TEST_P(NetworkProgram, ValuesAndCountsAreThoseOfTheCrossbar) {
  const test::Outcome crossbar = run({}), other = run(GetParam().sets);
  ASSERT_EQ(other.status, "complete") << other.reason;
  EXPECT_EQ(other.values, crossbar.values);
  EXPECT_EQ(other.counts, crossbar.counts);
  EXPECT_NE(other.timing, crossbar.timing);
  EXPECT_EQ(other, run(GetParam().sets, true)) << "the same without SystemC events";
}
INSTANTIATE_TEST_SUITE_P(
    Networks, NetworkProgram,
    testing::Values(Case{"Mesh", {"interconnect.topology=mesh"}},
                    Case{"SmallestMesh",
                         {"interconnect.topology=mesh", "interconnect.router_queue=1", "interconnect.queue=1",
                          "interconnect.mesh_width=1", "interconnect.hop_cycles=3",
                          "interconnect.arbitration=oldest", "interconnect.flit=8"}},
                    Case{"Oldest", {"interconnect.arbitration=oldest", "interconnect.queue=1"}},
                    Case{"NarrowReplies", {"interconnect.reply_flit=8"}}),
    [](const auto& network) { return std::string(network.param.name); });

TEST(NetworkPrograms, NarrowRepliesAreOfMoreFlits) {
  const test::Outcome wide = run({}), narrow = run({"interconnect.reply_flit=16"});
  EXPECT_EQ(counter(narrow, "noc_request_flits"), counter(wide, "noc_request_flits"));
  EXPECT_GT(counter(narrow, "noc_reply_flits"), counter(wide, "noc_reply_flits"));
}

TEST(NetworkPrograms, HalfOfTheRepliesCross) {
  const test::Outcome one = run({"l2.size=512K"});
  const test::Outcome two = run({"l2.size=512K", "l2.halves=2", "l2.far_latency=500ns"});
  ASSERT_EQ(two.status, "complete") << two.reason;
  EXPECT_EQ(two.values, one.values);
  EXPECT_EQ(counter(one, "l2_far_replies"), 0);
  // Addresses are spread over all partitions.
  const double replies = counter(two, "load_transactions") + counter(two, "store_transactions");
  EXPECT_NEAR(counter(two, "l2_far_replies") / replies, 0.5, 0.1);
}

TEST(NetworkPrograms, AFarReplyTakesTheFarLatencyMore) {
  // One warp: its loads, then its store and atomics, wait for the far half once each.
  const auto cycles = [&](std::vector<std::string> sets) {
    const test::Outcome o =
        test::run_apart(test::program(test::kGatherPtx, test::gather_launch(1, 32), std::move(sets)));
    EXPECT_EQ(o.status, "complete") << o.reason;
    return std::stod(o.timing.substr(o.timing.find(": ") + 2));
  };
  const double near = cycles({"l2.size=512K"});
  const double far = cycles({"l2.size=512K", "l2.halves=2", "l2.far_latency=500ns"});
  // The near replies that came last without it hide some of it.
  EXPECT_GT(far - near, 0.9 * 2 * 500 * 1.296);
  EXPECT_LT(far - near, 2 * 500 * 1.296 + 12);
}

}  // namespace
}  // namespace gpusim::comp
