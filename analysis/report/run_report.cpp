#include "analysis/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/advice/advise.h"
#include "analysis/compare/comparison.h"
#include "analysis/models/model.h"
#include "analysis/profile/explain.h"
#include "analysis/profile/limiter.h"
#include "analysis/profile/metrics.h"
#include "analysis/profile/utilization.h"
#include "analysis/report/html.h"
#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "analysis/source/annotated_source.h"
#include "simcore/config/peaks.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {

namespace {

/// Number of a cause's colour: that of its group.
int look_of_group(std::string_view group) {
  const auto groups = cause_groups();
  return static_cast<int>(std::ranges::find(groups, group) - groups.begin());
}

/// "12.3 us"
std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} µs", seconds * 1e6);
}

std::string html_cell(const std::string& text) { return fmt::format("<td>{}</td>", html_text(text)); }
std::string number_cell(const std::string& text) {
  return fmt::format("<td class=\"n\">{}</td>", html_text(text));
}

std::string meter(double share) {
  return fmt::format("<td><span class=\"meter\"><i style=\"width:{:.1f}%\"></i></span>{:.1f} %</td>",
                     100 * std::clamp(share, 0.0, 1.0), 100 * share);
}

/// Launches of one kernel.
struct KernelGroup {
  std::string name;
  std::vector<uint64_t> launches;  ///< longest first
  double seconds = 0;
  uint64_t cycles = 0;
};

class RunSection {
 public:
  RunSection(const Recording& recording, const RunReportOptions& options, size_t number)
      : recording_(recording), options_(options), number_(number) {
    for (uint64_t i = 0; i < recording.launches().size(); ++i)
      if (recording.launches()[i].readable()) kernels_.emplace(i, recording.kernel(i));
    std::map<std::string, KernelGroup> groups;
    for (const auto& [index, k] : kernels_) {
      KernelGroup& g = groups[k.name];
      g.name = core::demangled(k.name);
      g.launches.push_back(index);
      g.seconds += seconds(k);
      g.cycles += k.cycles;
    }
    for (auto& [name, g] : groups) {
      std::ranges::stable_sort(g.launches, std::greater(), [&](uint64_t i) { return kernels_.at(i).cycles; });
      groups_.push_back(std::move(g));
    }
    std::ranges::stable_sort(groups_, std::greater(), &KernelGroup::seconds);
  }

  [[nodiscard]] std::string html() const {
    std::string out =
        fmt::format("<section><h2 id=\"run{}\">{}</h2>\n", number_, html_text(recording_.path()));
    out += fmt::format("<p class=\"soft\">{} · <code>{}</code></p>\n",
                       html_text(recording_.machine().gpu.name), html_text(recording_.command_line()));
    if (!recording_.complete())
      out +=
          "<p class=\"limit\">This run did not end: what follows is what it had recorded until then.</p>\n";
    out += kernel_table();
    for (size_t i = 0; i < std::min(groups_.size(), options_.kernels); ++i) out += kernel(groups_[i]);
    out += advice();
    if (options_.proof) out += options_.proof(recording_);
    out += roofline() + models() + machine();
    return out + "</section>\n";
  }

 private:
  [[nodiscard]] double seconds(const KernelRecord& k) const {
    return kernel_seconds(k, recording_.machine());
  }

  [[nodiscard]] std::string kernel_table() const {
    double all = 0;
    for (const KernelGroup& g : groups_) all += g.seconds;
    std::string out =
        "<div class=\"wide\"><table><tr><th>kernel<th class=\"n\">launches<th class=\"n\">time<th>share"
        "<th class=\"n\">cycles<th class=\"n\">IPC of an SM</tr>\n";
    for (const KernelGroup& g : groups_) {
      double operations = 0;
      for (const uint64_t i : g.launches) operations += static_cast<double>(kernels_.at(i).inst_executed);
      out += "<tr>" + html_cell(g.name) + number_cell(std::to_string(g.launches.size())) +
             number_cell(seconds_text(g.seconds)) + meter(all > 0 ? g.seconds / all : 0) +
             number_cell(std::to_string(g.cycles)) +
             number_cell(
                 fmt::format("{:.3f}", operations / static_cast<double>(std::max<uint64_t>(g.cycles, 1)) /
                                           recording_.machine().gpu.sms)) +
             "</tr>\n";
    }
    return out + "</table></div>\n";
  }

  [[nodiscard]] std::string kernel(const KernelGroup& group) const {
    const KernelRecord& k = kernels_.at(group.launches.front());
    std::string out = fmt::format(
        "<h3>{}</h3>\n<p class=\"soft\">launch {}{}: grid {}, block {}, {} cycles, {}</p>\n",
        html_text(core::demangled(k.name)), k.index,
        group.launches.size() == 1 ? "" : fmt::format(", the longest of {}", group.launches.size()),
        html_text(k.grid), html_text(k.block), k.cycles, seconds_text(seconds(k)));
    if (!k.finished)
      out += "<p class=\"limit\">It had not ended: these are the counts of its first cycles.</p>\n";
    if (const std::string limiter = limiter_text(k, recording_.machine()); !limiter.empty())
      out += fmt::format("<p class=\"limit\"><b>limiter</b>: {}</p>\n", html_text(limiter));
    const Explanation e = explain(k, 5);
    std::vector<HtmlPart> parts;
    for (const CauseGroup& g : e.groups)
      parts.push_back({std::string(g.name), static_cast<double>(g.slots), look_of_group(g.name)});
    out += html_bar(parts, "where the issue slots went");
    out += causes(k, e) + units(k) + over_time(k) + over_sms(k) + source(k);
    return out;
  }

  [[nodiscard]] std::string causes(const KernelRecord& k, const Explanation& e) const {
    std::string out = "<ul>\n";
    for (const TopCause& cause : e.top) {
      out += fmt::format(
          "<li><b>{}</b> {:.1f} %: {}", html_text(cause.name),
          100 * static_cast<double>(cause.slots) / static_cast<double>(std::max<uint64_t>(e.slots, 1)),
          html_text(cause_info(cause.name).meaning));
      if (!cause.at.empty())
        out += fmt::format("<br><span class=\"soft\">mostly at {}</span>",
                           html_text(place_words(k.per_pc, cause.at.front())));
      out += "</li>\n";
    }
    return out + "</ul>\n";
  }

  /// How full the units were.
  [[nodiscard]] std::string units(const KernelRecord& k) const {
    constexpr double kShown = 0.01;
    constexpr size_t kMost = 12;
    std::vector<const UnitLoad*> shown;
    for (const UnitLoad& u : k.units)
      if (u.peak() >= kShown) shown.push_back(&u);
    if (shown.empty()) return "";
    std::ranges::stable_sort(shown, std::greater(),
                             [](const UnitLoad* u) { return std::pair(does_work(u->unit), u->peak()); });
    if (shown.size() > kMost) shown.resize(kMost);
    std::string out =
        "<h4>How full the units were</h4>\n<div "
        "class=\"wide\"><table><tr><th>unit<th>busiest<th>which<th>mean of all</tr>\n";
    for (const UnitLoad* u : shown)
      out += "<tr>" + html_cell(unit_words(u->unit)) + meter(u->peak()) +
             html_cell(u->instances == 1
                           ? "there is one"
                           : fmt::format("{}; {} of {} within a tenth of it",
                                         busiest_place(*u, recording_.machine()), u->near, u->instances)) +
             meter(u->mean()) + "</tr>\n";
    return out + "</table></div>\n";
  }

  [[nodiscard]] std::string over_time(const KernelRecord& k) const {
    const Table t = recording_.time_series(k.index);
    const uint64_t start = recording_.attribute(k.index, "start_cycle");
    std::vector<double> ends;
    std::vector<uint64_t> rows;
    double before = 0;
    for (uint64_t i = 0; i < t.rows; ++i) {
      const double end = static_cast<double>(t["cycle"][i]) - (start == 0 ? 0 : static_cast<double>(start));
      if (end <= before) continue;
      ends.push_back(before = end);
      rows.push_back(i);
    }
    if (ends.size() < 2) return "";
    const auto rates = [&](const char* column, double scale) {
      std::vector<double> values;
      double from = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        values.push_back(static_cast<double>(t[column][rows[i]]) / (ends[i] - from) * scale);
        from = ends[i];
      }
      return values;
    };
    std::string out;
    // A wait is booked when its data comes, and what has no warp at the kernel's end: the rest of an interval
    // stays empty, and what is booked late may not fit.
    const core::MachineConfig& machine = recording_.machine();
    const double slots_of_cycle =
        static_cast<double>(machine.scheduler.count * machine.scheduler.issue_width) *
        static_cast<double>(machine.gpu.sms) / static_cast<double>(machine.scheduler.issue_cycles);
    HtmlTimeChart causes{
        "Issue slots by cause over time: waits stand where their data came; the rest had no warp",
        "core cycles since the launch",
        "share of the slots",
        ends,
        {},
        true,
        1};
    for (const std::string_view group : cause_groups()) {
      HtmlSeries s{std::string(group), std::vector<double>(ends.size(), 0), look_of_group(group)};
      for (const CauseInfo& cause : cause_table()) {
        const std::string column = slots_column(cause.name);
        if (cause.group != group || !t.has(column) || has_no_warp(cause.name)) continue;
        const std::vector<double> shares = rates(column.c_str(), 1 / slots_of_cycle);
        for (size_t i = 0; i < shares.size(); ++i) s.values[i] += shares[i];
      }
      causes.series.push_back(std::move(s));
    }
    out += html_time_chart(causes);
    const double hz = 1e3 * static_cast<double>(recording_.machine().clocks.core_khz);
    out += "<div class=\"grid\">";
    out += html_time_chart({"Issued operations",
                            "core cycles since the launch",
                            "per cycle and SM",
                            ends,
                            {{"issued", rates("inst_issued", 1.0 / recording_.machine().gpu.sms), 0}},
                            false,
                            0});
    out += html_time_chart({"Memory",
                            "core cycles since the launch",
                            "bytes/s",
                            ends,
                            {{"loads", rates("load_bytes", hz), 3},
                             {"stores", rates("store_bytes", hz), 5},
                             {"DRAM reads", rates("dram_read_bytes", hz), 2},
                             {"DRAM writes", rates("dram_write_bytes", hz), 6}},
                            false,
                            0});
    return out + "</div>";
  }

  [[nodiscard]] std::string over_sms(const KernelRecord& k) const {
    const std::string issued = slots_column("issued");
    if (!k.per_sm.has(issued) || k.per_sm.rows < 2) return "";
    uint64_t most = 1;
    for (const uint64_t slots : k.per_sm[issued]) most = std::max(most, slots);
    std::vector<HtmlCell> cells;
    for (uint64_t sm = 0; sm < k.per_sm.rows; ++sm) {
      const uint64_t slots = k.per_sm[issued][sm];
      cells.push_back({fmt::format("SM {}: {} slots issued, {} blocks", k.per_sm["sm"][sm], slots,
                                   k.per_sm["blocks"][sm]),
                       static_cast<double>(slots) / static_cast<double>(most)});
    }
    return html_heat_map("Issued slots of each SM (a cell an SM, in their order)", cells, "none",
                         fmt::format("{}", most));
  }

  [[nodiscard]] std::string source(const KernelRecord& k) const {
    const AnnotatedSource source = annotate(k);
    std::string out;
    if (!source.lines.empty()) out += lines_table("Source lines", source, source.lines);
    return out + lines_table("PTX statements", source, source.statements);
  }

  /// Those with most slots, in the order of the file.
  [[nodiscard]] std::string lines_table(const char* what, const AnnotatedSource& source,
                                        const std::vector<AnnotatedLine>& all) const {
    std::vector<size_t> shown(all.size());
    for (size_t i = 0; i < shown.size(); ++i) shown[i] = i;
    std::ranges::stable_sort(shown, std::greater(), [&](size_t i) { return all[i].counts.slots; });
    if (shown.size() > options_.statements) shown.resize(options_.statements);
    std::ranges::sort(shown);
    std::string out = fmt::format(
        "<details><summary>{}{}</summary>\n<div class=\"wide\"><table><tr><th>place<th>slots<th>mostly<th "
        "class=\"n\">executed<th class=\"n\">lanes<th class=\"n\">asked [B]<th class=\"n\">moved [B]<th "
        "class=\"n\">sectors per request<th class=\"n\">bank conflicts<th class=\"n\">divergent</tr>\n",
        what,
        shown.size() == all.size() ? ""
                                   : fmt::format(": the {} of {} with most slots", shown.size(), all.size()));
    std::map<std::string, std::vector<std::string>> texts;
    for (const size_t i : shown) {
      const AnnotatedLine& l = all[i];
      const LineCounts& c = l.counts;
      std::string text = l.ptx;
      if (text.empty() && !l.place.file.empty()) {
        const auto [at, is_new] = texts.try_emplace(l.place.file);
        if (is_new) at->second = options_.sources.lines(l.place.file);
        if (l.place.line >= 1 && l.place.line <= at->second.size()) text = at->second[l.place.line - 1];
      }
      const auto number = [](uint64_t value) { return number_cell(value == 0 ? "" : std::to_string(value)); };
      const auto ratio = [](double part, uint64_t of) {
        return number_cell(of == 0 ? "" : fmt::format("{:.2f}", part / static_cast<double>(of)));
      };
      out += fmt::format("<tr><td class=\"code\">{}{}: {}</td>",
                         html_text(l.place.file.empty() ? "line " : l.place.file + ":"), l.place.line,
                         html_text(text)) +
             meter(static_cast<double>(c.slots) / static_cast<double>(std::max<uint64_t>(source.slots, 1))) +
             html_cell(c.causes.empty() ? "" : c.causes.front().name) + number(c.executed) +
             ratio(static_cast<double>(c.active_lanes), c.executed) + number(c.asked_bytes) +
             number(c.moved_bytes) + ratio(static_cast<double>(c.sectors), c.requests) +
             number(c.bank_conflicts) + number(c.divergent) + "</tr>\n";
    }
    return out + "</table></div></details>\n";
  }

  /// What would help, as `gpusim advise` says it.
  [[nodiscard]] std::string advice() const {
    constexpr size_t kMostShown = 8;
    std::string out = "<h3>What would help</h3>\n";
    advice::RunAdvice run;
    try {
      run = advice::advise(recording_, "");
    } catch (const core::RecordError& e) {
      return out + fmt::format("<p>No advice: {}</p>\n", html_text(core::first_line(e.what())));
    } catch (const core::InputError& e) {
      return out + fmt::format("<p>No advice: {}</p>\n", html_text(core::first_line(e.what())));
    }
    if (run.advice.empty())
      return out +
             fmt::format("<p>No rule predicts a gain of {:.0f} % or more.</p>\n",
                         100 * (advice::kLeastGain - 1)) +
             unjudged(run);
    out +=
        "<div class=\"wide\"><table><tr><th class=\"n\">the run would be<th>rule<th>kernel<th>what to "
        "do<th>why</tr>\n";
    for (size_t i = 0; i < std::min(kMostShown, run.advice.size()); ++i) {
      const advice::Advice& a = run.advice[i];
      out += "<tr>" + number_cell(fmt::format("{:.2f} x as fast", a.gain)) + html_cell(a.rule) +
             html_cell(a.kernel.empty() ? "the whole run" : core::demangled(a.kernel)) + html_cell(a.what) +
             fmt::format(
                 "<td>{}: {} {}{}</td></tr>\n", html_text(a.counter),
                 a.value >= 1e6 ? number_text(a.value) : fmt::format("{:.4g}", a.value), html_text(a.unit),
                 a.place.empty() ? "" : "<br><span class=\"soft\">at " + html_text(a.place) + "</span>");
    }
    out += "</table></div>\n<p class=\"soft\">Gains are predicted, of one change at a time.";
    for (const advice::KernelEstimate& k : run.kernels)
      if (std::abs(k.own_error) > advice::kRough)
        out += fmt::format(
            " The estimate of {} was {:.0f} % off before it was scaled to it: its gains are rough.",
            html_text(core::demangled(k.kernel)), 100 * std::abs(k.own_error));
    return out + "</p>\n" + unjudged(run);
  }

  [[nodiscard]] static std::string unjudged(const advice::RunAdvice& run) {
    std::string out;
    for (const advice::Unjudged& u : run.unjudged)
      out += fmt::format("<p class=\"soft\">Not judged in {}: {}, at {}: {}.</p>\n",
                         html_text(core::demangled(u.kernel)), html_text(u.what), html_text(u.place),
                         html_text(u.counter));
    return out;
  }

  [[nodiscard]] std::string roofline() const {
    std::vector<HtmlRoof> roofs;
    std::string peaks;
    for (const core::Peak& p : core::machine_peaks(recording_.machine())) {
      peaks += fmt::format("<tr>{}{}{}</tr>\n", html_cell(p.name),
                           number_cell(fmt::format("{:.4g} {}", p.value, p.unit)), html_cell(p.how));
      const std::string_view unit = p.unit;
      if (p.name == "FP32" || p.name == "FP64") roofs.push_back({p.name, p.value, 0});
      if (unit == "B/s" && p.name == "DRAM") roofs.push_back({p.name, 0, p.value});
    }
    std::vector<HtmlDot> dots;
    std::vector<std::string> left_out;
    for (const KernelGroup& g : groups_) {
      double operations = 0, bytes = 0;
      for (const uint64_t i : g.launches) {
        const auto counter = [&](const char* name) {
          const auto at = kernels_.at(i).counters.find(name);
          return at == kernels_.at(i).counters.end() ? 0.0 : at->second;
        };
        operations += counter("flop_count");
        bytes += counter("dram_read_bytes") + counter("dram_write_bytes");
      }
      if (operations > 0 && bytes > 0 && g.seconds > 0)
        dots.push_back({g.name, operations / bytes, operations / g.seconds});
      else
        left_out.push_back(
            fmt::format("{} ({})", g.name,
                        operations > 0 ? "moves no bytes of DRAM" : "has no floating-point operations"));
    }
    std::string out = "<h3>Roofline</h3>\n" + (dots.empty() ? std::string() : html_roofline(roofs, dots));
    if (!left_out.empty())
      out += fmt::format("<p class=\"soft\">Not drawn: {}.</p>\n",
                         html_text(fmt::format("{}", fmt::join(left_out, ", "))));
    return out + "<details><summary>What the machine can do at most</summary><div class=\"wide\"><table>" +
           peaks + "</table></div></details>\n";
  }

  /// All models that one recording is enough for.
  [[nodiscard]] std::string models() const {
    std::string out;
    for (const Model& model : analysis::models()) {
      if (model.needs_several) continue;
      out += fmt::format("<h4>{}</h4>\n<p class=\"soft\">{}</p>\n", html_text(model.name),
                         html_text(model.description));
      try {
        const ModelReport report = model.run(std::span(&recording_, 1), {});
        out +=
            "<div class=\"wide\"><table><tr><th>kernel<th>quantity<th class=\"n\">predicted<th "
            "class=\"n\">simulated<th class=\"n\">error</tr>\n";
        for (const Prediction& p : report.predictions)
          out += "<tr>" + html_cell(p.kernel) +
                 html_cell(p.quantity + (p.unit.empty() ? "" : " [" + p.unit + "]")) +
                 number_cell(fmt::format("{:.6g}", p.predicted)) +
                 number_cell(fmt::format("{:.6g}", p.simulated)) +
                 number_cell(fmt::format("{:+.1f} {}", 100 * p.error(), p.points ? "points" : "%")) +
                 "</tr>\n";
        out += "</table></div>\n";
      } catch (const core::RecordError& e) {
        out += fmt::format("<p>Not applied: {}</p>\n", html_text(core::first_line(e.what())));
      } catch (const core::InputError& e) {
        out += fmt::format("<p>Not applied: {}</p>\n", html_text(core::first_line(e.what())));
      }
    }
    return "<h3>What the analytical models say</h3>\n" + out;
  }

  [[nodiscard]] std::string machine() const {
    return fmt::format("<details><summary>The machine: {}</summary><pre>{}</pre></details>\n",
                       html_text(recording_.machine().gpu.name), html_text(recording_.config_text()));
  }

  const Recording& recording_;
  const RunReportOptions& options_;
  size_t number_;
  std::map<uint64_t, KernelRecord> kernels_;
  std::vector<KernelGroup> groups_;
};

/// The difference of two runs as a sum of causes.
std::string comparison(const Recording& a, const Recording& b) {
  std::string out =
      fmt::format("<section><h2>From {} to {}</h2>\n", html_text(a.path()), html_text(b.path()));
  try {
    out += fmt::format("<pre>{}</pre>\n", html_text(comparison_text(compare(a, b, ""), 5)));
  } catch (const core::RecordError& e) {
    out += fmt::format("<p>Not compared: {}</p>\n", html_text(core::first_line(e.what())));
  }
  return out + "</section>\n";
}

}  // namespace

std::string run_report(std::span<const Recording> recordings, const RunReportOptions& options) {
  std::string body = "<h1>gpusim: what was simulated, and where the time went</h1>\n";
  if (recordings.size() + options.further.size() > 1) {
    body += "<nav>";
    for (size_t i = 0; i < recordings.size(); ++i)
      body += fmt::format("<a href=\"#run{}\">{}</a>", i, html_text(recordings[i].path()));
    for (const ReportSection& s : options.further)
      body += fmt::format("<a href=\"#{}\">{}</a>", s.id, html_text(s.title));
    body += "</nav>\n";
  }
  for (size_t i = 0; i < recordings.size(); ++i) body += RunSection(recordings[i], options, i).html();
  if (recordings.size() == 2) body += comparison(recordings[0], recordings[1]);
  for (const ReportSection& s : options.further) body += s.html;
  return html_page("gpusim report", body);
}

}  // namespace gpusim::analysis
