// What `--check` asks for: a list of the checks memory, race, init and sync (docs/checking.md).
#pragma once
#include <string>
#include <string_view>

namespace gpusim::comp {

struct CheckOptions {
  bool memory = false;  ///< accesses outside their object, misaligned, to memory of the wrong kind
  bool race = false;    ///< unordered accesses of two threads to shared memory
  bool init = false;    ///< reads of memory that nobody has written
  bool sync = false;    ///< barriers and warp-wide operations that not all of their threads reach
  [[nodiscard]] bool any() const { return memory || race || init || sync; }
  /// "memory,race": the canonical list.
  [[nodiscard]] std::string text() const;
};

/// Reads "memory,race", "all" or an empty list. Throws core::InputError on an unknown name.
[[nodiscard]] CheckOptions parse_checks(std::string_view list);

}  // namespace gpusim::comp
