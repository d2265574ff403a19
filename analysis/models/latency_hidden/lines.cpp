#include "analysis/models/latency_hidden/lines.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/report/text.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis::latency_hidden {

std::string place_of(const Code& code, uint32_t pc) {
  const isa::PtxStatement& statement = code.image.ptx[code.image.ops[pc].ptx_index];
  return fmt::format("line {} `{}`", statement.loc.line, printable(statement.text));
}

std::string time_line(const std::string& what, double cycles, double core_hz, double flops,
                      std::optional<double> error) {
  const double seconds = cycles / core_hz;
  return fmt::format("  {:<24}{:>14.0f} cycles {:>12.3f} us {:>9.2f} GFLOP/s{}\n", what, cycles,
                     1e6 * seconds, flops / seconds / 1e9,
                     error ? fmt::format("  error {:+.1f} %", 100 * *error) : "");
}

std::string rounds_lines(const Subject& subject, const Estimate& e, const char* counted) {
  return fmt::format(
      "  {} blocks on an SM (limited by {}), {} of them in a full round of {:.0f} cycles, {:.3f} rounds "
      "({:.0f})\n"
      "  {:.0f} segments of a warp; times: executions per warp that the {} counted\n",
      subject.occupancy.blocks_per_sm, subject.occupancy.limiter, e.resident, e.round, e.rounds,
      std::ceil(e.rounds), count_of(subject.workload.segments), counted);
}

std::string segment_lines(const Code& code, const Breakdown& breakdown, bool simulated) {
  std::string out = fmt::format(
      "  segments (ILP, wait: cycles of one warp; compute, exposed{}: cycles of the kernel)\n"
      "      times      ILP     wait    bytes   factor     compute     exposed   predicted{}  ends "
      "with\n",
      simulated ? ", simulated" : "", simulated ? "   simulated" : "");
  const auto last = [simulated](double cycles) {
    return simulated ? fmt::format("{:>12.0f}", cycles) : std::string();
  };
  for (const SegmentTime& s : breakdown.segments)
    out += fmt::format("  {:>9.2f}{:>9.1f}{:>9.1f}{:>9.1f}{:>9.3f}{:>12.0f}{:>12.0f}{:>12.0f}{}  {} at {}\n",
                       s.weight, s.ilp, s.latency, s.bytes, s.factor, s.compute, s.exposed, s.predicted(),
                       last(s.simulated), wait_name(s.end), place_of(code, s.last));
  out += fmt::format("  {:<69}{:>12.0f}{}  launch, tail, last stores\n", "  SMs without a warp",
                     breakdown.idle_predicted, last(breakdown.idle_simulated));
  return out;
}

std::string factor_and_changes(const Estimate& e, const std::vector<Change>& changes) {
  std::string out = fmt::format(
      "  latency-hidden factor of the kernel {:.3f}: {:.0f} of {:.0f} cycles of latency of a round are "
      "exposed\n",
      e.factor(), e.full.exposed, e.full.latency);
  if (changes.empty()) out += "  nothing that the model knows would make it faster\n";
  for (const Change& c : changes)
    out += fmt::format("  {:<17}{:>6.2f}x faster, factor {:.3f}: {}\n", c.name, e.cycles / c.cycles, c.factor,
                       c.what);
  return out;
}

std::string rounds_json(const Subject& subject, const Estimate& e) {
  return fmt::format(
      "\"occupancy\": {{\"blocks_per_sm\": {}, \"limiter\": \"{}\", \"resident\": {}}}, "
      "\"rounds\": {}, \"full_rounds\": {}, \"segment_count\": {}, \"factor\": {}, \"exposed\": {}, "
      "\"latency\": {}",
      subject.occupancy.blocks_per_sm, subject.occupancy.limiter, e.resident, core::json_number(e.rounds),
      core::json_number(std::ceil(e.rounds)), core::json_number(count_of(subject.workload.segments)),
      core::json_number(e.factor()), core::json_number(e.full.exposed), core::json_number(e.full.latency));
}

std::string segments_json(const Code& code, const Breakdown& breakdown, bool simulated) {
  std::string out;
  for (const SegmentTime& s : breakdown.segments)
    out += fmt::format(
        "{}{{\"first_pc\": {}, \"last_pc\": {}, \"ends_with\": \"{}\", \"ptx_line\": {}, \"times\": {}, "
        "\"ilp\": {}, "
        "\"wait\": {}, \"bytes\": {}, \"factor\": {}, \"compute\": {}, \"exposed\": {}, \"predicted\": "
        "{}{}}}",
        out.empty() ? "" : ", ", s.first, s.last, wait_name(s.end),
        code.image.ptx[code.image.ops[s.last].ptx_index].loc.line, core::json_number(s.weight),
        core::json_number(s.ilp), core::json_number(s.latency), core::json_number(s.bytes),
        core::json_number(s.factor), core::json_number(s.compute), core::json_number(s.exposed),
        core::json_number(s.predicted()),
        simulated ? fmt::format(", \"simulated\": {}", core::json_number(s.simulated)) : "");
  return out;
}

std::string changes_json(const Estimate& e, const std::vector<Change>& changes) {
  std::string out;
  for (const Change& c : changes)
    out += fmt::format(
        "{}{{\"name\": \"{}\", \"what\": \"{}\", \"cycles\": {}, \"speedup\": {}, \"factor\": {}}}",
        out.empty() ? "" : ", ", c.name, core::json_escaped(c.what), core::json_number(c.cycles),
        core::json_number(e.cycles / c.cycles), core::json_number(c.factor));
  return out;
}

}  // namespace gpusim::analysis::latency_hidden
