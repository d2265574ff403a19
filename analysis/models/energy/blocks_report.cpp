// `gpusim analyze --model energy --option study=blocks`: prefix sums by M blocks, and other computations that
// divide their data among them. Energy over M predicted from the first run; of prefix sums also closed forms
// beside counts, and the printed formula's optimum.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analysis/models/energy/blocks.h"
#include "analysis/models/energy/options.h"
#include "analysis/models/energy/pem.h"
#include "analysis/report/plot.h"
#include "analysis/report/text.h"
#include "simcore/record/recorder.h"

namespace gpusim::analysis::energy {
namespace {

/// Inputs of the paper's sensitivity study.
constexpr double kPaperElements = 5'959'298;
constexpr uint64_t kMostBlocks = 1 << 20;

/// The study knows kernels that divide the data among M blocks, and those of one block with a tree: a prefix
/// sum has both.
void check_shape(const Run& run) {
  const uint64_t m = blocks_of(run);
  for (const KernelLaunch& k : run.kernels)
    if (k.blocks != m && k.blocks != 1)
      throw core::RecordError(fmt::format(
          "'{}': kernel {} '{}' has {} blocks: in a study of blocks each kernel has one, or as many "
          "as the largest ({})",
          run.recording->path(), k.kernel.index, k.kernel.name, k.blocks, m));
  const CountedSteps counted = counted_steps(run);
  const bool tree = std::ranges::any_of(run.kernels, [m](const KernelLaunch& k) { return k.blocks != m; });
  if (tree && counted.barriers < 1)
    throw core::RecordError(fmt::format(
        "'{}': no kernel of one block has barriers, as the tree of a prefix sum has", run.recording->path()));
  if (counted.elements < static_cast<double>(m))
    throw core::RecordError(fmt::format(
        "'{}': the last kernel of {} blocks stores less than a word for each: the study is of prefix "
        "sums and the like",
        run.recording->path(), m));
}

void check_together(std::span<const Run> runs) {
  const Run& first = runs.front();
  const auto refuse = [&](const Run& run, const std::string& what) {
    throw core::RecordError(
        fmt::format("'{}': {} than in '{}'", run.recording->path(), what, first.recording->path()));
  };
  std::set<uint64_t> seen;
  for (const Run& run : runs) {
    const std::string& path = run.recording->path();
    if (!run.whole)
      throw core::RecordError(
          fmt::format("'{}': a study of blocks is of all kernels of runs that ended", path));
    check_shape(run);
    if (!seen.insert(blocks_of(run)).second)
      throw core::RecordError(fmt::format("'{}': another run has {} blocks too", path, blocks_of(run)));
    if (!(run.recording->machine() == first.recording->machine())) refuse(run, "another machine");
    if (run.kernels.front().kernel.per_sm.rows != first.kernels.front().kernel.per_sm.rows)
      refuse(run, "another number of SMs");
    const auto names = [](const Run& r) {
      std::vector<std::string> all;
      for (const KernelLaunch& k : r.kernels) all.push_back(k.kernel.name);
      return all;
    };
    if (names(run) != names(first)) refuse(run, "other kernels");
    if (counted_steps(run).elements != counted_steps(first).elements) refuse(run, "another number of words");
  }
}

/// The run that predicts the others: of those with memory events the one with the fewest blocks, for in these
/// what goes with the data is told best from what does not.
const Run& base_of(std::span<const Run> runs) {
  const Run* base = nullptr;
  for (const Run& run : runs)
    if (run.has_memory_events && (base == nullptr || blocks_of(run) < blocks_of(*base))) base = &run;
  if (base == nullptr)
    throw core::RecordError(fmt::format(
        "'{}': none of the runs has memory events, from which the others are predicted; record the "
        "one with the fewest blocks with `--events memory`",
        runs.front().recording->path()));
  return *base;
}

/// Words of a transaction of the run's reads: what the machine coalesces.
double words_per_transfer(const Run& run) {
  const CountedSteps s = counted_steps(run);
  const double tree = s.barriers + 1;
  return s.memory > tree ? (s.computing - tree) / (s.memory - tree) : 1;
}

Prediction prediction(const Run& run, const char* quantity, const char* unit, double predicted,
                      double simulated) {
  Prediction p;
  p.kernel = fmt::format("all, {} blocks", blocks_of(run));
  p.quantity = quantity;
  p.unit = unit;
  p.predicted = predicted;
  p.simulated = simulated;
  return p;
}

/// Closed forms beside what a run counted.
void add_steps(const Run& run, double transfer, ModelReport& report) {
  const uint64_t m = blocks_of(run);
  const CountedSteps counted = counted_steps(run);
  const PrefixSum sum{counted.elements, transfer, 1};
  const Steps s = sum.steps(static_cast<double>(m));
  report.text +=
      fmt::format("  {:>6} {:>10.0f} {:>10.0f} {:>10.0f} {:>10.0f} {:>8.0f} {:>8.0f}\n", m, s.computing,
                  counted.computing, s.memory, counted.memory, s.barriers, counted.barriers);
  report.predictions.push_back(prediction(run, "computing steps", "1", s.computing, counted.computing));
  report.predictions.push_back(prediction(run, "memory accesses", "1", s.memory, counted.memory));
  report.predictions.push_back(prediction(run, "barriers of the tree", "1", s.barriers, counted.barriers));
}

void add_runs(std::span<const Run> runs, const Run& base, ModelReport& report, Plot& plot) {
  Series predicted, simulated;
  predicted.title = "predicted";
  simulated.title = "simulated";
  predicted.marks = false;
  const Run *picked = &runs.front(), *least = picked;
  double picked_energy = INFINITY;
  report.text +=
      fmt::format("  {:>6} {:>12} {:>12} {:>12} {:>12}\n", "blocks", "us", "simulated", "mJ", "simulated");
  for (const Run& run : runs) {
    const BlockPrediction p = predict_blocks(base, blocks_of(run));
    const double joules = core::total(p.joules);
    report.text +=
        fmt::format("  {:>6} {:>12.4g} {:>12.4g} {:>12.4g} {:>12.4g}\n", blocks_of(run), p.seconds * 1e6,
                    run.kernel_seconds() * 1e6, joules * 1e3, run.kernel_energy() * 1e3);
    if (joules < picked_energy) picked = &run, picked_energy = joules;
    if (run.kernel_energy() < least->kernel_energy()) least = &run;
    Prediction energy = prediction(run, "energy by blocks", "J", joules, run.kernel_energy());
    core::EnergyAmounts own{};
    for (const KernelLaunch& k : run.kernels)
      for (size_t t = 0; t < own.size(); ++t) own[t] += k.joules[t];
    for (size_t t = 0; t < own.size(); ++t)
      if (p.joules[t] != 0 || own[t] != 0)
        energy.terms.push_back({core::energy_terms()[t].counter, p.joules[t], own[t]});
    // The base's own is right by construction.
    if (&run != &base) report.predictions.push_back(energy);
    predicted.points.emplace_back(static_cast<double>(blocks_of(run)), joules * 1e3);
    simulated.points.emplace_back(static_cast<double>(blocks_of(run)), run.kernel_energy() * 1e3);
  }
  const double above = picked->kernel_energy() / least->kernel_energy() - 1;
  report.text += fmt::format(
      "  the model picks {} blocks; the least simulated energy has {}; the pick's is {:.1f} % above it\n",
      blocks_of(*picked), blocks_of(*least), 100 * above);
  Prediction p = prediction(*picked, "energy above the least", "", above, 0);
  p.kernel = "the block count that is picked";
  p.points = true;
  p.terms = {{"picked", picked_energy, picked->kernel_energy()},
             {"least", core::total(predict_blocks(base, blocks_of(*least)).joules), least->kernel_energy()}};
  report.predictions.push_back(p);
  for (Series* s : {&predicted, &simulated}) {
    std::ranges::sort(s->points);
    plot.series.push_back(*s);
  }
  for (const auto& [blocks, joules] : plot.series.front().points) plot.x_ticks.push_back(blocks);
}

std::string sensitivity_row(const char* name, double value, const PrefixSum& sum, const Sensitivity& at) {
  const double m = optimal_blocks(sum, at, static_cast<double>(kMostBlocks));
  if (m == 0) return fmt::format("  {} = {:>6.0f}: no number of blocks ends in time\n", name, value);
  return fmt::format("  {} = {:>6.0f}: {:>9.1f} blocks by dE/dM = 0, {:>8} by trying all\n", name, value, m,
                     best_of_all_blocks(sum, at, kMostBlocks));
}

std::string sensitivity_text(const Choice& choice) {
  const PrefixSum sum{kPaperElements, choice.transfer, 2};
  const Sensitivity& given = choice.sensitivity;
  std::string text = fmt::format(
      "printed formula, N = {:.0f} (the paper's, not that of these runs), alpha = 2, transfers of B = {:.0f} "
      "words, T = {:.0f} core cycles, E_idle = {:.3g} E_c for each waiting cycle: optimal number of blocks "
      "(one block's critical path: far above what a machine holds at a time)\n",
      kPaperElements, choice.transfer, given.deadline_cycles, given.idle);
  for (const double k : {1.0, 10.0, 50.0, 100.0, 500.0, 1000.0, 5000.0}) {
    Sensitivity at = given;
    at.k = k;
    text += sensitivity_row("K", k, sum, at);
  }
  for (const double cycles : {10.0, 50.0, 100.0, 200.0, 300.0, 400.0, 500.0, 700.0, 1000.0}) {
    Sensitivity at = given;
    at.access_cycles = cycles;
    text += sensitivity_row("M_c", cycles, sum, at);
  }
  return text;
}

/// What the paper says of prefix sums.
void add_prefix_sum(std::span<const Run> runs, const Choice& choice, ModelReport& report) {
  double transfer = 1;
  for (const Run& run : runs) transfer = std::max(transfer, words_per_transfer(run));
  report.text += fmt::format(
      "steps of a block, closed form beside counted (transfers of {:.1f} words, the most of a run; pieces "
      "that begin within one need more)\n  {:>6} {:>21} {:>21} "
      "{:>17}\n",
      transfer, "blocks", "computing", "memory", "barriers");
  for (const Run& run : runs) add_steps(run, transfer, report);
  report.text += sensitivity_text(choice);
}

}  // namespace

ModelReport blocks_report(std::span<const Run> runs, const Choice& choice) {
  check_together(runs);
  const Run& base = base_of(runs);
  ModelReport report;
  Plot plot;
  plot.title = "Energy over the number of blocks";
  plot.x_label = "blocks";
  plot.y_label = "energy, mJ";
  plot.log_x = plot.y_from_zero = true;
  report.text = fmt::format("energy by number of blocks, predicted from '{}' with {} blocks\n",
                            printable(base.recording->path()), blocks_of(base));
  add_runs(runs, base, report, plot);
  if (counted_steps(base).barriers >= 1) add_prefix_sum(runs, choice, report);
  if (!choice.plot.empty()) {
    draw_svg(plot, choice.plot);
    report.text += fmt::format("drawn: {}\n", choice.plot);
  }
  return report;
}

}  // namespace gpusim::analysis::energy
