// First layer of configuration loading: TOML text, `extends` chain and `--set` overrides become one list of
// raw entries with their places. No schema knowledge beyond "sections hold scalar keys".
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simcore/text/input_error.h"

namespace gpusim::core {

using RawValue = std::variant<int64_t, double, bool, std::string>;
struct RawEntry {
  std::string section;  ///< "sm", "pipes.sp"
  std::string key;
  RawValue value;
  Where where;      ///< of the value
  Where key_where;  ///< of the key
};

/// Entries in override order: of the base files as they are listed, of the file itself, of the sets. Later
/// entries win.
class RawConfig {
 public:
  /// `extends` names a file beside the one that says it, or else one in `search_folders`.
  explicit RawConfig(std::span<const std::string> search_folders = {})
      : search_folders_(search_folders.begin(), search_folders.end()) {}
  /// Adds the file's entries after those of the files it extends.
  void add_file(const std::string& path, Messages& messages);
  /// Adds a text's entries; `extends` is refused.
  void add_text(std::string_view text, const std::string& name, Messages& messages);
  /// Adds one "section.key=value".
  void add_set(const std::string& set, Messages& messages) {
    add_set(set, {"--set '" + set + "'", 0, 0}, messages);
  }
  void add_set(const std::string& set, const Where& where, Messages& messages);
  [[nodiscard]] const std::vector<RawEntry>& entries() const { return entries_; }

 private:
  void add_document(std::string_view text, const std::string& name, bool may_extend, Messages& messages);
  /// Adds the entries of the file that `extends` names at `where`.
  void add_base(const std::string& base, const Where& where, Messages& messages);
  std::vector<std::string> search_folders_;
  std::vector<RawEntry> entries_;
  std::vector<std::string> open_files_;  ///< the chain being read, for cycles
  size_t bases_ = 0;                     ///< files extended so far
};

}  // namespace gpusim::core
