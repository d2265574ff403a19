// Policies that a program adds: words and keys like any others, and what is refused.
#include "simcore/config/added_policies.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "simcore/config/load.h"

namespace gpusim::core {
namespace {

// Before any test loads a configuration, in whatever order they run.
const bool kAdded = [] {
  add_scheduler_policy("mine", {{"mine_depth", "warps", int64_t{5}, 2, 64, "depth of policy mine"},
                                {"mine_share", "", 0.25, -1, 1, "share of policy mine"}});
  add_scheduler_policy("plain", {});
  return true;
}();

const std::vector<std::string> kPolicyFolders{GPUSIM_SOURCE_DIR "/configs"};

MachineConfig with(std::vector<std::string> sets) {
  return load_machine("tesla_c1060", sets, kPolicyFolders);
}

template <class Fn>
std::string policy_error(Fn fn) {
  try {
    fn();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
void expect_refused(const std::vector<std::string>& sets, const std::string& problem,
                    const std::string& hint) {
  const std::string error = policy_error([&] { (void)with(sets); });
  EXPECT_NE(error.find(problem), std::string::npos) << error;
  EXPECT_NE(error.find(hint), std::string::npos) << error;
}

TEST(AddedPolicies, WordAndKeysAreReadShownAndDescribed) {
  ASSERT_TRUE(kAdded);
  const MachineConfig fallback = with({"scheduler.policy=mine"});
  EXPECT_EQ(fallback.scheduler.policy, "mine");
  EXPECT_EQ(fallback.scheduler.added_keys.integer("mine_depth"), 5);
  EXPECT_EQ(fallback.scheduler.added_keys.real("mine_share"), 0.25);
  EXPECT_THROW((void)fallback.scheduler.added_keys.integer("mine_share"), std::out_of_range);

  const MachineConfig set =
      with({"scheduler.policy=mine", "scheduler.mine_depth=64", "scheduler.mine_share=-1"});
  EXPECT_EQ(set.scheduler.added_keys.integer("mine_depth"), 64);
  EXPECT_EQ(set.scheduler.added_keys.real("mine_share"), -1);
  EXPECT_FALSE(set == fallback);
  const std::string shown = show_machine(set, false);
  EXPECT_NE(shown.find("policy = \"mine\"\nmine_depth = 64\nmine_share = -1\n"), std::string::npos) << shown;
  EXPECT_EQ(parse_machine(shown, "shown.cfg"), set);
  EXPECT_EQ(diff_machines(fallback, set).find("scheduler.mine_depth"), 0u);

  const std::string described = describe_keys("scheduler");
  EXPECT_NE(described.find("|two_level|mine|plain"), std::string::npos) << described;
  EXPECT_NE(described.find("depth of policy mine"), std::string::npos) << described;
}

TEST(AddedPolicies, ValuesAreCheckedAsThoseOfOtherKeysAre) {
  expect_refused({"scheduler.mine_depth=65"}, "scheduler.mine_depth = 65 is out of range",
                 "valid: 2 to 64 warps");
  expect_refused({"scheduler.mine_depth=1"}, "scheduler.mine_depth = 1 is out of range",
                 "valid: 2 to 64 warps");
  expect_refused({"scheduler.mine_depth=2.5"}, "scheduler.mine_depth = 2.5 is not an integer", "");
  expect_refused({"scheduler.mine_share=1.5"}, "scheduler.mine_share = 1.5 is out of range",
                 "valid: -1 to 1");
  expect_refused({"scheduler.mine_share=much"}, "is not a number", "");
  expect_refused({"scheduler.mine_dept=3"}, "unknown key 'mine_dept' in [scheduler]",
                 "did you mean 'mine_depth'?");
  expect_refused({"scheduler.policy=mine_"}, "scheduler.policy = \"mine_\"", "did you mean 'mine'?");
  const std::string error =
      policy_error([] { (void)parse_machine("[scheduler]\nmine_depth = 900\n", "own.cfg"); });
  EXPECT_NE(error.find("own.cfg:2:14: error: scheduler.mine_depth = 900 is out of range"), std::string::npos)
      << error;
}

TEST(AddedPolicies, NamesThatAreTakenAreRefused) {
  for (const char* const word : {"mine", "plain", "gto", "two_level"})
    EXPECT_NE(policy_error([&] { add_scheduler_policy(word, {}); }).find("there is a policy of that name"),
              std::string::npos)
        << word;
  for (const char* const word : {"", "Mine", "9lives", "a|b", "my-own", "a b"})
    EXPECT_NE(policy_error([&] { add_scheduler_policy(word, {}); }).find("the word is no name"),
              std::string::npos)
        << word;
  for (const char* const key : {"mine_depth", "group", "count", "policy", "first"}) {
    const std::string error = policy_error([&] {
      add_scheduler_policy("next", {{"first", "", int64_t{1}, 0, 1, "a key"}, {key, "", 1.0, 0, 1, "a key"}});
    });
    EXPECT_NE(error.find("policy 'next': key '" + std::string(key) + "' is a key of [scheduler] already"),
              std::string::npos)
        << error;
  }
}

TEST(AddedPolicies, KeysWithoutASoundRangeAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<AddedKey, const char*>> cases = {
      {{"Key", "", int64_t{1}, 0, 1, "a key"}, "is no name"},
      {{"key", "", int64_t{1}, 0, 1, ""}, "has no documentation"},
      {{"key", "", int64_t{1}, 2, 0, "a key"}, "has no range"},
      {{"key", "", 1.0, 0, nan, "a key"}, "has no range"},
      {{"key", "", nan, 0, 1, "a key"}, "has the default"},
      {{"key", "", int64_t{7}, 0, 6, "a key"}, "has the default 7, which is not in its range from 0 to 6"},
      {{"key", "", int64_t{1}, -1, 6, "a key"}, "lies between 0 and 2^53"},
      {{"key", "", int64_t{1}, 0, 1e18, "a key"}, "lies between 0 and 2^53"}};
  for (const auto& [key, text] : cases) {
    const std::string error = policy_error([&key = key] { add_scheduler_policy("next", {key}); });
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }
}

TEST(AddedPolicies, NothingIsAddedOnceAConfigurationHasBeenLoaded) {
  (void)with({});
  EXPECT_THROW(add_scheduler_policy("late", {}), std::logic_error);
  EXPECT_NE(policy_error([] { add_scheduler_policy("late", {}); }).find("'late' is added after"),
            std::string::npos);
  expect_refused({"scheduler.policy=late"}, "scheduler.policy = \"late\"", "");
}

TEST(AddedPolicies, ARecordingOfAnotherProgramsPolicyIsRead) {
  std::string text = show_machine(with({}), false);
  const std::string word = "policy = \"lrr\"\n";
  ASSERT_NE(text.find(word), std::string::npos);
  text.replace(text.find(word), word.size(), "policy = \"theirs\"\ntheirs_depth = 3\n");
  EXPECT_EQ(parse_recorded_machine(text, "recorded").scheduler.policy, "theirs");
  EXPECT_THROW((void)parse_machine(text, "own.cfg"), InputError);
}

}  // namespace
}  // namespace gpusim::core
