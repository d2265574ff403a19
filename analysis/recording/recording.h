// A recorded run as the models see it: the machine, the inputs, and each finished kernel's counters and
// tables as plain columns (docs/file_format.md). Nothing read is trusted: a file that is not ours, of another
// schema version, cut off or damaged gives core::RecordError with file, place and what was expected, and
// tables whose sums do not agree are refused (check_sums). Needs no component of the simulator.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"
#include "simcore/record/read.h"

namespace gpusim::analysis {

/// A table in memory, column by column.
struct Table {
  uint64_t rows = 0;
  std::map<std::string, std::vector<uint64_t>, std::less<>> numbers;
  std::map<std::string, std::vector<std::string>, std::less<>> texts;

  [[nodiscard]] bool has(std::string_view column) const { return numbers.contains(column); }
  /// A column that reading has checked to be there.
  [[nodiscard]] const std::vector<uint64_t>& operator[](std::string_view column) const {
    return numbers.find(column)->second;
  }
};

/// Issue slots of one cause, over the whole kernel.
struct CauseSlots {
  std::string name;
  uint64_t slots = 0;
};

/// A cause of this program: slots of a kernel that has not ended whose cause was not known yet.
inline constexpr std::string_view kPendingCause = "pending";

/// Units of one kind (a pipe, a port, a data bus) during a kernel: docs/file_format.md, `units`. Busy is in
/// entries x cycles of the unit's clock.
struct UnitLoad {
  std::string unit, place, meaning;
  uint64_t instances = 0;
  uint64_t capacity = 0;  ///< of one
  uint64_t busy = 0;      ///< of all
  uint64_t most = 0;      ///< of the busiest
  uint64_t busiest = 0;   ///< its number
  uint64_t near = 0;      ///< how many were busy for 9/10 of that at least
  /// Shares of what they could be busy, on average and of the busiest.
  [[nodiscard]] double mean() const;
  [[nodiscard]] double peak() const;
};

/// A launch that ran to its end, or what was recorded of one before the run was cut off.
struct KernelRecord {
  uint64_t index = 0;    ///< order in which kernels began
  uint64_t launch = 0;   ///< its number in the launch file
  bool finished = true;  ///< else all counts are those of its first `cycles`
  std::string name, grid, block;
  uint64_t blocks_per_sm = 0;      ///< that fit an SM
  uint64_t spilled_registers = 0;  ///< of a thread
  std::string occupancy_limiter;   ///< what keeps further blocks off an SM: "warps", "registers", ...
  uint64_t time_fs = 0;            ///< 0: recorded by a version in which the core clock did not change
  uint64_t cycles = 0, warp_instructions = 0, thread_instructions = 0, inst_executed = 0, inst_issued = 0;
  std::map<std::string, double, std::less<>> counters;
  std::map<std::string, std::string, std::less<>> counter_units;
  std::vector<CauseSlots> causes;  ///< of issue_slots, in file order
  std::vector<UnitLoad> units;     ///< in file order; none in files of older versions
  Table per_sm, per_pc;
  [[nodiscard]] uint64_t slots_of(std::string_view cause) const;
  [[nodiscard]] uint64_t total_slots() const;
  /// The units of that kind; null if the recording has none.
  [[nodiscard]] const UnitLoad* unit(std::string_view wanted) const;
  /// Without a candidate warp: no_warp, launch and drain.
  [[nodiscard]] uint64_t idle_slots() const;
};

/// Name of the column of per_sm and per_pc that holds the slots of a cause.
[[nodiscard]] std::string slots_column(std::string_view cause);

class Recording {
 public:
  explicit Recording(const std::string& path);

  struct Launch {
    std::string name;
    bool finished = false;
    /// The last state that was recorded while it ran: a group below its own. Empty: none, or it has ended.
    std::string interim;
    [[nodiscard]] bool readable() const { return finished || !interim.empty(); }
  };
  /// What a run has left in a buffer or variable of device memory.
  struct Fingerprint {
    std::string name;
    uint64_t bytes = 0, value = 0;
  };
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const core::MachineConfig& machine() const { return machine_; }
  [[nodiscard]] bool complete() const { return status_ == "complete"; }
  /// "complete", "partial" or "failed".
  [[nodiscard]] const std::string& status() const { return status_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Of a run that did not end: that it did not, why, and what can be read of it, with or without kernels
  /// that did not end. Empty for others.
  [[nodiscard]] std::string partial_note(bool with_unfinished = false) const;
  /// The PTX that was run; empty if gpusim run ran a program.
  [[nodiscard]] std::string ptx() const { return file_->text("/inputs/ptx"); }
  /// Whether gpusim run recorded it: of a program, whose launches are in no launch file.
  [[nodiscard]] bool of_program() const;
  struct ProgramText {
    std::string file, text;
    bool operator==(const ProgramText&) const = default;
  };
  /// The PTX that was run, or all files of the program that had simulated launches. None in files of older
  /// versions and of runs that did not end, if gpusim run recorded them.
  [[nodiscard]] std::vector<ProgramText> program_texts() const;
  /// The launch file, or the options that stood for it.
  [[nodiscard]] std::string launch_text() const { return file_->text("/inputs/launch"); }
  /// The machine, every key resolved.
  [[nodiscard]] std::string config_text() const { return file_->text("/inputs/config"); }
  [[nodiscard]] std::string command_line() const { return file_->text_attribute("/", "command_line"); }
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  /// Launches that `selection` names: a number, a kernel's name (mangled or not), or empty for all. Of a run
  /// that did not end, those that did, or, `with_unfinished`, all of which counts were recorded. Throws if
  /// there is none.
  [[nodiscard]] std::vector<uint64_t> select(const std::string& selection,
                                             bool with_unfinished = false) const;
  /// Reads and checks a launch that ended, or the last recorded state of one that did not.
  [[nodiscard]] KernelRecord kernel(uint64_t index) const;
  /// Columns of an event table of a launch. Throws if it was not recorded: at `level` it is.
  [[nodiscard]] Table events(uint64_t index, const std::string& name, const char* level,
                             std::initializer_list<const char*> columns) const;
  [[nodiscard]] bool has_events(uint64_t index, const std::string& name) const;
  /// Files of older versions lack columns that came later.
  [[nodiscard]] bool has_event_column(uint64_t index, const std::string& name,
                                      const std::string& column) const;
  /// What was counted in each interval of a launch: `cycle`, the interval's end, and counts; issue slots by
  /// cause too (slots_column), if the file has them.
  [[nodiscard]] Table time_series(uint64_t index) const;
  [[nodiscard]] bool has_time_series(uint64_t index) const;
  /// Contents of device memory at the end of the run, by name. Nothing in files of older versions and of runs
  /// that did not end well.
  [[nodiscard]] std::vector<Fingerprint> fingerprints() const;
  /// `start` and `end` (core cycles) of every kernel and copy; no rows if there is none.
  [[nodiscard]] Table timeline() const;
  /// W of board and waiting host over the whole run, as the simulator recorded it. None in files of older
  /// versions and of runs that did not end.
  [[nodiscard]] std::optional<double> system_power() const;
  /// A number that every launch has: registers, shared_bytes, threads_per_block, ...
  [[nodiscard]] uint64_t attribute(uint64_t index, const std::string& name) const;
  [[nodiscard]] std::string text_attribute(uint64_t index, const std::string& name) const;
  [[nodiscard]] bool has_attribute(uint64_t index, const std::string& name) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void read_launches();
  [[nodiscard]] std::string interim_of(const std::string& kernel) const;
  [[nodiscard]] Table read_table(const std::string& name, std::initializer_list<const char*> expected) const;
  /// Columns of whole numbers of a table that may have others.
  [[nodiscard]] Table read_numbers(const std::string& path, std::initializer_list<const char*> columns) const;
  void read_counters(const std::string& name, KernelRecord& kernel) const;
  void read_causes(const std::string& name, KernelRecord& kernel) const;
  void read_units(const std::string& name, KernelRecord& kernel) const;
  void read_numbers_of(const std::string& group, KernelRecord& kernel) const;
  void read_state(const std::string& group, KernelRecord& kernel) const;
  [[nodiscard]] std::string finished_hint() const;

  std::string path_, status_, reason_;
  std::unique_ptr<core::RecordedFile> file_;
  core::MachineConfig machine_;
  std::vector<Launch> launches_;
};

/// Sums that must agree in every recording: slots by cause per PC, per SM and in total; slots of an SM and
/// the kernel's cycles; operations executed and issued. Empty, or the first that does not.
[[nodiscard]] std::string check_sums(const KernelRecord& kernel, const core::MachineConfig& machine);

}  // namespace gpusim::analysis
