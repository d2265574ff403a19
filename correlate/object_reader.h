// Reads the members of a JSON object: kinds, ranges, members that must be there, and none that nobody knows.
// Mistakes are collected.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/text/json_document.h"

namespace gpusim::correlate {

class ObjectReader {
 public:
  /// `what`: "a run", for messages. Reports if `value` is no object.
  ObjectReader(const core::JsonValue& value, std::string what, core::Messages& messages);
  /// Reports members that were not asked for.
  void finish();

  enum class Need : uint8_t { kOptional, kRequired };
  [[nodiscard]] bool has(std::string_view name);
  [[nodiscard]] std::string text(std::string_view name, Need need = Need::kOptional);
  [[nodiscard]] bool truth(std::string_view name);
  [[nodiscard]] uint64_t integer(std::string_view name, uint64_t least, uint64_t most, uint64_t otherwise);
  [[nodiscard]] double real(std::string_view name, double least, double otherwise);
  /// Elements; none if it is not there.
  [[nodiscard]] const std::vector<core::JsonValue>& array(std::string_view name, Need need = Need::kOptional);
  /// The value, or null.
  [[nodiscard]] const core::JsonValue* value(std::string_view name, Need need = Need::kOptional);
  void error(const core::Where& where, const std::string& message, const std::string& hint = "") {
    messages_->error(where, message, hint);
  }
  [[nodiscard]] const core::Where& where() const { return value_->where; }

 private:
  const core::JsonValue* of_kind(std::string_view name, core::JsonValue::Kind kind, Need need);
  const core::JsonValue* value_;
  std::string what_;
  core::Messages* messages_;
  std::vector<std::string_view> known_;
};

}  // namespace gpusim::correlate
