// A machine is changed at random: the data sheet must find the change, by the right amount, and nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "microbench/configured.h"
#include "microbench/discover.h"
#include "microbench/simulated_device.h"
#include "simcore/config/load.h"

namespace gpusim::microbench {
namespace {

/// A machine with caches like those of Fermi, small so that tests are short.
const std::vector<std::string> kBase = {"gpu.sms=3",       "gpu.memory=4G",   "coalescer.rule=cc20",
                                        "l1.size=16K",     "l1.index=modulo", "l1.latency=30",
                                        "l1.merges=32",    "l2.size=256K",    "l2.partitions=4",
                                        "l2.ways=8",       "l2.mshrs=64",     "l2.hit_latency=80ns",
                                        "shared.banks=32", "shared.size=48K", "shared.lanes_per_access=32",
                                        "l2.hash=modulo",  "l2.hash_bits=0",  "dram.row=2K"};

/// For its own section only: pages that are not known make loads of any level slow.
const std::vector<std::string> kTlb = {"tlb.l1_entries=16", "tlb.l1_ways=4",       "tlb.l2_entries=64",
                                       "tlb.l2_ways=4",     "tlb.l2_latency=20ns", "tlb.walk_latency=200ns",
                                       "tlb.page=64K"};

struct Change {
  const char* section;  ///< of the data sheet, that is measured
  std::vector<const char*> settings;
  std::vector<const char*> figures;  ///< that change; the others of the section stay
};
/// Five times a power of two of sets, behind a hash.
const Change kOddSets = {"l2",
                         {"l2.partitions=8", "l2.hash=xor", "l2.size=320K"},
                         {"l2.size", "l2.sets", "l2.index", "l2.stride_misses"}};
const std::vector<Change> kChanges = {
    {"l1", {"l1.size=32K"}, {"l1.size", "l1.sets", "l1.stride_misses"}},
    {"l1", {"l1.size=12K", "l1.ways=3"}, {"l1.size", "l1.ways"}},
    {"l1", {"l1.ways=8"}, {"l1.ways", "l1.sets", "l1.stride_misses"}},
    {"l1", {"l1.line=64"}, {"l1.line", "l1.sets", "l1.stride_misses"}},
    {"l1", {"l1.sector=128"}, {"l1.sector"}},
    {"l1", {"l1.sector=64"}, {"l1.sector"}},
    {"l1", {"l1.index=fermi"}, {"l1.index", "l1.stride_misses"}},
    {"l1", {"l1.index=xor"}, {"l1.index", "l1.stride_misses"}},
    {"l1", {"l1.replacement=fifo"}, {"l1.replacement"}},
    {"l1", {"l1.replacement=plru"}, {"l1.replacement"}},
    {"l1", {"l1.replacement=random"}, {"l1.replacement", "l1.stride_misses"}},
    {"l1", {"l1.size=0"}, {"l1.size"}},
    {"l2", {"l2.size=512K"}, {"l2.size", "l2.sets", "l2.stride_misses"}},
    {"l2", {"l2.ways=16"}, {"l2.ways", "l2.sets", "l2.stride_misses"}},
    {"l2", {"l2.sector=64"}, {"l2.sector"}},
    {"l2", {"l2.hash=xor"}, {"l2.index", "l2.stride_misses"}},
    {"l2", {"l2.index=xor"}, {"l2.index", "l2.stride_misses"}},
    kOddSets,
    {"l2", {"l2.replacement=fifo"}, {"l2.replacement"}},
    {"l2", {"l2.size=0"}, {"l2.size"}},
    {"tlb", {"tlb.l1_entries=32"}, {"tlb.l1_entries"}},
    {"tlb", {"tlb.page=128K"}, {"tlb.page"}},
    {"tlb", {"tlb.l2_entries=128"}, {"tlb.l2_entries"}},
    {"mshrs", {"l1.mshrs=32"}, {"mshrs.sm"}},
    {"mshrs", {"l1.mshrs=48"}, {"mshrs.sm"}},
    {"mshrs",
     {"l1.size=64K", "l1.mshrs=400", "lsu.mshrs=1024", "l2.mshrs=512", "dram.latency=3000ns"},
     {"mshrs.sm"}},
    {"mshrs", {"l1.warp_mshrs=6"}, {"mshrs.warp"}},
    {"mshrs", {"l1.warp_mshrs=10"}, {"mshrs.warp"}},
    {"mshrs", {"scheduler.warp_loads=5"}, {"mshrs.warp"}},
    {"shared", {"shared.banks=16"}, {"shared.banks"}},
    {"shared", {"shared.bank_bytes=8"}, {"shared.bank_bytes"}},
    {"shared", {"shared.lanes_per_access=16"}, {"shared.lanes_per_access"}},
    {"shared", {"shared.cycles_per_access=1"}, {"shared.conflict_cycles"}},
    {"constant", {"constant.l1_size=4K"}, {"constant.l1_size"}},
    {"constant", {"constant.l2_size=16K"}, {"constant.l2_size"}},
    {"dram", {"dram.row=4K"}, {"dram.row"}},
    {"dram", {"dram.row=1K"}, {"dram.row"}},
    {"dram", {"dram.banks=16"}, {"dram.bank_period"}},
    {"dram", {"l2.interleave=512"}, {"dram.interleave"}},
    {"dram", {"dram.bank_hash=true"}, {"dram.bank_period"}},
    {"dram", {"l2.hash=xor"}, {"dram.interleave", "dram.channels", "dram.bank_period"}},
    {"dram", {"l2.partitions=8"}, {"dram.channels"}},
    {"operations", {"latency.fp32=30"}, {"latency.fp32_add", "latency.fp32_mad"}},
    {"operations", {"latency.sfu_sin=60"}, {"latency.sfu_sin", "latency.sfu_ex2"}},
    {"operations", {"latency.int_mul=80"}, {"latency.int_mul"}},
    {"operations", {"pipes.sp.int=8"}, {"throughput.int_add"}},
    {"operations", {"pipes.sp.int_mul=25"}, {"throughput.int_mul"}},
    {"operations", {"pipes.sp.fp64=16"}, {"throughput.fp64_add", "throughput.fp64_fma"}},
};

DataSheet measure(const std::string& section, const std::vector<const char*>& settings, bool translates) {
  std::vector<std::string> sets = kBase;
  if (translates)
    sets.insert(sets.end(), kTlb.begin(), kTlb.end());
  else
    sets.push_back("tlb.l1_entries=0");
  sets.insert(sets.end(), settings.begin(), settings.end());
  const std::vector<std::string> folders = {GPUSIM_SOURCE_DIR "/configs"};
  const core::MachineConfig machine = core::load_machine("tesla_c1060", sets, folders);
  SimulatedDevice device(machine, 1);
  DataSheet sheet = discover(device, {section});
  add_configured(machine, sheet);
  return sheet;
}

/// Rates of two pipes together vary a little with how their operations fall.
bool differ(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (!a || !b || !a->is_number() || !b->is_number()) return a != b;
  return std::abs(a->number - b->number) > 0.01 * std::abs(a->number);
}

void check(const Change& change) {
  SCOPED_TRACE(fmt::format("--set {}", fmt::join(change.settings, " --set ")));
  const bool translates = std::string_view(change.section) == "tlb";
  const DataSheet before = measure(change.section, {}, translates),
                  after = measure(change.section, change.settings, translates);
  for (const Figure& f : before.figures) {
    EXPECT_TRUE(!f.configured || f.agrees()) << f.name << " before the change: " << sheet_text(before);
    const Figure* now = after.find(f.name);
    const bool changes =
        std::find(change.figures.begin(), change.figures.end(), f.name) != change.figures.end();
    // Of a cache that is not there, nothing but its size is said.
    if (now == nullptr && after.find(f.name.substr(0, f.name.find('.')) + ".size")->found->number == 0)
      continue;
    ASSERT_NE(now, nullptr) << f.name;
    EXPECT_TRUE(!now->configured || now->agrees()) << f.name << ": " << sheet_text(after);
    EXPECT_EQ(differ(now->found, f.found), changes) << f.name << ": " << sheet_text(after);
  }
}

class RandomChange : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomChange, IsFound) {
  std::mt19937 random(GetParam());
  check(kChanges[random() % kChanges.size()]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChange, ::testing::Range(2u, 5u));

TEST(Change, ToSetsThatAreNoPowerOfTwoBehindAHashIsFound) { check(kOddSets); }

class TranslationBehind : public ::testing::TestWithParam<const char*> {};

/// Lines of L2 that fall into the same sets must not look like pages.
TEST_P(TranslationBehind, IsFoundWhereItIsAndNowhereElse) {
  const std::vector<const char*> settings = {GetParam(), "l2.partitions=32", "l2.size=2M"};
  const DataSheet without = measure("tlb", settings, false), with = measure("tlb", settings, true);
  for (const Figure& f : without.figures) EXPECT_FALSE(f.found) << sheet_text(without);
  ASSERT_GE(with.figures.size(), 5u);
  for (const Figure& f : with.figures) EXPECT_TRUE(!f.configured || f.agrees()) << sheet_text(with);
}

INSTANTIATE_TEST_SUITE_P(Hashes, TranslationBehind,
                         ::testing::Values("l2.hash=modulo", "l2.hash=polynomial"));

/// Refreshes of DRAM and its rows must not look like pages.
TEST(Translation, IsFoundWithoutASecondLevelCache) {
  const std::vector<std::string> folders = {GPUSIM_SOURCE_DIR "/configs"};
  std::mt19937 random(7);
  for (const char* change : {"tlb.page=256K", "tlb.l2_entries=128"}) {
    const std::string refresh = fmt::format("dram.refi={}ns", 2500 + random() % 3000);
    SCOPED_TRACE(refresh + " " + change);
    const core::MachineConfig machine = core::load_machine("tesla_c1060", {{change, refresh}}, folders);
    SimulatedDevice device(machine, 1);
    DataSheet sheet = discover(device, {"tlb"});
    add_configured(machine, sheet);
    ASSERT_GE(sheet.figures.size(), 5u) << sheet_text(sheet);
    for (const Figure& f : sheet.figures) EXPECT_TRUE(!f.configured || f.agrees()) << sheet_text(sheet);
  }
}

TEST(Translation, WhereThereIsNoneNothingIsFoundWithoutASecondLevelCache) {
  const std::vector<std::string> folders = {GPUSIM_SOURCE_DIR "/configs"};
  const core::MachineConfig machine = core::load_machine("tesla_c1060", {{"tlb.l1_entries=0"}}, folders);
  SimulatedDevice device(machine, 1);
  for (const Figure& f : discover(device, {"tlb"}).figures) EXPECT_FALSE(f.found) << f.name;
  // Four programs for the hierarchy, one for known pages, and the farthest loads of all end the search.
  EXPECT_EQ(device.runs(), 6u);
}

/// What does not fit the machine has no value but a reason; the rest is measured.
TEST(DataSheet, SaysWhatCouldNotBeMeasuredAndWhy) {
  const auto reason = [](const DataSheet& sheet, const char* figure) {
    const Figure* f = sheet.find(figure);
    return f == nullptr ? "no figure" : f->found ? "a value" : f->method;
  };
  const DataSheet shared = measure("shared", {"shared.size=0"}, false);
  EXPECT_THAT(reason(shared, "shared"), ::testing::HasSubstr("not measured: "));
  EXPECT_THAT(reason(shared, "shared"), ::testing::HasSubstr("shared memory per block"));
  const DataSheet operations = measure("operations", {"shared.size=0"}, false);
  EXPECT_THAT(reason(operations, "latency.shared_operand"), ::testing::HasSubstr("shared memory per block"));
  EXPECT_EQ(reason(operations, "latency.fp32_add"), "a value");
  EXPECT_TRUE(operations.find("throughput.int_add")->found);
  const DataSheet latency = measure("latency", {"shared.size=512"}, false);
  EXPECT_THAT(reason(latency, "latency.shared"), ::testing::HasSubstr("shared memory per block"));
  EXPECT_EQ(reason(latency, "latency.dram"), "a value");
}

TEST(DataSheet, OfTheLargeFirstLevelOfAGtx470HasSixWaysAnd64Sets) {
  const std::vector<std::string> folders = {GPUSIM_SOURCE_DIR "/configs"};
  const core::MachineConfig machine = core::load_machine("gtx470_48k", {}, folders);
  SimulatedDevice device(machine, 1);
  DataSheet sheet = discover(device, {"l1"});
  add_configured(machine, sheet);
  const auto found = [&](const char* name) { return sheet.find(name)->found->number; };
  EXPECT_EQ(found("l1.size"), 49152);
  EXPECT_EQ(found("l1.ways"), 6);
  EXPECT_EQ(found("l1.sets"), 64);
  for (const Figure& f : sheet.figures) EXPECT_TRUE(!f.configured || f.agrees()) << sheet_text(sheet);
}

/// All changes one after another: minutes. Run it by --gtest_also_run_disabled_tests.
TEST(AllChanges, DISABLED_AreFound) {
  for (const Change& change : kChanges) check(change);
}

}  // namespace
}  // namespace gpusim::microbench
