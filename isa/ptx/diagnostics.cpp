#include "isa/ptx/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/text/edit_distance.h"

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

NearestName::NearestName(std::string_view wanted)
    : wanted_(wanted), distance_(std::max<size_t>(1, std::min<size_t>(wanted.size(), 64) / 3) + 1) {}

void NearestName::consider(std::string_view candidate) {
  if (candidate.empty()) return;
  const size_t d = core::edit_distance(wanted_, candidate, distance_);
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
