#include "isa/ptx/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace gpusim::isa {

std::string format_diagnostic(std::string_view file, const Diagnostic& diagnostic) {
  std::string text(file);
  if (diagnostic.loc.line != 0) text += fmt::format(":{}:{}", diagnostic.loc.line, diagnostic.loc.column);
  text += diagnostic.severity == Diagnostic::Severity::kError ? ": error: " : ": warning: ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
  return text;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::kError; });
}

void sort_by_location(Diagnostics& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.loc.line != b.loc.line ? a.loc.line < b.loc.line : a.loc.column < b.loc.column;
  });
}

int edit_distance(std::string_view a, std::string_view b, int limit) {
  constexpr size_t kMaxLength = 64;  // longer names are compared by their first characters only
  a = a.substr(0, kMaxLength);
  b = b.substr(0, kMaxLength);
  if (std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())) > limit) return limit + 1;
  int rows[3][kMaxLength + 1];
  int *before = rows[0], *previous = rows[1], *current = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return std::min(previous[b.size()], limit + 1);
}

NearestName::NearestName(std::string_view wanted)
    : wanted_(wanted),
      distance_(std::max(1, static_cast<int>(std::min<size_t>(wanted.size(), 64)) / 3) + 1) {}

void NearestName::consider(std::string_view candidate) {
  if (candidate.empty()) return;
  const int d = edit_distance(wanted_, candidate, distance_);
  // Of equally near names the first in the alphabet: the order of hash tables must not show.
  if (d < distance_ || (d == distance_ && !best_.empty() && candidate < best_)) {
    distance_ = d;
    best_ = candidate;
  }
}

std::string NearestName::hint() const {
  return best_.empty() ? std::string() : fmt::format("did you mean '{}'?", best_);
}

}  // namespace gpusim::isa
