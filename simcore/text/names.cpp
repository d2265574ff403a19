#include "simcore/text/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace gpusim::core {

size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr size_t kLongest = 64;
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::array<std::array<size_t, kLongest + 1>, 3> rows;  // rolling: two before, one before, current
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& up = rows[(i + 2) % 3];
    const auto& up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], up2[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  const std::string folded = lower(name);
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(folded, lower(candidate));
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string name_hint(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest_name(name, candidates);
  if (!best.empty()) return "did you mean '" + std::string(best) + "'?";
  std::string list;
  for (std::string_view candidate : candidates) {
    if (list.size() > 200) return "valid: " + list + ", ...";
    list += (list.empty() ? "" : ", ") + std::string(candidate);
  }
  return list.empty() ? "" : "valid: " + list;
}

}  // namespace gpusim::core
