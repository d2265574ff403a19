#include "analysis/models/roofline/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/profile/quantities.h"

namespace gpusim::analysis {

namespace {

constexpr double kSector = 32;
constexpr std::string_view kPrefix = "ceiling_";

struct Type {
  Arithmetic kind;
  std::string_view name, suffix, op_class;  ///< of its ceilings' kernels; of its additions
};
constexpr std::array<Type, kArithmetics> kTypes{{{Arithmetic::kFp32, "FP32", "", "fp32"},
                                                 {Arithmetic::kFp64, "FP64", "_fp64", "fp64"},
                                                 {Arithmetic::kFp16, "FP16", "_fp16", "half"}}};

double counter_of(const KernelRecord& kernel, std::string_view name) {
  const auto at = kernel.counters.find(name);
  return at == kernel.counters.end() ? 0 : at->second;
}

/// The type whose ceilings hold for operations of a class. Divisions, roots and special functions are slower
/// than these, so that the roof stays one.
Arithmetic type_of(std::string_view op_class) {
  if (op_class.starts_with("fp64")) return Arithmetic::kFp64;
  return op_class == "half" ? Arithmetic::kFp16 : Arithmetic::kFp32;
}

bool may_have_flops(std::string_view op_class) {
  return op_class.starts_with("fp") || op_class.starts_with("sfu") || op_class == "half" ||
         op_class == "shared_operand";
}

std::string pipe_of(const core::MachineConfig& machine, std::string_view op_class) {
  for (const auto& pipe : machine.pipes)
    if (pipe.interval.contains(std::string(op_class))) return pipe.name;
  return {};
}

void read_ceiling(Ceiling& c, const KernelRecord& kernel, const core::MachineConfig& machine) {
  const double seconds = kernel_seconds(kernel, machine);
  const std::string_view name = std::string_view(kernel.name).substr(kPrefix.size());
  if (seconds <= 0) return;
  if (name == "stream") c.bandwidth = counter_of(kernel, "dram_read_bytes") / seconds;
  if (name == "l2" && machine.l2.bytes > 0) c.l2 = kSector * counter_of(kernel, "l2_read_sectors") / seconds;
  if (name == "l1" && machine.l1.bytes > 0) {
    const auto& moved = kernel.per_pc["transferred_bytes"];
    c.l1 = static_cast<double>(std::accumulate(moved.begin(), moved.end(), uint64_t{0})) / seconds;
  }
  OperationMix mix;
  mix.add(kernel);
  for (const Type& type : kTypes) {
    Ceiling::Rates& rates = c.rates[static_cast<size_t>(type.kind)];
    const double lanes = mix.lanes[static_cast<size_t>(type.kind)].all() / seconds;
    const double flops = counter_of(kernel, "flop_count") / seconds;
    if (name == "fma" + std::string(type.suffix)) {
      rates.fma = flops, rates.fused_lanes = lanes;
      rates.pipe = pipe_of(machine, type.op_class);
    }
    if (name == "add" + std::string(type.suffix)) rates.add = flops, rates.single_lanes = lanes;
  }
}

}  // namespace

std::string_view arithmetic_name(Arithmetic kind) { return kTypes[static_cast<size_t>(kind)].name; }

void OperationMix::add(const KernelRecord& kernel) {
  flops += counter_of(kernel, "flop_count");
  const Table& t = kernel.per_pc;
  const auto classes = t.texts.find("class");
  if (classes == t.texts.end()) return;
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    const std::string_view op_class = classes->second[pc];
    const auto threads = static_cast<double>(t["active_lanes"][pc]);
    // Files of older versions do not say; as multiply-adds the roof is no lower than it is.
    const double each = 2 * threads;
    const double done =
        t.has("flops") ? static_cast<double>(t["flops"][pc]) : (may_have_flops(op_class) ? each : 0);
    if (done == 0) continue;
    if (op_class.starts_with("mma")) {
      matrices += done;
      continue;
    }
    Lanes& own = lanes[static_cast<size_t>(type_of(op_class))];
    (done >= each ? own.fused : own.single) += threads;
  }
}

std::string OperationMix::text() const {
  double all = 0;
  for (const Lanes& l : lanes) all += l.all();
  std::string out;
  for (const Type& type : kTypes) {
    const Lanes& l = lanes[static_cast<size_t>(type.kind)];
    if (l.all() > 0)
      out += fmt::format("{}{:.0f} % {} ({:.0f} % of them fused)", out.empty() ? "" : ", ",
                         100 * l.all() / all, type.name, 100 * l.fused / l.all());
  }
  return out;
}

double Ceiling::arithmetic(const OperationMix& mix) const {
  // Pipes work side by side; what goes to one of them takes its time one after the other.
  std::map<std::string_view, double> seconds;
  for (size_t i = 0; i < kArithmetics; ++i) {
    const Lanes& l = mix.lanes[i];
    const Rates& r = rates[i];
    if (r.fused_lanes > 0 && r.single_lanes > 0)
      seconds[r.pipe] += l.fused / r.fused_lanes + l.single / r.single_lanes;
  }
  double longest = 0;
  for (const auto& [pipe, time] : seconds) longest = std::max(longest, time);
  return mix.flops > 0 && longest > 0 && mix.matrices == 0 ? mix.flops / longest
                                                           : std::numeric_limits<double>::infinity();
}

double Ceiling::roof(const OperationMix& mix, double intensity) const {
  return std::min(arithmetic(mix), intensity * bandwidth);
}

std::string_view Ceiling::lacks(const OperationMix& mix) const {
  for (size_t i = 0; i < kArithmetics; ++i)
    if (mix.lanes[i].all() > 0 && (rates[i].fused_lanes <= 0 || rates[i].single_lanes <= 0))
      return kTypes[i].name;
  return {};
}

bool is_ceiling(std::string_view kernel) {
  if (!kernel.starts_with(kPrefix)) return false;
  const std::string_view of = kernel.substr(kPrefix.size());
  const auto arithmetic = [of](const Type& type) {
    return (of.starts_with("fma") || of.starts_with("add")) && of.substr(3) == type.suffix;
  };
  return of == "stream" || of == "l2" || of == "l1" || std::ranges::any_of(kTypes, arithmetic);
}

std::vector<Ceiling> ceilings(std::span<const Recording> recordings) {
  std::vector<Ceiling> all;
  for (const Recording& recording : recordings) {
    Ceiling c;
    for (const uint64_t index : recording.select("")) {
      if (!is_ceiling(recording.launches()[index].name)) continue;
      const KernelRecord kernel = recording.kernel(index);
      c.sms = static_cast<uint32_t>(kernel.per_sm.rows);
      read_ceiling(c, kernel, recording.machine());
    }
    const Ceiling::Rates& own = c.of(Arithmetic::kFp32);
    if (own.fma > 0 && own.add > 0 && c.bandwidth > 0) all.push_back(c);
  }
  std::ranges::sort(all, {}, &Ceiling::sms);
  return all;
}

}  // namespace gpusim::analysis
