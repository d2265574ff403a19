// Helpers for messages about PTX texts: how a Diagnostic prints, and "did you mean" by edit distance
// (Damerau-Levenshtein, optimal string alignment).
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/ptx/types.h"

namespace gpusim::isa {

/// "file:line:col: error: message", and "\n  hint: ..." if there is a hint. An unknown position is left out.
[[nodiscard]] std::string format_diagnostic(std::string_view file, const Diagnostic& diagnostic);

/// True if any of them is an error (not a warning).
[[nodiscard]] bool has_errors(const Diagnostics& diagnostics);

/// Orders by line, then column; equal positions keep their order.
void sort_by_location(Diagnostics& diagnostics);

/// Collects candidates and keeps the one nearest to `wanted`; only names within a third of its length (at
/// least 1) count.
class NearestName {
 public:
  explicit NearestName(std::string_view wanted);
  void consider(std::string_view candidate);
  /// The nearest candidate so far, empty if none is near.
  [[nodiscard]] std::string_view best() const { return best_; }
  /// "did you mean 'x'?", empty if none is near.
  [[nodiscard]] std::string hint() const;

 private:
  std::string_view wanted_;
  std::string_view best_;
  size_t distance_;
};

}  // namespace gpusim::isa
