#include "cli/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::cli {

namespace {

constexpr size_t kShown = 100;

std::string dimensions(const comp::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string source(const comp::FindingPlace& p) {
  return p.source_line == 0 ? std::string() : fmt::format(", {}:{}", p.source_file, p.source_line);
}

std::string finding_text(const comp::Finding& f) {
  const comp::FindingPlace& p = f.place;
  std::string text = fmt::format("{}:{}:{}: error: {} ({}): {}\n", p.ptx_file, p.ptx_line, p.ptx_column,
                                 comp::finding_name(f.kind), comp::check_name(f.kind), f.detail.message);
  text += fmt::format("    kernel '{}', launch {}, block {}, thread {}: `{}`{}\n", core::demangled(f.kernel),
                      f.launch, dimensions(p.block), dimensions(p.thread), p.ptx, source(p));
  if (f.has_other)
    text += fmt::format("    before it thread {}: {}:{}: `{}`{}\n", dimensions(f.other.thread),
                        f.other.ptx_file, f.other.ptx_line, f.other.ptx, source(f.other));
  if (f.count > 1) text += fmt::format("    {} times in all\n", f.count);
  return text;
}

std::string json_place(const comp::FindingPlace& p) {
  return fmt::format(
      "{{\"ptx_file\": \"{}\", \"ptx_line\": {}, \"ptx\": \"{}\", \"source_file\": \"{}\", "
      "\"source_line\": {}, \"block\": [{}, {}, {}], \"thread\": [{}, {}, {}]}}",
      core::json_escaped(p.ptx_file), p.ptx_line, core::json_escaped(p.ptx),
      core::json_escaped(p.source_file), p.source_line, p.block.x, p.block.y, p.block.z, p.thread.x,
      p.thread.y, p.thread.z);
}

std::string json_finding(const comp::Finding& f) {
  std::string out = fmt::format(
      "{{\"check\": \"{}\", \"kind\": \"{}\", \"kernel\": \"{}\", \"launch\": {}, \"count\": {}, "
      "\"message\": \"{}\", \"place\": {}, \"other\": {}",
      comp::check_name(f.kind), comp::finding_name(f.kind), core::json_escaped(f.kernel), f.launch, f.count,
      core::json_escaped(f.detail.message), json_place(f.place), f.has_other ? json_place(f.other) : "null");
  if (f.detail.bytes != 0)
    out += fmt::format(", \"space\": \"{}\", \"address\": {}, \"bytes\": {}, \"object\": \"{}\"",
                       isa::space_name(f.detail.space), f.detail.address, f.detail.bytes,
                       core::json_escaped(f.detail.object));
  return out + "}";
}

}  // namespace

std::string check_report(const comp::Simulation& simulation, const comp::SimulationResult& r) {
  std::string out;
  for (size_t i = 0; i < std::min(kShown, r.findings.size()); ++i) out += finding_text(r.findings[i]);
  if (r.findings.size() > kShown) out += fmt::format("... and {} more\n", r.findings.size() - kShown);
  return out + fmt::format("check {}: {}{} finding{}, {} occurrence{}\n", simulation.options().checks.text(),
                           r.findings_overflowed ? "more than " : "", r.findings.size(),
                           r.findings.size() == 1 ? "" : "s", r.finding_occurrences,
                           r.finding_occurrences == 1 ? "" : "s");
}

std::string check_json(const comp::Simulation& simulation, const comp::SimulationResult& r) {
  std::string out =
      fmt::format("{{\"enabled\": \"{}\", \"occurrences\": {}, \"complete\": {}, \"findings\": [",
                  simulation.options().checks.text(), r.finding_occurrences, !r.findings_overflowed);
  for (size_t i = 0; i < r.findings.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", json_finding(r.findings[i]));
  return out + "]}";
}

}  // namespace gpusim::cli
