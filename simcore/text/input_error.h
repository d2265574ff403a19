// Errors about what the user gave: configuration files, launch files, command-line values. Messages are
// collected so that one run reports all of them, and formatted as `file:line:col: error: message`, with an
// indented `hint:` line where there is one; of a line that quotes very long input the middle is left out.
// Everything in simcore that reads input throws InputError and nothing else.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::core {

/// Place in an input; line and column count from 1, 0 means unknown (a command-line value has none).
struct Where {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  /// "file:line:col", without the parts that are unknown.
  [[nodiscard]] std::string text() const;
};

/// Wrong input. what() is ready to print: one or several formatted messages, separated by new lines.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects formatted messages; keeps the first kMaxMessages and counts the rest.
class Messages {
 public:
  static constexpr size_t kMaxMessages = 50;
  void error(const Where& where, const std::string& message, const std::string& hint = "");
  void warning(const Where& where, const std::string& message, const std::string& hint = "");
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] size_t errors() const { return errors_; }
  /// Formatted warnings, in order.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Throws InputError with all messages if there is an error.
  void raise_if_any() const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> warnings_;
  size_t errors_ = 0;
};

/// Formats one error message and throws it.
[[noreturn]] void raise_input_error(const Where& where, const std::string& message,
                                    const std::string& hint = "");

/// A message without its further lines, such as hints.
[[nodiscard]] inline std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace gpusim::core
