#include "regress/runner/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/report/text.h"
#include "regress/runner/verdict.h"
#include "simcore/text/json_text.h"

namespace gpusim::regress {

namespace {

bool is_error(const Claim& claim) {
  return claim.value == Claim::Value::kError || claim.value == Claim::Value::kBias;
}

double value_of(const Claim& claim, const Row& row) {
  switch (claim.value) {
    case Claim::Value::kError:
      return std::abs(row.error);
    case Claim::Value::kBias:
      return row.error;
    case Claim::Value::kPredicted:
      return row.predicted;
    case Claim::Value::kSimulated:
      break;
  }
  return row.simulated;
}

bool concerns(const Claim& claim, const Row& row) {
  return !row.kernel.empty() && row.model == claim.model && row.quantity == claim.quantity &&
         (claim.kernel.empty() || row.kernel == claim.kernel) &&
         (claim.places.empty() || std::ranges::any_of(claim.places, [&](const std::string& name) {
            return name_means(name, row.place);
          }));
}

std::string number(const ClaimRow& row, double value) {
  if (!std::isfinite(value)) return "-";
  if (is_error(row.claim))
    return row.claim.value == Claim::Value::kBias ? fmt::format("{:+.1f} %", 100 * value)
                                                  : fmt::format("{:.1f} %", 100 * value);
  return fmt::format("{:.4g}{}{}", value, row.unit.empty() ? "" : " ", row.unit);
}

std::string needed(const ClaimRow& row) {
  const Claim& c = row.claim;
  if (c.at_least && c.at_most)
    return fmt::format("{} to {}", number(row, *c.at_least), number(row, *c.at_most));
  if (c.at_most) return "at most " + number(row, *c.at_most);
  if (c.at_least) return "at least " + number(row, *c.at_least);
  return "-";
}

std::string over_name(Claim::Over over) {
  return over == Claim::Over::kMean ? "mean" : over == Claim::Over::kMost ? "most" : "least";
}

}  // namespace

std::string_view verdict_name(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::kHolds ? "holds" : verdict == ClaimVerdict::kShort ? "short" : "shown";
}

std::vector<ClaimRow> judge_claims(const std::vector<Claim>& claims, const std::vector<Row>& rows) {
  std::vector<ClaimRow> judged;
  for (const Claim& claim : claims) {
    ClaimRow found;
    found.claim = claim;
    double sum = 0, most = -std::numeric_limits<double>::infinity(), least = -most;
    bool failed = false;
    for (const Row& row : rows) {
      if (!concerns(claim, row)) continue;
      ++found.rows;
      if (!is_error(claim)) found.unit = row.unit;
      const double value = value_of(claim, row);
      failed |= std::isnan(value);
      sum += value;
      most = std::max(most, value);
      least = std::min(least, value);
    }
    if (found.rows == 0) {
      found.ours = std::numeric_limits<double>::quiet_NaN();
      found.verdict = claim.shown() ? ClaimVerdict::kShown : ClaimVerdict::kShort;
      found.breach = true;
      found.note = fmt::format("no row of these places{} has the quantity '{}' of the model '{}'",
                               claim.kernel.empty() ? "" : fmt::format(" and the kernel '{}'", claim.kernel),
                               claim.quantity, claim.model);
      judged.push_back(std::move(found));
      continue;
    }
    found.ours = failed                             ? std::numeric_limits<double>::quiet_NaN()
                 : claim.over == Claim::Over::kMean ? sum / static_cast<double>(found.rows)
                 : claim.over == Claim::Over::kMost ? most
                                                    : least;
    if (!claim.shown()) {
      const bool holds = !failed && (!claim.at_most || found.ours <= *claim.at_most) &&
                         (!claim.at_least || found.ours >= *claim.at_least);
      found.verdict = holds ? ClaimVerdict::kHolds : ClaimVerdict::kShort;
      found.breach = holds == claim.known_short;
      if (found.breach)
        found.note =
            holds ? "noted as short, and holds now: the note goes" : "noted as holding, and is short";
    }
    judged.push_back(std::move(found));
  }
  return judged;
}

std::string claims_text(const std::string& suite, const std::vector<ClaimRow>& claims) {
  std::string text;
  const std::string* source = nullptr;
  for (const ClaimRow& row : claims) {
    const Claim& c = row.claim;
    if (source == nullptr || *source != c.source)
      text += fmt::format("\n{}\n{:<72} {:>14} {:>12} {:>18} {}\n", analysis::printable(c.source), "claim",
                          "printed", "ours", "needed", "verdict");
    source = &c.source;
    text += fmt::format("{:<72} {:>14} {:>12} {:>18} {}{}\n", analysis::printable(c.text),
                        c.printed.empty() ? "-" : c.printed, number(row, row.ours), needed(row),
                        row.breach ? "BREACH: " : "",
                        row.breach ? row.note : std::string(verdict_name(row.verdict)));
    std::string only;
    for (const std::string& place : c.places) only += fmt::format(" --only '{}'", place);
    text +=
        fmt::format("    {} of {} rows ({} {}): {}\n", over_name(c.over), row.rows, c.model, c.quantity,
                    c.command.empty() ? fmt::format("gpusim regress --suite {}{}", suite, only) : c.command);
    if (!c.cause.empty()) text += fmt::format("    {}\n", analysis::printable(c.cause));
  }
  return text;
}

std::string claims_json(const std::vector<ClaimRow>& claims) {
  std::string text;
  const auto bound = [](const std::optional<double>& value) {
    return value ? core::json_number(*value) : std::string("null");
  };
  for (const ClaimRow& row : claims) {
    const Claim& c = row.claim;
    text += fmt::format(
        "{}{{\"source\": {}, \"claim\": {}, \"printed\": {}, \"model\": {}, \"quantity\": {}, \"over\": "
        "\"{}\", "
        "\"rows\": {}, \"ours\": {}, \"unit\": {}, \"at_least\": {}, \"at_most\": {}, \"verdict\": \"{}\", "
        "\"breach\": {}, \"cause\": {}}}",
        text.empty() ? "" : ",\n  ", core::json_quoted(c.source), core::json_quoted(c.text),
        core::json_quoted(c.printed), core::json_quoted(c.model), core::json_quoted(c.quantity),
        over_name(c.over), row.rows, core::json_number(row.ours), core::json_quoted(row.unit),
        bound(c.at_least), bound(c.at_most), verdict_name(row.verdict), row.breach,
        core::json_quoted(c.cause));
  }
  return text;
}

}  // namespace gpusim::regress
