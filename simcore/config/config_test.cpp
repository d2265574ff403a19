#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "simcore/config/load.h"
#include "simcore/config/memory_times.h"
#include "simcore/config/schema.h"

namespace gpusim::core {
namespace {

const std::vector<std::string> kFolders{GPUSIM_SOURCE_DIR "/configs"};

/// Cycles of the operations of one pipe.
const std::map<std::string, int64_t>& intervals(const MachineConfig& m, std::string_view pipe) {
  return std::ranges::find(m.pipes, pipe, &MachineConfig::Pipe::name)->interval;
}

TEST(Config, C1060HasItsPublishedLimits) {
  const MachineConfig m = load_machine("tesla_c1060", {}, kFolders);
  EXPECT_EQ(m.gpu.sms, 30);
  EXPECT_EQ(m.gpu.compute_capability, 13);
  EXPECT_EQ(m.clocks.core_khz, 1296000);
  EXPECT_EQ(m.memory_bytes, int64_t{4} << 30);
  EXPECT_EQ(m.latency.at("shared_operand"), 24);
  ASSERT_GE(m.pipes.size(), 4u);
  EXPECT_EQ(m.pipes[0].name, "sfu");  // file order, not alphabetical
  EXPECT_EQ(m.pipes[1].name, "sp");
  EXPECT_EQ(m.pipes[2].name, "lsu");
  EXPECT_EQ(intervals(m, "sfu").at("fp32_mul"), 8);
  EXPECT_TRUE(intervals(m, "sp").contains("fp64"));  // one unit for both
  EXPECT_DOUBLE_EQ(m.dram.rcd_ns, 15.0);             // 12 memory cycles at 800 MHz
}

TEST(Config, ExtendsOverridesKeyByKey) {
  const MachineConfig m = load_machine("tesla_c870.cfg", {}, kFolders);
  EXPECT_EQ(m.gpu.sms, 16);
  EXPECT_EQ(m.coalescer.rule, CoalescingRule::kCc10);
  EXPECT_EQ(m.l2.partitions, 6);
  EXPECT_EQ(m.l2.interleave, 256);  // inherited
}

TEST(Config, ExtendsSeveralTheLastWins) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/memory.cfg") << "[dram]\nbanks = 16\nqueue = 7\n";
  std::ofstream(folder + "/several.cfg")
      << "extends = [\"tesla_c870.cfg\", \"memory.cfg\"]\n[dram]\nqueue = 48\n";
  const MachineConfig m = load_machine(folder + "/several.cfg", {}, kFolders);
  EXPECT_EQ(m.gpu.sms, 16);     // of the first
  EXPECT_EQ(m.dram.banks, 16);  // the second replaces the first's
  EXPECT_EQ(m.dram.queue, 48);  // its own
}

TEST(Config, ShowReadsBackTheSame) {
  for (const char* name : {"tesla_c1060", "tesla_c870", "gtx470", "h200"}) {
    const MachineConfig m =
        load_machine(name, std::vector<std::string>{"clocks.dram=\"799.999MHz\""}, kFolders);
    EXPECT_EQ(parse_machine(show_machine(m), "shown"), m);
    EXPECT_EQ(parse_machine(show_machine(m, false), "shown"), m);
  }
}

/// What `config show` prints, kept in a file, is the machine at every clock, and not only at the present one.
TEST(Config, AFileOfWhatIsShownFollowsTheClocksAsTheFirstDoes) {
  for (const char* name : {"tesla_c1060", "gtx470", "tesla_k20x", "tesla_v100", "h100", "h200"}) {
    const std::set<std::string> in_clocks = times_in_clocks(name, {}, kFolders);
    EXPECT_TRUE(in_clocks.contains("ccd")) << name;
    EXPECT_FALSE(in_clocks.contains("refi")) << name;
    const MachineConfig m = load_machine(name, {}, kFolders);
    const std::string shown = show_machine_with_clocks(m, in_clocks);
    EXPECT_EQ(parse_machine(shown, "shown"), m);
    for (const std::string key : {"clocks.dram", "clocks.interconnect", "clocks.core"})
      for (const double factor : {0.75, 1.25}) {
        const int64_t khz = key == "clocks.dram"   ? m.clocks.dram_khz
                            : key == "clocks.core" ? m.clocks.core_khz
                                                   : m.clocks.interconnect_khz;
        const std::vector<std::string> set{
            fmt::format("{}={}kHz", key, static_cast<int64_t>(factor * static_cast<double>(khz)))};
        EXPECT_EQ(parse_machine(shown, "shown", set), load_machine(name, set, kFolders))
            << name << " " << set[0];
      }
  }
}

TEST(Config, BurstsThatDoNotFollowTheMemoryClockAreSaid) {
  for (const char* name : {"tesla_c1060", "gtx470", "tesla_k20x", "tesla_v100", "h100", "h200"})
    for (const char* set : {"gpu.name=\"x\"", "clocks.dram=\"1GHz\"", "clocks.dram=\"4GHz\""})
      EXPECT_EQ(slow_bursts(load_machine(name, std::vector<std::string>{set}, kFolders)), std::nullopt)
          << name << " " << set;
  const std::vector<std::string> times{"dram.ccd=2.28", "dram.ccd_l=4.56", "clocks.dram=1754MHz"};
  EXPECT_THAT(
      slow_bursts(load_machine("tesla_v100", times, kFolders)).value_or(""),
      testing::HasSubstr("takes 2 memory cycles, and the next one comes 4 after it (dram.ccd = 2.28 ns): of "
                         "1796 GB/s that the buses can move, 898 at most"));
}

TEST(Config, ShownLinesFitAPageUnlessAValueDoesNot) {
  const MachineConfig m = load_machine("tesla_v100", {}, kFolders);
  std::istringstream shown(show_machine(m)), plain(show_machine(m, false));
  std::string line;
  size_t widest = 0;
  while (std::getline(plain, line)) widest = std::max(widest, line.size());
  size_t over = 0;
  while (std::getline(shown, line)) {
    EXPECT_LE(line.size(), widest + 45) << line;  // of a long value, and some words of its comment
    if (line.size() > 130) ++over;
  }
  EXPECT_LE(over, 6U);
}

TEST(Config, SetsOverride) {
  const std::vector<std::string> sets{"shared.size=8K",  "scheduler.policy=gto", "clocks.core=1.1GHz",
                                      "pipes.sp.fp32=2", "dram.bank_hash=true",  "pipes.sfu.fp32_mul=0"};
  const MachineConfig m = load_machine("tesla_c1060", sets, kFolders);
  EXPECT_EQ(m.shared.bytes, 8192);
  EXPECT_EQ(m.scheduler.policy, "gto");
  EXPECT_EQ(m.clocks.core_khz, 1100000);
  EXPECT_EQ(intervals(m, "sp").at("fp32"), 2);
  EXPECT_TRUE(m.dram.bank_hash);
  EXPECT_FALSE(intervals(m, "sfu").contains("fp32_mul"));
}

TEST(Config, SecondLevelCache) {
  const std::vector<std::string> sets{"l2.size=512K", "l2.hash=polynomial", "l2.hit_latency=90ns"};
  const MachineConfig with = load_machine("tesla_c1060", sets, kFolders);
  EXPECT_EQ(with.l2.bytes, 512 * 1024);
  EXPECT_EQ(with.l2.hash, PartitionHash::kPolynomial);
  EXPECT_DOUBLE_EQ(with.l2.hit_latency_ns, 90);
  EXPECT_EQ(parse_machine(show_machine(with), "shown"), with);
  const MachineConfig without = load_machine("tesla_c1060", {}, kFolders);
  EXPECT_EQ(without.l2.bytes, 0);
  EXPECT_EQ(without.l2.hash, PartitionHash::kXor);
  // Any number of partitions and sets: the GTX 480's 768 KB in six.
  const std::vector<std::string> six{"l2.size=768K", "l2.partitions=6", "gpu.memory=1536M"};
  EXPECT_EQ(load_machine("tesla_c1060", six, kFolders).l2.partitions, 6);
}

TEST(Config, MatrixClassesTakeThePipesOfTheirPartsOrTheirOwn) {
  const MachineConfig without = load_machine("tesla_c1060", {}, kFolders);
  EXPECT_EQ(intervals(without, "sp").at("mma_half"), 64 * 4);  // 64 times fp32
  EXPECT_EQ(without.latency.at("mma_half"), 24 + 63 * 4);
  EXPECT_EQ(intervals(without, "sp").at("mma_fp64"), 8 * 32);
  EXPECT_EQ(without.latency.at("mma_fp64"), 48 + 7 * 32);
  const std::vector<std::string> sets{"pipes.tensor.mma_half=8", "latency.mma_half=33", "pipes.sp.fp32=2"};
  const MachineConfig with = load_machine("tesla_c1060", sets, kFolders);
  EXPECT_EQ(with.pipes.back().name, "tensor");
  EXPECT_EQ(with.pipes.back().interval.at("mma_half"), 8);
  EXPECT_EQ(with.latency.at("mma_half"), 33);
  EXPECT_FALSE(intervals(with, "sp").contains("mma_half"));
  EXPECT_EQ(intervals(with, "sp").at("mma_int8"), 64 * 4);
}

TEST(Config, HalfPrecisionRunsAsFp32UnlessItHasAPipe) {
  const MachineConfig without = load_machine("tesla_c1060", {}, kFolders);
  EXPECT_EQ(intervals(without, "sp").at("half"), intervals(without, "sp").at("fp32"));
  EXPECT_EQ(without.latency.at("half"), without.latency.at("fp32"));
  // Pairs: so many operations a lane make twice the rate of FP32, of which loops on an H100 reach half.
  for (const auto& [name, lanes] : {std::pair{"tesla_v100", 1}, {"h200", 2}}) {
    const MachineConfig m = load_machine(name, {}, kFolders);
    int64_t half = 0, fp32 = 0;
    for (const MachineConfig::Pipe& pipe : m.pipes) {
      if (const auto at = pipe.interval.find("half"); at != pipe.interval.end()) half = at->second;
      if (const auto at = pipe.interval.find("fp32"); at != pipe.interval.end()) fp32 = at->second;
    }
    EXPECT_EQ(half, lanes * fp32) << name;
  }
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Config, SetErrorsNameTheSet) {
  const auto load = [](std::string set) {
    return error_of([&] { (void)load_machine("tesla_c1060", std::vector<std::string>{set}, kFolders); });
  };
  EXPECT_EQ(load("shared.sizes=8K"),
            "--set 'shared.sizes=8K': error: unknown key 'sizes' in [shared]\n  hint: did you mean 'size'?");
  EXPECT_THAT(load("nonsense"),
              testing::StartsWith("--set 'nonsense': error: expected section.key=value\n  hint: "));
  EXPECT_THAT(load("sms=20"), testing::HasSubstr("--sms"));
  EXPECT_NE(
      load("shared.size=1000").find("shared.size = 1000 is not a multiple of sm.shared_alloc_unit = 512"),
      std::string::npos);
  EXPECT_NE(load("shared.size=1000").find("tesla_c1060.cfg:"), std::string::npos);  // the other place
  const std::string ports = load("interconnect.sms_per_port=2");
  EXPECT_NE(ports.find("gpu.sms_per_cluster = 3 is not a multiple of interconnect.sms_per_port = 2"),
            std::string::npos)
      << ports;
}

TEST(Config, CachesThatDoNotFitTogetherAreRefused) {
  const auto load = [](std::vector<std::string> sets) {
    return error_of([&] { (void)load_machine("tesla_c1060", sets, kFolders); });
  };
  const auto says = [](const std::string& error, const char* what) {
    EXPECT_NE(error.find(what), std::string::npos) << error;
  };
  says(load({"instruction.l1_size=4000"}),
       "instruction.l1_size = 4000 is not divisible into sets of 4 ways of 64 bytes");
  says(load({"instruction.l1_size=4K", "instruction.bytes=12"}),
       "instruction.bytes = 12 is not a power of two");
  says(load({"instruction.l1_size=4K", "instruction.l1_line=128"}),
       "instruction.l1_line = 128 is more than constant.l2_line = 64");
  says(load({"texture.cache=l1"}), "texture.cache = l1 needs an L1 data cache, and l1.size = 0");
  says(load({"texture.l1_ways=7"}),
       "texture.l1_size = 5120 is not divisible into sets of 7 ways of 32 bytes");
  says(load({"texture.l2_line=512"}), "texture.l2_line = 512 is more than l2.interleave = 256");
  says(load({"texture.cash=own"}), "did you mean 'cache'?");
  says(load({"scheduler.dependences=control_codes", "scheduler.issue_width=2"}),
       "scheduler.dependences = control_codes needs scheduler.issue_width = 1");
  EXPECT_EQ(load({"texture.l2_line=512", "l2.size=512K"}), "no error") << "not there with an L2";
}

TEST(Config, ASetIndexThatReachesNotEverySetIsRefused) {
  const auto load = [](const char* machine, std::vector<std::string> sets) {
    return error_of([&] { (void)load_machine(machine, sets, kFolders); });
  };
  EXPECT_EQ(load("gtx470", {"l1.size=48K", "shared.size=16K"}).substr(0, 109),
            "--set 'l1.size=48K': error: l1.size = 49152 gives 96 sets, of which l1.index = fermi reaches "
            "64\n  hint: l1.in");
  EXPECT_EQ(load("gtx470", {"l1.size=48K", "l1.ways=6", "shared.size=16K"}), "no error");
  EXPECT_EQ(load("gtx470", {"l1.size=48K", "l1.index=xor"}), "no error");
  EXPECT_NE(load("gtx470", {"l2.index=fermi", "l2.size=1280K"})
                .find("l2.size = 1310720 gives 128 sets, of which l2.index = fermi reaches 64"),
            std::string::npos);
  EXPECT_EQ(load("gtx470", {"l2.index=fermi"}), "no error");
}

TEST(Config, CachesOfPartitionsNeedASetInEach) {
  const auto load = [](std::vector<std::string> sets) {
    return error_of([&] { (void)load_machine("tesla_c1060", sets, kFolders); });
  };
  EXPECT_NE(load({"constant.l3_ways=512"})
                .find("constant.l3_size = 32768 has no set of 512 ways of 64 bytes in each of 8 partitions"),
            std::string::npos);
  EXPECT_NE(load({"texture.l2_size=8K", "texture.l2_ways=8"})
                .find("texture.l2_size = 8192 has no set of 8 ways of 256 bytes in each of 8 partitions"),
            std::string::npos);
}

TEST(Config, KeysOfEarlierVersionsAreRefusedButInRecordings) {
  for (const RetiredKey& key : retired_keys()) {
    const MachineConfig m = load_machine("tesla_c1060", {}, kFolders);
    std::string old = show_machine(m);
    const std::string header = fmt::format("[{}]\n", key.section);
    old.insert(old.find(header) + header.size(), fmt::format("{} = 1\n", key.name));
    EXPECT_EQ(parse_recorded_machine(old, "old"), m);
    const std::string error = error_of([&] { (void)parse_machine(old, "old"); });
    EXPECT_NE(error.find(fmt::format("error: '{}' is no longer a key of [{}]\n  hint: {}", key.name,
                                     key.section, key.advice)),
              std::string::npos)
        << error;
  }
}

TEST(Config, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(error_of([] { (void)load_machine("tesla_c106", {}, kFolders); }),
            "error: no machine configuration 'tesla_c106'\n  hint: did you mean 'tesla_c1060'?");
}

TEST(Config, AFolderIsNotTakenForTheMachineOfItsName) {
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  std::filesystem::create_directory("h200");
  std::filesystem::create_directory("mine.cfg");
  const std::vector<std::string> without = {"nowhere", "configs"};
  const auto load = [](const std::string& name, const std::vector<std::string>& folders) {
    return error_of([&] { (void)load_machine(name, {}, folders); });
  };
  EXPECT_EQ(load("h200", kFolders), "no error");
  EXPECT_EQ(load("h200", without),
            "error: no machine configuration 'h200' (a folder is called so)\n  hint: none is in nowhere, "
            "configs; GPUSIM_DATA names the folder that has configs/ (it comes with gpusim), or give the "
            "path of a .cfg");
  EXPECT_EQ(load("mine.cfg", kFolders), "mine.cfg: error: is a folder, not a file");
  std::filesystem::remove("h200");
  std::filesystem::remove("mine.cfg");
  std::filesystem::current_path(before);
}

TEST(Config, CyclesOfExtendsAreRefused) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/a.cfg") << "extends = \"b.cfg\"\n";
  std::ofstream(folder + "/b.cfg") << "\nextends = \"a.cfg\"\n";
  const std::string error = error_of([&] { (void)load_machine(folder + "/a.cfg", {}, {}); });
  EXPECT_NE(error.find("a.cfg:1:11: error: cannot extend 'b.cfg'"), std::string::npos) << error;
  EXPECT_NE(error.find("the file extends itself"), std::string::npos) << error;
}

TEST(Config, AFileToExtendIsNamedWhole) {
  const std::string file = testing::TempDir() + "/extends.cfg";
  const auto extend = [&](const std::string& base) {
    std::ofstream(file) << "extends = \"" << base << "\"\n";
    return error_of([&] { (void)load_machine(file, {}, kFolders); });
  };
  EXPECT_THAT(extend("tesla_v100"),
              testing::HasSubstr(
                  "extends.cfg:1:11: error: cannot extend 'tesla_v100': there is no such file\n  hint: did "
                  "you mean 'tesla_v100.cfg'? A file is extended by its whole name"));
  EXPECT_THAT(extend("tesla_v10.cfg"), testing::HasSubstr("did you mean 'tesla_v100.cfg'?"));
  EXPECT_EQ(extend("tesla_v100.cfg"), "no error") << "in a folder of configurations";
}

TEST(Config, ListAndDescribeAndDiff) {
  const auto machines = list_machines(kFolders);
  ASSERT_GE(machines.size(), 2u);
  const auto c1060 = std::ranges::find(machines, "tesla_c1060", &MachineListing::name);
  ASSERT_NE(c1060, machines.end());
  EXPECT_NE(c1060->description.find("GT200"), std::string::npos);
  EXPECT_NE(describe_keys("sm.max_warps").find("resident warps per SM"), std::string::npos);
  EXPECT_EQ(describe_keys("sm.max_warps").find("max_blocks"), std::string::npos);
  EXPECT_NE(error_of([] { (void)describe_keys("sm.max_wraps"); }).find("did you mean 'max_warps'?"),
            std::string::npos);
  EXPECT_NE(error_of([] { (void)describe_keys("sn"); }).find("did you mean 'sm'?"), std::string::npos);
  EXPECT_NE(error_of([] { (void)explain_key("l1.mshr", {}); }).find("did you mean 'mshrs'?"),
            std::string::npos);
  EXPECT_NE(error_of([] { (void)explain_key("mshrs", {}); }).find("l1.mshrs, constant.mshrs"),
            std::string::npos);
  EXPECT_NE(error_of([] { (void)explain_key("sm", {}); }).find("not one key"), std::string::npos);
  EXPECT_EQ(explain_key("sms", kFolders), explain_key("gpu.sms", kFolders))
      << "there is one key of that name";
  // Keys of pipes and latencies stand in no table.
  const std::string shared_pipe = explain_key("pipes.lsu.per_scheduler", kFolders);
  EXPECT_NE(shared_pipe.find("every scheduler has such a pipe of its own"), std::string::npos);
  EXPECT_NE(shared_pipe.find("    tesla_v100       false "), std::string::npos) << shared_pipe;
  EXPECT_NE(explain_key("pipes.fp32.per_scheduler", kFolders).find("    tesla_v100       true "),
            std::string::npos);
  EXPECT_NE(explain_key("pipes.lsu.load_shared", kFolders).find("0 takes the class out"), std::string::npos);
  EXPECT_NE(explain_key("latency.fp32", kFolders).find("range      1 to "), std::string::npos);
  EXPECT_NE(error_of([] { (void)explain_key("pipes.lsu.fp23", kFolders); }).find("not one key"),
            std::string::npos);
  EXPECT_NE(error_of([] { (void)explain_key("pipes.losu.per_scheduler", kFolders); }).find("no machine"),
            std::string::npos);
  const MachineConfig a = load_machine("tesla_c1060", {}, kFolders);
  EXPECT_EQ(diff_machines(a, a), "");
  const MachineConfig b = load_machine("tesla_c1060", std::vector<std::string>{"gpu.sms=27"}, kFolders);
  EXPECT_EQ(diff_machines(a, b).substr(0, 7), "gpu.sms");
}

TEST(Schema, AKeyThatAPolicyDeclaresInItsFileIsAKeyLikeOthers) {
  const auto c1060 = [](const std::string& set) {
    return load_machine("tesla_c1060", std::vector<std::string>{set}, kFolders);
  };
  EXPECT_EQ(c1060("gpu.sms=30").scheduler.policy_keys.group, 8) << "the default";
  const MachineConfig m = c1060("scheduler.group=12");
  EXPECT_EQ(m.scheduler.policy_keys.group, 12);
  EXPECT_EQ(parse_machine(show_machine(m), "shown"), m);
  EXPECT_EQ(diff_machines(c1060("gpu.sms=30"), m).substr(0, 15), "scheduler.group");
  EXPECT_NE(describe_keys("scheduler.group").find("8            1 to 64"), std::string::npos);
  const std::string large = error_of([&] { (void)c1060("scheduler.group=65"); });
  EXPECT_NE(large.find("scheduler.group = 65 is out of range"), std::string::npos) << large;
  EXPECT_NE(error_of([&] { (void)c1060("scheduler.gruop=8"); }).find("did you mean 'group'?"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)c1060("scheduler.policy=two_levels"); }).find("did you mean 'two_level'?"),
            std::string::npos);
}

TEST(Schema, NumbersHoldTheRangeOfTheirKey) {
  MachineConfig machine;
  for (const KeySpec& spec : schema()) {
    if (!whole_number(spec, machine)) continue;
    for (const double end : {spec.min, spec.max}) {
      const auto value = static_cast<int64_t>(end);
      EXPECT_TRUE(set_whole_number(spec, machine, value));
      EXPECT_EQ(whole_number(spec, machine), value) << spec.section << "." << spec.name;
    }
  }
}

TEST(Schema, KeysAreUniqueAndDefaultsValid) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::set<std::string> members;
  for (const KeySpec& spec : schema()) {
    EXPECT_TRUE(seen.insert({spec.section, spec.name}).second) << spec.section << "." << spec.name;
    EXPECT_FALSE(spec.doc.empty());
    if (const auto* choice = std::get_if<ChoiceMember>(&spec.member)) {
      std::istringstream choices{std::string(spec.choices)};
      for (std::string one; std::getline(choices, one, '|');) {
        EXPECT_NE(std::ranges::find(choice->words, one), choice->words.end())
            << spec.section << "." << spec.name;
      }
    }
    EXPECT_NE(std::ranges::find(section_names(), spec.section), section_names().end()) << spec.section;
  }
  // All defaults together with the C1060's pipes must load: every default is in range and contradicts no
  // other.
  std::string text = show_machine(load_machine("tesla_c1060", {}, kFolders), false);
  const size_t pipes = text.find("[pipes.");
  const size_t latency = text.find("[latency]");
  EXPECT_NO_THROW((void)parse_machine(text.substr(pipes, latency - pipes), "defaults"));
}

TEST(SchedulerOfSlot, TurnedRoundsGiveEachSchedulerEverySlotOfABlockInTurn) {
  MachineConfig::Scheduler s;
  s.count = 4;
  EXPECT_EQ(s.of_slot(4), 0u);
  s.turned = true;
  // Blocks of four warps: the first warps of four blocks are on four schedulers.
  for (uint32_t block = 0; block < 4; ++block) EXPECT_EQ(s.of_slot(4 * block), block);
  // Each round of slots still has one for each scheduler.
  for (uint32_t round = 0; round < 16; ++round) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 4; ++i) seen |= 1u << s.of_slot(4 * round + i);
    EXPECT_EQ(seen, 0b1111u);
  }
}

}  // namespace
}  // namespace gpusim::core
