// Loads machine descriptions (.cfg, TOML syntax; docs/configuration.md) into a validated MachineConfig, and
// the `gpusim config` commands on them. The keys stand in one table (simcore/config/schema.h). All
// functions throw InputError (simcore/text/input_error.h) with every problem of the file, and nothing else.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"
#include "simcore/text/input_error.h"

namespace gpusim::core {

/// Loads `path_or_name`: a path, or the name of a file in one of `search_folders` (".cfg" may be left out).
/// `sets` are `section.key=value` overrides (`--set`), applied last.
[[nodiscard]] MachineConfig load_machine(const std::string& path_or_name, std::span<const std::string> sets,
                                         std::span<const std::string> search_folders);

/// Adds what is wrong with `section.key=value` by itself: an unknown key, or a value that is none of its.
/// Whether the machine can have it together with its other keys is not looked at.
void check_set(const std::string& set, const MachineConfig& machine, const Where& where, Messages& messages);

/// The interconnect's clock among these; 0: it stays what it is.
[[nodiscard]] int64_t interconnect_clock(const MachineConfig& machine, const ClockChoice& clocks);

/// The memory's clock among these; 0: it stays what it is.
[[nodiscard]] int64_t dram_clock(const MachineConfig& machine, const ClockChoice& clocks);

/// Sets these clocks. Times stay what they are, those that the file gave in memory cycles included, unless
/// `clocks.latencies_follow`: then latencies and DRAM timings keep their cycles, but for dram.refi. The
/// highest clock of a voltage curve that names none is the one that was there. Throws InputError at `where`
/// if the machine cannot run at them.
void set_clocks(MachineConfig& machine, const ClockChoice& clocks, const Where& where);

/// Parses a configuration text that may not use `extends` (nothing is read from disk). `name` is for
/// messages.
[[nodiscard]] MachineConfig parse_machine(std::string_view text, const std::string& name,
                                          std::span<const std::string> sets = {});

/// Parses the configuration of a recorded file, which may hold keys of earlier versions.
[[nodiscard]] MachineConfig parse_recorded_machine(std::string_view text, const std::string& name);

/// The complete configuration as .cfg text with unit and documentation of each key;
/// parse_machine(show_machine(m)) == m. `with_comments` false: keys and values only (what a recorded file
/// holds).
[[nodiscard]] std::string show_machine(const MachineConfig& machine, bool with_comments = true);

struct MachineListing {
  std::string name;  ///< file name without .cfg
  std::string path;
  std::string description;  ///< gpu.description, or why the file does not load
};
/// Machines found in the folders, by name; a name found in two folders is listed once (the first folder
/// wins).
[[nodiscard]] std::vector<MachineListing> list_machines(std::span<const std::string> search_folders);

/// Table of keys: unit, default, range, documentation. `key`: empty for all, a section ("sm") or one key
/// ("sm.max_warps").
[[nodiscard]] std::string describe_keys(std::string_view key = "");

/// What one key ("l1.mshrs") means: unit, default, range, keys of the same name in other sections, and for
/// each machine of the folders its value, with the comment beside it in the file that sets it, where evidence
/// stands. Throws InputError if there is no such key.
[[nodiscard]] std::string explain_key(std::string_view key, std::span<const std::string> search_folders);

/// A key that two machines have different values for; "-" where one of them has no such key.
struct KeyDifference {
  std::string key, in_a, in_b;
};
[[nodiscard]] std::vector<KeyDifference> differences(const MachineConfig& a, const MachineConfig& b);

/// One line per key that differs: `key  value in a  value in b`; empty if the machines are equal.
[[nodiscard]] std::string diff_machines(const MachineConfig& a, const MachineConfig& b);

/// Timing-class names valid in [latency] and [pipes.*], in the order of isa::OpClass.
[[nodiscard]] std::span<const std::string_view> op_class_names();

}  // namespace gpusim::core
