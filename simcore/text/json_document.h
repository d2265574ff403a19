// JSON text (RFC 8259) as a tree whose values know their place in the file, so that whoever reads it can say
// where something is wrong. Refused besides what the standard refuses: names that an object has twice, more
// than 64 levels, more than kMaxDocumentBytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/number.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"

namespace gpusim::core {

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  struct Member;
  Kind kind = Kind::kNull;
  bool boolean = false;
  Number number;     ///< an integer if it is written as one and fits 64 bits
  std::string text;  ///< of a string, escapes resolved (UTF-8)
  std::vector<JsonValue> items;
  std::vector<Member> members;  ///< in file order
  Where where;                  ///< of its first character
  /// The member's value, or null.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};
struct JsonValue::Member {
  std::string name;
  Where where;
  JsonValue value;
};

/// "a number", "an object", ... for messages.
[[nodiscard]] std::string_view json_kind(const JsonValue& value);

/// Throws InputError with the place of the first mistake. `name` is for messages.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& name);

}  // namespace gpusim::core
