#include "simcore/config/peaks.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::core {

namespace {

constexpr double kLanes = 32;

/// Compute capabilities, x 10.
constexpr int64_t kFp64From = 13, kHalfFrom = 53, kWarpgroupsFrom = 90;

double hertz(int64_t khz) { return static_cast<double>(khz) * 1e3; }

std::string at(int64_t khz) { return fmt::format("at {:g} MHz", static_cast<double>(khz) / 1e3); }

/// Warp operations of a class that an SM can begin in a core cycle: its pipes together, but no more than its
/// schedulers issue.
double operations_per_cycle(const MachineConfig& m, const std::string& op_class) {
  double rate = 0;
  int found = 0;
  for (const MachineConfig::Pipe& pipe : m.pipes) {
    const auto cycles = pipe.interval.find(op_class);
    if (cycles == pipe.interval.end() || cycles->second <= 0) continue;
    rate += (pipe.per_scheduler ? m.scheduler.count : 1) / static_cast<double>(cycles->second);
    if (++found == 2) break;  // an operation has two pipes at most
  }
  const double issue = static_cast<double>(m.scheduler.count) * m.scheduler.issue_width /
                       static_cast<double>(m.scheduler.issue_cycles);
  return std::min(rate, issue);
}

/// `results`: of a warp operation.
void add_arithmetic(std::vector<Peak>& peaks, const MachineConfig& m, const char* name,
                    const std::string& op_class, double results, bool multiply_add) {
  const double each = operations_per_cycle(m, op_class) * results;
  if (each == 0) return;
  peaks.push_back({name, each * (multiply_add ? 2 : 1) * m.gpu.sms * hertz(m.clocks.core_khz),
                   multiply_add ? "FLOP/s" : "OP/s",
                   fmt::format("{} SMs x {:.4g} {} a cycle {}", m.gpu.sms, each,
                               multiply_add ? "multiply-adds" : "operations", at(m.clocks.core_khz))});
}

/// A pipe for matrix operations, which does nothing else that threads do.
bool has_matrix_pipe(const MachineConfig& m) {
  return std::ranges::any_of(m.pipes, [](const MachineConfig::Pipe& pipe) {
    return pipe.interval.contains("mma_half") && !pipe.interval.contains("fp32");
  });
}

void add_bytes(std::vector<Peak>& peaks, std::string name, uint64_t units, const char* unit, double bytes,
               int64_t khz) {
  peaks.push_back({std::move(name), static_cast<double>(units) * bytes * hertz(khz), "B/s",
                   fmt::format("{} {} x {:.4g} bytes a cycle {}", units, unit, bytes, at(khz))});
}

std::string with_prefix(double value, const char* unit) {
  const bool tera = value >= 1e13;
  return fmt::format("{:.4g} {}{}", value / (tera ? 1e12 : 1e9), tera ? "T" : "G", unit);
}

}  // namespace

double dram_peak(const MachineConfig& m) {
  // Double data rate: two transfers a clock.
  return 2.0 * m.l2.partitions * m.dram.channels * m.dram.bus_bytes * hertz(m.clocks.dram_khz);
}

std::vector<Peak> machine_peaks(const MachineConfig& m) {
  std::vector<Peak> peaks;
  add_arithmetic(peaks, m, "FP32", "fp32", kLanes, true);
  if (m.gpu.compute_capability >= kFp64From) add_arithmetic(peaks, m, "FP64", "fp64", kLanes, true);
  if (m.gpu.compute_capability >= kHalfFrom)
    add_arithmetic(peaks, m, "FP16 in pairs", "half", 2 * kLanes, true);
  add_arithmetic(peaks, m, "INT32 additions", "int", kLanes, false);
  add_arithmetic(peaks, m, "INT32 multiplications", "int_mul", kLanes, false);
  if (has_matrix_pipe(m)) {
    add_arithmetic(peaks, m, "FP16 matrices", "mma_half", 16 * 8 * 16, true);
    if (m.gpu.compute_capability >= kWarpgroupsFrom) {
      add_arithmetic(peaks, m, "FP16 by wgmma", "wgmma_half", 16 * 8 * 16, true);
      add_arithmetic(peaks, m, "TF32 by wgmma", "wgmma_half", 16 * 8 * 8, true);
      add_arithmetic(peaks, m, "8 bits by wgmma", "wgmma_int8", 8 * 8 * 32, true);
    }
  }
  // A step serves so many lanes with a word each, where no two want one bank.
  const double words = std::min(m.shared.banks, m.shared.lanes_per_access);
  add_bytes(peaks, "shared memory", m.gpu.sms, "SMs",
            words * m.shared.bank_bytes / m.shared.cycles_per_access, m.clocks.core_khz);
  if (m.l1.bytes != 0) {
    const double lines = static_cast<double>(m.l1.line) * m.l1.tag_lines;
    const double data =
        m.l1.tag_lines > 1 ? static_cast<double>(m.shared.banks) * m.shared.bank_bytes : lines;
    add_bytes(peaks, "L1", m.gpu.sms, "SMs", std::min(lines, data) / m.coalescer.cycles_per_transaction,
              m.clocks.core_khz);
  }
  const uint32_t reply =
      m.interconnect.reply_flit_bytes == 0 ? m.interconnect.flit_bytes : m.interconnect.reply_flit_bytes;
  add_bytes(peaks, "interconnect to SMs", sm_ports(m), "ports", reply, m.clocks.interconnect_khz);
  add_bytes(peaks, "interconnect from SMs", sm_ports(m), "ports", m.interconnect.flit_bytes,
            m.clocks.interconnect_khz);
  add_bytes(peaks, m.l2.bytes == 0 ? "memory partitions" : "L2", m.l2.partitions, "partitions", reply,
            m.clocks.interconnect_khz);
  peaks.push_back({"DRAM", dram_peak(m), "B/s",
                   fmt::format("{} channels x {} bytes x 2 a clock {}", m.l2.partitions * m.dram.channels,
                               m.dram.bus_bytes, at(m.clocks.dram_khz))});
  return peaks;
}

std::string describe_peaks(const MachineConfig& machine) {
  std::string out = "# What it can do at most, headers of packets included:\n";
  for (const Peak& p : machine_peaks(machine))
    out += fmt::format("#   {:<22}{:>16}   {}\n", p.name, with_prefix(p.value, p.unit), p.how);
  return out;
}

}  // namespace gpusim::core
