// What the kill tests write and check: tables whose every record follows from its row number, so that a
// wrong, missing or repeated record is seen.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "simcore/record/event_schema.h"
#include "simcore/record/read.h"

namespace gpusim::core {

inline MemoryEvent pattern_memory(uint64_t row) {
  return {.issue = row * 3,
          .complete = row * 3 + 436,
          .address = 0x10000000 + (row * 2654435761u) % (1u << 24),
          .block = row / 64,
          .pc = row % 97,
          .bytes = 128,
          .sm = row % 30,
          .warp = row % 8,
          .transactions = 1 + row % 16,
          .level = MemoryLevel::kDram,
          .kind = static_cast<AccessKind>(row % 3)};
}
inline PhaseEvent pattern_phase(uint64_t row) {
  return {.start = row, .end = row + 100, .block = row, .interval = row % 5};
}

/// Records of one byte: small chunks, so that many of them (and a deep chunk index) are cheap to check.
#define GPUSIM_TINY_EVENT(COLUMN) COLUMN(uint8_t, value, "", "row * row % 251")
struct TinyEvent {
  GPUSIM_EVENT(TinyEvent, "events/tiny", "test", EventLevel::kSummary, GPUSIM_TINY_EVENT)
};
inline TinyEvent pattern_tiny(uint64_t row) { return {.value = row * row % 251}; }

/// The number of the first of `rows` records that is not make(row); `rows` if all are right. What is expected
/// is made once: a file is looked at in each of its states.
template <typename Record>
uint64_t first_wrong(const std::byte* records, uint64_t rows, Record (*make)(uint64_t)) {
  static std::vector<Record> expected;
  for (uint64_t row = expected.size(); row < rows; ++row) expected.push_back(make(row));
  if (std::memcmp(records, expected.data(), rows * sizeof(Record)) == 0) return rows;
  uint64_t row = 0;
  while (std::memcmp(records + row * sizeof(Record), &expected[row], sizeof(Record)) == 0) ++row;
  return row;
}

/// Empty if every record in the file is right, else what is wrong. Sets the number of records found.
inline std::string check_pattern_file(const std::string& path, uint64_t& records, std::string& status) {
  records = 0;
  const RecordedFile file(path);
  status = file.text_attribute("/", "status");
  if (file.text("/inputs/ptx") != std::string(5000, 'p')) return "the PTX text is wrong";
  for (const std::string& kernel : file.list("/kernels")) {
    const std::string group = "/kernels/" + kernel;
    if (file.text_attribute(group, "name") != "pattern" + kernel)
      return "the name of kernel " + kernel + " is wrong";
    for (const std::string& table : file.list(group + "/events")) {
      const bool is_memory = table == "memory";
      const bool is_tiny = table == "tiny";
      const TableSchema& schema = is_memory ? schema_of<MemoryEvent>()
                                  : is_tiny ? schema_of<TinyEvent>()
                                            : schema_of<PhaseEvent>();
      const std::string dataset = fmt::format("{}/events/{}", group, table);
      const std::vector<std::byte> data = file.records(dataset, schema, 0, ~uint64_t{0});
      const uint64_t rows = data.size() / schema.record_bytes;
      if (file.text_list_attribute(dataset, "column_units").size() != schema.columns.size())
        return dataset + " is not described";
      const uint64_t wrong = is_memory ? first_wrong(data.data(), rows, pattern_memory)
                             : is_tiny ? first_wrong(data.data(), rows, pattern_tiny)
                                       : first_wrong(data.data(), rows, pattern_phase);
      if (wrong != rows) return dataset + ": record " + std::to_string(wrong) + " is wrong";
      records += rows;
    }
  }
  return "";
}

inline RunAttributes pattern_attributes() {
  return {"test", "[gpu]\n", std::string(5000, 'p'), "", "gpusim test", 42};
}

/// Writes `kernels` kernels of `rows` records in each table; `between` is called after every 1000 records.
template <typename Between>
void write_pattern(Recorder& recorder, uint64_t kernels, uint64_t rows, Between between) {
  for (uint64_t kernel = 0; kernel < kernels; ++kernel) {
    const KernelAttribute begin[] = {{"name", "pattern" + std::to_string(kernel), 0, true},
                                     {"grid_x", "", 64, false}};
    recorder.begin_kernel(begin);
    EventTable<MemoryEvent>* const memory = recorder.table<MemoryEvent>();
    EventTable<PhaseEvent>* const phase = recorder.table<PhaseEvent>();
    for (uint64_t row = 0; row < rows; ++row) {
      memory->append(pattern_memory(row));
      phase->append(pattern_phase(row));
      if (row % 1000 == 0) between();
    }
    const Counter counters[] = {{"cycles", 1234.5, "cycles", "core cycles"},
                                {"ipc", 0.5, "instructions/cycle", "per SM"}};
    recorder.write_counters(counters);
    const KernelAttribute end[] = {
        {"cycles", "", 1234, false}, {"instructions", "", rows, false}, {"note", "done", 0, true}};
    recorder.end_kernel(end);
  }
}

}  // namespace gpusim::core
