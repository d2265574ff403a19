// Tables of a recorded file that are written as a whole.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// Builds a table of u64 cells column by column.
class TableBuilder {
 public:
  TableBuilder(std::string path, std::string meaning) {
    schema_.path = std::move(path);
    schema_.meaning = std::move(meaning);
  }
  void column(std::string name, std::string unit, std::string meaning) {
    schema_.columns.push_back({std::move(name), core::ColumnType::kU64, static_cast<uint32_t>(8 * numbers_++),
                               std::move(unit), std::move(meaning)});
  }
  void text_column(std::string name, std::string meaning) {
    schema_.columns.push_back({std::move(name), core::ColumnType::kString, 0, "", std::move(meaning)});
    texts_.emplace_back();
  }
  void cell(uint64_t value) { cells_.push_back(value); }
  void text(size_t column, std::string value) { texts_[column].push_back(std::move(value)); }
  void write(core::Recorder& recorder, uint64_t rows) {
    schema_.record_bytes = static_cast<uint32_t>(8 * numbers_);
    recorder.write_table(schema_, std::as_bytes(std::span(cells_)), rows, texts_);
  }
  /// A table of the run.
  void write_for_run(core::Recorder& recorder, uint64_t rows) {
    schema_.record_bytes = static_cast<uint32_t>(8 * numbers_);
    recorder.write_run_table(schema_, std::as_bytes(std::span(cells_)), rows, texts_);
  }

 private:
  core::TableSchema schema_;
  size_t numbers_ = 0;
  std::vector<uint64_t> cells_;
  std::vector<std::vector<std::string>> texts_;
};

}  // namespace gpusim::comp
