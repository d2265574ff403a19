// Reads one table of a launch file: typed values with expressions evaluated, unknown keys refused, every
// problem added to the messages with its place. Include only from .cpp files (toml++).
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/expression.h"
#include "simcore/launch/launch.h"
#include "simcore/text/input_error.h"
#include "simcore/text/toml_document.h"

namespace gpusim::core {

/// What all readers of one file share.
struct ReadContext {
  std::string file;
  Messages& messages;
  const LaunchDescription& launch;  ///< params so far, for expressions
};

/// Place of byte `offset` inside the text of a TOML string node.
[[nodiscard]] Where inside_string(const toml::node& node, const std::string& file, size_t offset);
/// Adds an expression's error at its place inside the node.
void report(const ReadContext& context, const toml::node& node, size_t offset, const ExpressionError& error);
/// The number that a node holds: integer, real, or expression text. `what` is for messages.
[[nodiscard]] std::optional<Number> read_number(const ReadContext& context, const toml::node& node,
                                                std::string_view what);
/// A number as read_number() takes it that is an integer from `low` to `high`.
[[nodiscard]] std::optional<int64_t> read_integer(const ReadContext& context, const toml::node& node,
                                                  std::string_view what, int64_t low, int64_t high);
/// Elements of an array of numbers.
[[nodiscard]] std::vector<Number> read_numbers(const ReadContext& context, const toml::array& array,
                                               std::string_view what);

class TableReader {
 public:
  /// `what` names the table in messages ("buffer"); `keys` are the valid ones.
  /// `again`: unknown keys have been reported already.
  TableReader(const ReadContext& context, const toml::table& table, std::string what,
              std::initializer_list<std::string_view> keys, bool again = false);
  [[nodiscard]] const toml::node* node(std::string_view key) const { return table_.get(key); }
  [[nodiscard]] Where where() const { return where_of(table_, context_.file); }
  [[nodiscard]] Where where(std::string_view key) const;
  /// A missing required key is an error.
  [[nodiscard]] std::optional<std::string> text(std::string_view key, bool required) const;
  [[nodiscard]] int64_t integer(std::string_view key, int64_t fallback, int64_t low, int64_t high) const;
  [[nodiscard]] double real(std::string_view key, double fallback, double low) const;
  [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
  /// One of `choices`; the first is the default.
  [[nodiscard]] std::string choice(std::string_view key,
                                   std::initializer_list<std::string_view> choices) const;
  /// Index of the buffer that `key` names.
  [[nodiscard]] std::optional<uint32_t> buffer(std::string_view key) const;

 private:
  void wrong_kind(std::string_view key, std::string_view expected, const toml::node& node) const;
  const ReadContext& context_;
  const toml::table& table_;
  std::string what_;
};

}  // namespace gpusim::core
