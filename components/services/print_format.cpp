#include "components/services/print_format.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace gpusim::comp {

namespace {

/// More than any number needs; a program that asks for more gets this much.
constexpr int kMostColumns = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits at `at`; 0 if there are none.
int read_number(std::string_view format, size_t& at) {
  int n = 0;
  for (; at < format.size() && is_digit(format[at]); ++at)
    n = std::min(n * 10 + (format[at] - '0'), kMostColumns);
  return n;
}

template <class T>
void append(std::string& out, const std::string& format, int width, int precision, T value) {
  const int n = std::snprintf(nullptr, 0, format.c_str(), width, precision, value);
  if (n <= 0) return;
  const size_t old = out.size();
  out.resize(old + static_cast<size_t>(n) + 1);
  std::snprintf(out.data() + old, static_cast<size_t>(n) + 1, format.c_str(), width, precision, value);
  out.resize(old + static_cast<size_t>(n));
}

}  // namespace

PrintFormat::PrintFormat(std::string_view format) {
  Piece piece;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      piece.text += format[at++];
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == '%') {
      piece.text += '%';
      at += 2;
      continue;
    }
    const size_t start = at++;
    if (read_conversion(format, at, piece)) {
      pieces_.push_back(std::move(piece));
      piece = {};
    } else {
      piece.text += format.substr(start, at - start);
    }
  }
  if (!piece.text.empty()) pieces_.push_back(std::move(piece));
}

bool PrintFormat::read_conversion(std::string_view format, size_t& at, Piece& piece) {
  Piece read;
  read.flags = "%";
  for (; at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos; ++at)
    if (read.flags.find(format[at]) == std::string::npos) read.flags += format[at];
  const auto columns = [&] {
    if (at >= format.size() || format[at] != '*') return read_number(format, at);
    ++at;
    return kArgument;
  };
  if (at < format.size() && (is_digit(format[at]) || format[at] == '*')) read.width = columns();
  if (at < format.size() && format[at] == '.') {
    ++at;
    read.precision = columns();
  }
  for (; at < format.size() && std::string_view("hlLqjzt").find(format[at]) != std::string_view::npos; ++at) {
    if (format[at] == 'h')
      read.bytes = read.bytes == 2 ? 1 : 2;
    else
      read.is_long = format[at] != 'L';
  }
  if (at >= format.size()) return false;
  const char c = format[at++];
  constexpr std::string_view kConversions = "cdiouxXpeEfFgGaAs";
  if (kConversions.find(c) == std::string_view::npos) return false;
  const size_t taken = 1u + (read.width == kArgument) + (read.precision == kArgument);
  if (arguments_.size() + taken > kMaxArguments) return false;
  for (size_t i = 1; i < taken; ++i) arguments_.push_back(PrintArgument::kWord);
  read.conversion = c;
  const bool is_double = std::string_view("eEfFgGaA").find(c) != std::string_view::npos;
  arguments_.push_back(c == 's'                                 ? PrintArgument::kString
                       : is_double                              ? PrintArgument::kDouble
                       : c == 'p' || (read.is_long && c != 'c') ? PrintArgument::kLong
                                                                : PrintArgument::kWord);
  read.is_long = arguments_.back() == PrintArgument::kLong;
  read.text = std::move(piece.text);
  piece = std::move(read);
  return true;
}

void PrintFormat::convert(const Piece& piece, int width, int precision, const PrintValue& value,
                          std::string& out) {
  std::string format = piece.flags;
  if (width < 0) format += '-';  // as printf() does with a negative one of an argument
  format += "*.*";
  width = std::min(std::abs(width), kMostColumns);
  precision = std::min(precision, kMostColumns);
  const auto word = static_cast<uint32_t>(value.bits);
  switch (piece.conversion) {
    case 's':
      // A precision that stops the host at the end of the text, which has no zero behind it.
      precision = precision < 0 ? static_cast<int>(value.text.size())
                                : std::min(precision, static_cast<int>(value.text.size()));
      return append(out, format + 's', width, precision, value.text.data());
    case 'c':
      return append(out, format + 'c', width, precision, static_cast<int>(word));
    case 'p':
      return append(out, format + 'p', width, precision, reinterpret_cast<const void*>(value.bits));
    case 'd':
    case 'i':
      if (piece.is_long)
        return append(out, format + "lld", width, precision, static_cast<long long>(value.bits));
      return append(out, format + 'd', width, precision,
                    piece.bytes == 1   ? static_cast<int>(static_cast<int8_t>(word))
                    : piece.bytes == 2 ? static_cast<int>(static_cast<int16_t>(word))
                                       : static_cast<int>(word));
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (piece.is_long)
        return append(out, format + "ll" + piece.conversion, width, precision,
                      static_cast<unsigned long long>(value.bits));
      return append(out, format + piece.conversion, width, precision,
                    piece.bytes == 1   ? word & 0xffu
                    : piece.bytes == 2 ? word & 0xffffu
                                       : word);
    default:
      return append(out, format + piece.conversion, width, precision, std::bit_cast<double>(value.bits));
  }
}

void PrintFormat::print(const std::vector<PrintValue>& values, std::string& out) const {
  size_t at = 0;
  const auto columns = [&](int given) {
    if (given == kArgument) return static_cast<int>(static_cast<uint32_t>(values[at++].bits));
    return given;
  };
  for (const Piece& piece : pieces_) {
    out += piece.text;
    if (piece.conversion == 0) continue;
    const int width = piece.width == kNone ? 0 : columns(piece.width);
    const int precision = piece.precision == kNone ? -1 : columns(piece.precision);
    convert(piece, width, precision, values[at++], out);
  }
}

}  // namespace gpusim::comp
