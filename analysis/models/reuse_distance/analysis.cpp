#include "analysis/models/reuse_distance/analysis.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "analysis/models/reuse_distance/plot.h"
#include "analysis/models/reuse_distance/recording.h"
#include "analysis/models/reuse_distance/report.h"
#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace gpusim::analysis {
namespace {

ReuseOptions options_of(const ModelOptions& options) {
  static constexpr std::array<std::string_view, 3> kKnown{"without", "sm", "plot"};
  require_known_options(options, "reuse-distance", kKnown);
  ReuseOptions o;
  if (const auto without = options.values.find("without"); without != options.values.end()) {
    std::vector<std::string> names;
    std::string_view rest = without->second;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      names.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    o.with = extensions_without(names);
  }
  return o;
}

double counter(const KernelRecord& kernel, const char* name) {
  const auto at = kernel.counters.find(name);
  return at == kernel.counters.end() ? 0 : at->second;
}

Prediction miss_rate(const ReusePrediction& p, const KernelRecord& k) {
  const double hits = counter(k, "l1_global_load_hit"), misses = counter(k, "l1_global_load_miss");
  const auto accesses = static_cast<double>(p.run.global.accesses());
  Prediction out{k.index,
                 k.name,
                 "l1_global_load_miss_rate",
                 "",
                 p.run.global.miss_rate(),
                 hits + misses == 0 ? 0 : misses / (hits + misses),
                 true,
                 {}};
  const auto term = [&](const char* name, double predicted, double simulated) {
    out.terms.push_back({name, accesses == 0 ? 0 : predicted / accesses,
                         std::isnan(simulated) || hits + misses == 0 ? NAN : simulated / (hits + misses)});
  };
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  term("compulsory", number(p.kinds.compulsory), NAN);
  term("latency", number(p.kinds.latency), counter(k, "l1_merged_misses"));
  term("written", number(p.kinds.written), NAN);
  term("capacity", number(p.kinds.capacity), NAN);
  term("associativity", number(p.kinds.associativity), NAN);
  term("mshr", static_cast<double>(p.mshr), NAN);
  return out;
}

/// The model's clock, which orders accesses: the time of a kernel as far as memory decides it.
Prediction time_of(const ReusePrediction& p, const KernelRecord& k, const core::MachineConfig& machine) {
  return {k.index,
          k.name,
          "cycles",
          "core cycles",
          static_cast<double>(machine.gpu.launch_cycles) + p.run.cycles,
          static_cast<double>(k.cycles),
          false,
          {}};
}

/// Launches from `first` to before `last`, which are not asked for, leave their lines in L2 for those that
/// are. One that the model cannot read leaves none.
void leave_in_l2(const Recording& recording, uint64_t first, uint64_t last, const ReuseOptions& options) {
  for (uint64_t index = first; index < last; ++index) {
    try {
      (void)run_reuse(recording.machine(), recorded_warp_trace(recording, recording.kernel(index)), options);
    } catch (const core::RecordError&) {
    }
  }
}

}  // namespace

ReuseExtensions extensions_without(std::span<const std::string> names) {
  static constexpr std::array<std::string_view, 5> kNames{"threads", "latency", "associativity", "mshrs",
                                                          "divergence"};
  ReuseExtensions with;
  const std::array<bool*, 5> flags{&with.threads, &with.latency, &with.associativity, &with.mshrs,
                                   &with.divergence};
  for (const std::string& name : names) {
    const auto at = std::ranges::find(kNames, name);
    if (at == kNames.end())
      throw core::InputError(fmt::format("gpusim: error: there is no extension '{}' to leave out; {}", name,
                                         core::name_hint(name, kNames)));
    *flags[static_cast<size_t>(at - kNames.begin())] = false;
  }
  return with;
}

int64_t modelled_sm(std::string_view name, std::string_view option, const core::MachineConfig& machine) {
  if (name == "auto") return ReuseOptions::kOneOfEachKind;
  int64_t sm = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sm);
  if (error != std::errc() || end != name.data() + name.size() || sm < 0)
    throw core::InputError(fmt::format("gpusim: error: {}: expected the number of an SM or auto, found '{}'",
                                       option, printable(name)));
  if (sm >= machine.gpu.sms)
    throw core::InputError(fmt::format("gpusim: error: {} {}: {} has SMs 0 to {}", option, sm,
                                       machine.gpu.name, machine.gpu.sms - 1));
  return sm;
}

ModelReport analyze_reuse(std::span<const Recording> recordings, const ModelOptions& options) {
  ReuseOptions o = options_of(options);
  const auto plot = options.values.find("plot");
  if (plot != options.values.end() && plot->second.empty())
    throw core::InputError("gpusim: error: option plot: expected the name of an SVG file");
  ModelReport report;
  std::vector<std::pair<std::string, Prediction>> rates;
  for (const Recording& recording : recordings) {
    ReuseMemory memory(recording.machine(), static_cast<uint32_t>(recording.machine().gpu.sms));
    o.memory = &memory;
    if (const auto sm = options.values.find("sm"); sm != options.values.end())
      o.only_sm = modelled_sm(sm->second, "option sm", recording.machine());
    const std::vector<uint64_t> chosen = recording.select(options.kernel);
    uint64_t next = 0;
    for (const uint64_t index : chosen) {
      if (recording.machine().l1.bytes == 0)
        throw core::RecordError(fmt::format("'{}': {} has no L1 data cache, which the model predicts",
                                            recording.path(), recording.machine().gpu.name));
      if (o.only_sm == ReuseOptions::kAllSms) leave_in_l2(recording, next, index, o);
      next = index + 1;
      const KernelRecord kernel = recording.kernel(index);
      const WarpTrace trace = recorded_warp_trace(recording, kernel);
      const ReusePrediction p = predict_reuse(recording.machine(), trace, o);
      report.predictions.push_back(miss_rate(p, kernel));
      report.text += reuse_text(p, trace.header(), recording.machine());
      const Prediction l1 = report.predictions.back();
      rates.emplace_back(recording.path(), l1);
      report.text += fmt::format("miss rate: predicted {:.2f} %, simulated {:.2f} %: {:+.2f} points\n",
                                 100 * l1.predicted, 100 * l1.simulated, 100 * l1.error());
      report.predictions.push_back(time_of(p, kernel, recording.machine()));
      const Prediction& time = report.predictions.back();
      report.text += fmt::format(
          "time, if memory decides it: predicted {:.0f} core cycles, simulated {:.0f}: {:+.1f} %\n",
          time.predicted, time.simulated, 100 * time.error());
      if (const double reads = counter(kernel, "l2_read_sectors"); reads != 0 && p.run.l2_sectors != 0) {
        report.predictions.push_back(
            {index,
             kernel.name,
             "l2_read_hit_rate",
             "",
             static_cast<double>(p.run.l2_hits) / static_cast<double>(p.run.l2_sectors),
             counter(kernel, "l2_read_hit_sectors") / reads,
             true,
             {}});
        const Prediction& l2 = report.predictions.back();
        report.text += fmt::format("L2, reads: predicted {:.2f} % hit, simulated {:.2f} %: {:+.2f} points\n",
                                   100 * l2.predicted, 100 * l2.simulated, 100 * l2.error());
      }
    }
  }
  if (plot != options.values.end()) {
    std::vector<MissBars> bars;
    bars.reserve(rates.size());
    for (const auto& [file, rate] : rates) bars.push_back({file, &rate});
    draw_svg(
        miss_plot(bars, fmt::format("{}: L1 misses of global loads", recordings.front().machine().gpu.name)),
        plot->second);
    report.text += fmt::format("drawn: {}\n", plot->second);
  }
  return report;
}

}  // namespace gpusim::analysis
