#include "analysis/profile/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "analysis/profile/stall_causes.h"
#include "analysis/report/reports.h"
#include "analysis/testing/small_recording.h"
#include "simcore/config/peaks.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

using test::SmallRecording;
using testing::AllOf;
using testing::HasSubstr;

class Metrics : public testing::Test {
 protected:
  /// One metric of `small`, on a machine of this compute capability (x 10).
  [[nodiscard]] MetricValue metric(const std::string& name, int capability = 13) const {
    const Recording recording(small.write(test::temp_path("r.h5")));
    core::MachineConfig machine = recording.machine();
    machine.gpu.compute_capability = capability;
    machine.l1.bytes = l1_bytes;
    if (machine_keys) machine_keys(machine);
    const std::vector<std::string> names{name};
    return compute_metrics(recording.kernel(0), machine, names).at(0);
  }
  void expect(const std::string& name, double value, int capability = 13) const {
    const MetricValue v = metric(name, capability);
    EXPECT_TRUE(v.available()) << name << ": " << v.reason;
    EXPECT_DOUBLE_EQ(v.value, value) << name;
  }
  void expect_none(const std::string& name, const std::string& reason, int capability = 13) const {
    EXPECT_THAT(metric(name, capability).reason, HasSubstr(reason)) << name;
  }
  SmallRecording small;
  int64_t l1_bytes = 0;
  std::function<void(core::MachineConfig&)> machine_keys;  ///< more of what `machine` differs in
};

TEST_F(Metrics, InstructionsByHand) {
  expect("inst_executed", 6);
  expect("inst_issued", 8);
  expect("inst_replay_overhead", 2.0 / 6);
  expect("inst_per_warp", 3);
  expect("ipc", 6.0 / 28);
  expect("issued_ipc", 8.0 / 28);
  expect("ipc_elapsed", 6.0 / 20 / 30);
  expect("issue_slot_utilization", 30);
  expect("warp_execution_efficiency", 100 * 200.0 / (32 * 7));
  expect("warp_nonpred_execution_efficiency", 100 * (48.0 + 64 + 32 + 32) / (32 * 6));
  expect("branch_efficiency", 0);
  expect("achieved_occupancy", 46.0 / 28 / 32);
  expect("sm_efficiency", 100 * 28.0 / (20 * 30));
}

TEST_F(Metrics, GlobalMemoryByHand) {
  const double seconds = 20 / 1.296e9;
  expect("gld_transactions", 4);
  expect("gld_transactions_per_request", 2);
  expect("gld_efficiency", 75);
  expect("gld_requested_throughput", 192 / seconds);
  expect("gld_throughput", 256 / seconds);
  expect("gst_transactions", 0);
  expect("dram_read_transactions", 8);
  expect("dram_read_throughput", 256 / seconds);
  expect_none("gst_efficiency", "there were no global stores");
}

TEST_F(Metrics, LocalLoadsAndAtomicsAreNoGlobalLoads) {
  small.operations[3].op_class = "load_local";
  small.operations[3].values["transactions"] = 5;
  small.operations[3].values["requested_bytes"] = 10;
  small.operations[3].values["transferred_bytes"] = 320;
  small.sms[1]["load_transactions"] = 5;
  small.counters["local_load"] = 1;
  expect("gld_transactions", 4);
  expect("gld_efficiency", 75);
  expect("local_load_transactions", 5);
  expect("local_load_transactions_per_request", 5);
  small.operations[3].op_class = "atom_global";
  small.counters["atom_count"] = 1;
  expect("gld_transactions", 4);
  expect("atomic_transactions", 5);
  expect("atomic_transactions_per_request", 5);
}

TEST_F(Metrics, SharedMemoryByHand) {
  expect("l1_shared_bank_conflict", 2);
  expect("shared_store_transactions_per_request", 4);
  expect("shared_efficiency", 100 * 128.0 / (4 * 64));
  expect_none("shared_load_transactions_per_request", "there were no shared-memory loads");
  // A shared-memory operand: its steps stand at the arithmetic operation.
  small.operations[1].values["transactions"] = 6;
  small.counters["shared_load"] = 2;
  expect("shared_load_transactions_per_request", 3);
  expect_none("shared_efficiency", "shared-memory operands");
}

TEST_F(Metrics, DefinitionsFollowTheComputeCapability) {
  expect("gld_transactions", 4, 13);
  expect("gld_transactions", 4, 20);  // lines
  expect("gld_transactions", 8, 35);  // sectors: 256 bytes moved
  expect("gld_transactions_per_request", 4, 70);
  expect("gld_efficiency", 75, 20);  // no cache: sectors
  l1_bytes = 16384;
  expect("gld_efficiency", 100 * 192.0 / (4 * 128), 20);
  expect("gld_throughput", 4 * 128 / (20 / 1.296e9), 20);
  expect("gld_efficiency", 75, 35);
  EXPECT_THAT(metric("gld_efficiency", 13).metric->definition, HasSubstr("64- and 128-byte transactions"));
  EXPECT_THAT(metric("gld_efficiency", 20).metric->definition, HasSubstr("128 x lines"));
  EXPECT_THAT(metric("gld_efficiency", 90).metric->definition, HasSubstr("32 x sectors"));
  expect_none("l1_cache_local_hit_rate", "defined for compute capability 2.0 to 3.9; this machine has 1.3");
  expect_none("l1_cache_local_hit_rate", "the recording has no counter 'l1_local_load_hit'", 20);
  small.counters["l1_local_load_hit"] = 3, small.counters["l1_local_load_miss"] = 1;
  small.counters["l1_local_store_hit"] = 0, small.counters["l1_local_store_miss"] = 4;
  expect("l1_cache_local_hit_rate", 37.5, 20);
  expect("local_load_hit_ratio", 75, 35);
}

TEST_F(Metrics, StallReasonsAreSharesOfTheStalledSlots) {
  expect("stall_exec_dependency", 25);
  expect("stall_memory_dependency", 50);
  expect("stall_sync", 12.5);
  expect("stall_pipe_busy", 12.5);
  expect("stall_other", 0);
  expect("stall_constant_memory_dependency", 0);
  expect("stall_texture", 0);
  for (const char* absent : {"stall_not_selected", "stall_inst_fetch"})
    EXPECT_FALSE(metric(absent).available()) << absent;
}

TEST_F(Metrics, FetchAndTextureStallsOfMachinesThatHaveThem) {
  small.causes[4] = "inst_fetch";
  small.totals["inst_fetch"] = 4;
  for (auto& sm : small.sms) sm["slots_inst_fetch"] = 2;
  small.operations[1].values["slots_inst_fetch"] = 4;
  machine_keys = [](core::MachineConfig& m) { m.instruction.l1_bytes = 4096; };
  expect("stall_inst_fetch", 50);
  expect("stall_memory_dependency", 0);
  expect("stall_other", 0);
  machine_keys = [](core::MachineConfig& m) { m.texture.cache = core::TextureCache::kOwn; };
  expect("stall_texture", 0);
  EXPECT_FALSE(metric("stall_inst_fetch").available());
}

TEST_F(Metrics, TextureCachesUntilTheyAreUnified) {
  expect_none("tex_cache_hit_rate", "the recording has no counter 'tex_cache_hit'", 35);
  small.counters["tex_cache_hit"] = 30, small.counters["tex_cache_miss"] = 10;
  machine_keys = [](core::MachineConfig& m) { m.texture.l1_line = 32; };
  expect("tex_cache_hit_rate", 75, 35);
  expect("tex_cache_transactions", 40, 13);
  expect("tex_cache_throughput", 40 * 32 / (20 / 1.296e9), 13);
  expect_none("tex_cache_transactions", "defined for compute capability 1.0 to 3.9", 70);
  small.counters["l1_global_load_hit"] = 1, small.counters["l1_global_load_miss"] = 3;
  expect("tex_cache_hit_rate", 25, 70);
}

TEST_F(Metrics, StallReasonsOfACauseThatNobodyKnowsStillSumToAHundred) {
  small.causes[4] = "memory_l9";
  small.totals["memory_l9"] = 4;
  for (auto& sm : small.sms) sm["slots_memory_l9"] = 2;
  small.operations[1].values["slots_memory_l9"] = 4;
  expect("stall_memory_dependency", 0);
  expect("stall_other", 50);
}

TEST_F(Metrics, WhatIsNotRecordedHasAReasonAndNoValue) {
  small.counters.erase("dram_read_transactions");
  expect_none("dram_read_transactions", "the recording has no counter 'dram_read_transactions'");
  expect_none("dram_read_throughput", "the recording has no counter 'dram_read_transactions'");
  // A generic load of shared memory: 4 of its steps are no transactions of the load/store unit.
  small.sms[0]["load_transactions"] = 2;
  expect_none("gld_transactions", "generic accesses reached shared memory");
  expect_none("gld_efficiency", "generic accesses reached shared memory");
}

TEST_F(Metrics, NamesAreChecked) {
  const std::vector<std::string> names{"gld_efficency"};
  try {
    (void)describe_metrics(names);
    ADD_FAILURE();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(),
                AllOf(HasSubstr("no metric is called 'gld_efficency'"), HasSubstr("'gld_efficiency'?")));
  }
}

TEST_F(Metrics, ReportsHoldEveryMetricOnce) {
  const Recording recording(small.write(test::temp_path("r.h5")));
  const KernelRecord kernel = recording.kernel(0);
  const std::vector<MetricValue> values = compute_metrics(kernel, recording.machine());
  const std::string text = metrics_text(kernel, values), json = metrics_json(kernel, values);
  for (const MetricValue& v : values) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(v.metric->name) + " "));
    EXPECT_THAT(json, HasSubstr('"' + std::string(v.metric->name) + '"'));
  }
  EXPECT_THAT(json, HasSubstr("\"gld_efficiency\": {\"value\": 75, \"unit\": \"%\""));
  EXPECT_THAT(json, HasSubstr("\"gst_efficiency\": \"there were no global stores\""));
}

TEST_F(Metrics, ThroughputsHaveTheirPeaks) {
  const Recording recording(small.write(test::temp_path("r.h5")));
  const KernelRecord kernel = recording.kernel(0);
  const std::vector<std::string> names{"ipc", "dram_read_throughput", "gld_throughput",
                                       "gld_requested_throughput", "gld_efficiency"};
  const std::vector<MetricValue> v = compute_metrics(kernel, recording.machine(), names);
  EXPECT_DOUBLE_EQ(v[0].peak, 0.5) << "one operation in two cycles";
  EXPECT_DOUBLE_EQ(v[1].peak, core::dram_peak(recording.machine()));
  EXPECT_EQ(v[1].peak_of, "DRAM");
  EXPECT_EQ(v[2].peak_of, "interconnect to SMs") << "there is no L1";
  EXPECT_GT(v[2].peak, v[2].value);
  EXPECT_EQ(v[3].peak, 0) << "lanes share words";
  EXPECT_EQ(v[4].peak, 0) << "it is a share already";
  EXPECT_THAT(metrics_text(kernel, v), HasSubstr("GB/s (DRAM)"));
  EXPECT_THAT(metrics_json(kernel, v), HasSubstr("\"peak_of\": \"DRAM\""));
}

/// Definitions of one name stand together, do not overlap, and leave no gap.
TEST(MetricTable, HasOneDefinitionForEachCapability) {
  std::set<std::string_view> seen;
  const Metric* last = nullptr;
  for (const Metric& metric : metric_table()) {
    EXPECT_LE(metric.from, metric.to) << metric.name;
    EXPECT_FALSE(metric.definition.empty());
    if (last != nullptr && last->name == metric.name) {
      // There is nothing between 3.x and 5.0.
      EXPECT_EQ(metric.from, last->to == 39 ? 50 : last->to + 1) << metric.name;
      EXPECT_EQ(metric.unit, last->unit) << metric.name;
    } else {
      EXPECT_TRUE(seen.insert(metric.name).second) << metric.name << " stands apart";
    }
    last = &metric;
  }
}

/// Every cause of a stall belongs to a metric that exists, so that the reasons are complete.
TEST(StallCauses, BelongToMetrics) {
  for (const CauseInfo& cause : cause_table()) {
    EXPECT_FALSE(cause.meaning.empty());
    const bool is_stall = cause.name != "issued" && !has_no_warp(cause.name);
    EXPECT_EQ(!cause.stall.empty(), is_stall) << cause.name;
    bool found = !is_stall;
    for (const Metric& metric : metric_table()) found = found || metric.name == cause.stall;
    EXPECT_TRUE(found) << cause.name;
  }
}

/// docs/metrics.md holds what --describe prints.
TEST(MetricTable, IsWhatTheDocumentationSays) {
  const std::string document = core::read_text_file(GPUSIM_SOURCE_DIR "/docs/metrics.md");
  EXPECT_THAT(document, HasSubstr("```\n" + describe_metrics() + "```\n"));
  EXPECT_THAT(document, HasSubstr("```\n" + describe_causes() + "```\n"));
}

}  // namespace
}  // namespace gpusim::analysis
