#include "regress/runner/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/text_file.h"

namespace gpusim::regress {

namespace {

/// The first counter that is not the golden one; empty if none.
std::string difference(const std::vector<KernelCounts>& found, const std::vector<KernelCounts>& golden) {
  if (found.size() != golden.size()) return fmt::format("{} kernels, golden {}", found.size(), golden.size());
  for (size_t k = 0; k < found.size(); ++k) {
    if (found[k].name != golden[k].name)
      return fmt::format("kernel {} is {}, golden {}", k, found[k].name, golden[k].name);
    for (const auto& [name, value] : found[k].values) {
      const auto at = golden[k].values.find(name);
      if (at == golden[k].values.end())
        return fmt::format("kernel {} {}: no golden {}", k, found[k].name, name);
      if (at->second != value)
        return fmt::format("kernel {} {}: {} {}, golden {}", k, found[k].name, name, value, at->second);
    }
  }
  return {};
}

/// Which part of the prediction the error comes from most.
std::string largest_term(const analysis::Prediction& p) {
  const analysis::PredictionTerm* largest = nullptr;
  for (const analysis::PredictionTerm& t : p.terms)
    if (std::isfinite(t.simulated) &&
        (largest == nullptr ||
         std::abs(t.predicted - t.simulated) > std::abs(largest->predicted - largest->simulated)))
      largest = &t;
  if (largest == nullptr || largest->predicted == largest->simulated) return {};
  return fmt::format("most in {}: {:.4g}, simulated {:.4g}", largest->name, largest->predicted,
                     largest->simulated);
}

void add_check(const std::string& place, const Check& check, const CheckResult& result, Outcome& outcome) {
  Row row;
  row.place = place;
  row.model = check.model;
  row.quantity = check.quantity;
  row.role = check.role;
  row.limit = check.limit;
  if (!result.failure.empty()) {
    row.verdict = Verdict::kBreach;
    row.note = result.failure;
    outcome.rows.push_back(row);
    return;
  }
  for (const analysis::Prediction& p : result.predictions) {
    row.kernel = p.kernel;
    row.unit = p.unit;
    row.predicted = p.predicted;
    row.simulated = p.simulated;
    row.error = p.error();
    row.constant_error = p.error_of(p.constant);
    row.note = largest_term(p);
    // A comparison with what is no number is a breach too.
    row.verdict = check.role == Role::kShown           ? Verdict::kShown
                  : std::abs(row.error) <= check.limit ? Verdict::kGood
                                                       : Verdict::kBreach;
    outcome.rows.push_back(row);
  }
}

void add_golden(const Case& c, const CaseResult& result, const Golden& golden, Outcome& outcome) {
  if (!c.golden) return;
  Row row;
  row.place = c.name;
  row.model = "golden";
  row.quantity = "counters";
  const auto at = golden.find(c.name);
  row.note =
      at == golden.end() ? "no golden values: --update writes them" : difference(result.kernels, at->second);
  row.verdict = row.note.empty() ? Verdict::kGood : Verdict::kBreach;
  outcome.rows.push_back(row);
}

void add_failure(const std::string& place, const std::string& failure, Outcome& outcome) {
  Row row;
  row.place = place;
  row.model = "simulation";
  row.verdict = Verdict::kBreach;
  row.note = failure;
  outcome.rows.push_back(row);
}

/// A row for each model whose numbers must be so by its own definitions, and one for each case where they are
/// not.
void add_invariants(const Suite& suite, const SuiteResults& results, Outcome& outcome) {
  for (const analysis::Model& model : analysis::models()) {
    size_t held = 0, recordings = 0, refused = 0, broken = 0;
    Row row;
    row.model = model.name;
    row.quantity = model.invariant;
    for (size_t i = 0; i < suite.cases.size(); ++i)
      for (const InvariantResult& result : results.cases[i].invariants) {
        if (result.model != model.name) continue;
        ++(result.refused.empty() ? recordings : refused);
        held += result.found.held;
        if (result.found.broken.empty()) continue;
        broken += result.found.broken.size();
        row.place = suite.cases[i].name;
        row.verdict = Verdict::kBreach;
        row.note = fmt::format("{} are not so: {}", result.found.broken.size(), result.found.broken.front());
        outcome.rows.push_back(row);
      }
    if (recordings + refused == 0) continue;
    row.place = "all cases";
    row.verdict = broken == 0 ? Verdict::kGood : Verdict::kBreach;
    row.note = fmt::format("{} of {} recordings, {} not so; not applied to {}", held + broken, recordings,
                           broken, refused);
    outcome.rows.push_back(row);
  }
}

void summarise(const Suite& suite, Outcome& outcome) {
  for (const Row& row : outcome.rows) {
    if (row.role == Role::kShown || row.kernel.empty()) continue;
    auto at = std::ranges::find_if(outcome.models, [&](const ModelSummary& m) {
      return m.model == row.model && m.quantity == row.quantity;
    });
    if (at == outcome.models.end()) {
      outcome.models.push_back({});
      at = outcome.models.end() - 1;
      at->model = row.model;
      at->quantity = row.quantity;
    }
    const double error = std::abs(row.error);
    if (row.role == Role::kFitted) {
      ++at->fitted;
      at->fitted_mean += error;
      continue;
    }
    ++at->judged;
    at->mean += error;
    if (std::isfinite(row.constant_error)) {
      ++at->constants;
      at->constant_mean += std::abs(row.constant_error);
    }
    if (at->judged == 1 || !(error <= at->worst)) {
      at->worst = error;
      at->worst_place = row.place;
    }
  }
  for (ModelSummary& m : outcome.models) {
    if (m.judged != 0) m.mean /= static_cast<double>(m.judged);
    if (m.constants != 0) m.constant_mean /= static_cast<double>(m.constants);
    if (m.fitted != 0) m.fitted_mean /= static_cast<double>(m.fitted);
  }
  for (const MeanLimit& limit : suite.means) {
    const auto at = std::ranges::find_if(outcome.models, [&](const ModelSummary& m) {
      return m.model == limit.model && m.quantity == limit.quantity;
    });
    if (at == outcome.models.end()) {
      outcome.models.push_back({});
      outcome.models.back().model = limit.model;
      outcome.models.back().quantity = limit.quantity;
      outcome.models.back().limit = limit.limit;
      outcome.models.back().breach = true;  // nothing was judged
      continue;
    }
    at->limit = limit.limit;
    at->constant_fails = limit.constant_fails;
    at->breach = at->judged == 0 || !(at->mean <= limit.limit) ||
                 (limit.constant_fails && (at->constants == 0 || at->constant_mean <= limit.limit));
  }
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return verdict == Verdict::kGood ? "good" : verdict == Verdict::kBreach ? "BREACH" : "shown";
}

Golden read_golden(const std::string& path) {
  using Kind = core::JsonValue::Kind;
  Golden golden;
  if (!std::filesystem::exists(path)) return golden;
  const auto expect = [](const core::JsonValue& v, Kind kind, const char* what) {
    if (v.kind != kind)
      core::raise_input_error(v.where, fmt::format("expected {}, found {}", what, core::json_kind(v)));
  };
  const core::JsonValue v = core::parse_json(core::read_text_file(path), path);
  expect(v, Kind::kObject, "an object, by case");
  for (const core::JsonValue::Member& c : v.members) {
    expect(c.value, Kind::kArray, "a list of kernels");
    for (const core::JsonValue& k : c.value.items) {
      expect(k, Kind::kObject, "an object, a kernel");
      KernelCounts counts;
      for (const core::JsonValue::Member& m : k.members) {
        if (m.name == "name") {
          expect(m.value, Kind::kString, "a name");
          counts.name = m.value.text;
          continue;
        }
        expect(m.value, Kind::kNumber, "a count");
        if (!m.value.number.is_integer || m.value.number.integer < 0)
          core::raise_input_error(m.value.where, "expected a whole number that is not negative");
        counts.values[m.name] = static_cast<uint64_t>(m.value.number.integer);
      }
      golden[c.name].push_back(std::move(counts));
    }
  }
  return golden;
}

std::string golden_text(const Suite& suite, const SuiteResults& results, const Golden& before) {
  std::string out;
  for (size_t i = 0; i < suite.cases.size(); ++i) {
    if (!suite.cases[i].golden) continue;
    std::string kernels;
    const auto old = before.find(suite.cases[i].name);
    const bool failed = !results.cases[i].failure.empty();
    if (failed && old == before.end()) continue;
    for (const KernelCounts& k : failed ? old->second : results.cases[i].kernels) {
      kernels += fmt::format("{}\n    {{\"name\": {}", kernels.empty() ? "" : ",", core::json_quoted(k.name));
      for (const auto& [name, value] : k.values) kernels += fmt::format(", \"{}\": {}", name, value);
      kernels += "}";
    }
    out += fmt::format("{}\n  {}: [{}]", out.empty() ? "" : ",", core::json_quoted(suite.cases[i].name),
                       kernels);
  }
  return fmt::format("{{{}\n}}\n", out);
}

Outcome judge(const Suite& suite, const SuiteResults& results, const Golden& golden) {
  Outcome outcome;
  for (size_t i = 0; i < suite.cases.size(); ++i) {
    const Case& c = suite.cases[i];
    const CaseResult& result = results.cases[i];
    if (!result.failure.empty()) {
      add_failure(c.name, result.failure, outcome);
      continue;
    }
    add_golden(c, result, golden, outcome);
    for (size_t k = 0; k < c.checks.size(); ++k) add_check(c.name, c.checks[k], result.checks.at(k), outcome);
  }
  for (size_t i = 0; i < suite.studies.size(); ++i) {
    const CaseResult& result = results.studies[i];
    if (!result.failure.empty())
      add_failure(suite.studies[i].name, result.failure, outcome);
    else
      add_check(suite.studies[i].name, suite.studies[i].check, result.checks.at(0), outcome);
  }
  add_invariants(suite, results, outcome);
  summarise(suite, outcome);
  outcome.claims = judge_claims(suite.claims, outcome.rows);
  for (const Row& row : outcome.rows) outcome.breaches += row.verdict == Verdict::kBreach;
  for (const ModelSummary& m : outcome.models) outcome.breaches += m.breach;
  for (const ClaimRow& c : outcome.claims) outcome.breaches += c.breach;
  return outcome;
}

}  // namespace gpusim::regress
