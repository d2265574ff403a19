#include "analysis/models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/names.h"

namespace gpusim::analysis {

double Prediction::error_of(double value) const {
  if (points) return value - simulated;
  if (simulated == 0) return value == 0 ? 0 : std::copysign(INFINITY, value);
  return (value - simulated) / simulated;
}

const Model& find_model(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Model& model : models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  throw core::InputError(
      fmt::format("gpusim: error: there is no model '{}'; {}", name, core::name_hint(name, names)));
}

void require_known_options(const ModelOptions& options, std::string_view model,
                           std::span<const std::string_view> known) {
  for (const auto& [name, value] : options.values)
    if (std::ranges::find(known, name) == known.end())
      throw core::InputError(fmt::format("gpusim: error: model {} has no option '{}'{}", model, name,
                                         known.empty() ? "" : "; " + core::name_hint(name, known)));
}

std::string option_text(const ModelOptions& options, std::string_view name) {
  const auto at = options.values.find(name);
  return at == options.values.end() ? "" : at->second;
}

bool option_is_second(const ModelOptions& options, std::string_view name,
                      const std::array<std::string_view, 2>& words) {
  const std::string text = option_text(options, name);
  if (text.empty() || text == words[0]) return false;
  if (text == words[1]) return true;
  throw core::InputError(
      fmt::format("gpusim: error: {}: expected {} or {}, found '{}'", name, words[0], words[1], text));
}

double option_positive(const ModelOptions& options, std::string_view name, double fallback, bool or_zero) {
  const std::string text = option_text(options, name);
  if (text.empty()) return fallback;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 || (or_zero && value == 0)) ||
      !std::isfinite(value))
    throw core::InputError(fmt::format("gpusim: error: {}: expected a positive number{}, found '{}'", name,
                                       or_zero ? " or 0" : "", text));
  return value;
}

std::string predictions_json(std::span<const Prediction> predictions) {
  std::string out;
  for (const Prediction& p : predictions) {
    std::string terms;
    for (const PredictionTerm& term : p.terms)
      terms += fmt::format("{}{{\"name\": \"{}\", \"predicted\": {}, \"simulated\": {}}}",
                           terms.empty() ? "" : ", ", core::json_escaped(term.name),
                           core::json_number(term.predicted), core::json_number(term.simulated));
    out += fmt::format(
        "{}{{\"launch\": {}, \"kernel\": \"{}\", \"demangled\": {}, \"quantity\": \"{}\", \"unit\": \"{}\", "
        "\"predicted\": {}, "
        "\"simulated\": {}, \"error\": {}, {}\"terms\": [{}]}}",
        out.empty() ? "" : ", ", p.launch, core::json_escaped(p.kernel),
        core::json_quoted(core::demangled(p.kernel)), p.quantity, p.unit, core::json_number(p.predicted),
        core::json_number(p.simulated), core::json_number(p.error()),
        std::isfinite(p.constant) ? fmt::format("\"constant\": {}, ", core::json_number(p.constant)) : "",
        terms);
  }
  return out;
}

}  // namespace gpusim::analysis
