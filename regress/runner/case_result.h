// What one case or study of a suite gave, and the same as text, so that a run which was interrupted goes on
// where it was.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/models/model.h"
#include "regress/runner/suite.h"

namespace gpusim::regress {

/// A kernel's counters that are compared with golden values, exactly.
struct KernelCounts {
  std::string name;
  std::map<std::string, uint64_t> values;  ///< "cycles" among them
};

/// What one check found.
struct CheckResult {
  std::string failure;  ///< why there are no predictions
  std::vector<analysis::Prediction> predictions;
};

/// What a model's own definitions say of its numbers, of one recording.
struct InvariantResult {
  std::string model;
  std::string refused;  ///< why the model was not applied
  analysis::Invariants found;
};

struct CaseResult {
  std::string failure;  ///< why there is nothing else
  std::vector<KernelCounts> kernels;
  std::vector<CheckResult> checks;  ///< in the order of the case's
  std::vector<InvariantResult> invariants;
};

[[nodiscard]] std::string to_text(const CaseResult& result);
/// Throws core::InputError if `text` is not what to_text() wrote. `name` is for messages.
[[nodiscard]] CaseResult result_from_text(const std::string& text, const std::string& name);

/// Names of the counters that are compared.
[[nodiscard]] std::span<const std::string_view> golden_counters();

}  // namespace gpusim::regress
