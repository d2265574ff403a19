// Records a run to HDF5 (layout: docs/file_format.md). The simulation thread appends
// fixed-size records to chunk buffers; a writer thread does every HDF5 call. Only whole chunks are appended
// while the run goes on, tails are written at close, so a killed process leaves a file that opens, is marked
// partial and holds only right records. The event tables stand in simcore/record/event_schema.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simcore/record/event_table.h"

namespace gpusim::core {

/// Its texts belong to whoever describes the counter, and are not copied: a kernel has a hundred counters.
struct Counter {
  std::string_view name;
  double value = 0;
  std::string_view unit;
  std::string_view description;
};

struct RunAttributes {
  std::string program_version, config_text, ptx_text, launch_text, command_line;
  uint64_t seed = 0;
};
/// Scalar attributes of a kernel group; exactly one of the values counts, by `is_text`.
struct KernelAttribute {
  std::string name;
  std::string text;
  uint64_t number = 0;
  bool is_text = false;
};

/// Thrown when the file cannot be opened or written (message names file and reason). The CLI exits 1.
/// See also check(): write errors of the writer thread surface there.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Creates `path` (through a temporary name, renamed once it opens as a partial file, or, if `path` holds
  /// something worth keeping, at close). Throws RecordError.
  /// `compression_threads`: 0 or 1 compresses in the writer thread, more are helpers of it; the file does not
  /// depend on it. `flush_interval_s`: longest time between two commits to the file; the data does not depend
  /// on it.
  static std::unique_ptr<Recorder> create(const std::string& path, const RunAttributes& attributes,
                                          EventLevel level, int compression_threads,
                                          double flush_interval_s = 2.0);
  [[nodiscard]] virtual EventLevel level() const = 0;
  /// Starts group `/kernels/<n>` and returns n, which counts these calls from 0. Several kernels may be open:
  /// what follows is about this one, until the next begin_kernel() or choose_kernel().
  virtual uint64_t begin_kernel(std::span<const KernelAttribute> attributes) = 0;
  /// What follows is about kernel `n`, which is open.
  virtual void choose_kernel(uint64_t n) = 0;
  /// The current kernel's table of these events, valid until its end_kernel(); null if the level does not
  /// record them.
  template <class Event>
  [[nodiscard]] EventTable<Event>* table() {
    if (level() < Event::kLevel) return nullptr;
    auto table = std::make_unique<EventTable<Event>>();
    EventTable<Event>* const rows = table.get();
    open_table(schema_of<Event>(), std::move(table));
    return rows;
  }
  /// A whole table at once (per_sm, per_pc, issue_slots): `rows` records of schema.record_bytes for the
  /// numeric columns, and for each kString column, in order, `rows` texts. Data is copied. Groups of
  /// schema.path that are not there yet ("interim/3/per_pc") are made.
  virtual void write_table(const TableSchema& schema, std::span<const std::byte> records, uint64_t rows,
                           std::span<const std::vector<std::string>> texts) = 0;
  void write_counters(std::span<const Counter> counters) { write_counters_below(counters, ""); }
  /// `folder`: of the table, below the kernel's group: "" or "interim/3/".
  virtual void write_counters_below(std::span<const Counter> counters, std::string_view folder) = 0;
  /// Writes a table of the whole run, at the root; otherwise as write_table().
  virtual void write_run_table(const TableSchema& schema, std::span<const std::byte> records, uint64_t rows,
                               std::span<const std::vector<std::string>> texts) = 0;
  /// Adds attributes known only at the end (cycles, instructions, ...), writes tails, closes the group's
  /// tables. No kernel is current then.
  virtual void end_kernel(std::span<const KernelAttribute> attributes) = 0;
  /// Throws RecordError if the writer thread met an error (cheap: one atomic load). Called at every few
  /// thousand cycles.
  virtual void check() = 0;
  /// From now on errors of the writer thread surface at close() alone: what is recorded is somebody's
  /// program, which goes on without a file.
  virtual void tell_at_end() = 0;
  /// Final status: "complete", "partial" or "failed" with a reason. Waits for the writer. Throws RecordError.
  /// False if nothing is left of this recording: it is partial and what was worth keeping has kept its name.
  virtual bool close(std::string_view status, std::string_view reason) = 0;

 protected:
  /// Begins a table of the current kernel; `rows` are its rows.
  virtual void open_table(const TableSchema& schema, std::unique_ptr<RowBuffer> rows) = 0;
};

}  // namespace gpusim::core
