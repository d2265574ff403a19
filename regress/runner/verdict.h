// What a suite's results mean: one row for each kernel of each check, one for each case's counters, and the
// means of each model; and how they are printed and kept.
#pragma once
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "regress/runner/case_run.h"
#include "regress/runner/claims.h"
#include "regress/runner/suite.h"

namespace gpusim::regress {

enum class Verdict : uint8_t { kGood, kBreach, kShown };
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

struct Row {
  std::string place;  ///< case or study
  std::string kernel, model, quantity, unit;
  double simulated = 0, predicted = 0;
  double error = 0;                                                  ///< signed: Prediction::error()
  double constant_error = std::numeric_limits<double>::quiet_NaN();  ///< the same of Prediction::constant
  double limit = 0;
  Role role = Role::kJudged;
  Verdict verdict = Verdict::kGood;
  std::string note;  ///< why there are no numbers; the largest term's part in the error
};

struct ModelSummary {
  std::string model, quantity;
  size_t judged = 0, fitted = 0;
  double mean = 0, worst = 0;  ///< of the absolute errors of judged rows
  std::string worst_place;
  double fitted_mean = 0;
  double constant_mean = 0;  ///< of the absolute errors of `constants` judged rows that have one
  size_t constants = 0;
  double limit = -1;            ///< of the mean; negative: none
  bool constant_fails = false;  ///< MeanLimit::constant_fails
  bool breach = false;
};

struct Outcome {
  std::vector<Row> rows;
  std::vector<ModelSummary> models;
  std::vector<ClaimRow> claims;
  size_t breaches = 0;
};

/// Golden values of a suite: case -> its kernels.
using Golden = std::map<std::string, std::vector<KernelCounts>>;
/// Empty if there is no such file. Throws core::InputError if it is damaged.
[[nodiscard]] Golden read_golden(const std::string& path);
/// What a case that failed had `before`, stays.
[[nodiscard]] std::string golden_text(const Suite& suite, const SuiteResults& results, const Golden& before);

[[nodiscard]] Outcome judge(const Suite& suite, const SuiteResults& results, const Golden& golden);

[[nodiscard]] std::string outcome_text(const Suite& suite, const Outcome& outcome);
[[nodiscard]] std::string outcome_json(const Suite& suite, const Outcome& outcome);
/// The rows as the table /rows of an HDF5 file. Throws core::InputError if it cannot be written.
void write_outcome_hdf5(const std::string& path, const Suite& suite, const Outcome& outcome);

}  // namespace gpusim::regress
