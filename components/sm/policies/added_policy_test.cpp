// A policy that a program adds with register_issue_policy() is the one that warps are chosen by.
#include <gtest/gtest.h>

#include <stdexcept>

#include "components/sm/policies/issue_policy.h"
#include "components/testing/gather_program.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

/// The youngest ready warp, or the oldest one.
class ByAge final : public IssuePolicy {
 public:
  explicit ByAge(bool oldest) : oldest_(oldest) {}
  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable& table) const override {
    if (oldest_) return oldest_of(warps, table);
    uint32_t best = core::lowest_bit(warps);
    for (const uint32_t w : core::Bits(warps))
      if (table.age(w) >= table.age(best)) best = w;
    return best;
  }
  void issued(uint32_t) override {}
  void reset() override {}

 private:
  bool oldest_;
};

const bool kRegistered = register_issue_policy(
    "by_age", {{"by_age_oldest", "", int64_t{0}, 0, 1, "1: the oldest warp, not the youngest one"}},
    [](const core::MachineConfig::Scheduler& config) {
      return std::make_unique<ByAge>(config.added_keys.integer("by_age_oldest") != 0);
    });

test::Outcome run(std::vector<std::string> sets) {
  test::Outcome outcome =
      test::run_apart(test::program(test::kGatherPtx, test::gather_launch(64, 128), std::move(sets)));
  EXPECT_EQ(outcome.status, "complete") << outcome.reason;
  return outcome;
}

TEST(AddedPolicy, ChoosesTheWarpsAsItsKeysSay) {
  ASSERT_TRUE(kRegistered);
  const test::Outcome oldest = run({"scheduler.policy=oldest"}), youngest = run({"scheduler.policy=by_age"}),
                      by_key = run({"scheduler.policy=by_age", "scheduler.by_age_oldest=1"});
  EXPECT_EQ(by_key, oldest) << "the policy of this file is that of policy_oldest.cpp";
  EXPECT_EQ(youngest.values, oldest.values);
  EXPECT_NE(youngest.timing, oldest.timing);
}

const bool kMissingRegistered =
    register_issue_policy("missing", {}, [](const core::MachineConfig::Scheduler&) { return nullptr; });

TEST(AddedPolicy, ThatIsNotMadeIsAnError) {
  ASSERT_TRUE(kMissingRegistered);
  core::MachineConfig::Scheduler config;
  config.policy = "missing";
  EXPECT_THROW((void)make_issue_policy(config), std::invalid_argument);
}

TEST(AddedPolicy, NeedsAMakerAndAWordOfItsOwn) {
  EXPECT_THROW(register_issue_policy("unmade", {}, {}), std::invalid_argument);
  const IssuePolicyMaker maker = [](const core::MachineConfig::Scheduler&) {
    return std::make_unique<ByAge>(true);
  };
  EXPECT_THROW(register_issue_policy("gto", {}, maker), std::invalid_argument);
  EXPECT_THROW(register_issue_policy("by_age", {}, maker), std::invalid_argument);
  core::MachineConfig::Scheduler config;
  config.policy = "unmade";
  EXPECT_THROW((void)make_issue_policy(config), std::invalid_argument);
}

}  // namespace
}  // namespace gpusim::comp
