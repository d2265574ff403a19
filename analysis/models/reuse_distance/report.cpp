#include "analysis/models/reuse_distance/report.h"

#include <fmt/format.h>

#include <iterator>

#include "analysis/report/text.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis {
namespace {

std::string percent(double part, double all) {
  return all == 0 ? "-" : fmt::format("{:.2f} %", 100 * part / all);
}

}  // namespace

std::string reuse_text(const ReusePrediction& p, const WarpTraceHeader& trace, const core::MachineConfig& m) {
  std::string out =
      fmt::format("{} on {}: L1 of {} bytes, {} ways x {} bytes, {} MSHRs\n", printable(trace.kernel),
                  printable(m.gpu.name), m.l1.bytes, m.l1.ways, m.l1.line, m.l1.mshrs);
  const ReuseMisses& g = p.run.global;
  const auto line = [&](const char* name, int64_t n, const char* meaning) {
    fmt::format_to(std::back_inserter(out), "{:<15}{:>12}  {:>9}  {}\n", name, n,
                   percent(static_cast<double>(n), static_cast<double>(g.accesses())), meaning);
  };
  const auto count = [](uint64_t n) { return static_cast<int64_t>(n); };
  line("accesses", count(g.accesses()), "lines that warps' loads of global memory ask for");
  line("hits", count(g.hits), "");
  line("misses", count(g.misses()), "these are:");
  line("  compulsory", count(p.kinds.compulsory), "nothing asked for it before");
  line("  latency", count(p.kinds.latency), "it was on its way");
  line("  written", count(p.kinds.written), "a store had put it out");
  line("  capacity", count(p.kinds.capacity), "the cache is too small");
  line("  associativity", count(p.kinds.associativity), "its set was full, the cache was not");
  line("  mshr", p.mshr, "what limits to the lines on their way add, or save");
  if (p.run.local.accesses() != 0)
    fmt::format_to(std::back_inserter(out), "local memory: {} loads of lines, {} misses\n",
                   p.run.local.accesses(), p.run.local.misses());
  if (p.run.l2_sectors != 0)
    fmt::format_to(std::back_inserter(out), "L2: {} of {} sectors that loads ask for hit ({})\n",
                   p.run.l2_hits, p.run.l2_sectors,
                   percent(static_cast<double>(p.run.l2_hits), static_cast<double>(p.run.l2_sectors)));
  for (const std::string& rule : unmodelled_by_reuse(m, p.all_sms))
    out += fmt::format("not modelled: {}\n", rule);
  return out;
}

std::string reuse_json(const ReusePrediction& p, const core::MachineConfig& m) {
  std::string unmodelled;
  for (const std::string& rule : unmodelled_by_reuse(m, p.all_sms))
    unmodelled += (unmodelled.empty() ? "" : ", ") + core::json_quoted(rule);
  const ReuseMisses& g = p.run.global;
  size_t classes = p.run.distances.size();
  while (classes != 0 && p.run.distances[classes - 1] == 0) --classes;
  const auto end = p.run.distances.begin() + static_cast<ptrdiff_t>(classes);
  return fmt::format(
      "{{\"accesses\": {}, \"hits\": {}, \"misses\": {}, \"miss_rate\": {}, \"compulsory\": {}, "
      "\"capacity\": {}, \"associativity\": {}, \"latency\": {}, \"mshr\": {}, \"written\": {}, "
      "\"local_accesses\": {}, \"local_misses\": {}, \"l2_sectors\": {}, \"l2_hits\": {}, \"cycles\": {}, "
      "\"distances\": [{}], \"unmodelled\": [{}]}}\n",
      g.accesses(), g.hits, g.misses(), core::json_number(g.miss_rate()), p.kinds.compulsory,
      p.kinds.capacity, p.kinds.associativity, p.kinds.latency, p.mshr, p.kinds.written,
      p.run.local.accesses(), p.run.local.misses(), p.run.l2_sectors, p.run.l2_hits,
      core::json_number(p.run.cycles), fmt::join(p.run.distances.begin(), end, ", "), unmodelled);
}

}  // namespace gpusim::analysis
