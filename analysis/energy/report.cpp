#include "analysis/energy/report.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "analysis/energy/options.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace gpusim::analysis::energy {
namespace {

std::string option(const ModelOptions& options, std::string_view name) {
  const auto at = options.values.find(name);
  return at == options.values.end() ? "" : at->second;
}

/// One of two words, the first if the option is not given; true: the second.
bool second_of(const ModelOptions& options, std::string_view name, std::string_view first,
               std::string_view second) {
  const std::string text = option(options, name);
  if (text.empty() || text == first) return false;
  if (text == second) return true;
  const std::array<std::string_view, 2> known{first, second};
  throw core::InputError(fmt::format("gpusim: error: {}: expected {} or {}, found '{}'; {}", name, first,
                                     second, text, core::name_hint(text, known)));
}

void read_positive(const ModelOptions& options, std::string_view name, double& value) {
  const std::string text = option(options, name);
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
    throw core::InputError(
        fmt::format("gpusim: error: {}: expected a positive number, found '{}'", name, text));
}

}  // namespace

Choice read_choice(const ModelOptions& options) {
  constexpr std::array<std::string_view, 8> kKnown{"variant", "study",         "host_time", "plot",
                                                   "k",       "access_cycles", "transfer",  "deadline"};
  require_known_options(options, "energy", kKnown);
  Choice c;
  c.paper = second_of(options, "variant", "extended", "paper");
  c.study = second_of(options, "study", "clocks", "blocks") ? Study::kBlocks : Study::kClocks;
  read_positive(options, "host_time", c.host_seconds);
  read_positive(options, "k", c.k);
  read_positive(options, "access_cycles", c.access_cycles);
  read_positive(options, "transfer", c.transfer);
  read_positive(options, "deadline", c.deadline_cycles);
  c.plot = option(options, "plot");
  return c;
}

ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options) {
  const Choice choice = read_choice(options);
  std::vector<Run> runs;
  for (const Recording& recording : recordings) runs.push_back(read_run(recording, options.kernel));
  return choice.study == Study::kBlocks ? blocks_report(runs, choice) : clocks_report(runs, choice);
}

}  // namespace gpusim::analysis::energy
