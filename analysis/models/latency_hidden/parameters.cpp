#include "analysis/models/latency_hidden/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::OpClass;

/// The figures that measure a class, best first.
struct Row {
  OpClass op_class;
  std::initializer_list<const char*> figures;
};

// A class that no microbenchmark of the machine has (a bit count on 1.x, a branch) is taken for the nearest
// that it has.
const std::initializer_list<Row> kRows = {
    {OpClass::kInt, {"int_add"}},
    {OpClass::kInt64, {"int64_add"}},
    {OpClass::kIntMul24, {"int_mul24", "int_mul"}},
    {OpClass::kIntMul, {"int_mul"}},
    {OpClass::kIntMulWide, {"int_mul_wide", "int_mul"}},
    {OpClass::kIntMul64, {"int64_mul"}},
    {OpClass::kIntDivU32, {"int_div_u32"}},
    {OpClass::kIntDivS32, {"int_div_s32"}},
    {OpClass::kIntDiv64, {"int64_div"}},
    {OpClass::kBitCount, {"bit_count", "int64_add"}},
    {OpClass::kFp32, {"fp32_add"}},
    {OpClass::kFp32Mul, {"fp32_mul"}},
    {OpClass::kHalf, {"fp16x2_fma", "fp32_add"}},
    {OpClass::kFp32Div, {"fp32_div"}},
    {OpClass::kFp32DivRn, {"fp32_div_rn", "fp32_div"}},
    {OpClass::kFp32SqrtRn, {"fp32_sqrt_rn", "fp32_div_rn", "fp32_div"}},
    {OpClass::kFp32RcpRn, {"fp32_rcp_rn", "fp32_div_rn", "fp32_div"}},
    {OpClass::kSfuRcp, {"sfu_rcp", "sfu_rsqrt"}},
    {OpClass::kSfuRsqrt, {"sfu_rsqrt"}},
    {OpClass::kSfuSqrt, {"sfu_sqrt"}},
    {OpClass::kSfuSin, {"sfu_sin"}},
    {OpClass::kFp64, {"fp64_fma", "fp64_add", "int64_mul"}},
    {OpClass::kFp64Div, {"fp64_div", "int64_div"}},
    {OpClass::kFp64Sqrt, {"fp64_sqrt", "int64_div"}},
    {OpClass::kCvt, {"convert"}},
    {OpClass::kCvt64, {"convert64", "int64_add"}},
    {OpClass::kSharedOperand, {"shared_operand", "fp32_add"}},
    {OpClass::kWarp, {"shuffle", "int_add"}},
    {OpClass::kMmaHalf, {"mma_half", "fp64_fma"}},
    {OpClass::kMmaInt8, {"mma_int8", "fp64_fma"}},
    {OpClass::kMmaFp64, {"mma_fp64", "fp64_fma"}},
    {OpClass::kWgmmaHalf, {"mma_half", "fp64_fma"}},
    {OpClass::kWgmmaInt8, {"mma_int8", "fp64_fma"}},
    {OpClass::kSpecial, {"int_add"}},
};

constexpr double kWarp = 32;
constexpr double kScatteredBytes = 32;  ///< bytes of the data sheet's scattered reads

/// The first unit that executes the class; a new one if the configuration has none.
size_t unit_of(std::string_view op_class, const core::MachineConfig& machine, Parameters& p) {
  for (const core::MachineConfig::Pipe& pipe : machine.pipes)
    if (pipe.interval.contains(std::string(op_class))) {
      const auto known = std::ranges::find(p.units, pipe.name);
      if (known != p.units.end()) return static_cast<size_t>(known - p.units.begin());
      p.units.push_back(pipe.name);
      p.copies.push_back(pipe.per_scheduler ? static_cast<double>(machine.scheduler.count) : 1);
      return p.units.size() - 1;
    }
  p.units.emplace_back(op_class);
  p.copies.push_back(1);
  return p.units.size() - 1;
}

std::string first_of(const DataSheet& sheet, const char* kind, const Row& row) {
  for (const char* figure : row.figures)
    if (sheet.find(fmt::format("{}.{}", kind, figure))) return fmt::format("{}.{}", kind, figure);
  return fmt::format("{}.{}", kind, *row.figures.begin());  // require() says that it is missing
}

void set_classes(const core::MachineConfig& machine, const DataSheet& sheet, Parameters& p) {
  for (const Row& row : kRows) {
    ClassCost& c = p.classes[static_cast<size_t>(row.op_class)];
    c.busy = kWarp / sheet.require(first_of(sheet, "throughput", row));
    c.latency = sheet.require(first_of(sheet, "latency", row));
  }
  // Address operations go at the rate of a shared-memory access without conflict; control operations take an
  // issue slot.
  const double access = p.shared_step * p.shared_steps;
  for (const OpClass c :
       {OpClass::kLoadGlobal, OpClass::kStoreGlobal, OpClass::kAtomGlobal, OpClass::kLoadLocal,
        OpClass::kStoreLocal, OpClass::kTexture, OpClass::kLoadConst, OpClass::kLoadParam,
        OpClass::kLoadShared, OpClass::kStoreShared, OpClass::kAtomShared, OpClass::kWgmmaLoad})
    p.classes[static_cast<size_t>(c)] = {access, p.of(OpClass::kInt).latency, 0};
  for (const OpClass c :
       {OpClass::kLoadShared, OpClass::kStoreShared, OpClass::kAtomShared, OpClass::kWgmmaLoad})
    p.classes[static_cast<size_t>(c)].latency = p.shared_latency;
  if (p.capability < 20) p.classes[static_cast<size_t>(OpClass::kLoadParam)].latency = p.shared_latency;
  for (const OpClass c : {OpClass::kBranch, OpClass::kCall, OpClass::kReconverge, OpClass::kBarrier,
                          OpClass::kFence, OpClass::kFenceBlock})
    p.classes[static_cast<size_t>(c)] = {p.issue, p.of(OpClass::kInt).latency, 0};
  for (const OpClass c : {OpClass::kExit, OpClass::kNop})
    p.classes[static_cast<size_t>(c)] = {p.issue, p.warp_issue, 0};
  for (size_t c = 0; c < p.classes.size(); ++c)
    p.classes[c].unit = unit_of(isa::op_class_name(static_cast<OpClass>(c)), machine, p);
  // No microbenchmark has branches, calls and barriers: the configuration's.
  for (const OpClass c : {OpClass::kBranch, OpClass::kCall, OpClass::kReconverge, OpClass::kBarrier,
                          OpClass::kFence, OpClass::kFenceBlock}) {
    ClassCost& cost = p.classes[static_cast<size_t>(c)];
    const std::string name(isa::op_class_name(c));
    if (const auto latency = machine.latency.find(name); latency != machine.latency.end())
      cost.latency = static_cast<double>(latency->second);
    for (const core::MachineConfig::Pipe& pipe : machine.pipes)
      if (const auto interval = pipe.interval.find(name); interval != pipe.interval.end())
        cost.busy = std::max(cost.busy, static_cast<double>(interval->second) / p.copies[cost.unit]);
  }
}

}  // namespace

double LoadLevels::latency(double transactions) const {
  const double n = std::max(1.0, transactions);
  return latency({std::pow(l1_share, n), std::pow(std::min(1.0, l1_share + l2_share), n), l1_share});
}

double LoadLevels::latency(const Served& by) const {
  return by.all_l1 * l1 + (by.none_memory - by.all_l1) * l2 + (1 - by.none_memory) * (memory + by.later);
}

double wait_for_refresh(double accesses, double cycles, double share) {
  if (share <= 0) return 0;
  // The mean of the longest of n waits: each is longer than x with the probability share * (1 - x / cycles).
  const auto longest = [&](double n) {
    return cycles * (1 - (1 - std::pow(1 - share, n + 1)) / ((n + 1) * share));
  };
  return longest(std::max(1.0, accesses)) - longest(1);
}

Parameters measured_parameters(const core::MachineConfig& machine, const DataSheet& sheet) {
  Parameters p;
  p.sms = static_cast<double>(machine.gpu.sms);
  p.core_hz = static_cast<double>(machine.clocks.core_khz) * 1e3;
  p.limits = core::occupancy_limits(machine);
  p.capability = static_cast<int>(machine.gpu.compute_capability);
  const auto schedulers = static_cast<double>(machine.scheduler.count);
  p.warp_issue = static_cast<double>(machine.scheduler.issue_cycles) /
                 static_cast<double>(machine.scheduler.issue_width);
  p.issue = p.warp_issue / schedulers;
  if (!machine.scheduler.share_in_turn) p.in_order = schedulers;
  if (machine.scheduler.dependences == core::Dependences::kControlCodes) {
    const auto& l = machine.scheduler.operand_latency;
    p.least = {static_cast<double>(l.guard), static_cast<double>(l.memory), static_cast<double>(l.sfu),
               static_cast<double>(l.other_pipe)};
  }
  p.barrier_awaits_stores = machine.scheduler.barrier_awaits_stores;
  p.warp_loads = machine.scheduler.warp_loads;
  p.launch = static_cast<double>(machine.gpu.launch_cycles);
  p.block_start = static_cast<double>(machine.gpu.block_start_cycles);
  p.block_interval = machine.gpu.block_interval;
  if (machine.l1.bytes != 0) {
    p.cache_sector = static_cast<double>(machine.l1.sector);
    p.lookup = static_cast<double>(machine.coalescer.cycles_per_transaction);
  }
  p.shared_step = sheet.require("shared.conflict_cycles");
  p.shared_steps = kWarp / sheet.require("shared.lanes_per_access");
  p.shared_latency = sheet.require("latency.shared");
  p.memory_latency = sheet.require("latency.dram");
  if (machine.dram.refi_ns > 0) {
    p.refresh = machine.dram.rfc_ns * p.core_hz * 1e-9;
    p.refreshed = std::min(1.0, machine.dram.rfc_ns / machine.dram.refi_ns);
  }
  p.l1_latency = sheet.find("latency.l1").value_or(0);
  p.l2_latency = sheet.find("latency.l2").value_or(0);
  p.tlb_l1_miss = sheet.find("latency.tlb_l1_miss").value_or(0);
  p.tlb_l2_miss = sheet.find("latency.tlb_l2_miss").value_or(0);
  // A chase over fewer pages than the buffers know does not find them.
  if (machine.tlb.l1_entries != 0 && !sheet.find("latency.tlb_l2_miss")) {
    const bool beside = machine.tlb.table_bytes > machine.tlb.page_bytes;
    const double cycles = p.core_hz * 1e-9;
    p.new_page = (machine.tlb.l2_latency_ns + machine.tlb.walk_latency_ns) * cycles;
    p.next_page = beside ? (machine.tlb.l2_latency_ns + machine.tlb.table_latency_ns) * cycles : p.new_page;
  }
  p.l2_bytes = sheet.find("bandwidth.l2").value_or(0) / p.core_hz;
  // Streams with four elements a thread are bound by memory; those with one also by operations and by starts
  // of blocks, which the model counts besides. Without a second level, what memory takes depends on the order
  // in which a warp asks for it: there the streams are taken that ask as most kernels do.
  const auto stream = [&](const std::string& name) {
    const std::optional<double> steady = p.l2_bytes > 0 ? sheet.find(name + "4") : std::nullopt;
    return (steady ? *steady : sheet.require(name)) / p.core_hz;
  };
  p.read_bytes = stream("bandwidth.read");
  p.triad_bytes = stream("bandwidth.triad");
  p.copy_bytes = stream("bandwidth.copy");
  p.l1_bytes = sheet.find("bandwidth.l1").value_or(0);
  if (const auto scattered = sheet.find("bandwidth.scattered"); scattered && *scattered > 0)
    p.row = kScatteredBytes * p.core_hz / *scattered;
  if (const auto scattered = sheet.find("bandwidth.sm_scattered"); scattered && *scattered > 0)
    p.request = kScatteredBytes * p.core_hz / *scattered;
  set_classes(machine, sheet, p);
  p.request_unit = p.units.size();
  p.flit =
      static_cast<double>(machine.clocks.core_khz) / static_cast<double>(machine.clocks.interconnect_khz);
  p.request_flit = static_cast<double>(machine.interconnect.flit_bytes);
  p.reply_flit = static_cast<double>(machine.interconnect.reply_flit_bytes);
  if (p.reply_flit <= 0) p.reply_flit = p.request_flit;
  p.header = static_cast<double>(machine.interconnect.header_bytes);
  p.port_sms = static_cast<double>(core::sms_per_port(machine));
  p.partitions = static_cast<double>(machine.l2.partitions);
  p.request_queues = static_cast<double>(machine.interconnect.request_queues);
  p.reply_queues = static_cast<double>(machine.interconnect.reply_queues);
  p.atomic_access = machine.l2.atomic_access_cycles * p.flit;
  p.atomic_word = machine.l2.atomic_cycles * p.flit;
  p.atomic_float =
      machine.l2.atomic_float_cycles > 0 ? machine.l2.atomic_float_cycles * p.flit : p.atomic_word;
  if (machine.l1.bytes != 0) p.cache_lines = static_cast<double>(machine.l1.mshrs);
  p.units.emplace_back("requests");
  p.copies.push_back(1);
  return p;
}

}  // namespace gpusim::analysis::latency_hidden
