#include "simcore/text/input_error.h"

#include <fmt/format.h>

namespace gpusim::core {
namespace {

constexpr size_t kLongestLine =
    1000;  // bytes: longer than any sentence of ours, so that only quoted input is cut

/// Whether a UTF-8 character goes on at text[at].
bool goes_on(std::string_view text, size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

/// A message quotes the input that it is about, which may be of any size: of a long line the middle is left
/// out. Its beginning says what is quoted, its end what is wrong with it.
std::string with_short_lines(std::string_view message) {
  std::string out;
  while (true) {
    const std::string_view line = message.substr(0, message.find('\n'));
    if (line.size() <= kLongestLine) {
      out += line;
    } else {
      size_t head = kLongestLine / 4, tail = line.size() - kLongestLine / 2;
      while (head > 0 && goes_on(line, head)) --head;
      while (tail < line.size() && goes_on(line, tail)) ++tail;
      out += fmt::format("{} ... ({} bytes left out) ... {}", line.substr(0, head), tail - head,
                         line.substr(tail));
    }
    if (line.size() == message.size()) return out;
    out += '\n';
    message.remove_prefix(line.size() + 1);
  }
}

std::string format_message(const Where& where, std::string_view severity, const std::string& message,
                           const std::string& hint) {
  std::string place = where.text();
  const std::string shown = with_short_lines(message);
  std::string text = place.empty() ? fmt::format("{}: {}", severity, shown)
                                   : fmt::format("{}: {}: {}", place, severity, shown);
  if (!hint.empty()) text += "\n  hint: " + with_short_lines(hint);
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
