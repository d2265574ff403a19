#include "analysis/models/latency_hidden/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/models/latency_hidden/lines.h"
#include "analysis/report/text.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis::latency_hidden {
namespace {

/// What a functional run counts of a kernel's memory accesses, over all warps.
struct Moved {
  double transactions = 0, requested = 0, transferred = 0;
};

Moved moved_by(const Subject& s) {
  Moved m;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const OpCounts& op : s.code.counts) {
    if (op.transferred <= 0) continue;
    m.transactions += warps * op.transactions;
    m.requested += warps * op.requested;
    m.transferred += warps * op.transferred;
  }
  return m;
}

double share(double part, double all) { return all > 0 ? part / all : 0; }

/// How memory takes the accesses, as it enters the prediction.
std::string memory_lines(const PredictedMachine& m, const Subject& s, const Counts& c, double followed) {
  const Moved moved = moved_by(s);
  std::string out = fmt::format(
      "  counted by a functional run: {:.0f} operations of warps, {:.0f} accesses to memory, {:.0f} "
      "transactions of {:.0f} bytes ({:.0f} asked for)\n",
      c.executed, c.accesses, moved.transactions, moved.transferred, moved.requested);
  if (c.requests <= 0) return out;
  out += fmt::format(
      "  followed through memory ({:.1f} % of the accesses): {:.3f} rows opened for a request, busiest "
      "partition {:.2f} times the mean",
      100 * followed, share(c.rows, c.requests),
      share(c.to_busiest * static_cast<double>(m.config.l2.partitions), c.requests));
  if (c.pages > 0)
    out += fmt::format(", {:.2f} % of pages unknown to the SM, {:.2f} % to all",
                       100 * share(c.sm_page_misses, c.pages), 100 * share(c.page_misses, c.pages));
  if (m.config.l1.bytes != 0) out += fmt::format(", L1 hits {:.1f} %", 100 * share(c.l1_hits, c.l1_loads));
  if (m.config.l2.bytes != 0)
    out += fmt::format(", L2 hits {:.1f} %, {:.0f} bytes of DRAM", 100 * share(c.l2_read_hits, c.l2_reads),
                       c.dram_read + c.dram_written);
  return out + "\n";
}

std::string text_of(const PredictedMachine& m, const FunctionalKernel& k, const Subject& s, const Estimate& e,
                    const Breakdown& breakdown, const std::vector<Change>& changes) {
  std::string out = fmt::format("predict: kernel {} {}  grid {}  block {}  ({})\n", k.launch,
                                printable(core::short_kernel_name(k.name)), k.grid, k.block, m.sheet.path);
  // What makes the numbers below worth less stands above them.
  if (!m.note.empty()) out += fmt::format("  note: {}\n", m.note);
  for (const std::string& what : k.unmodelled) out += fmt::format("  not modelled: {}\n", what);
  out += time_line("predicted", e.cycles, s.parameters.core_hz, k.counts.flops, std::nullopt);
  out += memory_lines(m, s, k.counts, k.followed);
  out += rounds_lines(s, e, "functional run");
  out += segment_lines(s.code, breakdown, false);
  out += factor_and_changes(e, changes);
  return out + "\n";
}

std::string json_of(const PredictedMachine& m, const FunctionalKernel& k, const Subject& s, const Estimate& e,
                    const Breakdown& breakdown, const std::vector<Change>& changes) {
  std::string counts, unmodelled;
  for (const CountField& f : count_fields())
    counts += fmt::format("{}\"{}\": {}", counts.empty() ? "" : ", ", f.name,
                          core::json_number(k.counts.*f.member));
  for (const std::string& what : k.unmodelled)
    unmodelled += (unmodelled.empty() ? "" : ", ") + core::json_quoted(what);
  const double seconds = e.cycles / s.parameters.core_hz;
  const Moved moved = moved_by(s);
  return fmt::format(
      "{{\"kernel\": {}, \"name\": {}, \"grid\": {}, \"block\": {}, \"parameters\": {}, \"note\": {}, "
      "\"cycles\": {}, \"seconds\": {}, \"gflops\": {}, \"round\": {}, \"tail\": {}, \"overhead\": {}, "
      "\"counts\": {{{}, \"transactions\": {}, \"requested\": {}, \"transferred\": {}}}, \"followed\": {}, "
      "{}, \"segments\": [{}], \"idle\": {}, \"changes\": [{}], \"unmodelled\": [{}]}}",
      k.launch, core::json_quoted(k.name), core::json_quoted(k.grid), core::json_quoted(k.block),
      core::json_quoted(m.sheet.path), m.note.empty() ? "null" : core::json_quoted(m.note),
      core::json_number(e.cycles), core::json_number(seconds),
      core::json_number(k.counts.flops / seconds / 1e9), core::json_number(e.round),
      core::json_number(e.tail), core::json_number(e.overhead), counts, core::json_number(moved.transactions),
      core::json_number(moved.requested), core::json_number(moved.transferred), core::json_number(k.followed),
      rounds_json(s, e), segments_json(s.code, breakdown, false), core::json_number(breakdown.idle_predicted),
      changes_json(e, changes), unmodelled);
}

}  // namespace

PredictedMachine predicted_machine(const core::MachineConfig& config, const std::string& sheet,
                                   uint64_t sms) {
  PredictedMachine m;
  m.config = config;
  m.sheet = sheet.empty() ? known_data_sheet(config.gpu.name) : read_data_sheet(sheet);
  m.note = sheet.empty() ? note_of_known_sheet(config) : note_of_sheet(m.sheet, config);
  m.sms = sms != 0 ? sms : static_cast<uint64_t>(config.gpu.sms);
  return m;
}

PredictedKernel predict_kernel(const PredictedMachine& machine, const FunctionalKernel& kernel) {
  const Subject s = subject_of(machine.config, kernel.code, kernel.counts, machine.sheet, machine.sms);
  const Estimate e = estimate(s.workload, s.parameters);
  const Breakdown breakdown = break_down(s, e, nullptr);
  const std::vector<Change> changes =
      changes_that_help({machine.config, kernel.counts, machine.sheet, machine.sms}, s, e);
  return {text_of(machine, kernel, s, e, breakdown, changes),
          json_of(machine, kernel, s, e, breakdown, changes), e.cycles};
}

}  // namespace gpusim::analysis::latency_hidden
