#include "regress/runner/case_result.h"

#include <fmt/format.h>

#include <array>

#include "analysis/report/text.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"

namespace gpusim::regress {

namespace {

using core::JsonValue;

const JsonValue& member(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  if (value == nullptr)
    core::raise_input_error(object.where, fmt::format("'{}' is missing; the file is damaged", name));
  return *value;
}

std::string text_of(const JsonValue& object, std::string_view name) { return member(object, name).text; }

double real_of(const JsonValue& object, std::string_view name) {
  const JsonValue& value = member(object, name);
  return value.kind == JsonValue::Kind::kNumber ? value.number.as_double()
                                                : std::numeric_limits<double>::quiet_NaN();
}

std::string kernels_text(const std::vector<KernelCounts>& kernels) {
  std::string out;
  for (const KernelCounts& k : kernels) {
    std::string values;
    for (const auto& [name, value] : k.values)
      values += fmt::format("{}\"{}\": {}", values.empty() ? "" : ", ", name, value);
    out += fmt::format("{}{{\"name\": {}, \"values\": {{{}}}}}", out.empty() ? "" : ",\n  ",
                       core::json_quoted(k.name), values);
  }
  return out;
}

/// With all digits: what is read again must be what was written.
std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string predictions_text(const std::vector<analysis::Prediction>& predictions) {
  std::string out;
  for (const analysis::Prediction& p : predictions) {
    std::string terms;
    for (const analysis::PredictionTerm& t : p.terms)
      terms +=
          fmt::format("{}{{\"name\": {}, \"predicted\": {}, \"simulated\": {}}}", terms.empty() ? "" : ", ",
                      core::json_quoted(t.name), exact(t.predicted), exact(t.simulated));
    out += fmt::format(
        "{}{{\"launch\": {}, \"kernel\": {}, \"quantity\": {}, \"unit\": {}, \"predicted\": {}, "
        "\"simulated\": {}, \"constant\": {}, \"points\": {}, \"terms\": [{}]}}",
        out.empty() ? "" : ",\n    ", p.launch, core::json_quoted(p.kernel), core::json_quoted(p.quantity),
        core::json_quoted(p.unit), exact(p.predicted), exact(p.simulated), exact(p.constant), p.points,
        terms);
  }
  return out;
}

analysis::Prediction prediction_from(const JsonValue& v) {
  analysis::Prediction p;
  p.launch = static_cast<uint64_t>(member(v, "launch").number.integer);
  p.kernel = text_of(v, "kernel");
  p.quantity = text_of(v, "quantity");
  p.unit = text_of(v, "unit");
  p.predicted = real_of(v, "predicted");
  p.simulated = real_of(v, "simulated");
  p.constant = real_of(v, "constant");
  p.points = member(v, "points").boolean;
  for (const JsonValue& t : member(v, "terms").items)
    p.terms.push_back({text_of(t, "name"), real_of(t, "predicted"), real_of(t, "simulated")});
  return p;
}

std::string invariants_text(const std::vector<InvariantResult>& invariants) {
  std::string out;
  for (const InvariantResult& i : invariants) {
    std::string broken;
    for (const std::string& text : i.found.broken)
      broken += fmt::format("{}{}", broken.empty() ? "" : ", ", core::json_quoted(text));
    out += fmt::format("{}{{\"model\": {}, \"refused\": {}, \"held\": {}, \"broken\": [{}]}}",
                       out.empty() ? "" : ",\n  ", core::json_quoted(i.model), core::json_quoted(i.refused),
                       i.found.held, broken);
  }
  return out;
}

InvariantResult invariant_from(const JsonValue& v) {
  InvariantResult result{text_of(v, "model"), text_of(v, "refused"), {}};
  result.found.held = static_cast<size_t>(member(v, "held").number.integer);
  for (const JsonValue& text : member(v, "broken").items) result.found.broken.push_back(text.text);
  return result;
}

}  // namespace

std::span<const std::string_view> golden_counters() {
  static constexpr std::array<std::string_view, 12> kNames{
      "warp_instructions", "thread_instructions", "inst_executed",
      "inst_issued",       "divergent_branch",    "barriers",
      "load_transactions", "store_transactions",  "l1_shared_bank_conflict",
      "dram_read_bytes",   "dram_write_bytes",    "dram_row_hits"};
  return kNames;
}

std::string to_text(const CaseResult& result) {
  std::string checks;
  for (const CheckResult& c : result.checks)
    checks += fmt::format("{}{{\"failure\": {}, \"predictions\": [{}]}}", checks.empty() ? "" : ",\n  ",
                          core::json_quoted(c.failure), predictions_text(c.predictions));
  return fmt::format("{{\"failure\": {},\n \"kernels\": [{}],\n \"checks\": [{}],\n \"invariants\": [{}]}}\n",
                     core::json_quoted(result.failure), kernels_text(result.kernels), checks,
                     invariants_text(result.invariants));
}

CaseResult result_from_text(const std::string& text, const std::string& name) {
  const JsonValue v = core::parse_json(text, name);
  CaseResult result;
  result.failure = text_of(v, "failure");
  for (const JsonValue& k : member(v, "kernels").items) {
    KernelCounts counts{text_of(k, "name"), {}};
    for (const JsonValue::Member& m : member(k, "values").members)
      counts.values[m.name] = static_cast<uint64_t>(m.value.number.integer);
    result.kernels.push_back(std::move(counts));
  }
  for (const JsonValue& c : member(v, "checks").items) {
    CheckResult check;
    check.failure = text_of(c, "failure");
    for (const JsonValue& p : member(c, "predictions").items) check.predictions.push_back(prediction_from(p));
    result.checks.push_back(std::move(check));
  }
  for (const JsonValue& i : member(v, "invariants").items) result.invariants.push_back(invariant_from(i));
  return result;
}

}  // namespace gpusim::regress
