#include "simcore/text/input_error.h"

#include <fmt/format.h>

namespace gpusim::core {
namespace {

std::string format_message(const Where& where, std::string_view severity, const std::string& message,
                           const std::string& hint) {
  std::string place = where.text();
  std::string text = place.empty() ? fmt::format("{}: {}", severity, message)
                                   : fmt::format("{}: {}: {}", place, severity, message);
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

}  // namespace

std::string Where::text() const {
  if (line == 0) return file;
  if (column == 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

void Messages::error(const Where& where, const std::string& message, const std::string& hint) {
  if (++errors_ <= kMaxMessages) texts_.push_back(format_message(where, "error", message, hint));
}

void Messages::warning(const Where& where, const std::string& message, const std::string& hint) {
  if (warnings_.size() < kMaxMessages) warnings_.push_back(format_message(where, "warning", message, hint));
}

void Messages::raise_if_any() const {
  if (errors_ == 0) return;
  std::string all;
  for (const std::string& text : texts_) all += (all.empty() ? "" : "\n") + text;
  if (errors_ > kMaxMessages) all += fmt::format("\n({} more errors)", errors_ - kMaxMessages);
  throw InputError(all);
}

void raise_input_error(const Where& where, const std::string& message, const std::string& hint) {
  throw InputError(format_message(where, "error", message, hint));
}

}  // namespace gpusim::core
