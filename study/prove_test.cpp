#include "study/prove.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simcore/config/load.h"
#include "simcore/text/text_file.h"
#include "study/prove_meaning.h"

namespace gpusim::study {
namespace {

const std::vector<std::string> kMachines = {GPUSIM_SOURCE_DIR "/configs"};

TEST(Scaled, KeepsTheUnitAndWholeNumbers) {
  EXPECT_EQ(scaled("128K", 2), "256K");
  EXPECT_EQ(scaled("877MHz", 2), "1754MHz");
  EXPECT_EQ(scaled("59ns", 0.5), "29.5ns");
  EXPECT_EQ(scaled("4", 0.5), "2");
  EXPECT_EQ(scaled("5", 0.5), "2");
  EXPECT_EQ(scaled("1", 0.5), "1") << "there is no shorter cycle";
  EXPECT_EQ(scaled("2.3", 0.5), "1.15");
  EXPECT_EQ(scaled("0", 2), "0");
  EXPECT_EQ(scaled("lrr", 2), "lrr");
  EXPECT_EQ(scaled("", 2), "");
}

const Change* find_change(const std::vector<Change>& changes, std::string_view name) {
  const auto at = std::ranges::find(changes, name, &Change::name);
  return at == changes.end() ? nullptr : &*at;
}

TEST(Changes, AreThoseThatTheMachineHas) {
  const auto c1060 = changes_of(core::load_machine("tesla_c1060", {}, kMachines));
  const auto v100 = changes_of(core::load_machine("tesla_v100", {}, kMachines));
  ASSERT_NE(find_change(v100, "L1 size"), nullptr);
  EXPECT_THAT(find_change(v100, "L1 size")->sets, testing::ElementsAre("l1.size=256K", "l1.ways=64"));
  EXPECT_EQ(find_change(c1060, "L1 size"), nullptr) << "it has none";
  ASSERT_NE(find_change(c1060, "cycles between issue slots"), nullptr);
  EXPECT_EQ(find_change(v100, "cycles between issue slots"), nullptr) << "one already";
  ASSERT_NE(find_change(v100, "cycles of the fp32 pipe"), nullptr);
  ASSERT_NE(find_change(v100, "L1 lines looked up at once"), nullptr);
  EXPECT_EQ(find_change(c1060, "L1 lines looked up at once"), nullptr);
  // A load takes the V100's only load/store pipe a cycle, which cannot be halved.
  ASSERT_NE(find_change(v100, "lsu pipe for each scheduler"), nullptr);
  EXPECT_EQ(find_change(v100, "lsu pipe for each scheduler")->effect, "x 4");
  EXPECT_THAT(find_change(v100, "lsu pipe for each scheduler")->sets,
              testing::ElementsAre("pipes.lsu.per_scheduler=true"));
  EXPECT_TRUE(meaning_of("lsu pipe for each scheduler").compound) << "accesses of shared memory go with it";
  EXPECT_EQ(find_change(v100, "fp32 pipe for each scheduler"), nullptr) << "each has one already";
  EXPECT_EQ(find_change(c1060, "lsu pipe for each scheduler"), nullptr) << "there is one scheduler";
  ASSERT_NE(find_change(c1060, "partitions of addresses"), nullptr);
  EXPECT_THAT(find_change(c1060, "partitions of addresses")->sets,
              testing::ElementsAre("l2.hash=xor", "l2.hash_bits=0"));
  EXPECT_EQ(find_change(v100, "partitions of addresses"), nullptr) << "addresses are spread already";
  for (const auto& changes : {c1060, v100})
    for (const Change& change : changes) {
      EXPECT_FALSE(change.sets.empty()) << change.name;
      EXPECT_FALSE(meaning_of(change.name).text.empty()) << change.name;
    }
}

/// A recording has the machine with all times in ns. Its DRAM at twice the clock is to be what a file of the
/// machine gives at that clock: bursts that follow each other in cycles of it.
TEST(Changes, OfADramClockChangeWhatFollowsTheClock) {
  for (const char* name : {"gtx470", "tesla_k20x", "tesla_v100", "h100", "h200"}) {
    const core::MachineConfig machine = core::load_machine(name, {}, kMachines);
    const auto changes = changes_of(machine);
    const Change* clock = find_change(changes, "DRAM clock");
    ASSERT_NE(clock, nullptr) << name;
    const core::MachineConfig changed =
        core::parse_machine(core::show_machine(machine, false), name, clock->sets);
    const core::MachineConfig loaded = core::load_machine(name, std::vector{clock->sets.front()}, kMachines);
    EXPECT_DOUBLE_EQ(changed.dram.ccd_ns, loaded.dram.ccd_ns) << name;
    EXPECT_DOUBLE_EQ(changed.dram.ccd_l_ns, loaded.dram.ccd_l_ns) << name;
    EXPECT_LT(changed.dram.ccd_ns, machine.dram.ccd_ns) << name;
  }
}

TEST(Shortest, IsWhatTakesOneCycleAlready) {
  const auto v100 = shortest_of(core::load_machine("tesla_v100", {}, kMachines));
  const auto all_of = [&](std::string_view name) {
    const auto at = std::ranges::find(v100, name, &Shortest::name);
    return at == v100.end() ? -1 : at->all ? 1 : 0;
  };
  EXPECT_EQ(all_of("cycles between issue slots"), 1);
  EXPECT_EQ(all_of("cycles of a transaction in the coalescer"), 1);
  EXPECT_EQ(all_of("cycles of the lsu pipe"), 0) << "a load of constants takes more than a load";
  EXPECT_EQ(all_of("cycles of the fp32 pipe"), -1) << "it has a row";
  const auto c1060 = shortest_of(core::load_machine("tesla_c1060", {}, kMachines));
  EXPECT_FALSE(std::ranges::count(c1060, "cycles between issue slots", &Shortest::name) > 0) << "four";
}

comp::SimulationOptions vecadd(const char* machine) {
  comp::SimulationOptions o;
  o.machine = core::load_machine(machine, {}, kMachines);
  o.ptx_name = GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx";
  o.ptx_text = core::read_text_file(o.ptx_name);
  o.launch = core::load_launch(GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.toml",
                               std::vector<std::string>{"N=65536"}, 0);
  o.lowering = isa::LoweringLevel::kSchedule;
  o.sms = 2;
  return o;
}

TEST(Prove, AFewSmsAreLimitedByHowManyThereAre) {
  size_t calls = 0, most = 0;
  const Proof proof = prove(vecadd("tesla_c1060"), 2, std::nullopt, [&](size_t done, size_t all) {
    EXPECT_EQ(done, ++calls);
    most = all;
  });
  EXPECT_EQ(calls, most);
  EXPECT_EQ(most, proof.gains.size() + 1) << "the unchanged run among them";
  ASSERT_FALSE(proof.gains.empty());
  const auto sms = std::ranges::find_if(proof.gains, [](const Gain& g) { return g.change.name == "SMs"; });
  ASSERT_NE(sms, proof.gains.end());
  EXPECT_LT(sms->factor, 0.6) << "four SMs for two";
  EXPECT_TRUE(std::ranges::is_sorted(proof.gains, {},
                                     [](const Gain& g) { return g.refused.empty() ? g.factor : HUGE_VAL; }));
  EXPECT_THAT(proof_text(proof),
              testing::HasSubstr("twice as many SMs, which changes several units at once, saves"));
}

Gain gain(const char* name, double factor, const char* refused = "") {
  return {{name, "x 2", {"a.b=2"}, {}}, refused, static_cast<uint64_t>(1000 * factor), factor};
}

TEST(ProofText, NamesOneKindOfUnitBeforeSeveral) {
  Proof proof{1000,   {gain("SMs", 0.6), gain("DRAM clock", 0.8), gain("L1 size", 1, "no whole number")},
              "dram", "data bus of DRAM (80 % busy)",
              {},     0};
  const std::string text = proof_text(proof);
  EXPECT_THAT(text, testing::HasSubstr("limited most by: DRAM clock\n  it drives the data buses"));
  EXPECT_THAT(text,
              testing::HasSubstr("twice as many SMs, which changes several units at once, saves 40.0 %"));
  EXPECT_THAT(text, testing::HasSubstr("not possible: no whole number"));
  EXPECT_THAT(text, testing::HasSubstr("dram (data bus of DRAM (80 % busy))"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("as much by")));
  proof.gains.push_back(gain("DRAM banks", 0.801));
  EXPECT_THAT(proof_text(proof), testing::HasSubstr("and as much by: DRAM banks\n"));
  proof.gains.back().factor = 0.805;
  EXPECT_THAT(proof_text(proof),
              testing::HasSubstr("and nearly as much by: DRAM banks\n  rows of one bank follow each other"));
  proof.gains.back().factor = 0.82;
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("as much by"))) << "a tenth less is less";
  proof.gains = {gain("DRAM clock", 0.5), gain("SMs", 0.6)};
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("many SMs"))) << "it tells nothing more";
  proof.gains = {gain("SMs", 0.6)};
  EXPECT_THAT(proof_text(proof), testing::HasSubstr("nothing helps alone"));
}

TEST(ProofText, FoldsTheCommandThatRepeatsAChange) {
  Proof proof{1000, {gain("arithmetic latencies", 0.8)}, "", "", {}, 0};
  proof.gains[0].change.sets = {"latency.int=2"};
  EXPECT_THAT(proof_text(proof), testing::HasSubstr("\n  repeat it: --set latency.int=2\n"));
  proof.gains[0].change.sets.assign(12, "latency.int_mul_wide=2");
  const std::string text = proof_text(proof);
  const std::string_view command = std::string_view(text).substr(text.find("repeat it:"));
  EXPECT_THAT(std::string(command), testing::HasSubstr("=2 \\\n             --set latency.int_mul_wide=2"));
  for (size_t from = 0; from < command.size(); from = std::min(command.size(), command.find('\n', from) + 1))
    EXPECT_LE(command.find('\n', from) - from, 115u);
}

TEST(ProofText, SaysWhenTheOrderOfThingsMovesTheTime) {
  Proof proof{
      1000, {gain("DRAM clock", 0.8), gain("L1 latency", 1.04), gain("L2 latency", 1.045)}, "", "", {}, 0};
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("slower"))) << "as little as nobody names";
  proof.gains.push_back(gain("DRAM banks", 1.11));
  proof.gains.back().change.sets = {"dram.banks=32"};
  EXPECT_THAT(proof_text(proof),
              testing::HasSubstr("3 of these make the run slower, by 11.0 % at most (DRAM banks)"));
  EXPECT_THAT(proof_text(proof), testing::HasSubstr("--set dram.banks=32 says what took longer"));
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("smaller than that")));
  proof.gains.front().factor = 0.9;
  EXPECT_THAT(proof_text(proof), testing::HasSubstr("the gain named above is smaller than that"));
  proof.gains.back().change.effect = "hash";
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("slower"))) << "another hash gives no more";
}

TEST(ProofText, SaysThatTheNamedLimiterTakesOneCycleAlready) {
  Proof proof{1000, {gain("L1 size", 0.9)}, "lsu", "transactions of the load/store unit (88 % busy)", {}, 0};
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("already")));
  proof.shortest = {{"cycles of a transaction in the coalescer", true}, {"cycles of the lsu pipe", false}};
  EXPECT_THAT(
      proof_text(proof),
      testing::HasSubstr("  one cycle already, so not halved: cycles of a transaction in the coalescer\n"
                         "  what the counters name as the limiter has no row: cycles of a transaction"));
  proof.named = "other_blocks";
  EXPECT_THAT(proof_text(proof),
              testing::HasSubstr("blocks take turns: what saves time below is part of a turn"));
  proof.named = "pipe_lsu";
  EXPECT_THAT(proof_text(proof),
              testing::HasSubstr("the limiter is halved in part only: cycles of the lsu pipe"));
  proof.named = "dram";
  EXPECT_THAT(proof_text(proof), testing::Not(testing::HasSubstr("what the counters name")));
  EXPECT_THAT(
      proof_json(proof),
      testing::HasSubstr("\"one_cycle_already\": [{\"name\": \"cycles of a transaction in the coalescer\", "
                         "\"all\": true}, {"));
}

TEST(Prove, WhatAMachineCannotHaveHasItsReason) {
  comp::SimulationOptions o = vecadd("tesla_v100");
  const Proof proof = prove(o, 2);
  const auto warps = std::ranges::find_if(
      proof.gains, [](const Gain& g) { return g.change.name == "resident warps with their registers"; });
  ASSERT_NE(warps, proof.gains.end());
  EXPECT_EQ(warps->refused, "sm.max_warps = 128 is out of range; valid: 1 to 64 warps");
}

TEST(Prove, AnotherRunThanTheRecordedOneProvesNothing) {
  try {
    (void)prove(vecadd("tesla_c1060"), 2, 12345);
    FAIL();
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("where 12345 are recorded"));
  }
}

TEST(Prove, WhatWasSimulatedWhenItWasStoppedIsTheProof) {
  size_t ended = 0, all = 0;
  const auto count = [&](size_t done, size_t of) { ended = done, all = of; };
  const Proof part = prove(vecadd("tesla_c1060"), 1, std::nullopt, count, [&] { return ended >= 4; });
  EXPECT_EQ(part.gains.size(), 3u) << "and the unchanged run";
  EXPECT_EQ(part.missing, all - 4);
  EXPECT_THAT(proof_text(part), testing::HasSubstr(fmt::format("{} changes were not simulated", all - 4)));
  const Proof nothing = prove(vecadd("tesla_c1060"), 1, std::nullopt, {}, [] { return true; });
  EXPECT_EQ(nothing.cycles, 0u);
  EXPECT_THAT(proof_text(nothing), testing::HasSubstr("nothing is proved"));
}

TEST(Prove, ARunThatFailsCannotBeProved) {
  comp::SimulationOptions o = vecadd("tesla_c1060");
  o.max_cycles = 10;
  EXPECT_THROW((void)prove(o, 2), core::InputError);
}

}  // namespace
}  // namespace gpusim::study
