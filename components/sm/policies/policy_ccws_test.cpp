// CCWS: by hand on a table of warps, and what it does to kernels with and without locality within a warp.
#include <gtest/gtest.h>

#include "components/sm/policies/issue_policy.h"
#include "components/testing/run_program.h"
#include "simcore/config/load.h"
#include "simcore/text/text_file.h"

namespace gpusim::comp {
namespace {

using test::counter;
using test::Outcome;

/// Four warps in the slots 0 to 3, the older the higher; after ten operations. Bases of 10 add up to 40.
struct FourWarps {
  FourWarps() {
    core::MachineConfig::Scheduler config;
    config.policy = "ccws";
    config.policy_keys.ccws_base = 10;
    config.policy_keys.ccws_victims = 2;
    config.policy_keys.ccws_throttle = 8;
    policy = make_issue_policy(config);
    policy->reset();
    for (uint32_t w = 0; w < 4; ++w) {
      table.add(w, 100 - w);
      policy->started(w);
    }
    EXPECT_EQ(held(0), 0u);
    for (int i = 0; i < 10; ++i) policy->issued(0);
  }
  uint64_t held(uint64_t now) { return policy->held_back(0xf, table, now).warps; }
  WarpTable table{2};
  std::unique_ptr<IssuePolicy> policy;
};

TEST(Ccws, ALostLineHoldsOtherWarpsBackUntilTheScoreHasFallen) {
  FourWarps f;
  f.policy->line_evicted(2, 77);
  f.policy->line_missed(2, 77, 100);
  // One lost line in ten operations, times 8, times 40: 32 points, which leave no room for another ten.
  const IssuePolicy::Hold hold = f.policy->held_back(0xf, f.table, 100);
  EXPECT_EQ(hold.warps, 0b1011u);
  EXPECT_EQ(hold.until, 102u);
  EXPECT_EQ(f.held(101), 0b1011u);
  EXPECT_EQ(f.held(102), 0b0011u) << "30 points and ten: the oldest of the others";
  EXPECT_EQ(f.held(111), 0b0011u);
  EXPECT_EQ(f.held(112), 0b0001u);
  EXPECT_EQ(f.held(121), 0b0001u);
  EXPECT_EQ(f.held(122), 0u);
}

TEST(Ccws, OnlyLinesThatTheWarpItselfHadBroughtCount) {
  FourWarps f;
  f.policy->line_evicted(1, 77);
  f.policy->line_missed(2, 77, 100);
  f.policy->line_missed(1, 78, 100);
  EXPECT_EQ(f.held(100), 0u);
  // Two victim tags: the third line that goes takes the place of the first.
  f.policy->line_evicted(1, 78);
  f.policy->line_evicted(1, 79);
  f.policy->line_missed(1, 77, 101);
  EXPECT_EQ(f.held(101), 0u);
  f.policy->line_missed(1, 78, 102);
  EXPECT_NE(f.held(102), 0u);
}

TEST(Ccws, ANewWarpHasLostNothing) {
  FourWarps f;
  f.policy->line_evicted(2, 77);
  f.policy->line_evicted(2, 78);
  f.policy->line_missed(2, 77, 100);
  EXPECT_NE(f.held(100), 0u);
  f.policy->started(2);
  EXPECT_EQ(f.held(101), 0u);
  f.policy->line_missed(2, 78, 102);
  EXPECT_EQ(f.held(102), 0u);
}

TEST(Ccws, TheWarpWithTheHighestScoreLoadsWhateverItIs) {
  FourWarps f;
  for (uint64_t line = 0; line < 50; ++line) {
    f.policy->line_evicted(3, line);
    f.policy->line_missed(3, line, 100);
  }
  EXPECT_EQ(f.held(100), 0b0111u);
}

Outcome run(const std::string& workload, const std::string& policy, std::vector<std::string> params,
            const std::string& machine = "gtx480") {
  const std::string source = GPUSIM_SOURCE_DIR, file = source + "/workloads/" + workload;
  // With few misses at a time each of them is dear.
  const std::vector<std::string> sets = {"scheduler.policy=" + policy, "l1.mshrs=16"},
                                 folders = {source + "/configs"};
  SimulationOptions o;
  o.machine = core::load_machine(machine, sets, folders);
  o.sms = 2;
  o.ptx_name = file + ".ptx";
  o.ptx_text = core::read_text_file(o.ptx_name);
  o.launch = core::load_launch(file + ".toml", params, 1);
  Outcome outcome = test::run_apart(o);
  EXPECT_EQ(outcome.status, "complete") << outcome.reason;
  return outcome;
}

double cycles(const Outcome& o) { return std::stod(o.timing.substr(o.timing.find(": ") + 2)); }

TEST(Ccws, KeepsTheLinesOfWarpsThatReadTheirOwnAgainAndAgain) {
  for (const char* const machine : {"gtx470", "gtx480"}) {
    const Outcome ccws = run("micro/own_lines", "ccws", {}, machine);
    const Outcome lrr = run("micro/own_lines", "lrr", {}, machine);
    const Outcome gto = run("micro/own_lines", "gto", {}, machine);
    for (const Outcome* const other : {&lrr, &gto}) {
      EXPECT_EQ(ccws.values, other->values);
      EXPECT_GT(counter(ccws, "l1_global_load_hit"), counter(*other, "l1_global_load_hit")) << machine;
      EXPECT_LT(cycles(ccws), cycles(*other)) << machine;
    }
  }
}

TEST(Ccws, CostsLittleWhereNothingIsReadAgain) {
  const std::vector<std::string> n = {"N=100000"};
  EXPECT_LT(cycles(run("vecadd/vecadd", "ccws", n)), 1.03 * cycles(run("vecadd/vecadd", "gto", n)));
}

}  // namespace
}  // namespace gpusim::comp
