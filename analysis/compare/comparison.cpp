#include "analysis/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analysis/compare/align.h"
#include "analysis/profile/quantities.h"
#include "analysis/source/source_lines.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {
namespace {

CycleParts magnitude(CycleParts v) { return v < 0 ? -v : v; }

template <class Terms>
void largest_change_first(Terms& terms) {
  std::ranges::stable_sort(terms, [](const auto& x, const auto& y) {
    return magnitude(x.term.change()) > magnitude(y.term.change());
  });
}

/// Slots of a kernel that pass in `issue_cycles` core cycles.
uint64_t slots_at_a_time(const KernelRecord& k, const core::MachineConfig& machine) {
  return k.per_sm.rows * machine.scheduler.count * machine.scheduler.issue_width;
}

/// Causes by name, in the order of their first appearance.
class CauseSum {
 public:
  CycleTerm& of(const std::string& cause) {
    const auto [at, added] = place_.try_emplace(cause, terms_.size());
    if (added) terms_.push_back({cause, {}});
    return terms_[at->second].term;
  }
  /// Those with slots.
  [[nodiscard]] std::vector<CauseTerm> sorted() {
    std::erase_if(terms_, [](const CauseTerm& t) { return t.term.slots_a == 0 && t.term.slots_b == 0; });
    largest_change_first(terms_);
    return std::move(terms_);
  }

 private:
  std::map<std::string, size_t, std::less<>> place_;
  std::vector<CauseTerm> terms_;
};

/// One run's side of a comparison.
struct Side {
  const KernelRecord* kernel = nullptr;
  CycleParts parts_of_slot = 0;
  uint64_t CycleTerm::*slots;
  CycleParts CycleTerm::*parts;

  void add(CycleTerm& term, uint64_t n) const {
    term.*slots += n;
    term.*parts += static_cast<CycleParts>(n) * parts_of_slot;
  }
};

/// What an operation stands for: statements by file and line, or lines of the source.
using Place = std::tuple<std::string, uint64_t, std::string>;

struct LineSum {
  Place shown;
  bool in_a = false, in_b = false;
  CycleTerm term;
  CauseSum causes;
};

/// Lines of both runs. `key` gives each operation of a side a number that the two sides share.
class LineSums {
 public:
  LineSum& at(size_t key) {
    if (key >= lines_.size()) lines_.resize(key + 1);
    return lines_[key];
  }
  void add(const Side& side, uint64_t pc, LineSum& line) {
    for (const CauseSlots& cause : side.kernel->causes) {
      const uint64_t n = side.kernel->per_pc[slots_column(cause.name)][pc];
      if (n == 0) continue;
      side.add(line.term, n);
      side.add(line.causes.of(cause.name), n);
    }
  }
  [[nodiscard]] std::vector<LineTerm> sorted() {
    std::vector<LineTerm> terms;
    for (LineSum& line : lines_) {
      if (line.term.slots_a == 0 && line.term.slots_b == 0) continue;
      const auto& [file, number, ptx] = line.shown;
      terms.push_back({file, number, ptx, line.in_a, line.in_b, line.term, line.causes.sorted()});
    }
    largest_change_first(terms);
    return terms;
  }

 private:
  std::vector<LineSum> lines_;
};

std::vector<Place> statement_places(const Table& per_pc) {
  std::vector<Place> places;
  for (uint64_t pc = 0; pc < per_pc.rows; ++pc)
    places.emplace_back(text_cell(per_pc, "ptx_file", pc), per_pc["ptx_line"][pc],
                        text_cell(per_pc, "ptx", pc));
  return places;
}

std::vector<Place> source_places(const Table& per_pc) {
  std::vector<Place> places;
  for (uint64_t pc = 0; pc < per_pc.rows; ++pc) {
    SourceLine line = user_line(per_pc, pc);
    places.emplace_back(std::move(line.file), line.line, "");
  }
  return places;
}

/// A file of b's that is another one of a's in another folder goes by the name that it has in a: the same
/// name without the folders, of one file on each side.
void name_files_alike(const std::vector<Place>& in_a, std::vector<Place>& in_b) {
  const auto files_by_name = [](const std::vector<Place>& places) {
    std::map<std::string, std::set<std::string>> files;
    for (const Place& place : places)
      files[std::filesystem::path(std::get<0>(place)).filename().string()].insert(std::get<0>(place));
    return files;
  };
  const auto a = files_by_name(in_a), b = files_by_name(in_b);
  for (Place& place : in_b) {
    std::string& file = std::get<0>(place);
    const std::string name = std::filesystem::path(file).filename().string();
    if (const auto at = a.find(name); at != a.end() && at->second.size() == 1 && b.at(name).size() == 1)
      file = *at->second.begin();
  }
}

/// Sums over what places have in common. `aligned`: places of other programs, by what they say and their
/// order.
std::vector<LineTerm> sum_lines(const Side& a, const Side& b, const std::vector<Place>& in_a,
                                const std::vector<Place>& in_b, bool aligned) {
  std::map<Place, size_t> keys_a, keys_b;
  for (const Place& place : in_a) keys_a.try_emplace(place, 0);
  for (const Place& place : in_b) keys_b.try_emplace(place, 0);
  size_t next = 0;
  for (auto& [place, key] : keys_a) key = next++;
  if (aligned) {
    std::vector<std::string> texts_a, texts_b;
    for (const auto& [place, key] : keys_a) texts_a.push_back(std::get<2>(place));
    for (const auto& [place, key] : keys_b) texts_b.push_back(std::get<2>(place));
    const std::vector<size_t> partner = align_statements(texts_a, texts_b);
    size_t n = 0;
    for (auto& [place, key] : keys_b) {
      key = partner[n] == kNoPartner ? next++ : partner[n];
      ++n;
    }
  } else {
    for (auto& [place, key] : keys_b) {
      const auto same = keys_a.find(place);
      key = same == keys_a.end() ? next++ : same->second;
    }
  }
  LineSums sums;
  for (uint64_t pc = 0; pc < in_a.size(); ++pc) {
    LineSum& line = sums.at(keys_a[in_a[pc]]);
    line.shown = in_a[pc];
    line.in_a = true;
    sums.add(a, pc, line);
  }
  for (uint64_t pc = 0; pc < in_b.size(); ++pc) {
    LineSum& line = sums.at(keys_b[in_b[pc]]);
    line.shown = in_b[pc];
    line.in_b = true;
    sums.add(b, pc, line);
  }
  return sums.sorted();
}

std::vector<CounterChange> counter_changes(const KernelRecord& a, const KernelRecord& b) {
  std::vector<CounterChange> changes;
  std::set<std::string, std::less<>> names;
  for (const KernelRecord* k : {&a, &b})
    for (const auto& [name, value] : k->counters) names.insert(name);
  for (const std::string& name : names) {
    const auto of = [&name](const KernelRecord& k) {
      const auto at = k.counters.find(name);
      return at == k.counters.end() ? 0.0 : at->second;
    };
    CounterChange change{name, "", of(a), of(b)};
    if (change.a == change.b || !std::isfinite(change.a) || !std::isfinite(change.b)) continue;
    for (const KernelRecord* k : {&a, &b})
      if (const auto unit = k->counter_units.find(name); unit != k->counter_units.end())
        change.unit = unit->second;
    changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, &CounterChange::relative);
  return changes;
}

class Comparer {
 public:
  Comparer(const Recording& a, const Recording& b, const std::string& kernel) : a_(a), b_(b) {
    result_.a = run_of(a), result_.b = run_of(b);
    const auto texts_a = a.program_texts(), texts_b = b.program_texts();
    if (!texts_a.empty() && !texts_b.empty())
      result_.same_ptx = std::ranges::equal(texts_a, texts_b, {}, &Recording::ProgramText::text,
                                            &Recording::ProgramText::text);
    result_.of_programs = a.of_program() || b.of_program();
    result_.same_launch =
        result_.of_programs ? a.command_line() == b.command_line() : a.launch_text() == b.launch_text();
    result_.keys = core::differences(a.machine(), b.machine());
    compare_results();
    read(a, kernels_a_);
    read(b, kernels_b_);
    result_.denominator = common_denominator();
    if (kernel.empty()) return;
    const std::vector<uint64_t> chosen = a.select(kernel);
    chosen_.emplace(chosen.begin(), chosen.end());
    result_.not_compared.clear();
  }

  Comparison run() {
    std::vector<bool> taken(kernels_b_.size());
    for (const KernelRecord& k : kernels_a_) {
      size_t at = 0;
      while (at < kernels_b_.size() && (taken[at] || kernels_b_[at].name != k.name)) ++at;
      if (at != kernels_b_.size()) taken[at] = true;
      if (chosen_ && !chosen_->contains(k.index)) continue;
      if (at == kernels_b_.size())
        add_alone(side_a(k), result_.only_a, a_);
      else
        pair(side_a(k), side_b(kernels_b_[at]));
    }
    for (size_t i = 0; i < kernels_b_.size() && !chosen_; ++i)
      if (!taken[i]) add_alone(side_b(kernels_b_[i]), result_.only_b, b_);
    if (result_.kernels.empty() && result_.only_a.empty() && result_.only_b.empty())
      throw core::RecordError(fmt::format("'{}' and '{}': no kernel of either ended", a_.path(), b_.path()));
    result_.causes = causes_.sorted();
    return std::move(result_);
  }

 private:
  static ComparedRun run_of(const Recording& r) {
    ComparedRun run;
    run.path = r.path();
    run.machine = r.machine().gpu.name;
    run.command = r.of_program() ? r.command_line() : "a launch file";
    run.note = r.partial_note();
    run.core_mhz = static_cast<double>(r.machine().clocks.core_khz) / 1e3;
    return run;
  }

  void read(const Recording& r, std::vector<KernelRecord>& kernels) {
    for (uint64_t i = 0; i < r.launches().size(); ++i) {
      if (r.launches()[i].finished)
        kernels.push_back(r.kernel(i));
      else if (r.complete())
        throw core::RecordError(fmt::format(
            "'{}': kernel {} has no attribute 'cycles', though the run is complete; the file is damaged",
            r.path(), i));
      else
        result_.not_compared.push_back(fmt::format("kernel {} {} did not end in {}", i,
                                                   core::short_kernel_name(r.launches()[i].name), r.path()));
    }
    std::ranges::stable_sort(kernels, {}, &KernelRecord::launch);
  }

  void compare_results() {
    const auto a = a_.fingerprints(), b = b_.fingerprints();
    for (const auto& [list, recording] : {std::pair(&a, &a_), std::pair(&b, &b_)}) {
      if (!list->empty()) continue;
      result_.results_why =
          fmt::format("unknown: {} holds no fingerprints of its results ({})", recording->path(),
                      recording->complete() ? "an earlier version recorded it" : "the run did not end");
      return;
    }
    uint64_t bytes = 0;
    std::multimap<std::string, const Recording::Fingerprint*> left;
    for (const auto& f : b) left.emplace(f.name, &f);
    for (const auto& f : a) {
      bytes += f.bytes;
      const auto at = left.find(f.name);
      if (at == left.end() || at->second->bytes != f.bytes || at->second->value != f.value)
        result_.different.push_back({f.name, f.bytes, at == left.end() ? 0 : at->second->bytes});
      if (at != left.end()) left.erase(at);
    }
    for (const auto& [name, f] : left) result_.different.push_back({name, 0, f->bytes});
    result_.results =
        result_.different.empty() ? Comparison::Results::kSame : Comparison::Results::kDifferent;
    result_.results_why =
        result_.different.empty()
            ? fmt::format("the same: all {} bytes of {} buffers and variables", bytes, a.size())
            : fmt::format("different: {} of {} buffers and variables differ in some byte",
                          result_.different.size(), a.size() + left.size());
  }

  [[nodiscard]] uint64_t common_denominator() const {
    uint64_t all = 1;
    for (const auto& [kernels, recording] : {std::pair(&kernels_a_, &a_), std::pair(&kernels_b_, &b_)})
      for (const KernelRecord& k : *kernels) {
        const uint64_t slots = slots_at_a_time(k, recording->machine());
        all = std::lcm(all, slots / std::gcd(slots, issue_cycles(*recording)));
        constexpr uint64_t kMost = 1'000'000'000'000;
        if (all > kMost)
          throw core::RecordError(
              fmt::format("'{}' and '{}': the numbers of their SMs and schedulers have no "
                          "common multiple to compare them by",
                          a_.path(), b_.path()));
      }
    return all;
  }

  static uint64_t issue_cycles(const Recording& r) {
    return static_cast<uint64_t>(r.machine().scheduler.issue_cycles);
  }
  [[nodiscard]] CycleParts parts_of_slot(const KernelRecord& k, const Recording& r) const {
    return static_cast<CycleParts>(issue_cycles(r)) * result_.denominator / slots_at_a_time(k, r.machine());
  }
  [[nodiscard]] Side side_a(const KernelRecord& k) const {
    return {&k, parts_of_slot(k, a_), &CycleTerm::slots_a, &CycleTerm::a};
  }
  [[nodiscard]] Side side_b(const KernelRecord& k) const {
    return {&k, parts_of_slot(k, b_), &CycleTerm::slots_b, &CycleTerm::b};
  }

  static ComparedLaunch launch_of(const KernelRecord& k, const Recording& r) {
    return {k.index, k.launch, k.name, k.grid, k.block, k.cycles, kernel_seconds(k, r.machine())};
  }

  void add_alone(const Side& side, std::vector<ComparedLaunch>& list, const Recording& r) {
    list.push_back(launch_of(*side.kernel, r));
    for (const CauseSlots& cause : side.kernel->causes) {
      side.add(causes_.of(cause.name), cause.slots);
      side.add(result_.total, cause.slots);
    }
  }

  void pair(const Side& a, const Side& b) {
    KernelComparison k;
    k.a = launch_of(*a.kernel, a_), k.b = launch_of(*b.kernel, b_);
    CauseSum causes;
    for (const Side& side : {a, b})
      for (const CauseSlots& cause : side.kernel->causes) {
        side.add(causes.of(cause.name), cause.slots);
        side.add(causes_.of(cause.name), cause.slots);
        side.add(k.total, cause.slots);
        side.add(result_.total, cause.slots);
      }
    k.causes = causes.sorted();
    const auto &pcs_a = a.kernel->per_pc, &pcs_b = b.kernel->per_pc;
    const auto statements_a = statement_places(pcs_a);
    auto statements_b = statement_places(pcs_b);
    name_files_alike(statements_a, statements_b);
    k.statements = sum_lines(a, b, statements_a, statements_b, !result_.same_ptx.value_or(false));
    k.nowhere = k.total;
    for (const LineTerm& line : k.statements) {
      k.nowhere.slots_a -= line.term.slots_a, k.nowhere.slots_b -= line.term.slots_b;
      k.nowhere.a -= line.term.a, k.nowhere.b -= line.term.b;
    }
    const auto lines_a = source_places(pcs_a);
    auto lines_b = source_places(pcs_b);
    name_files_alike(lines_a, lines_b);
    const auto known = [](const Place& place) { return std::get<1>(place) != 0; };
    if (std::ranges::any_of(lines_a, known) || std::ranges::any_of(lines_b, known))
      k.lines = sum_lines(a, b, lines_a, lines_b, false);
    k.counters = counter_changes(*a.kernel, *b.kernel);
    result_.kernels.push_back(std::move(k));
  }

  const Recording &a_, &b_;
  Comparison result_;
  std::vector<KernelRecord> kernels_a_, kernels_b_;
  std::optional<std::set<uint64_t>> chosen_;  ///< kernels of a, if not all are compared
  CauseSum causes_;
};

}  // namespace

double CounterChange::relative() const { return std::abs(b - a) / std::max(std::abs(a), std::abs(b)); }

Comparison compare(const Recording& a, const Recording& b, const std::string& kernel) {
  return Comparer(a, b, kernel).run();
}

}  // namespace gpusim::analysis
