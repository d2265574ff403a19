#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "analysis/source/annotated_source.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {
namespace {

constexpr size_t kTextWidth = 90, kCausesShown = 3;
constexpr int kLanes = 32;

double ratio(uint64_t a, uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

std::string bytes_text(uint64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (bytes == 0) return "";
  if (b < 1e3) return fmt::format("{} B", bytes);
  if (b < 1e6) return fmt::format("{:.4g} kB", b / 1e3);
  if (b < 1e9) return fmt::format("{:.4g} MB", b / 1e6);
  return fmt::format("{:.4g} GB", b / 1e9);
}
std::string count_text(uint64_t n) { return n == 0 ? "" : fmt::format("{}", n); }

constexpr const char* kRow = "  {:>8}{:>12}{:>7}{:>11}{:>11}{:>9}{:>10}{:>9}{:>9}{:>10}{:>7}  {}\n";

std::string heading(const char* what) {
  return fmt::format(kRow, "slots", "executed", "lanes", "asked", "moved", "sect/req", "conflicts", "replays",
                     "at/sect", "divergent", "line", what);
}

std::string counts_row(const LineCounts& c, uint64_t all, uint64_t line, std::string text) {
  text = printable(text);
  if (text.size() > kTextWidth) text = text.substr(0, kTextWidth - 3) + "...";
  std::string out = fmt::format(
      kRow, all == 0 ? "" : fmt::format("{:.2f} %", 100 * ratio(c.slots, all)), c.executed,
      c.executed == 0 ? "" : fmt::format("{:.1f}", ratio(c.active_lanes, c.executed)),
      bytes_text(c.asked_bytes), bytes_text(c.moved_bytes),
      c.requests == 0 ? "" : fmt::format("{:.2f}", ratio(c.sectors, c.requests)),
      count_text(c.bank_conflicts), count_text(c.other_replays),
      c.atomic_transactions == 0 ? "" : fmt::format("{:.2f}", ratio(c.atomic_lanes, c.atomic_transactions)),
      count_text(c.divergent), line == 0 ? "?" : fmt::format("{}", line), text);
  std::string causes;
  size_t shown = 0;
  for (const CauseSlots& cause : c.causes) {
    const double share = all == 0 ? 0 : 100 * ratio(cause.slots, all);
    if (share < 0.005 || shown == kCausesShown) break;
    causes += fmt::format("{}{} {:.2f} %", shown++ == 0 ? "" : ", ", printable(cause.name), share);
  }
  if (c.awaited != 0 && all != 0)
    causes += fmt::format("{}its data was awaited for {:.2f} %", causes.empty() ? "" : "; ",
                          100 * ratio(c.awaited, all));
  if (!causes.empty()) out += fmt::format("            {}\n", causes);
  if (c.atomic_time > 0 && c.atomic_transactions != 0)
    out += fmt::format(
        "            its atomics take their unit of the busiest memory partition {:.2f} % of the time: "
        "{:.2f} "
        "sectors, or lanes on one word, one after another for a transaction\n",
        100 * c.atomic_time, ratio(c.atomic_words, c.atomic_transactions));
  return out;
}

/// A file of the source, from its first line with operations to its last.
std::string file_text(const std::vector<AnnotatedLine>& lines, size_t first, size_t end, uint64_t all,
                      const SourceTexts& texts) {
  const std::string& file = lines[first].place.file;
  const std::vector<std::string> text = texts.lines(file);
  std::string out = fmt::format("{}{}\n", file.empty() ? "source" : printable(file),
                                text.empty() ? " (text not found: --source-path FOLDER)" : "");
  out += heading("source");
  uint64_t next = 0;
  for (size_t i = first; i < end; ++i) {
    const uint64_t line = lines[i].place.line;
    // What stands between two lines that are near, too.
    constexpr uint64_t kNear = 8;
    if (next != 0 && line > next && line - next <= kNear)
      for (; next < line && next <= text.size(); ++next)
        out += fmt::format("{:>107}  {}\n", next, printable(text[next - 1]).substr(0, kTextWidth));
    const std::string own = line == 0 ? "(no line of the source)" : line <= text.size() ? text[line - 1] : "";
    out += counts_row(lines[i].counts, all, line, own);
    next = line + 1;
  }
  return out;
}

std::string counts_json(const LineCounts& c) {
  std::string causes;
  for (const CauseSlots& cause : c.causes)
    causes += fmt::format("{}{}: {}", causes.empty() ? "" : ", ", core::json_quoted(cause.name), cause.slots);
  return fmt::format(
      "\"slots\": {}, \"causes\": {{{}}}, \"awaited_slots\": {}, \"executed\": {}, \"active_lanes\": {}, "
      "\"divergent\": {}, \"requests\": {}, \"sectors\": {}, \"asked_bytes\": {}, \"moved_bytes\": {}, "
      "\"bank_conflicts\": {}, \"other_replays\": {}, \"atomics\": {}, \"atomic_lanes\": {}, "
      "\"atomic_transactions\": {}, \"atomic_words\": {}, \"atomic_time\": {}",
      c.slots, causes, c.awaited, c.executed, c.active_lanes, c.divergent, c.requests, c.sectors,
      c.asked_bytes, c.moved_bytes, c.bank_conflicts, c.other_replays, c.atomics, c.atomic_lanes,
      c.atomic_transactions, c.atomic_words, core::json_number(c.atomic_time));
}

std::string lines_json(const std::vector<AnnotatedLine>& lines) {
  std::string out = "[";
  for (const AnnotatedLine& line : lines)
    out += fmt::format("{}{{\"file\": {}, \"line\": {}, \"ptx\": {}, {}}}", out.size() == 1 ? "" : ", ",
                       core::json_quoted(line.place.file), line.place.line, core::json_quoted(line.ptx),
                       counts_json(line.counts));
  return out + "]";
}

}  // namespace

std::string annotated_text(const KernelRecord& kernel, const AnnotatedSource& source,
                           const SourceTexts& texts) {
  std::string out = kernel_title(kernel);
  out += fmt::format(
      "  {} issue slots; {:.2f} % without a warp stand at no line. lanes: of {}; sect/req: 32-byte "
      "sectors\n  for an access of a warp; conflicts: extra steps of shared memory; at/sect: lanes of "
      "global atomics for a transaction\n",
      source.slots, source.slots == 0 ? 0 : 100 * ratio(source.nowhere, source.slots), kLanes);
  for (size_t first = 0, end = 0; first < source.lines.size(); first = end) {
    for (end = first;
         end < source.lines.size() && source.lines[end].place.file == source.lines[first].place.file;)
      ++end;
    out += file_text(source.lines, first, end, source.slots, texts);
  }
  out += "PTX\n" + heading("statement");
  for (const AnnotatedLine& s : source.statements)
    out += counts_row(s.counts, source.slots, s.place.line, s.ptx);
  return out;
}

std::string annotated_json(const KernelRecord& kernel, const AnnotatedSource& source) {
  return fmt::format(
      "{{\"kernel\": {}, \"name\": {}, \"demangled\": {}, \"finished\": {}, \"grid\": {}, \"block\": {}, "
      "\"cycles\": {}, \"slots\": {}, \"slots_nowhere\": {}, \"lines\": {}, \"statements\": {}}}",
      kernel.index, core::json_quoted(kernel.name), core::json_quoted(core::demangled(kernel.name)),
      kernel.finished, core::json_quoted(kernel.grid), core::json_quoted(kernel.block), kernel.cycles,
      source.slots, source.nowhere, lines_json(source.lines), lines_json(source.statements));
}

}  // namespace gpusim::analysis
