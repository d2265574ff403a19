// `gpusim reuse`: the reuse-distance model on a memory trace.
#include "analysis/reuse_analysis.h"
#include "analysis/reuse_reference.h"
#include "analysis/reuse_report.h"
#include "analysis/text.h"
#include "cli/commands.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/units.h"

namespace gpusim::cli {

namespace {

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

}  // namespace

void add_reuse_command(CLI::App& app, ReuseArguments& a, int& code) {
  CLI::App* command = app.add_subcommand(
      "reuse", "Misses of a first-level cache by kind, from a memory trace (reuse-distance model)");
  command
      ->add_option("--trace", a.trace,
                   "Trace: 'blocksize: X Y Z', then 'THREAD DIRECTION ADDRESS BYTES' per access")
      ->required();
  command->add_option("--line", a.line, "Bytes of a line (default 128)")->check(CLI::Range(1u, 1u << 20));
  command->add_option("--size", a.size, "Size of the cache (default 16K)");
  command->add_option("--ways", a.ways, "Lines of a set (default 4)")->check(CLI::Range(1u, 1u << 16));
  command->add_option("--mshrs", a.mshrs, "Lines on their way at most (default 64)")
      ->check(CLI::Range(1u, 1u << 20));
  command->add_option("--latency", a.latency, "Cycles of a miss (default 100)")
      ->check(CLI::Range(0u, 1u << 20));
  command->add_option("--sigma", a.sigma, "Spread of that latency in cycles (default 5)")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--seed", a.seed, "Of the latencies (default 1)");
  command->add_flag("--reference", a.reference, "Count as the published program does");
  command->add_option("--config", a.config,
                      "Machine: path or name (without --reference; the cache's options are then its keys)");
  command->add_option("--set", a.sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--sm", a.sm, "Model this SM only (default: all)")->check(CLI::Range(0, 100000));
  command
      ->add_option("--without", a.without,
                   "Leave out extensions, separated by commas: threads, latency, associativity, mshrs, "
                   "divergence")
      ->delimiter(',');
  command->add_flag("--json", a.json, "Print one JSON object");
  command->callback([&a, &code] { code = reuse_command(a); });
}

namespace {

int reference_command(const ReuseArguments& a) {
  const analysis::ReuseCache cache = cache_of(a);
  const analysis::Trace trace = analysis::parse_trace(read_file(a.trace), a.trace);
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

analysis::ReuseOptions options_of(const ReuseArguments& a) {
  analysis::ReuseOptions o;
  o.with = analysis::extensions_without(a.without);
  o.only_sm = a.sm;
  return o;
}

int default_command(const ReuseArguments& a) {
  if (a.config.empty())
    throw core::InputError(
        "gpusim: error: --config names the machine whose first-level cache is predicted (or --reference "
        "counts as the published program does)");
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  if (a.sm >= machine.gpu.sms)
    throw core::InputError(
        fmt::format("gpusim: error: --sm {}: {} has SMs 0 to {}", a.sm, machine.gpu.name, machine.gpu.sms - 1));
  const analysis::WarpTrace trace(read_file(a.trace), a.trace);
  const analysis::ReusePrediction p = analysis::predict_reuse(machine, trace, options_of(a));
  fmt::print("{}", a.json ? analysis::reuse_json(p) : analysis::reuse_text(p, trace.header(), machine));
  return kGood;
}

}  // namespace

int reuse_command(const ReuseArguments& a) { return a.reference ? reference_command(a) : default_command(a); }

}  // namespace gpusim::cli
