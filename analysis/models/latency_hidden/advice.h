// What would make a kernel faster, computed: what the model reads changed in one respect at a time.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/latency_hidden/analysis.h"

namespace gpusim::analysis::latency_hidden {

inline constexpr std::array<std::string_view, 6> kChanges{"occupancy", "independent work", "coalescing",
                                                          "reuse",     "bank conflicts",   "grid"};

struct Change {
  std::string name;   ///< one of kChanges
  std::string what;   ///< in words
  double cycles = 0;  ///< predicted with it
  double factor = 0;  ///< latency-hidden factor of the whole kernel with it
};
/// What a subject was made of.
struct Read {
  const core::MachineConfig& machine;
  const Counts& counts;
  const DataSheet& sheet;
  uint64_t sms = 0;
  /// Of the changed kernel, if what it accesses is changed and it is known: there may be more warps, each
  /// with less to do.
  std::optional<LaunchShape> launch{};
};
/// Those that gain anything, most first. `now` is the estimate of `subject`.
[[nodiscard]] std::vector<Change> changes_that_help(const Read& read, const Subject& subject,
                                                    const Estimate& now);

// One change each, of what the operations and the machine's memory counted.
/// Accesses to memory take the fewest transactions that their bytes need, except those whose addresses follow
/// from loaded data (addresses_of_data()). `capability`: of the machine, 13 for 1.3.
void coalesce(int capability, double partitions, double channels, Code& code, Counts& counts);
/// Loads of places that the same thread has loaded before are gone, with what they waited for, if half of the
/// loaded bytes are theirs; if not, returns false and changes nothing.
[[nodiscard]] bool keep_what_is_read_again(Code& code, Counts& counts);
/// Global loads take half as many transactions and bytes.
void reuse_half(Code& code, Counts& counts);
/// Accesses to shared memory take no step more than without conflicts.
void without_conflicts(Code& code);
/// The same work by the warps of another launch: each does its part, but waits as long as the longest single
/// wait before, if it waits at all.
void give_to(const LaunchShape& launch, Subject& s);

}  // namespace gpusim::analysis::latency_hidden
