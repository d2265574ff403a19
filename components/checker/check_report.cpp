#include "components/checker/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::comp {

namespace {

constexpr size_t kShown = 100;

std::string dimensions(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string source(const FindingPlace& p) {
  const std::string place = core::source_place(p.source.user, p.source.written);
  return place.empty() ? place : ", " + place;
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      out += text[at];
      continue;
    }
    while (at + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[at + 1])) != 0) ++at;
    out += '0';
  }
  return out;
}

/// "ld.global.u32" of a statement, without its guard.
std::string operation(std::string_view ptx) {
  if (ptx.starts_with('@')) ptx.remove_prefix(std::min(ptx.size(), ptx.find(' ') + 1));
  return std::string(ptx.substr(0, ptx.find(' ')));
}

std::string json_place(const FindingPlace& p) {
  return fmt::format(
      "{{\"ptx_file\": \"{}\", \"ptx_line\": {}, \"ptx\": \"{}\", \"source_file\": \"{}\", "
      "\"source_line\": {}, \"written_file\": \"{}\", \"written_line\": {}, \"block\": [{}, {}, {}], "
      "\"thread\": [{}, {}, {}]}}",
      core::json_escaped(p.ptx_file), p.ptx_line, core::json_escaped(p.ptx),
      core::json_escaped(p.source.user.file), p.source.user.line, core::json_escaped(p.source.written.file),
      p.source.written.line, p.block.x, p.block.y, p.block.z, p.thread.x, p.thread.y, p.thread.z);
}

std::string json_finding(const Finding& f) {
  std::string out = fmt::format(
      "{{\"check\": \"{}\", \"kind\": \"{}\", \"kernel\": \"{}\", \"launch\": {}, \"count\": {}, "
      "\"message\": \"{}\", \"place\": {}, \"other\": {}",
      check_name(f.kind), finding_name(f.kind), core::json_escaped(f.kernel), f.launch, f.count,
      core::json_escaped(f.detail.message), json_place(f.place), f.has_other ? json_place(f.other) : "null");
  if (f.detail.bytes != 0)
    out += fmt::format(", \"space\": \"{}\", \"address\": {}, \"bytes\": {}, \"object\": \"{}\"",
                       isa::space_name(f.detail.space), f.detail.address, f.detail.bytes,
                       core::json_escaped(f.detail.object));
  return out + "}";
}

}  // namespace

std::string finding_text(const Finding& f) {
  const FindingPlace& p = f.place;
  std::string text = fmt::format("{}:{}:{}: error: {} ({}): {}\n", p.ptx_file, p.ptx_line, p.ptx_column,
                                 finding_name(f.kind), check_name(f.kind), f.detail.message);
  text += fmt::format("    kernel '{}', launch {}, block {}, thread {}: `{}`{}\n", core::demangled(f.kernel),
                      f.launch, dimensions(p.block), dimensions(p.thread), p.ptx, source(p));
  if (f.has_other)
    text += fmt::format("    before it thread {}: {}:{}: `{}`{}\n", dimensions(f.other.thread),
                        f.other.ptx_file, f.other.ptx_line, f.other.ptx, source(f.other));
  if (f.count > 1) text += fmt::format("    the first of {} occurrences\n", f.count);
  return text;
}

std::vector<std::string> finding_texts(std::span<const Finding> findings) {
  // Kind, kernel and line, of a race also the line of the access before; what is said, but for its numbers,
  // and the operation: a line may have several mistakes.
  using Line = std::tuple<FindingKind, std::string, std::string, uint32_t, std::string, uint32_t, std::string,
                          std::string>;
  struct Group {
    const Finding* first = nullptr;
    uint64_t statements = 0, occurrences = 0;
  };
  std::vector<Group> groups;
  std::map<Line, size_t> known;
  for (const Finding& f : findings) {
    const core::SourceLine &at = f.place.source.user, &other = f.other.source.user;
    size_t group = groups.size();
    if (at.line != 0)
      group = known
                  .try_emplace({f.kind, f.kernel, at.file, at.line, other.file, other.line,
                                without_numbers(f.detail.message), operation(f.place.ptx)},
                               group)
                  .first->second;
    if (group == groups.size()) groups.push_back({&f, 0, 0});
    ++groups[group].statements;
    groups[group].occurrences += f.count;
  }
  std::vector<std::string> texts;
  for (const Group& g : groups) {
    texts.push_back(finding_text(*g.first));
    if (g.statements > 1)
      texts.back() +=
          fmt::format("    and {} more statement{} of this line of the source, {} occurrences in all\n",
                      g.statements - 1, g.statements == 2 ? "" : "s", g.occurrences);
  }
  return texts;
}

std::string check_summary(const CheckOptions& checks, size_t findings, const CheckCounts& counts) {
  std::string text = fmt::format("check {}: {}{} finding{}, {} occurrence{}", checks.text(),
                                 counts.overflowed ? "more than " : "", findings, findings == 1 ? "" : "s",
                                 counts.occurrences, counts.occurrences == 1 ? "" : "s");
  if (counts.uncompared != 0)
    text += fmt::format("; {} access{} to shared memory of other blocks not looked at for races",
                        counts.uncompared, counts.uncompared == 1 ? "" : "es");
  return text + "\n";
}

std::string check_report(const CheckOptions& checks, std::span<const Finding> findings,
                         const CheckCounts& counts) {
  std::string out;
  const std::vector<std::string> texts = finding_texts(findings);
  for (size_t i = 0; i < std::min(kShown, texts.size()); ++i) out += texts[i];
  if (texts.size() > kShown) out += fmt::format("... and {} more\n", texts.size() - kShown);
  if (std::ranges::any_of(findings, [](const Finding& f) {
        return f.kind == FindingKind::kUninitialised && f.detail.space == isa::Space::kGlobal;
      }))
    out +=
        "  hint: a buffer without init counts as not written, as after cudaMalloc: init = \"zeros\" in the "
        "launch file, or --arg 'f32[64]=zeros', gives it zeros\n";
  return out + check_summary(checks, findings.size(), counts);
}

std::string check_json(const CheckOptions& checks, std::span<const Finding> findings,
                       const CheckCounts& counts) {
  std::string out =
      fmt::format("{{\"enabled\": \"{}\", \"occurrences\": {}, \"complete\": {}, \"findings\": [",
                  checks.text(), counts.occurrences, !counts.overflowed);
  if (counts.uncompared != 0) out.insert(1, fmt::format("\"uncompared\": {}, ", counts.uncompared));
  for (size_t i = 0; i < findings.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", json_finding(findings[i]));
  return out + "]}";
}

}  // namespace gpusim::comp
