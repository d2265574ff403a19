// `gpusim analyze --model energy`: time, energy and system power over the core clock, predicted from the run
// at the highest clock beside the runs at others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/models/energy/dvfs.h"
#include "analysis/models/energy/options.h"
#include "analysis/report/plot.h"
#include "analysis/report/text.h"
#include "simcore/record/recorder.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis::energy {
namespace {

/// Runs of the same work; the first is the one that predicts.
struct Group {
  const Run* base = nullptr;
  std::vector<const Run*> others;  ///< by falling clock
};

std::vector<Group> groups_of(std::span<const Run> runs) {
  std::vector<const Run*> falling;
  for (const Run& run : runs) falling.push_back(&run);
  std::ranges::stable_sort(falling, [](const Run* a, const Run* b) { return a->clocks[0] > b->clocks[0]; });
  std::vector<Group> groups;
  for (const Run* run : falling) {
    const auto group =
        std::ranges::find_if(groups, [&](const Group& g) { return same_work(*g.others.front(), *run); });
    group == groups.end() ? groups.push_back({nullptr, {run}}) : group->others.push_back(run);
  }
  // As they were given, by the first of each.
  std::ranges::stable_sort(groups, {}, [&](const Group& g) { return std::ranges::min(g.others); });
  for (Group& g : groups) {
    for (size_t i = 1; i < g.others.size(); ++i)
      if (g.others[i]->clocks == g.others[i - 1]->clocks)
        throw core::RecordError(fmt::format("'{}': the same work at the same clock as in '{}'",
                                            g.others[i]->recording->path(),
                                            g.others[i - 1]->recording->path()));
    const Run& highest = *g.others.front();
    if (!highest.has_memory_events)
      throw core::RecordError(
          fmt::format("'{}': the model predicts from the run at the highest clock, and needs its memory "
                      "events; record it "
                      "with `--events memory`",
                      highest.recording->path()));
    g.base = &highest;
    g.others.erase(g.others.begin());
  }
  return groups;
}

/// From `khz` down to half of it.
std::vector<int64_t> clocks_down(int64_t khz, int64_t steps) {
  std::vector<int64_t> clocks;
  for (int64_t i = 0; i <= steps; ++i) clocks.push_back(khz - khz * i / (2 * steps));
  return clocks;
}

double mhz(int64_t khz) { return static_cast<double>(khz) * 1e-3; }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// "858.0 (857.1, +0.1 %)"
std::string beside(double predicted, double simulated, double unit) {
  return fmt::format("{:.4g} ({:.4g}, {:+.1f} %)", predicted / unit, simulated / unit,
                     100 * (predicted / simulated - 1));
}

std::string parts_text(const ClockParts& p) {
  return fmt::format(
      "  launch {}, drain {} of the time; of the rest: work of the busiest unit {}, starts of blocks {}, "
      "path of a warp {} (computing {}, unloaded latency {}), memory {}\n",
      percent(p.launch), percent(p.drain), percent(p.work), percent(p.starts), percent(p.compute + p.latency),
      percent(p.compute), percent(p.latency), percent(p.memory));
}

const char* bound_name(const ClockParts::Bounds& b) {
  const double most = std::max({b.work, b.starts, b.path, b.memory});
  if (most == b.work) return "work";
  if (most == b.starts) return "starts";
  return most == b.path ? "path" : "memory";
}

/// What the text, the JSON and the predictions of one group are made of.
class GroupReport {
 public:
  GroupReport(const Group& group, const Choice& choice)
      : group_(group), choice_(choice), dvfs_(*group.base) {}

  void add_to(ModelReport& report) {
    const Run& base = *group_.base;
    report.text += fmt::format(
        "energy, {}: '{}' at other core clocks, predicted from its run at {:.0f} MHz\n",
        choice_.paper ? "paper" : "extended", printable(base.recording->path()), mhz(base.clocks[0]));
    for (size_t i = 0; i < base.kernels.size(); ++i)
      choice_.paper ? add_paper_kernel(i, report) : add_kernel(i, report);
    if (!choice_.paper && !group_.others.empty()) add_board(report);
    if (base.whole && !choice_.paper) add_system(report);
    if (choice_.host_seconds > 0) add_idle(report);
  }

  /// Energy over the clock, predicted and simulated. `alone`: no other group is drawn.
  void add_to(Plot& plot, bool alone) const {
    const int first_look = static_cast<int>(plot.series.size()) / 2;
    std::string name = core::short_kernel_name(group_.base->kernels.front().kernel.name);
    if (!alone)
      name += fmt::format(" ({})", std::filesystem::path(group_.base->recording->path()).stem().string());
    Series kernels, system, simulated, simulated_system;
    kernels.title = name + ": board while kernels run, predicted";
    system.title = name + ": system with host and copies, predicted";
    simulated.title = name + ": board, simulated";
    simulated_system.title = name + ": system, simulated";
    kernels.marks = system.marks = false;
    kernels.dashed = system.dashed = true;
    kernels.look = simulated.look = first_look;
    system.look = simulated_system.look = first_look + 1;
    for (const int64_t khz : clocks_down(group_.base->clocks[0], 32)) {
      const Forecast f = dvfs_.at(khz);
      kernels.points.emplace_back(mhz(khz), f.kernel_energy * 1e3);
      system.points.emplace_back(mhz(khz), f.system_energy * 1e3);
    }
    const auto add = [&](const Run& run) {
      simulated.points.emplace_back(mhz(run.clocks[0]), run.kernel_energy() * 1e3);
      if (const auto power = run.recording->system_power(); power && run.whole)
        simulated_system.points.emplace_back(mhz(run.clocks[0]), *power * run.elapsed * 1e3);
    };
    add(*group_.base);
    for (const Run* run : group_.others) add(*run);
    plot.series.insert(plot.series.end(), {kernels, simulated});
    if (group_.base->whole) plot.series.insert(plot.series.end(), {system, simulated_system});
  }

 private:
  [[nodiscard]] std::string name_of(size_t kernel, const Run& run) const {
    return fmt::format("{} @ {:.0f} MHz", core::short_kernel_name(group_.base->kernels[kernel].kernel.name),
                       mhz(run.clocks[0]));
  }

  [[nodiscard]] Prediction prediction(size_t kernel, const Run& run, const char* quantity, const char* unit,
                                      double predicted, double simulated) const {
    Prediction p;
    p.launch = run.kernels[kernel].kernel.index;
    p.kernel = name_of(kernel, run);
    p.quantity = quantity;
    p.unit = unit;
    p.predicted = predicted;
    p.simulated = simulated;
    return p;
  }

  /// Where no other runs say which.
  [[nodiscard]] std::vector<int64_t> clocks() const {
    return choice_.clocks.empty() ? clocks_down(group_.base->clocks[0], 8) : choice_.clocks;
  }

  void add_kernel(size_t i, ModelReport& report) {
    const KernelLaunch& own = group_.base->kernels[i];
    report.text += fmt::format("kernel {} '{}': {:.4g} us, {:.4g} mJ, {:.4g} W\n{}", own.kernel.index,
                               printable(core::short_kernel_name(own.kernel.name)), own.seconds * 1e6,
                               own.energy() * 1e3, own.energy() / own.seconds, parts_text(dvfs_.parts()[i]));
    report.text += fmt::format("  {:>5} {:>6}  {:<34} {:<34} {:>9}\n", "MHz", "V", "time us (simulated)",
                               "energy mJ (simulated)", "bound by");
    if (group_.others.empty()) {
      for (const int64_t khz : clocks()) {
        const Forecast f = dvfs_.at(khz);
        add_row(i, f, fmt::format("{:.4g}", f.kernels[i].seconds * 1e6),
                fmt::format("{:.4g}", core::total(f.kernels[i].joules) * 1e3), report);
      }
      return;
    }
    for (const Run* run : group_.others) {
      const Forecast f = dvfs_.at(run->clocks);
      const KernelLaunch& simulated = run->kernels[i];
      const double joules = core::total(f.kernels[i].joules);
      add_row(i, f, beside(f.kernels[i].seconds, simulated.seconds, 1e-6),
              beside(joules, simulated.energy(), 1e-3), report);
      add_predictions(i, f.kernels[i], *run, report);
    }
  }

  void add_row(size_t i, const Forecast& f, const std::string& time, const std::string& energy,
               ModelReport& report) {
    report.text += fmt::format("  {:>5.0f} {:>6.3f}  {:<34} {:<34} {:>9}\n", mhz(f.core_khz),
                               volts(group_.base->recording->machine(), core::PowerDomain::kCore, f.core_khz),
                               time, energy, bound_name(f.kernels[i].bounds));
    report.json += fmt::format(
        "{}{{\"kernel\": \"{}\", \"core_khz\": {}, \"seconds\": {}, \"energy\": {}}}",
        report.json.empty() ? "" : ", ", core::json_escaped(group_.base->kernels[i].kernel.name), f.core_khz,
        core::json_number(f.kernels[i].seconds), core::json_number(core::total(f.kernels[i].joules)));
  }

  void add_predictions(size_t i, const KernelForecast& f, const Run& run, ModelReport& report) {
    const KernelLaunch& simulated = run.kernels[i];
    Prediction time = prediction(i, run, "time", "s", f.seconds, simulated.seconds);
    const ClockParts& parts = dvfs_.parts()[i];
    const double hz = static_cast<double>(run.clocks[0]) * 1e3;
    const ClockParts::Bounds& bounds = f.bounds;
    const double launch = parts.seconds * parts.launch * parts.core_hz / hz;
    const double drain = parts.seconds * parts.drain * f.beyond.latency, between = f.seconds - launch - drain;
    time.terms = {{"launch", launch, NAN},
                  {"drain", drain, NAN},
                  {"work", between * bounds.work, NAN},
                  {"starts", between * bounds.starts, NAN},
                  {"path", between * bounds.path, NAN},
                  {"memory", between * bounds.memory, NAN}};
    time.constant = group_.base->kernels[i].seconds;
    report.predictions.push_back(time);
    Prediction energy = prediction(i, run, "kernel energy", "J", core::total(f.joules), simulated.energy());
    energy.constant = group_.base->kernels[i].energy();
    for (size_t t = 0; t < core::kNumEnergyTerms; ++t)
      if (f.joules[t] != 0 || simulated.joules[t] != 0)
        energy.terms.push_back({core::energy_terms()[t].counter, f.joules[t], simulated.joules[t]});
    report.predictions.push_back(energy);
  }

  /// What the board draws while kernels run, and what the clock is worth that the model would choose.
  void add_board(ModelReport& report) const {
    const Run& base = *group_.base;
    const std::string name = core::short_kernel_name(base.kernels.front().kernel.name);
    const auto add = [&](std::string kernel, const char* quantity, const char* unit) -> Prediction& {
      Prediction& p = report.predictions.emplace_back();
      p.kernel = std::move(kernel);
      p.quantity = quantity;
      p.unit = unit;
      return p;
    };
    const double base_power = base.kernel_energy() / base.kernel_seconds();
    const Run *picked = &base, *least = &base;
    double picked_energy = base.kernel_energy();
    report.text +=
        fmt::format("board while kernels run: {:.4g} W at {:.0f} MHz\n", base_power, mhz(base.clocks[0]));
    for (const Run* run : group_.others) {
      const Forecast f = dvfs_.at(run->clocks);
      double seconds = 0;
      for (const KernelForecast& k : f.kernels) seconds += k.seconds;
      Prediction& p =
          add(fmt::format("all of {} @ {:.0f} MHz", name, mhz(run->clocks[0])), "board power", "W");
      p.predicted = f.kernel_energy / seconds;
      p.simulated = run->kernel_energy() / run->kernel_seconds();
      p.constant = base_power;
      report.text +=
          fmt::format("  {:>5.0f} W {:<34}\n", mhz(f.core_khz), beside(p.predicted, p.simulated, 1));
      if (f.kernel_energy < picked_energy) picked = run, picked_energy = f.kernel_energy;
      if (run->kernel_energy() < least->kernel_energy()) least = run;
    }
    Prediction& p =
        add(fmt::format("{} at the clock that is picked", name), "energy above the least of clocks", "");
    const auto above = [least](const Run& run) { return run.kernel_energy() / least->kernel_energy() - 1; };
    p.points = true;
    p.predicted = above(*picked);
    p.constant = above(base);  // with the same power at every clock the fastest takes least
    report.text += fmt::format(
        "  of these clocks the model picks {:.0f} MHz; the least simulated energy is at {:.0f}; the pick's "
        "is {:.1f} % above "
        "it\n",
        mhz(picked->clocks[0]), mhz(least->clocks[0]), 100 * p.predicted);
  }

  void add_system(ModelReport& report) {
    const Run& base = *group_.base;
    report.text += fmt::format(
        "system: with {:.4g} W of the waiting host, and {:.4g} W of the idle board while copies take {:.4g} "
        "us\n",
        base.recording->machine().host.idle_power_w, base.recording->machine().host.gpu_idle_power_w,
        (base.elapsed - base.kernel_seconds()) * 1e6);
    report.text +=
        fmt::format("  {:>5} {:<34} {:<34}\n", "MHz", "power W (simulated)", "energy mJ (simulated)");
    if (group_.others.empty())
      for (const int64_t khz : clocks()) {
        const Forecast f = dvfs_.at(khz);
        report.text += fmt::format("  {:>5.0f} {:<34.4g} {:<34.4g}\n", mhz(khz), f.system_power(),
                                   f.system_energy * 1e3);
      }
    for (const Run* run : group_.others) {
      const Forecast f = dvfs_.at(run->clocks);
      const std::optional<double> recorded = run->recording->system_power();
      if (!recorded) {
        report.text += fmt::format(
            "  {:>5.0f} {:<34.4g} {:<34.4g} ('{}' has no table /system to compare with)\n", mhz(f.core_khz),
            f.system_power(), f.system_energy * 1e3, printable(run->recording->path()));
        continue;
      }
      const double power = *recorded;
      report.text +=
          fmt::format("  {:>5.0f} {:<34} {:<34}\n", mhz(f.core_khz), beside(f.system_power(), power, 1),
                      beside(f.system_energy, power * run->elapsed, 1e-3));
      Prediction p;
      p.kernel = fmt::format("all of {} @ {:.0f} MHz", base.kernels.front().kernel.name, mhz(run->clocks[0]));
      p.quantity = "system power";
      p.unit = "W";
      p.predicted = f.system_power(), p.simulated = power;
      if (const auto of_base = base.recording->system_power()) p.constant = *of_base;
      p.terms = {{"kernels", f.kernel_energy / f.elapsed, run->kernel_energy() / run->elapsed},
                 {"host and idle board", (f.system_energy - f.kernel_energy) / f.elapsed,
                  power - run->kernel_energy() / run->elapsed}};
      report.predictions.push_back(p);
    }
    add_least(report);
  }

  /// The clocks of least energy.
  void add_least(ModelReport& report) const {
    Forecast kernels = dvfs_.at(group_.base->clocks[0]), system = kernels;
    for (const int64_t khz : clocks_down(group_.base->clocks[0], 64)) {
      const Forecast f = dvfs_.at(khz);
      if (f.kernel_energy < kernels.kernel_energy) kernels = f;
      if (f.system_energy < system.system_energy) system = f;
    }
    report.text += fmt::format(
        "  least energy of the kernels at {:.0f} MHz ({:.4g} mJ), of the system at {:.0f} MHz ({:.4g} mJ)\n",
        mhz(kernels.core_khz), kernels.kernel_energy * 1e3, mhz(system.core_khz), system.system_energy * 1e3);
  }

  void add_paper_kernel(size_t i, ModelReport& report) const {
    const Run& base = *group_.base;
    const PemKernel pem = pem_kernel(base, i);
    report.text += fmt::format(
        "kernel {} '{}': critical path of {} barrier intervals in {} blocks, {:.0f} cycles: {:.0f} "
        "computing, "
        "{:.0f} waiting for {:.1f} accesses and {:.0f} barriers\n  {:>5}  {:<34} {:<34}\n",
        base.kernels[i].kernel.index, printable(core::short_kernel_name(base.kernels[i].kernel.name)),
        pem.path.tasks, pem.path.blocks, pem.path.cycles, pem.path.computing, pem.path.waiting,
        pem.path.accesses, pem.path.barriers, "MHz", "clock that ends in time, MHz",
        "energy mJ (simulated, with host)");
    std::vector<const Run*> runs{&base};
    runs.insert(runs.end(), group_.others.begin(), group_.others.end());
    for (const Run* run : runs) {
      const KernelLaunch& k = run->kernels[i];
      const PemEnergy e = pem_energy(pem.steps, pem.machine, k.seconds);
      const double simulated = k.energy() + pem.machine.idle_power * k.seconds;
      report.text +=
          fmt::format("  {:>5.0f}  {:<34} {:<34}\n", mhz(run->clocks[0]),
                      beside(e.clock * 1e-6, mhz(run->clocks[0]), 1), beside(e.total(), simulated, 1e-3));
      Prediction p = prediction(i, *run, "energy with host", "J", e.total(), simulated);
      const double own = core::total(k.joules, core::PowerDomain::kCore);
      p.terms = {{"computing", e.computing, own},
                 {"memory", e.memory, k.energy() - own},
                 {"idle", e.idle, pem.machine.idle_power * k.seconds}};
      report.predictions.push_back(p);
    }
  }

  void add_idle(ModelReport& report) const {
    const Run& base = *group_.base;
    const IdleSide idle = idle_beside(choice_.host_seconds, base.elapsed, base.recording->machine());
    report.text += fmt::format("beside a task of {:.4g} s on the host: the {} waits {:.4g} s, {:.4g} J\n",
                               choice_.host_seconds, idle.host ? "host" : "GPU", idle.seconds, idle.joules);
  }

  const Group& group_;
  const Choice& choice_;
  Dvfs dvfs_;
};

}  // namespace

ModelReport clocks_report(std::span<const Run> runs, const Choice& choice) {
  ModelReport report;
  Plot plot;
  plot.title = "Energy over the core clock";
  plot.x_label = "core clock, MHz";
  plot.y_label = "energy, mJ";
  plot.y_from_zero = true;
  const std::vector<Group> groups = groups_of(runs);
  for (const Group& group : groups) {
    GroupReport one(group, choice);
    one.add_to(report);
    one.add_to(plot, groups.size() == 1);
  }
  report.json = fmt::format("{{\"forecasts\": [{}]}}", report.json);
  if (!choice.plot.empty()) {
    draw_svg(plot, choice.plot);
    report.text += fmt::format("drawn: {}\n", choice.plot);
  }
  return report;
}

}  // namespace gpusim::analysis::energy
