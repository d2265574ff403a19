#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/compare/comparison.h"
#include "analysis/report/text.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {

std::vector<int64_t> whole_cycles(const std::vector<CycleParts>& parts, uint64_t denominator) {
  const auto of = static_cast<CycleParts>(denominator);
  const auto floor_of = [of](CycleParts v) { return v >= 0 ? v / of : -((-v + of - 1) / of); };
  CycleParts sum = 0;
  for (const CycleParts p : parts) sum += p;
  // Those with the largest rests are rounded up, as many as the sum needs.
  std::vector<int64_t> whole;
  std::vector<size_t> order;
  CycleParts missing = floor_of(sum + of / 2);
  for (size_t i = 0; i < parts.size(); ++i) {
    whole.push_back(static_cast<int64_t>(floor_of(parts[i])));
    missing -= whole.back();
    order.push_back(i);
  }
  const auto rest = [&](size_t i) { return parts[i] - static_cast<CycleParts>(whole[i]) * of; };
  std::ranges::stable_sort(order, [&](size_t x, size_t y) { return rest(x) > rest(y); });
  for (size_t i = 0; i < order.size() && missing > 0; ++i, --missing) ++whole[order[i]];
  return whole;
}

namespace {

/// a, b and their difference in whole cycles, so that the columns of a table add up.
struct WholeTerm {
  int64_t a = 0, b = 0;
  [[nodiscard]] int64_t change() const { return b - a; }
};

std::vector<WholeTerm> whole_terms(const std::vector<CycleTerm>& terms, uint64_t denominator) {
  std::vector<CycleParts> a, b;
  for (const CycleTerm& t : terms) a.push_back(t.a), b.push_back(t.b);
  const auto whole_a = whole_cycles(a, denominator), whole_b = whole_cycles(b, denominator);
  std::vector<WholeTerm> whole;
  for (size_t i = 0; i < terms.size(); ++i) whole.push_back({whole_a[i], whole_b[i]});
  return whole;
}

std::string percent(double change, double of) {
  return of == 0 ? (change == 0 ? "0.00 %" : "new") : fmt::format("{:+.2f} %", 100 * change / of);
}

std::string term_line(std::string_view name, const WholeTerm& t, int64_t total_change) {
  const std::string share = total_change == 0
                                ? ""
                                : fmt::format("{:>9.1f} %", 100 * static_cast<double>(t.change()) /
                                                                static_cast<double>(total_change));
  return fmt::format("    {:<24}{:>14}{:>14}{:>+14}{}\n", name, t.a, t.b, t.change(), share);
}

std::string cause_table(const std::vector<CauseTerm>& causes, const CycleTerm& total, uint64_t denominator) {
  std::vector<CycleTerm> terms;
  for (const CauseTerm& c : causes) terms.push_back(c.term);
  const std::vector<WholeTerm> whole = whole_terms(terms, denominator);
  const WholeTerm sum = whole_terms({total}, denominator)[0];
  std::string out = fmt::format("    {:<24}{:>14}{:>14}{:>14}{:>11}\n", "cycles by cause", "a", "b", "b - a",
                                sum.change() == 0 ? "" : "of b - a");
  for (size_t i = 0; i < causes.size(); ++i)
    out += term_line(printable(causes[i].cause), whole[i], sum.change());
  return out + term_line("total", sum, sum.change());
}

std::string place_of(const LineTerm& line) {
  const std::string where = line.file.empty() ? fmt::format("line {}", line.line)
                                              : fmt::format("{}:{}", printable(line.file), line.line);
  constexpr size_t kWidth = 90;
  std::string text = printable(line.ptx);
  if (text.size() > kWidth) text = text.substr(0, kWidth - 3) + "...";
  const char* const only = line.in_a == line.in_b ? "" : line.in_a ? "  (only in a)" : "  (only in b)";
  if (line.line == 0) return fmt::format("without a line{}", only);
  return text.empty() ? where + only : fmt::format("{} `{}`{}", where, text, only);
}

/// "memory_dram -120, barrier +30": changes of a line by cause.
std::string cause_changes(const LineTerm& line, uint64_t denominator) {
  constexpr size_t kShown = 3;
  std::string out;
  size_t shown = 0;
  for (const CauseTerm& c : line.causes) {
    const double cycles = static_cast<double>(c.term.change()) / static_cast<double>(denominator);
    if (shown == kShown || std::abs(cycles) < 0.5) break;
    out += fmt::format("{}{} {:+.0f}", shown++ == 0 ? "" : ", ", printable(c.cause), cycles);
  }
  return out;
}

std::string line_table(const char* title, const std::vector<LineTerm>& lines, const KernelComparison& k,
                       uint64_t denominator, size_t top) {
  std::vector<CycleTerm> terms{k.nowhere};
  const size_t shown = std::min(top, lines.size());
  CycleTerm rest;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i < shown)
      terms.push_back(lines[i].term);
    else
      rest.a += lines[i].term.a, rest.b += lines[i].term.b;
  }
  terms.push_back(rest);
  const std::vector<WholeTerm> whole = whole_terms(terms, denominator);
  std::string out = fmt::format("    {:>14}{:>14}{:>14}  {}\n", "a", "b", "b - a", title);
  const auto row = [](const WholeTerm& t, const std::string& what) {
    return fmt::format("    {:>14}{:>14}{:>+14}  {}\n", t.a, t.b, t.change(), what);
  };
  for (size_t i = 0; i < shown; ++i) {
    out += row(whole[i + 1], place_of(lines[i]));
    if (const std::string causes = cause_changes(lines[i], denominator); !causes.empty())
      out += fmt::format("    {:>44}  {}\n", "", causes);
  }
  if (shown < lines.size()) out += row(whole.back(), fmt::format("{} more", lines.size() - shown));
  out += row(whole.front(), "no warp: stands at no line");
  return out + row(whole_terms({k.total}, denominator)[0], "total");
}

std::string counter_table(const std::vector<CounterChange>& counters, size_t top) {
  if (counters.empty()) return "    no counter changed\n";
  const size_t shown = std::min(top, counters.size());
  std::string out = fmt::format("    counters that moved most ({} of {})\n", shown, counters.size());
  for (size_t i = 0; i < shown; ++i) {
    const CounterChange& c = counters[i];
    out += fmt::format("      {:<32}{:>14} -> {:<14}{:>12}{}\n", printable(c.name), number_text(c.a),
                       number_text(c.b), percent(c.b - c.a, std::abs(c.a)),
                       c.unit == "1" ? "" : "  " + printable(c.unit));
  }
  return out;
}

std::string microseconds(double s) { return fmt::format("{:.4g} us", s * 1e6); }

std::string change_line(uint64_t a, uint64_t b) {
  const auto change = static_cast<int64_t>(b - a);
  return fmt::format("{} -> {} cycles: {:+} ({})", a, b, change,
                     percent(static_cast<double>(change), static_cast<double>(a)));
}

/// A change of time as two parts that add up: of the cycles at a's clock, and of the clock.
std::string time_line(const KernelComparison& k) {
  const double a = k.a.seconds, b = k.b.seconds;
  const double of_cycles =
      k.a.cycles == 0 ? 0 : a / static_cast<double>(k.a.cycles) * static_cast<double>(k.b.cycles) - a;
  const double of_clock = b - a - of_cycles;
  std::string out =
      fmt::format("    time {} -> {}: {:+.4g} us", microseconds(a), microseconds(b), (b - a) * 1e6);
  if (std::abs(of_clock) > 1e-6 * std::abs(b))
    out += fmt::format(" = {:+.4g} us by cycles at a's clock, {:+.4g} us by the clock", of_cycles * 1e6,
                       of_clock * 1e6);
  return out + "\n";
}

std::string kernel_text(const KernelComparison& k, uint64_t denominator, size_t top) {
  std::string title = fmt::format("kernel {} {}", k.a.index, printable(core::demangled(k.a.name)));
  if (k.b.index != k.a.index) title += fmt::format(" (b: kernel {})", k.b.index);
  std::string dims = k.a.grid == k.b.grid && k.a.block == k.b.block
                         ? fmt::format("grid {}  block {}", printable(k.a.grid), printable(k.a.block))
                         : fmt::format("grid {} -> {}  block {} -> {}", printable(k.a.grid),
                                       printable(k.b.grid), printable(k.a.block), printable(k.b.block));
  std::string out = fmt::format("{}  {}\n    {}\n", title, dims, change_line(k.a.cycles, k.b.cycles)) +
                    time_line(k) + cause_table(k.causes, k.total, denominator);
  if (!k.lines.empty()) out += line_table("line of the source", k.lines, k, denominator, top);
  return out + line_table("statement", k.statements, k, denominator, top) + counter_table(k.counters, top);
}

/// Buffers that differ, and what tells by how much: recordings have no values.
std::string differences(const Comparison& c) {
  std::string out;
  constexpr size_t kShown = 10;
  const DifferentBuffer* example = nullptr;
  for (size_t i = 0; i < c.different.size(); ++i) {
    const DifferentBuffer& d = c.different[i];
    if (d.bytes_a == d.bytes_b && example == nullptr) example = &d;
    if (i < kShown)
      out += fmt::format(
          "    {}{}\n", printable(d.name),
          d.bytes_a == d.bytes_b ? "" : fmt::format(" ({} bytes in a, {} in b)", d.bytes_a, d.bytes_b));
  }
  if (example == nullptr) return out;
  if (c.of_programs)
    out +=
        "    by how much, the files do not hold: let the programs print it, or record what gpusim run "
        "--functional --export writes of\n"
        "    each, with --dump NAME=FILE.npy\n";
  else
    out += fmt::format(
        "    by how much, the files do not hold: run both again with --dump {0}=a.npy and --dump {0}=b.npy;\n"
        "    with numpy, d = abs(load('a.npy').astype(float) - load('b.npy')) then has (d > 0).sum() values "
        "that differ, by "
        "d.max() at most\n",
        printable(example->name));
  return out;
}

std::string header(const Comparison& c) {
  std::string out;
  for (const auto& [letter, run] : {std::pair('a', &c.a), std::pair('b', &c.b)}) {
    out += fmt::format("{}: {}  {} at {:.6g} MHz\n", letter, printable(run->path), printable(run->machine),
                       run->core_mhz);
    if (!run->note.empty()) out += fmt::format("   {}\n", printable(run->note));
  }
  const std::string launches =
      !c.of_programs  ? c.same_launch ? "the same launch file" : "different launch files"
      : c.same_launch ? fmt::format("both {}", printable(c.a.command))
                      : fmt::format("{} and {}", printable(c.a.command), printable(c.b.command));
  out += fmt::format("program: {}, {}\n",
                     !c.same_ptx   ? "PTX that was not recorded with it"
                     : *c.same_ptx ? "the same PTX"
                                   : "different PTX",
                     launches);
  out += fmt::format("results: {}\n", c.results_why);
  out += differences(c);
  out += c.keys.empty() ? "machine: no key differs\n"
                        : fmt::format("machine: {} differ{}\n",
                                      c.keys.size() == 1 ? "1 key" : fmt::format("{} keys", c.keys.size()),
                                      c.keys.size() == 1 ? "s" : "");
  constexpr size_t kKeysShown = 24;
  for (size_t i = 0; i < std::min(c.keys.size(), kKeysShown); ++i)
    out += fmt::format("    {:<32} {:<24} {}\n", printable(c.keys[i].key), printable(c.keys[i].in_a),
                       printable(c.keys[i].in_b));
  if (c.keys.size() > kKeysShown)
    out += fmt::format("    {} more: gpusim config diff {} {}\n", c.keys.size() - kKeysShown,
                       printable(c.a.path), printable(c.b.path));
  return out;
}

std::string alone_lines(const std::vector<ComparedLaunch>& launches, char letter) {
  std::string out;
  for (const ComparedLaunch& l : launches)
    out += fmt::format("only in {}: kernel {} {}  grid {}  block {}  {} cycles\n", letter, l.index,
                       printable(core::demangled(l.name)), printable(l.grid), printable(l.block), l.cycles);
  return out;
}

// --- JSON and CSV ---

/// 128 bits are more than JSON's numbers hold for certain: numerators stand as text if they need it.
std::string parts_text(CycleParts v) {
  const bool negative = v < 0;
  if (negative) v = -v;
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(v % 10)));
  while ((v /= 10) != 0);
  return negative ? "-" + digits : digits;
}

double cycles_of(CycleParts parts, uint64_t denominator) {
  return static_cast<double>(parts) / static_cast<double>(denominator);
}

std::string term_json(const CycleTerm& t, uint64_t denominator) {
  return fmt::format(
      "\"slots_a\": {}, \"slots_b\": {}, \"cycles_a\": {}, \"cycles_b\": {}, \"change\": {}, "
      "\"change_numerator\": {}",
      t.slots_a, t.slots_b, core::json_number(cycles_of(t.a, denominator)),
      core::json_number(cycles_of(t.b, denominator)), core::json_number(cycles_of(t.change(), denominator)),
      parts_text(t.change()));
}

template <class Items, class ToText>
std::string json_array(const Items& items, const ToText& to_text) {
  std::string out = "[";
  for (const auto& item : items) out += fmt::format("{}{}", out.size() == 1 ? "" : ", ", to_text(item));
  return out + "]";
}

std::string causes_json(const std::vector<CauseTerm>& causes, uint64_t denominator) {
  return json_array(causes, [&](const CauseTerm& c) {
    return fmt::format("{{\"cause\": {}, {}}}", core::json_quoted(c.cause), term_json(c.term, denominator));
  });
}

std::string lines_json(const std::vector<LineTerm>& lines, uint64_t denominator) {
  return json_array(lines, [&](const LineTerm& l) {
    return fmt::format(
        "{{\"file\": {}, \"line\": {}, \"ptx\": {}, \"in_a\": {}, \"in_b\": {}, {}, \"causes\": {}}}",
        core::json_quoted(l.file), l.line, core::json_quoted(l.ptx), l.in_a, l.in_b,
        term_json(l.term, denominator), causes_json(l.causes, denominator));
  });
}

std::string launch_json(const ComparedLaunch& l) {
  return fmt::format(
      "{{\"kernel\": {}, \"launch\": {}, \"name\": {}, \"demangled\": {}, \"grid\": {}, \"block\": {}, "
      "\"cycles\": {}, \"time_s\": {}}}",
      l.index, l.launch, core::json_quoted(l.name), core::json_quoted(core::demangled(l.name)),
      core::json_quoted(l.grid), core::json_quoted(l.block), l.cycles, core::json_number(l.seconds));
}

std::string run_json(const ComparedRun& r) {
  return fmt::format("{{\"file\": {}, \"machine\": {}, \"core_mhz\": {}, \"note\": {}}}",
                     core::json_quoted(r.path), core::json_quoted(r.machine), core::json_number(r.core_mhz),
                     core::json_quoted(r.note));
}

std::string texts_json(const std::vector<std::string>& texts) {
  return json_array(texts, [](const std::string& t) { return core::json_quoted(t); });
}

std::string csv_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string comparison_text(const Comparison& c, size_t top) {
  std::string out = header(c);
  for (const std::string& what : c.not_compared) out += printable(what) + "\n";
  out += alone_lines(c.only_a, 'a') + alone_lines(c.only_b, 'b');
  if (c.kernels.size() + c.only_a.size() + c.only_b.size() > 1) {
    const WholeTerm total = whole_terms({c.total}, c.denominator)[0];
    out += fmt::format("all kernels\n    {}\n",
                       change_line(static_cast<uint64_t>(total.a), static_cast<uint64_t>(total.b))) +
           cause_table(c.causes, c.total, c.denominator);
  }
  for (const KernelComparison& k : c.kernels) out += kernel_text(k, c.denominator, top);
  return out;
}

std::string comparison_json(const Comparison& c) {
  const uint64_t d = c.denominator;
  const char* const results = c.results == Comparison::Results::kSame        ? "same"
                              : c.results == Comparison::Results::kDifferent ? "different"
                                                                             : "unknown";
  const std::string keys = json_array(c.keys, [](const core::KeyDifference& k) {
    return fmt::format("{{\"key\": {}, \"a\": {}, \"b\": {}}}", core::json_quoted(k.key),
                       core::json_quoted(k.in_a), core::json_quoted(k.in_b));
  });
  const std::string kernels = json_array(c.kernels, [d](const KernelComparison& k) {
    const std::string counters = json_array(k.counters, [](const CounterChange& m) {
      return fmt::format("{{\"name\": {}, \"unit\": {}, \"a\": {}, \"b\": {}, \"relative\": {}}}",
                         core::json_quoted(m.name), core::json_quoted(m.unit), core::json_number(m.a),
                         core::json_number(m.b), core::json_number(m.relative()));
    });
    return fmt::format(
        "{{\"a\": {}, \"b\": {}, {}, \"causes\": {}, \"nowhere\": {{{}}}, \"lines\": {}, \"statements\": {}, "
        "\"counters\": {}}}",
        launch_json(k.a), launch_json(k.b), term_json(k.total, d), causes_json(k.causes, d),
        term_json(k.nowhere, d), lines_json(k.lines, d), lines_json(k.statements, d), counters);
  });
  return fmt::format(
      "{{\"a\": {}, \"b\": {}, \"same_ptx\": {}, \"same_launch\": {}, \"results\": \"{}\", \"results_text\": "
      "{}, "
      "\"different_buffers\": {}, \"keys\": {}, \"denominator\": {}, {}, \"causes\": {}, \"only_a\": {}, "
      "\"only_b\": {}, \"not_compared\": {}, \"kernels\": {}}}\n",
      run_json(c.a), run_json(c.b), c.same_ptx ? *c.same_ptx ? "true" : "false" : "null", c.same_launch,
      results, core::json_quoted(c.results_why),
      json_array(c.different, [](const DifferentBuffer& b) { return core::json_quoted(b.name); }), keys, d,
      term_json(c.total, d), causes_json(c.causes, d), json_array(c.only_a, launch_json),
      json_array(c.only_b, launch_json), texts_json(c.not_compared), kernels);
}

std::string comparison_csv(const Comparison& c) {
  std::string out =
      "kernel_a,kernel_b,name,ptx_file,ptx_line,ptx,cause,slots_a,slots_b,cycles_a,cycles_b,change,"
      "change_numerator,denominator\n";
  for (const KernelComparison& k : c.kernels) {
    const auto row = [&](const LineTerm& l, const std::string& cause, const CycleTerm& t) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", k.a.index, k.b.index,
                         csv_text(k.a.name), csv_text(l.file), l.line, csv_text(l.ptx), csv_text(cause),
                         t.slots_a, t.slots_b, cycles_of(t.a, c.denominator), cycles_of(t.b, c.denominator),
                         cycles_of(t.change(), c.denominator), parts_text(t.change()), c.denominator);
    };
    for (const LineTerm& line : k.statements)
      for (const CauseTerm& cause : line.causes) row(line, cause.cause, cause.term);
    row({}, "no warp", k.nowhere);
  }
  return out;
}

}  // namespace gpusim::analysis
