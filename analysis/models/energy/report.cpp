#include "analysis/models/energy/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "analysis/models/energy/options.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::energy {
namespace {

/// An option of the other study would have no effect.
void require_of_study(const ModelOptions& options, Study study) {
  constexpr std::array<std::string_view, 3> kOfClocks{"variant", "host_time", "clocks"};
  constexpr std::array<std::string_view, 5> kOfBlocks{"k", "access_cycles", "transfer", "deadline", "idle"};
  for (const auto& [name, value] : options.values) {
    const bool clocks = std::ranges::find(kOfClocks, name) != kOfClocks.end();
    const bool blocks = std::ranges::find(kOfBlocks, name) != kOfBlocks.end();
    if (study == Study::kBlocks ? clocks : blocks)
      throw core::InputError(fmt::format("gpusim: error: --option {} has no effect with study={}", name,
                                         study == Study::kBlocks ? "blocks" : "clocks, the default"));
  }
}

/// "1380,945": MHz.
std::vector<int64_t> clocks_of(const std::string& text) {
  std::vector<int64_t> clocks;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    int64_t mhz = 0;
    const auto [rest, error] = std::from_chars(one.data(), one.data() + one.size(), mhz);
    if (error != std::errc{} || rest != one.data() + one.size() || mhz < 1 || mhz > 100'000)
      throw core::InputError(fmt::format(
          "gpusim: error: clocks: expected core clocks in MHz such as 1380,945, found '{}'", one));
    clocks.push_back(mhz * 1000);
    at = end + 1;
  }
  return clocks;
}

}  // namespace

Choice read_choice(const ModelOptions& options) {
  constexpr std::array<std::string_view, 10> kKnown{"variant", "study",         "host_time", "plot",
                                                    "k",       "access_cycles", "transfer",  "deadline",
                                                    "idle",    "clocks"};
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
  c.clocks = clocks_of(option_text(options, "clocks"));
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
