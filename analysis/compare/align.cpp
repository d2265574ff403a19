#include "analysis/compare/align.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace gpusim::analysis {
namespace {

constexpr size_t kMostCells = size_t{1} << 26;

/// Registers without their numbers, and labels likewise: a statement more or less changes those of all that
/// follow.
std::string unnumbered(const std::string& text) {
  std::string out;
  bool in_name = false;
  for (const char c : text) {
    if (c == '%' || c == '$')
      in_name = true;
    else if (in_name && std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_')
      in_name = false;
    if (!in_name || std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
  }
  return out;
}

std::vector<std::string> unnumbered(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(unnumbered(text));
  return out;
}

}  // namespace

std::vector<size_t> align_statements(const std::vector<std::string>& texts_a,
                                     const std::vector<std::string>& texts_b) {
  const std::vector<std::string> a = unnumbered(texts_a), b = unnumbered(texts_b);
  std::vector<size_t> partner(b.size(), kNoPartner);
  size_t first = 0, end_a = a.size(), end_b = b.size();
  for (; first < std::min(end_a, end_b) && a[first] == b[first]; ++first) partner[first] = first;
  while (end_a > first && end_b > first && a[end_a - 1] == b[end_b - 1]) partner[--end_b] = --end_a;
  const size_t rows = end_a - first, columns = end_b - first;
  if (rows == 0 || columns == 0 || columns + 1 > kMostCells / (rows + 1)) return partner;
  // length[i][j]: of the longest common subsequence behind statements i and j.
  std::vector<uint32_t> length((rows + 1) * (columns + 1));
  const auto at = [&](size_t i, size_t j) -> uint32_t& { return length[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;)
    for (size_t j = columns; j-- > 0;)
      at(i, j) = a[first + i] == b[first + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    if (a[first + i] == b[first + j])
      partner[first + j++] = first + i++;
    else if (at(i + 1, j) >= at(i, j + 1))
      ++i;
    else
      ++j;
  }
  return partner;
}

}  // namespace gpusim::analysis
