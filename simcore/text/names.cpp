#include "simcore/text/names.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "simcore/text/edit_distance.h"

namespace gpusim::core {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Whether `name` is the end of the candidate from a '_' or '.' on: v100 of tesla_v100.
bool is_last_word(std::string_view name, std::string_view candidate) {
  if (name.empty() || candidate.size() <= name.size() || !candidate.ends_with(name)) return false;
  const char before = candidate[candidate.size() - name.size() - 1];
  return before == '_' || before == '.';
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  const std::string folded = lower(name);
  for (std::string_view candidate : candidates)
    if (is_last_word(folded, lower(candidate))) return candidate;
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
  constexpr size_t kWidth = 100, kMost = 100, kNearest = 20;
  std::vector<std::string_view> names(candidates.begin(), candidates.end());
  std::string list;
  if (names.size() > kMost) {
    // Far too many to read: those that are nearest.
    const std::string folded = lower(name);
    std::ranges::stable_sort(names, {}, [&](std::string_view n) { return edit_distance(folded, lower(n)); });
    list = "the nearest of " + std::to_string(names.size());
    names.resize(kNearest);
  } else if (!names.empty()) {
    list = "valid";
  }
  size_t line = list.size();
  for (size_t i = 0; i < names.size(); ++i) {
    list += i == 0 ? ":" : ",";
    const bool breaks = line + names[i].size() + 2 > kWidth;
    list += breaks ? "\n    " : " ";
    line = (breaks ? 4 : line + 2) + names[i].size();
    list += names[i];
  }
  return list;
}

}  // namespace gpusim::core
