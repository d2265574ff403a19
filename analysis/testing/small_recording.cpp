#include "analysis/testing/small_recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>

namespace gpusim::analysis::test {
namespace {

/// A table of numbers, and texts behind them.
struct Builder {
  core::TableSchema schema;
  std::vector<uint64_t> cells;
  std::vector<std::vector<std::string>> texts;

  void number(const std::string& name) {
    schema.columns.push_back(
        {name, core::ColumnType::kU64, static_cast<uint32_t>(schema.record_bytes), "1", "test"});
    schema.record_bytes += 8;
  }
  void text(const std::string& name) {
    schema.columns.push_back({name, core::ColumnType::kString, 0, "", "test"});
    texts.emplace_back();
  }
  void row(const SmallRecording::Row& values) {
    for (const core::Column& column : schema.columns) {
      if (column.type == core::ColumnType::kString) continue;
      const auto at = values.find(column.name);
      cells.push_back(at == values.end() ? 0 : at->second);
    }
  }
  void write(core::Recorder& recorder, const std::string& path, uint64_t rows) {
    schema.path = path;
    schema.meaning = "test";
    recorder.write_table(schema, std::as_bytes(std::span(cells)), rows, texts);
  }
};

}  // namespace

void SmallRecording::write_tables(core::Recorder& recorder) const {
  Builder per_sm, per_pc, slots;
  for (const std::string& column : sm_columns) per_sm.number(column);
  for (const std::string& column : pc_columns) per_pc.number(column);
  for (const std::string& cause : causes) {
    per_sm.number("slots_" + cause);
    per_pc.number("slots_" + cause);
  }
  for (const Row& sm : sms) per_sm.row(sm);
  per_sm.write(recorder, "per_sm", sms.size());
  for (const char* column : {"ptx", "class", "source_file", "inlined_file"}) per_pc.text(column);
  for (const Operation& operation : operations) {
    per_pc.row(operation.values);
    per_pc.texts[0].push_back(operation.ptx);
    per_pc.texts[1].push_back(operation.op_class);
    per_pc.texts[2].push_back(operation.source_file);
    per_pc.texts[3].push_back(operation.inlined_file);
  }
  per_pc.write(recorder, "per_pc", operations.size());
  slots.number("slots");
  slots.text("cause");
  for (const std::string& cause : causes) {
    slots.row({{"slots", totals.at(cause)}});
    slots.texts[0].push_back(cause);
  }
  slots.write(recorder, "issue_slots", causes.size());
  std::vector<core::Counter> list;
  for (const auto& [name, value] : counters) list.push_back({name, value, "1", "test"});
  recorder.write_counters(list);
}

std::string SmallRecording::write(const std::string& path) const {
  std::filesystem::remove(path);  // a partial recording replaces no whole one
  const auto recorder =
      core::Recorder::create(path, {"test", config_text, ptx, launch_text, command, 0}, level, 1);
  const auto number = [](const char* name, uint64_t value) {
    return core::KernelAttribute{name, "", value, false};
  };
  const auto text = [](const char* name, const char* value) {
    return core::KernelAttribute{name, value, 0, true};
  };
  for (uint64_t k = 0; k < kernels; ++k) {
    std::vector<core::KernelAttribute> start{text("name", k == 0 ? "first" : "second"), text("grid", "2,1,1"),
                                             text("block", "32,1,1"), number("blocks_per_sm", 8),
                                             text("occupancy_limiter", "blocks")};
    start.insert(start.end(), attributes.begin(), attributes.end());
    recorder->begin_kernel(start);
    const auto count = [&](const char* name) {
      return number(name, static_cast<uint64_t>(counters.at(name)));
    };
    const core::KernelAttribute end[] = {number("kernels_beside", 0), number("cycles", cycles),
                                         count("warp_instructions"),  count("thread_instructions"),
                                         count("inst_executed"),      count("inst_issued")};
    if (k < finished_kernels) write_tables(*recorder);
    if (k < finished_kernels && events) events(*recorder);
    recorder->end_kernel(k < finished_kernels ? std::span(end) : std::span<const core::KernelAttribute>());
  }
  recorder->close(status, reason);
  return path;
}

std::string temp_path(const std::string& name) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "/" + test->test_suite_name() + "_" + test->name() + "_" + name;
}

}  // namespace gpusim::analysis::test
