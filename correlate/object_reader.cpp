#include "correlate/object_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/text/names.h"

namespace gpusim::correlate {

using core::JsonValue;

ObjectReader::ObjectReader(const JsonValue& value, std::string what, core::Messages& messages)
    : value_(&value), what_(std::move(what)), messages_(&messages) {
  if (value.kind != JsonValue::Kind::kObject)
    error(value.where, fmt::format("{} is an object, this is {}", what_, core::json_kind(value)));
}

void ObjectReader::finish() {
  for (const JsonValue::Member& m : value_->members)
    if (std::find(known_.begin(), known_.end(), m.name) == known_.end())
      error(m.where, fmt::format("{} has no member '{}'", what_, m.name), core::name_hint(m.name, known_));
}

const JsonValue* ObjectReader::value(std::string_view name, Need need) {
  known_.push_back(name);
  const JsonValue* v = value_->find(name);
  if (v == nullptr && need == Need::kRequired && value_->kind == JsonValue::Kind::kObject)
    error(value_->where, fmt::format("{} needs the member '{}'", what_, name));
  return v;
}

bool ObjectReader::has(std::string_view name) { return value(name) != nullptr; }

const JsonValue* ObjectReader::of_kind(std::string_view name, JsonValue::Kind kind, Need need) {
  const JsonValue* v = value(name, need);
  if (v == nullptr || v->kind == kind) return v;
  JsonValue expected;
  expected.kind = kind;
  error(v->where,
        fmt::format("'{}' is {}, this is {}", name, core::json_kind(expected), core::json_kind(*v)));
  return nullptr;
}

std::string ObjectReader::text(std::string_view name, Need need) {
  const JsonValue* v = of_kind(name, JsonValue::Kind::kString, need);
  if (v != nullptr && v->text.empty() && need == Need::kRequired)
    error(v->where, fmt::format("'{}' is empty", name));
  return v == nullptr ? std::string() : v->text;
}

bool ObjectReader::truth(std::string_view name) {
  const JsonValue* v = of_kind(name, JsonValue::Kind::kBoolean, Need::kOptional);
  return v != nullptr && v->boolean;
}

uint64_t ObjectReader::integer(std::string_view name, uint64_t least, uint64_t most, uint64_t otherwise) {
  const JsonValue* v = of_kind(name, JsonValue::Kind::kNumber, Need::kOptional);
  if (v == nullptr) return otherwise;
  const bool good = v->number.is_integer && v->number.integer >= 0 &&
                    static_cast<uint64_t>(v->number.integer) >= least &&
                    static_cast<uint64_t>(v->number.integer) <= most;
  if (!good) error(v->where, fmt::format("'{}' is an integer from {} to {}", name, least, most));
  return good ? static_cast<uint64_t>(v->number.integer) : otherwise;
}

double ObjectReader::real(std::string_view name, double least, double otherwise) {
  const JsonValue* v = of_kind(name, JsonValue::Kind::kNumber, Need::kOptional);
  if (v == nullptr) return otherwise;
  if (v->number.as_double() < least) {
    error(v->where, fmt::format("'{}' is at least {}", name, least));
    return otherwise;
  }
  return v->number.as_double();
}

const std::vector<JsonValue>& ObjectReader::array(std::string_view name, Need need) {
  static const std::vector<JsonValue> none;
  const JsonValue* v = of_kind(name, JsonValue::Kind::kArray, need);
  return v == nullptr ? none : v->items;
}

}  // namespace gpusim::correlate
