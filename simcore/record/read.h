// Reads recorded files back: attributes and tables by name, into plain vectors. Small on purpose; analysis
// and tests use it. Every function throws RecordError naming file and object.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/record/recorder.h"

namespace gpusim::core {

/// Columns of a table by name.
struct RecordedTable {
  uint64_t rows = 0;
  std::map<std::string, std::vector<uint64_t>, std::less<>> numbers;
  std::map<std::string, std::vector<std::string>, std::less<>> texts;
};

class RecordedFile {
 public:
  explicit RecordedFile(const std::string& path);
  ~RecordedFile();
  RecordedFile(const RecordedFile&) = delete;
  RecordedFile& operator=(const RecordedFile&) = delete;

  /// Names of the groups and datasets in a group ("/kernels"), in creation order.
  [[nodiscard]] std::vector<std::string> list(const std::string& group) const;
  [[nodiscard]] bool exists(const std::string& path) const;
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& name) const;
  /// Attribute of an object ("/" for the root).
  [[nodiscard]] std::string text_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] uint64_t number_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::vector<std::string> text_list_attribute(const std::string& object,
                                                             const std::string& name) const;
  /// A scalar text dataset ("/inputs/config").
  [[nodiscard]] std::string text(const std::string& dataset) const;

  /// All columns at once, which must be integers and texts of fixed length: many times faster than one by
  /// one.
  [[nodiscard]] RecordedTable table(const std::string& dataset) const;
  [[nodiscard]] uint64_t rows(const std::string& dataset) const;
  [[nodiscard]] std::vector<std::string> columns(const std::string& dataset) const;
  [[nodiscard]] bool is_text(const std::string& dataset, const std::string& column) const;
  [[nodiscard]] std::vector<uint64_t> numbers(const std::string& dataset, const std::string& column) const;
  [[nodiscard]] std::vector<double> reals(const std::string& dataset, const std::string& column) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& dataset, const std::string& column) const;
  /// Rows [first, first + count) as records of the schema's layout (columns are matched by name); for tables
  /// too large to hold as a whole.
  [[nodiscard]] std::vector<std::byte> records(const std::string& dataset, const TableSchema& schema,
                                               uint64_t first, uint64_t count) const;

 private:
  std::string path_;
  int64_t file_ = -1;  ///< hid_t
};

}  // namespace gpusim::core
