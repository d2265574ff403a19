#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/advice/rules.h"

namespace gpusim::analysis::advice {
namespace {

constexpr uint64_t kUsualBlock = 256;  ///< threads

/// Work of operations of one class, if they were of others that are executed one after the other.
void replace_class(const Facts& f, std::string_view from, std::initializer_list<std::string_view> to,
                   Work& work) {
  const auto chosen = [&](uint64_t pc) { return f.op_class(pc) == from; };
  const double executed = f.sum("executed", chosen);
  if (executed <= 0) return;
  // Of the busiest instance, for one of all.
  const auto move = [&](const std::string& pipe, double cycles) {
    const UnitLoad* u = f.kernel().unit(pipe);
    if (u == nullptr) return;
    const double busiest = cycles / static_cast<double>(std::max<uint64_t>(1, u->instances)) *
                           (u->busy > 0 && u->mean() > 0 ? u->peak() / u->mean() : 1);
    double& there = work.units[pipe];
    there = std::max(0.0, there + busiest);
  };
  move(f.pipe_of(from), -executed * f.pipe_cycles(from));
  double latency = 0;
  for (const std::string_view c : to) {
    move(f.pipe_of(c), executed * f.pipe_cycles(c));
    latency += f.latency(c);
  }
  const double slots = f.sum("slots_issued", chosen);
  work.scale("issue",
             1 - (slots - executed * static_cast<double>(to.size())) / std::max(1.0, f.work("issue")));
  // Waits for its result stand at the operation behind it.
  const double was = std::max(1.0, f.latency(from));
  for (uint64_t pc = 0; pc + 1 < f.operations(); ++pc)
    if (chosen(pc)) work.chain[pc + 1] *= std::min(1.0, latency / was);
}

std::optional<Proposal> more_blocks(const Facts& f, const LaunchResources& other) {
  const double more = f.more_warps(other);
  Proposal p;
  p.pc = f.operations();
  p.counter = "resident warps of an SM";
  p.unit = fmt::format("warps (limited by {}; an SM holds {})", f.kernel().occupancy_limiter,
                       f.machine().sm.max_warps);
  p.value = f.resident_warps();
  p.after = f.estimator().recorded();
  p.after.rounds = std::max(1.0, p.after.rounds / more);
  if (p.after.rounds >= f.estimator().recorded().rounds) return std::nullopt;
  return p;
}

}  // namespace

std::optional<Proposal> occupancy(const Facts& f) {
  const std::string& limiter = f.kernel().occupancy_limiter;
  LaunchResources other = f.resources();
  if (limiter == "registers")
    other.registers = 1;
  else if (limiter == "shared memory")
    other.shared_bytes = 0;
  else
    return std::nullopt;
  auto p = more_blocks(f, other);
  if (p)
    p->what = fmt::format(
        "let a block take less of the SM's {}: {:.0f} blocks of {} threads fit beside each "
        "other, and {:.0f} without this limit",
        limiter, f.blocks_per_sm(f.resources()), other.threads, f.blocks_per_sm(other));
  return p;
}

std::optional<Proposal> block_size(const Facts& f) {
  const double dispatcher = f.busy("dispatcher");
  constexpr double kBusy = 0.3;
  if (f.resources().threads >= kUsualBlock || f.resources().threads == 0) return std::nullopt;
  if (f.kernel().occupancy_limiter != "blocks" && dispatcher < kBusy) return std::nullopt;
  LaunchResources other = f.resources();
  const double larger = static_cast<double>(kUsualBlock) / static_cast<double>(other.threads);
  other.threads = kUsualBlock;
  other.shared_bytes = static_cast<uint64_t>(static_cast<double>(other.shared_bytes) * larger);
  if (f.blocks_per_sm(other) < 1) return std::nullopt;
  auto p = more_blocks(f, other);
  if (!p) {
    p = Proposal{};
    p->pc = f.operations();
    p->after = f.estimator().recorded();
  }
  if (dispatcher >= kBusy) {
    p->counter = "starts of blocks";
    p->unit = "% of the time";
    p->value = 100 * dispatcher;
  }
  p->what = fmt::format("use blocks of {} threads instead of {}", kUsualBlock, f.resources().threads);
  p->after.scale("dispatcher", 1 / larger);
  return p;
}

std::optional<Proposal> wave_quantisation(const Facts& f) {
  constexpr double kUneven = 0.9;
  const Table& sms = f.kernel().per_sm;
  if (!sms.has("inst_executed") || !sms.has("warps") || sms.rows == 0) return std::nullopt;
  double all = 0, most = 0;
  for (uint64_t row = 0; row < sms.rows; ++row) {
    const auto executed = static_cast<double>(sms["inst_executed"][row]);
    all += executed;
    most = std::max(most, executed);
  }
  const double even = most > 0 ? all / static_cast<double>(sms.rows) / most : 1;
  if (even >= kUneven) return std::nullopt;
  Proposal p;
  p.pc = f.operations();
  p.what = f.blocks() < f.sms()
               ? fmt::format("launch at least a block for each of the {:.0f} SMs (there are {:.0f})", f.sms(),
                             f.blocks())
               : fmt::format(
                     "divide the work into smaller blocks, or into a multiple of what all SMs hold "
                     "({:.0f} blocks; {:.0f} at a time)",
                     f.blocks(), f.sms() * f.blocks_per_sm(f.resources()));
  p.counter = "operations of the mean SM, for those of the busiest";
  p.unit = "%";
  p.value = 100 * even;
  p.after = f.estimator().recorded();
  for (auto& [unit, work] : p.after.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && (u->place == "SM" || u->place == "scheduler"))
      work *= even;
  p.after.rounds *= even;
  return p;
}

std::optional<Proposal> divergence(const Facts& f) {
  constexpr double kFull = 0.9;
  // Branches count the lanes that take them, and operations without a lane were not to be executed.
  const auto counted = [&](uint64_t pc) {
    const std::string_view c = f.op_class(pc);
    return f.count("active_lanes", pc) > 0 && c != "branch" && c != "exit" && c != "barrier";
  };
  const double executed = f.sum("executed", counted), lanes = f.sum("active_lanes", counted) / 32;
  if (f.counter("divergent_branch") <= 0 || executed <= 0 || lanes > kFull * executed) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return f.count("divergent", pc); });
  p.what =
      "let all lanes of a warp take the same way: order the data by what is to be done with them, or "
      "decide by the warp instead of the lane";
  p.counter = "active lanes of an operation";
  p.unit = "of 32";
  p.value = 32 * lanes / executed;
  p.after = f.estimator().recorded();
  std::map<std::string, double> less;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const double full = counted(pc)
                            ? std::min(1.0, f.count("active_lanes", pc) / 32 / std::max(1.0, f.executed(pc)))
                            : lanes / executed;
    less[f.pipe_of(f.op_class(pc))] += (1 - full) * f.executed(pc) * f.pipe_cycles(f.op_class(pc));
    less["issue"] += (1 - full) * f.count("slots_issued", pc);
    p.after.chain[pc] *= full;
  }
  for (const auto& [unit, work] : less)
    if (f.work(unit) > 0) p.after.scale(unit, 1 - work / f.work(unit));
  return p;
}

std::optional<Proposal> precision(const Facts& f) {
  constexpr double kBusy = 0.3;
  const std::string pipe = f.pipe_of("fp64");
  const auto is_double = [&](uint64_t pc) { return f.op_class(pc).starts_with("fp64"); };
  const double executed = f.sum("executed", is_double);
  if (pipe.empty() || executed <= 0 || f.busy(pipe) < kBusy) return std::nullopt;
  Proposal p;
  p.pc = f.largest(
      [&](uint64_t pc) { return is_double(pc) ? f.executed(pc) * f.pipe_cycles(f.op_class(pc)) : 0.0; });
  p.what = "compute in single precision what does not need more, and write its constants with an f";
  p.counter = fmt::format("busy share of the {} pipe, with operations in double precision", pipe.substr(5));
  p.unit = "% of the time";
  p.value = 100 * f.busy(pipe);
  p.after = f.estimator().recorded();
  replace_class(f, "fp64", {"fp32"}, p.after);
  replace_class(f, "fp64_div", {"fp32_div"}, p.after);
  replace_class(f, "fp64_sqrt", {"sfu_sqrt"}, p.after);
  return p;
}

std::optional<Proposal> fast_math(const Facts& f) {
  constexpr std::array<std::string_view, 3> kExact{"fp32_div_rn", "fp32_sqrt_rn", "fp32_rcp_rn"};
  const auto exact = [&](uint64_t pc) { return std::ranges::find(kExact, f.op_class(pc)) != kExact.end(); };
  const double executed = f.sum("executed", exact);
  if (executed <= 0) return std::nullopt;
  Proposal p;
  p.pc = f.largest(
      [&](uint64_t pc) { return exact(pc) ? f.executed(pc) * f.pipe_cycles(f.op_class(pc)) : 0.0; });
  p.what = "use __fdividef, __frsqrt_rn or -use_fast_math, if a few units in the last place do not matter";
  p.counter = "issue slots of divisions and roots that are rounded to the nearest";
  p.unit = "slots";
  p.value = f.sum("slots_issued", exact);
  p.after = f.estimator().recorded();
  replace_class(f, "fp32_div_rn", {"sfu_rcp", "fp32_mul"}, p.after);
  replace_class(f, "fp32_sqrt_rn", {"sfu_sqrt"}, p.after);
  replace_class(f, "fp32_rcp_rn", {"sfu_rcp"}, p.after);
  return p;
}

}  // namespace gpusim::analysis::advice
