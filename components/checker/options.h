// What `--check` asks for: a list of the checks memory, race, init, sync and early_exit (docs/checking.md).
#pragma once
#include <string>
#include <string_view>

namespace gpusim::comp {

struct CheckOptions {
  bool memory = false;      ///< accesses outside their object, misaligned, to memory of the wrong kind
  bool race = false;        ///< unordered accesses of two threads to shared memory
  bool init = false;        ///< reads of memory that nobody has written
  bool sync = false;        ///< barriers and warp-wide operations that not all of their threads reach
  bool early_exit = false;  ///< barriers that open without threads that have exited; not one of `all`
  [[nodiscard]] bool any() const { return memory || race || init || sync || early_exit; }
  /// "memory,race": the canonical list.
  [[nodiscard]] std::string text() const;
};

/// Reads "memory,race", "all" or an empty list. Throws core::InputError on an unknown name.
[[nodiscard]] CheckOptions parse_checks(std::string_view list);

}  // namespace gpusim::comp
