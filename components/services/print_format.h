// The format strings of printf() in a kernel (CUDA C++ Programming Guide, "Formatted Output"): which
// arguments a string takes from the argument buffer, and the text that it gives with them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::comp {

/// How one argument lies in the argument buffer, at its natural alignment (PTX Interoperability, vprintf).
enum class PrintArgument : uint8_t { kWord, kLong, kDouble, kString };
[[nodiscard]] constexpr uint32_t print_argument_bytes(PrintArgument a) {
  return a == PrintArgument::kWord ? 4 : 8;
}

/// A value of an argument: its bits, and the text if it is a string.
struct PrintValue {
  uint64_t bits = 0;
  std::string_view text;
};

class PrintFormat {
 public:
  /// printf() takes this many arguments besides the format; conversions beyond them are printed as they
  /// stand.
  static constexpr size_t kMaxArguments = 32;

  explicit PrintFormat(std::string_view format);
  [[nodiscard]] const std::vector<PrintArgument>& arguments() const { return arguments_; }
  /// Appends the text with these values, one for each of arguments().
  void print(const std::vector<PrintValue>& values, std::string& out) const;

 private:
  /// Plain text, then one conversion, if `conversion` is not 0.
  struct Piece {
    std::string text;
    std::string flags;  ///< and `%` before them
    int width = kNone;  ///< kNone: none is given, kArgument: an argument
    int precision = kNone;
    char conversion = 0;
    bool is_long = false;  ///< 64 bits
    uint8_t bytes = 4;     ///< of an integer: 1 and 2 for hh and h
  };
  static constexpr int kNone = -1, kArgument = -2;
  /// Reads a conversion behind its `%` at `at`; false if there is none.
  bool read_conversion(std::string_view format, size_t& at, Piece& piece);
  static void convert(const Piece& piece, int width, int precision, const PrintValue& value,
                      std::string& out);

  std::vector<Piece> pieces_;
  std::vector<PrintArgument> arguments_;
};

}  // namespace gpusim::comp
