#include "analysis/models/energy/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/models/energy/options.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::energy {
namespace {

/// An option of the other study would have no effect.
void require_of_study(const ModelOptions& options, Study study) {
  constexpr std::array<std::string_view, 2> kOfClocks{"variant", "host_time"};
  constexpr std::array<std::string_view, 5> kOfBlocks{"k", "access_cycles", "transfer", "deadline", "idle"};
  for (const auto& [name, value] : options.values) {
    const bool clocks = std::ranges::find(kOfClocks, name) != kOfClocks.end();
    const bool blocks = std::ranges::find(kOfBlocks, name) != kOfBlocks.end();
    if (study == Study::kBlocks ? clocks : blocks)
      throw core::InputError(fmt::format("gpusim: error: --option {} has no effect with study={}", name,
                                         study == Study::kBlocks ? "blocks" : "clocks, the default"));
  }
}

}  // namespace

Choice read_choice(const ModelOptions& options) {
  constexpr std::array<std::string_view, 9> kKnown{"variant",       "study",    "host_time", "plot", "k",
                                                   "access_cycles", "transfer", "deadline",  "idle"};
  require_known_options(options, "energy", kKnown);
  Choice c;
  c.paper = option_is_second(options, "variant", {"extended", "paper"});
  c.study = option_is_second(options, "study", {"clocks", "blocks"}) ? Study::kBlocks : Study::kClocks;
  c.host_seconds = option_positive(options, "host_time", c.host_seconds);
  Sensitivity& s = c.sensitivity;
  s.k = option_positive(options, "k", s.k);
  s.access_cycles = option_positive(options, "access_cycles", s.access_cycles);
  c.transfer = option_positive(options, "transfer", c.transfer);
  s.deadline_cycles = option_positive(options, "deadline", s.deadline_cycles);
  s.idle = option_positive(options, "idle", s.idle, true);
  c.plot = option_text(options, "plot");
  require_of_study(options, c.study);
  return c;
}

ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options) {
  const Choice choice = read_choice(options);
  std::vector<Run> runs;
  for (const Recording& recording : recordings) runs.push_back(read_run(recording, options.kernel));
  return choice.study == Study::kBlocks ? blocks_report(runs, choice) : clocks_report(runs, choice);
}

}  // namespace gpusim::analysis::energy
