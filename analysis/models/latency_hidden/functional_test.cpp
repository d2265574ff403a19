// Counts of functional runs: as files, and one input of them at a time beside those of a timed run.
#include "analysis/models/latency_hidden/functional.h"

#include <gtest/gtest.h>

#include "analysis/models/latency_hidden/testing.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::latency_hidden {
namespace {

FunctionalKernel sample() {
  FunctionalKernel k;
  k.launch = 3;
  k.name = "k";
  k.grid = "2,1,1";
  k.block = "32,1,1";
  k.code.counts = {{1, 2, 128, 64, 5}, {0.5, 0, 0, 0, 0}};
  k.followed = 0.25;
  k.unmodelled = {"a \"thing\""};
  double value = 1;
  for (const CountField& f : count_fields()) k.counts.*f.member = value++;
  return k;
}

TEST(FunctionalCounts, AreTheSameFromAFile) {
  const std::vector<FunctionalKernel> kernels{sample()};
  core::MachineConfig machine;
  machine.gpu.name = "M";
  const std::string text = functional_json(machine, 3, kernels);
  const FunctionalFile file = functional_from_json(text, "f");
  EXPECT_EQ(file.machine, machine_identity(machine));
  EXPECT_EQ(file.sms, 3u);
  const std::vector<FunctionalKernel>& read = file.kernels;
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].launch, 3u);
  EXPECT_EQ(read[0].name, "k");
  EXPECT_EQ(read[0].unmodelled, kernels[0].unmodelled);
  for (const CountField& f : count_fields())
    EXPECT_EQ(read[0].counts.*f.member, kernels[0].counts.*f.member) << f.name;
  EXPECT_EQ(functional_json(machine, 3, read), text);
  core::MachineConfig other = machine;
  other.gpu.sms += 1;
  EXPECT_NE(machine_identity(other), file.machine);
}

TEST(FunctionalCounts, RefusesWhatIsNoSuchFile) {
  EXPECT_THROW((void)functional_from_json("{}", "f"), core::InputError);
  EXPECT_THROW((void)functional_from_json(R"({"functional_counts": 1, "kernels": []})", "f"),
               core::InputError);
  const std::vector<FunctionalKernel> kernels{sample()};
  const std::string text = functional_json({}, 1, kernels);
  for (const auto& [from, to] : {std::pair("\"rows\": 11", "\"rows\": -1"),
                                 {"\"rows\": 11", "\"rows\": 1e300"},
                                 {"\"sms\": 1", "\"sms\": \"all\""},
                                 {"[0.5, 0, 0, 0, 0, 0, 0]", "[0.5, 0, 0, 0, 0, 0]"},
                                 {"\"counts\"", "\"count\""}}) {
    std::string wrong = text;
    const size_t at = wrong.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    EXPECT_THROW((void)functional_from_json(wrong.replace(at, std::string(from).size(), to), "f"),
                 core::InputError)
        << to;
  }
}

TEST(TakeInput, EachTakesItsOwnAndAllOfThemEverything) {
  Counts timed, functional;
  for (const CountField& f : count_fields()) timed.*f.member = 1, functional.*f.member = 2;
  const std::vector<OpCounts> ops{{4, 16, 400, 800, 8}, {2}};
  std::vector<OpCounts> mine{{2, 4, 100, 100, 2}, {2}};
  std::vector<OpCounts> executed = mine;
  Counts c = timed;
  take_input(Input::kOperations, ops, functional, executed, c);
  EXPECT_EQ(c.longest, 2);
  EXPECT_EQ(c.rows, 1);
  EXPECT_EQ(executed[0].executed, 4);
  EXPECT_EQ(executed[0].transactions, 8) << "two for each execution, as the timed run had";
  EXPECT_EQ(executed[0].words, 4) << "one, as the timed run had";
  std::vector<OpCounts> moved = mine;
  take_input(Input::kTransactions, ops, functional, moved, c);
  EXPECT_EQ(moved[0].executed, 2);
  EXPECT_EQ(moved[0].transferred, 400) << "200 for each execution, as the functional run had";
  EXPECT_EQ(moved[0].words, 4) << "two";
  c = timed;
  for (size_t i = 0; i < kInputs.size(); ++i) take_input(static_cast<Input>(i), ops, functional, mine, c);
  c.flops = 2;  // nothing predicts with them
  for (const CountField& f : count_fields()) EXPECT_EQ(c.*f.member, 2) << f.name;
  EXPECT_EQ(mine[0].transactions, 16);
  EXPECT_EQ(mine[0].transferred, 800);
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
