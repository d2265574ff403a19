// `gpusim reuse`: the reuse-distance model on a memory trace.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "analysis/models/reuse_distance/analysis.h"
#include "analysis/models/reuse_distance/reference.h"
#include "analysis/models/reuse_distance/report.h"
#include "analysis/models/reuse_distance/sweep.h"
#include "analysis/report/text.h"
#include "cli/commands.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::cli {

namespace {

struct ReuseArguments {
  std::string trace, config, size = "16K", sm;
  std::vector<std::string> sets, without, sweeps, after;
  uint32_t line = 128, ways = 4, mshrs = 64, latency = 100;
  double sigma = 5;
  uint64_t seed = 1;
  bool reference = false, json = false;
};

std::string percent(uint64_t part, uint64_t all) {
  return all == 0 ? "-"
                  : fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

analysis::ReuseCache cache_of(const ReuseArguments& a) {
  const auto bytes = core::parse_size(a.size);
  if (!bytes || *bytes <= 0)
    throw core::InputError(
        fmt::format("gpusim: error: --size: expected a size such as 16K, found '{}'", a.size));
  const uint64_t way = uint64_t{a.line} * a.ways;
  const auto size = static_cast<uint64_t>(*bytes);
  if (size % way != 0 || size / way > uint64_t{1} << 24)
    throw core::InputError(fmt::format(
        "gpusim: error: --size {}: not a whole number of sets (1 to 2^24) of {} lines of {} bytes", a.size,
        a.ways, a.line));
  analysis::ReuseCache cache;
  cache.line = a.line;
  cache.ways = a.ways;
  cache.sets = static_cast<uint32_t>(size / way);
  cache.mshrs = a.mshrs;
  cache.latency = a.latency;
  cache.sigma = a.sigma;
  return cache;
}

int reference_command(const ReuseArguments& a) {
  const analysis::ReuseCache cache = cache_of(a);
  const analysis::Trace trace =
      analysis::parse_trace(core::read_text_file(a.trace, core::kMaxTraceBytes), a.trace);
  const analysis::ReuseCounts c = analysis::reference_reuse(trace, cache, a.seed);
  if (a.json) {
    fmt::print(
        "{{\"accesses\": {}, \"hits\": {}, \"misses\": {}, \"compulsory\": {}, \"capacity\": {}, "
        "\"associativity\": {}, "
        "\"latency\": {}, \"mshr\": {}}}\n",
        c.accesses, c.hits, c.misses, c.compulsory, c.capacity, c.associativity, c.latency, c.mshr);
    return kGood;
  }
  const auto line = [&](const char* name, uint64_t n, const char* meaning) {
    fmt::print("{:<15}{:>12}  {:>8}  {}\n", name, n, percent(n, c.accesses), meaning);
  };
  fmt::print("{}: cache of {} sets x {} ways x {} bytes, {} MSHRs, latency {}, sigma {}\n", a.trace,
             cache.sets, cache.ways, cache.line, cache.mshrs, cache.latency, cache.sigma);
  line("accesses", c.accesses, "after coalescing");
  line("hits", c.hits, "");
  line("misses", c.misses, "");
  line("compulsory", c.compulsory, "the line's first use");
  line("capacity", c.capacity, "the cache is too small");
  line("associativity", c.associativity, "its set is full, the cache is not");
  line("latency", c.latency, "the line was still on its way");
  line("mshr", c.mshr, "too few MSHRs");
  return kGood;
}

analysis::ReuseOptions options_of(const ReuseArguments& a, const core::MachineConfig& machine) {
  analysis::ReuseOptions o;
  o.with = analysis::extensions_without(a.without);
  if (!a.sm.empty()) o.only_sm = analysis::modelled_sm(a.sm, "--sm", machine);
  return o;
}

constexpr size_t kMostSweeps = 4, kMostPoints = 4096;

analysis::WarpTrace load_trace(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) {
    analysis::TraceBytes bytes = analysis::TraceBytes::of_file(file);
    if (analysis::WarpTrace::has_signature(bytes.glance(0, std::min<uint64_t>(bytes.size(), 16))))
      return {std::move(bytes), file};
  }
  std::string bytes = core::read_text_file(file, core::kMaxTraceBytes);
  if (analysis::WarpTrace::has_signature(bytes)) return {analysis::TraceBytes(std::move(bytes)), file};
  return analysis::warps_of(analysis::parse_trace(bytes, file), file);
}

/// A key and the values that it takes: "l1.size=16K,32K".
struct Sweep {
  std::string key;
  std::vector<std::string> values;
};

std::vector<Sweep> sweeps_of(const ReuseArguments& a) {
  std::vector<Sweep> sweeps;
  for (const std::string& text : a.sweeps) {
    const size_t sign = text.find('=');
    if (sign == 0 || sign == std::string::npos || sign + 1 == text.size())
      throw core::InputError(
          fmt::format("gpusim: error: --sweep: expected KEY=VALUE,VALUE,..., found '{}'", text));
    Sweep& sweep = sweeps.emplace_back(Sweep{text.substr(0, sign), {}});
    for (size_t at = sign + 1; at <= text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      sweep.values.push_back(text.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return sweeps;
}

int sweep_command(const ReuseArguments& a, const analysis::WarpTrace& trace,
                  const analysis::ReuseOptions& options) {
  const std::vector<Sweep> sweeps = sweeps_of(a);
  size_t count = 1;
  for (const Sweep& s : sweeps) count *= s.values.size();
  if (count > kMostPoints)
    throw core::InputError(
        fmt::format("gpusim: error: --sweep: {} machines, at most {}", count, kMostPoints));
  const bool whole_lines = [&] {
    const core::MachineConfig base = core::load_machine(a.config, a.sets, config_folders());
    return base.l1.sector == base.l1.line;
  }();
  std::vector<core::MachineConfig> machines;
  std::vector<std::vector<std::string>> settings;
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::string> sets = a.sets, chosen;
    size_t rest = i;
    for (size_t k = sweeps.size(); k-- > 0; rest /= sweeps[k].values.size())
      chosen.insert(chosen.begin(), sweeps[k].values[rest % sweeps[k].values.size()]);
    for (size_t k = 0; k < sweeps.size(); ++k) {
      sets.push_back(sweeps[k].key + "=" + chosen[k]);
      // A cache that fetches whole lines goes on to do so.
      if (sweeps[k].key == "l1.line" && whole_lines) sets.push_back("l1.sector=" + chosen[k]);
    }
    machines.push_back(core::load_machine(a.config, sets, config_folders()));
    settings.push_back(std::move(chosen));
  }
  const std::vector<analysis::SweepPoint> points = analysis::sweep_reuse(machines, trace, options);
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    std::string row;
    for (size_t k = 0; k < sweeps.size(); ++k)
      row += a.json ? fmt::format("\"{}\": \"{}\", ", core::json_escaped(sweeps[k].key),
                                  core::json_escaped(settings[i][k]))
                    : fmt::format("{:>16}", settings[i][k]);
    const analysis::SweepPoint& p = points[i];
    out += a.json
               ? fmt::format("{}{{{}\"accesses\": {}, \"misses\": {}, \"miss_rate\": {}, \"one_pass\": {}}}",
                             i == 0 ? "" : ",\n", row, p.accesses, p.misses, core::json_number(p.miss_rate()),
                             p.one_pass)
               : fmt::format("{}{:>14}{:>14}{:>10.2f} %\n", row, p.accesses, p.misses, 100 * p.miss_rate());
  }
  if (a.json) {
    fmt::print("[{}]\n", out);
    return kGood;
  }
  for (const Sweep& s : sweeps) fmt::print("{:>16}", s.key);
  fmt::print("{:>14}{:>14}{:>12}\n{}", "accesses", "misses", "miss rate", out);
  return kGood;
}

int default_command(const ReuseArguments& a) {
  if (a.config.empty())
    throw core::InputError(
        "gpusim: error: --config names the machine whose L1 is predicted (or --reference "
        "counts as the published program does)");
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  analysis::ReuseOptions options = options_of(a, machine);
  if (a.sweeps.size() > kMostSweeps)
    throw core::InputError(fmt::format("gpusim: error: --sweep: {} keys at most", kMostSweeps));
  const analysis::WarpTrace trace = load_trace(a.trace);
  if (!a.sweeps.empty()) return sweep_command(a, trace, options);
  analysis::ReuseMemory memory(machine, static_cast<uint32_t>(machine.gpu.sms));
  if (!a.after.empty()) options.memory = &memory;
  for (const std::string& file : a.after)
    static_cast<void>(analysis::predict_reuse(machine, load_trace(file), options));
  const analysis::ReusePrediction p = analysis::predict_reuse(machine, trace, options);
  fmt::print("{}",
             a.json ? analysis::reuse_json(p, machine) : analysis::reuse_text(p, trace.header(), machine));
  return kGood;
}

int model_reuse(const ReuseArguments& a) {
  if (!a.after.empty() && (a.reference || !a.sm.empty() || !a.sweeps.empty()))
    throw core::InputError("gpusim: error: --after: goes with neither --reference, --sm nor --sweep");
  return a.reference ? reference_command(a) : default_command(a);
}

}  // namespace

void add_reuse_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ReuseArguments>();
  CLI::App* command =
      program.add_subcommand("reuse", "Misses of an L1 by kind, from a memory trace (reuse-distance model)");
  command
      ->add_option("--trace", a->trace,
                   "Trace: 'blocksize: X Y Z', then 'THREAD DIRECTION ADDRESS BYTES' per access")
      ->required();
  command
      ->add_option(
          "--after", a->after,
          "Trace of a launch before, with --warps: what it leaves in L2 is there (repeatable, in order)")
      ->allow_extra_args(false);
  command->add_option("--line", a->line, "Bytes of a line (default 128)")->check(CLI::Range(1u, 1u << 20));
  command->add_option("--size", a->size, "Size of the cache (default 16K)");
  command->add_option("--ways", a->ways, "Lines of a set (default 4)")->check(CLI::Range(1u, 1u << 16));
  command->add_option("--mshrs", a->mshrs, "Lines on their way at most (default 64)")
      ->check(CLI::Range(1u, 1u << 20));
  command->add_option("--latency", a->latency, "Cycles of a miss (default 100)")
      ->check(CLI::Range(0u, 1u << 20));
  command->add_option("--sigma", a->sigma, "Spread of that latency in cycles (default 5)")
      ->check(CLI::Range(0.0, 1e6))
      ->check([](const std::string& text) {
        return std::string(text.find_first_of("nN") == std::string::npos ? "" : "not a number");
      });
  command->add_option("--seed", a->seed, "Of the latencies (default 1)");
  command->add_flag("--reference", a->reference, "Count as the published program does");
  command->add_option("--config", a->config,
                      "Machine: path or name (without --reference; the cache's options are then its keys)");
  command->add_option("--set", a->sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--sweep", a->sweeps,
          "KEY=VALUE,VALUE,...: a row for each value of this configuration key, with several keys for "
          "each combination (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--sm", a->sm,
                      "Model this SM only; auto: one SM of each kind, for all of them (default: all)");
  command
      ->add_option("--without", a->without,
                   "Leave out extensions, separated by commas: threads, latency, associativity, mshrs, "
                   "divergence")
      ->delimiter(',');
  command->add_flag("--json", a->json, "Print one JSON object");
  command->callback([a, &code] { code = model_reuse(*a); });
}

}  // namespace gpusim::cli
