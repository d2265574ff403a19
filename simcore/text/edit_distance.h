// How many characters two names differ by. In a header: isa/, which links nothing of simcore/, uses it too.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace gpusim::core {

/// Insertions, deletions, changes and swaps of neighbours that turn `a` into `b`; `limit` + 1 if there are
/// more than `limit`. Names longer than 64 characters are compared by their first ones only.
[[nodiscard]] inline size_t edit_distance(std::string_view a, std::string_view b, size_t limit = 64) {
  constexpr size_t kLongest = 64;
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::array<std::array<size_t, kLongest + 1>, 3> rows;  // rolling: two before, one before, current
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& up = rows[(i + 2) % 3];
    const auto& up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], up2[j - 2] + 1);
    }
  }
  return std::min(rows[a.size() % 3][b.size()], limit + 1);
}

}  // namespace gpusim::core
