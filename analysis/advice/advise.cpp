#include "analysis/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/advice/launch_order.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "analysis/source/source_lines.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis::advice {
namespace {

constexpr uint64_t kKernel = 0, kToDevice = 1, kFromDevice = 2;  ///< `kind` of the timeline

struct Group {
  std::vector<uint64_t> launches;
  uint64_t longest = 0;
  double cycles = 0;  ///< of all
};

/// Launches of one kernel with one grid and block.
std::vector<Group> groups_of(const Recording& recording, const std::vector<uint64_t>& launches,
                             std::map<uint64_t, KernelRecord>& kernels) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const uint64_t launch : launches) {
    const KernelRecord& k = kernels.emplace(launch, recording.kernel(launch)).first->second;
    Group& g = groups[{k.name, k.grid, k.block}];
    if (g.launches.empty() || k.cycles > kernels.at(g.longest).cycles) g.longest = launch;
    g.launches.push_back(launch);
    g.cycles += static_cast<double>(k.cycles);
  }
  std::vector<Group> sorted;
  for (auto& [key, g] : groups) sorted.push_back(std::move(g));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &Group::cycles);
  return sorted;
}

LaunchResources resources_of(const Recording& recording, uint64_t launch) {
  const auto of = [&](const char* name) {
    return recording.has_attribute(launch, name) ? recording.attribute(launch, name) : 0;
  };
  return {of("threads_per_block"), of("registers"), of("shared_bytes"), of("spilled_registers"),
          of("local_bytes")};
}

/// A statement of the PTX, and its line there.
struct PtxPlace {
  std::string text;
  uint64_t line = 0;
};

/// Where an operation is two branches, the first under a condition and the second not, as of
/// "@%p1 bra A; bra.uni B;", it names the second: lanes part at the statement before.
std::optional<PtxPlace> condition_of(const KernelRecord& kernel, uint64_t pc, std::string_view ptx) {
  const std::string& text = text_cell(kernel.per_pc, "ptx", pc);
  const Table& t = kernel.per_pc;
  if (!text.starts_with("bra") || !t.has("divergent") || t["divergent"][pc] == 0 || !t.has("ptx_line"))
    return std::nullopt;
  size_t begin = 0;
  for (uint64_t line = 1; line < t["ptx_line"][pc]; ++line) {
    begin = ptx.find('\n', begin);
    if (begin == std::string_view::npos) return std::nullopt;
    ++begin;
  }
  const size_t opcode = ptx.find_first_not_of(" \t", begin);
  if (opcode == std::string_view::npos || !ptx.substr(opcode).starts_with("bra")) return std::nullopt;
  const size_t last = ptx.substr(0, begin).rfind(';');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view guarded = ptx.substr(0, last);
  const size_t from = guarded.rfind('@'), before = guarded.find_last_of(";{}:");
  if (from == std::string_view::npos || (before != std::string_view::npos && before > from))
    return std::nullopt;
  PtxPlace found;
  found.line = 1 + static_cast<uint64_t>(std::ranges::count(guarded.substr(0, from), '\n'));
  for (const char c : guarded.substr(from))
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      found.text += c;
    else if (!found.text.ends_with(' '))
      found.text += ' ';
  return found;
}

/// The line of the source, if it is known, and the statement of the PTX.
std::string place_of(const KernelRecord& kernel, uint64_t pc, std::string_view ptx) {
  if (pc >= kernel.per_pc.rows) return {};
  const SourceLine user = user_line(kernel.per_pc, pc);
  const std::optional<PtxPlace> condition = condition_of(kernel, pc, ptx);
  if (user.line == 0) {
    const std::string& file = text_cell(kernel.per_pc, "ptx_file", pc);
    return condition ? fmt::format("{}{} `{}`", file.empty() ? "line " : file + ":", condition->line,
                                   condition->text)
                     : statement_place(kernel.per_pc, pc);
  }
  return fmt::format("{}:{} `{}`", from_here(user.file), user.line,
                     condition ? condition->text : text_cell(kernel.per_pc, "ptx", pc));
}

std::vector<Recording::ProgramText> texts_of(const Recording& recording) {
  try {
    return recording.program_texts();
  } catch (const core::RecordError&) {
    return {};
  }
}

/// The text in which the kernel stands: two files of a program can have one name. Empty if it is not there:
/// rules then do with the statements that operations name.
std::string_view text_of(const std::vector<Recording::ProgramText>& texts, const KernelRecord& kernel) {
  const auto at = std::ranges::find_if(texts, [&](const auto& t) { return has_kernel(t.text, kernel.name); });
  return at == texts.end() ? std::string_view() : std::string_view(at->text);
}

double gain_of(double now, double saved) { return now > saved && saved > 0 ? now / (now - saved) : 1; }

/// Time between launches that follow each other.
double gaps(const Recording& recording, const Group& g) {
  return static_cast<double>(g.launches.size() - 1) * recording.machine().host.launch_gap_ns * 1e-6 *
         static_cast<double>(recording.machine().clocks.core_khz);
}

/// What the run's kernels and copies take.
struct Times {
  double all = 0;      ///< from the first start to the last end
  double kernels = 0;  ///< with the gaps between those of one stream that follow each other at once
  double to_device = 0, from_device = 0;
  double launches = 0;  ///< those that are looked at, with the gaps between those of one kernel
  uint64_t copies = 0;
};

Times times_of(const Recording& recording) {
  Times t;
  const Table timeline = recording.timeline();
  uint64_t first = ~uint64_t{0}, last = 0;
  for (uint64_t row = 0; row < timeline.rows; ++row) {
    const uint64_t start = timeline["start"][row], end = timeline["end"][row];
    first = std::min(first, start);
    last = std::max(last, end);
    const auto length = static_cast<double>(end - start);
    const uint64_t kind = timeline.has("kind") ? timeline["kind"][row] : kKernel;
    (kind == kToDevice ? t.to_device : kind == kFromDevice ? t.from_device : t.kernels) += length;
    t.copies += kind == kToDevice || kind == kFromDevice;
  }
  if (timeline.rows > 0) t.all = static_cast<double>(last - first);
  return t;
}

/// Copies beside kernels, in pieces; a machine with one copy engine copies in one direction at a time.
void overlap_transfers(const Recording& recording, const Times& t, RunAdvice& run) {
  constexpr double kShare = 0.1, kOneByOne = 0.9;
  constexpr double kPieces = 4;
  const double copies = t.to_device + t.from_device, sum = copies + t.kernels;
  if (copies < kShare * t.all || t.kernels <= 0 || t.all < kOneByOne * sum) return;
  const bool both_ways = recording.machine().host.copy_engines > 1;
  const double longest = std::max(t.kernels, both_ways ? std::max(t.to_device, t.from_device) : copies);
  const auto there = static_cast<double>(t.copies);
  // One copy in each direction has to be cut up first, and each further one takes the link's latency.
  const double pieces = std::max(kPieces, there / 2);
  const double latency = recording.machine().host.link_latency_ns * 1e-6 *
                         static_cast<double>(recording.machine().clocks.core_khz);
  const double after = longest + (sum - longest) / pieces + std::max(0.0, 2 * pieces - there) / 2 * latency;
  Advice a{"transfer_overlap",
           "",
           0,
           fmt::format("copy and compute in pieces, each in a stream of its own, so that copies run beside "
                       "kernels{}",
                       both_ways ? " and beside copies in the other direction" : ""),
           "",
           "copies, while no kernel runs",
           "% of the time",
           100 * copies / t.all,
           1,
           gain_of(t.all, t.all - after)};
  run.advice.push_back(std::move(a));
}

/// How long blocks took; nothing without events.
BlockLives lives_of(const Recording& recording, uint64_t launch) {
  BlockLives lives;
  if (!recording.has_events(launch, "block")) return lives;
  const Table blocks = recording.events(launch, "block", "summary", {"start", "end"});
  for (uint64_t row = 0; row < blocks.rows; ++row) {
    const auto life = static_cast<double>(blocks["end"][row] - blocks["start"][row]);
    lives.longest = std::max(lives.longest, life);
    lives.mean += life / static_cast<double>(blocks.rows);
  }
  return lives;
}

/// A few long blocks run when the others have ended. The estimate has warps that are all alike: before it is
/// scaled, it is what these would take.
void even_out(const Group& g, const Facts& f, const Times& t, RunAdvice& run) {
  constexpr double kUneven = 2, kIdle = 0.2;
  const double own = f.estimator().own_error();
  if (static_cast<double>(f.kernel().slots_of("no_warp")) <
      kIdle * static_cast<double>(f.kernel().total_slots()))
    return;
  if (f.turns_follow() || f.lives().mean <= 0 || f.lives().longest < kUneven * f.lives().mean || own >= 0 ||
      left_aside_blocks(f))
    return;
  run.advice.push_back(
      {"uneven_work", core::short_kernel_name(f.kernel().name), g.longest,
       "divide the work of the longest blocks among others, or begin with them: a few run when the "
       "others have ended",
       "", "core cycles of the longest block, for those of the mean one", "times",
       f.lives().longest / f.lives().mean, 1 / (1 + own), gain_of(t.all, -own * g.cycles),
       gain_of(t.launches, -own * g.cycles)});
}

/// Whether no other launch is between these.
bool follow_each_other(const Group& g) {
  return g.launches.back() - g.launches.front() + 1 == g.launches.size();
}

/// Launches of one kernel that could be one: their starts and gaps go, and their blocks fill the machine
/// together.
void merge_launches(const Recording& recording, const Group& g, const Facts& f, std::string_view ptx,
                    const Times& t, RunAdvice& run) {
  if (g.launches.size() < 2) return;
  const auto n = static_cast<double>(g.launches.size());
  const double gap = gaps(recording, g) / (n - 1);
  const double now = g.cycles + (n - 1) * gap;
  Work merged = f.estimator().recorded();
  // Units of which a launch uses some are all in use together. Atomics that crowd in a partition are on a few
  // words, on which those of all launches are.
  for (auto& [unit, work] : merged.units)
    if (const UnitLoad* u = f.kernel().unit(unit))
      work =
          n * (unit == "l2_atomics"
                   ? work
                   : std::min(work, std::max(u->mean() * static_cast<double>(f.kernel().cycles), work / n)));
  merged.tail *= n;
  const double places = f.blocks_per_sm(f.resources()) * f.warps_per_block();
  if (places <= 0) return;
  merged.rounds = std::max({merged.rounds, n * f.warps() / std::max(1.0, f.sms()) / places});
  const double overhead = n * f.estimator().recorded().start + (n - 1) * gap;
  const double between = (n - 1) * (f.estimator().recorded().start + gap);
  const std::string needed = handed_on(recording, g.launches, f, ptx);
  const double after = needed.empty() ? std::min(now, f.estimator().cycles(merged)) : now - between;
  const std::string what =
      needed.empty()
          ? fmt::format(
                "make one launch of these {}, if {} need each other's results (else a "
                "graph, or a loop in the kernel: that saves {:.0f} core cycles)",
                g.launches.size(),
                follow_each_other(g) ? "they do not"
                                     : "neither they nor the launches of other kernels between them",
                between)
          : fmt::format(
                "make a graph of these {} launches, or one kernel with a loop in which all blocks wait "
                "for each other: they need each other's results, for what one writes to `{}` another "
                "reads",
                g.launches.size(), needed);
  run.advice.push_back({"launch_overhead", core::short_kernel_name(f.kernel().name), g.longest, what, "",
                        "starts of launches and gaps between them", "% of the launches' time",
                        100 * overhead / now, 1, gain_of(t.all, now - after),
                        gain_of(t.launches, now - after)});
}

}  // namespace

RunAdvice advise(const Recording& recording, const std::string& selection) {
  RunAdvice run;
  std::map<uint64_t, KernelRecord> kernels;
  const std::vector<Group> groups = groups_of(recording, recording.select(selection), kernels);
  Times times = times_of(recording);
  for (const Group& g : groups) times.launches += g.cycles + gaps(recording, g);
  run.selected = !selection.empty();
  if (times.all <= 0 || run.selected) times.all = times.launches;
  run.cycles = times.all;
  const std::vector<Recording::ProgramText> texts = texts_of(recording);
  for (const Group& g : groups) {
    const KernelRecord& kernel = kernels.at(g.longest);
    if (kernel.cycles == 0 || kernel.units.empty()) continue;
    const std::string_view ptx = text_of(texts, kernel);
    const Facts facts(kernel, recording.machine(), resources_of(recording, g.longest), ptx,
                      lives_of(recording, g.longest));
    const std::string name = core::short_kernel_name(kernel.name);
    const auto cycles = static_cast<double>(kernel.cycles);
    run.kernels.push_back({name, g.longest, g.launches.size(), kernel.cycles, facts.estimator().own_error()});
    for (const std::optional<LeftAside>& l :
         {left_aside(facts), left_aside_banks(facts), left_aside_atomics(facts), left_aside_blocks(facts)})
      if (l)
        run.unjudged.push_back({name, place_of(kernel, l->pc, ptx), g.longest, l->what, l->hint, l->counter,
                                l->sectors, l->least});
    for (const Rule& rule : rules()) {
      const std::optional<Proposal> p = rule.propose(facts);
      if (!p) continue;
      const double after = std::max(1.0, facts.estimator().cycles(p->after));
      run.advice.push_back({std::string(rule.name), name, g.longest, p->what, place_of(kernel, p->pc, ptx),
                            p->counter, p->unit, p->value, cycles / after,
                            gain_of(times.all, g.cycles * (1 - after / cycles)),
                            gain_of(times.launches, g.cycles * (1 - after / cycles))});
    }
    even_out(g, facts, times, run);
    merge_launches(recording, g, facts, ptx, times, run);
  }
  if (selection.empty()) overlap_transfers(recording, times, run);
  // Where copies take most of the time, a kernel that could be much faster is worth a line all the same.
  std::erase_if(run.advice, [](const Advice& a) { return std::max(a.gain, a.kernels_gain) < kLeastGain; });
  // Advice about the same accesses says that their places are a matter of the data.
  std::erase_if(run.unjudged, [&](const Unjudged& u) {
    return u.sectors > 0 && std::ranges::any_of(run.advice, [&](const Advice& a) {
             return a.rule == "packing" && a.launch == u.launch;
           });
  });
  std::ranges::stable_sort(run.advice, std::ranges::greater{}, &Advice::gain);
  return run;
}

}  // namespace gpusim::analysis::advice
