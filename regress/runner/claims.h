// What the source texts of the models print, beside what the rows of a suite say of it: a table for each
// text.
#pragma once
#include <string>
#include <vector>

#include "regress/runner/suite.h"

namespace gpusim::regress {

struct Row;

enum class ClaimVerdict : uint8_t { kHolds, kShort, kShown };
[[nodiscard]] std::string_view verdict_name(ClaimVerdict verdict);

struct ClaimRow {
  Claim claim;
  size_t rows = 0;  ///< of the outcome, that the value is of
  double ours = 0;  ///< in `unit`; of an error a fraction
  std::string unit;
  ClaimVerdict verdict = ClaimVerdict::kShown;
  /// The verdict is not the one that the suite has noted, or no row says anything of the claim.
  bool breach = false;
  std::string note;  ///< why it is a breach
};

/// One row for each claim, in the order of the suite.
[[nodiscard]] std::vector<ClaimRow> judge_claims(const std::vector<Claim>& claims,
                                                 const std::vector<Row>& rows);

/// The tables; empty if there is no claim. `suite` is for the commands.
[[nodiscard]] std::string claims_text(const std::string& suite, const std::vector<ClaimRow>& claims);
/// Elements of a JSON list.
[[nodiscard]] std::string claims_json(const std::vector<ClaimRow>& claims);

}  // namespace gpusim::regress
