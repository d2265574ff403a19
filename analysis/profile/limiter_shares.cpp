#include "analysis/profile/limiter_shares.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/profile/utilization.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis {

std::vector<uint64_t> slots_of_fences(const Table& per_pc) {
  std::vector<uint64_t> slots(per_pc.rows, 0);
  if (!per_pc.has("slots_fence")) return slots;
  const auto is_fence = [&](uint64_t pc) { return text_cell(per_pc, "class", pc).starts_with("fence"); };
  for (uint64_t pc = 0; pc < per_pc.rows; ++pc) {
    if (pc > 0 && is_fence(pc - 1))
      slots[pc - 1] += per_pc["slots_fence"][pc];
    else if (is_fence(pc))
      slots[pc] += per_pc["slots_fence"][pc];
  }
  return slots;
}

KernelShares::KernelShares(const KernelRecord& kernel, const core::MachineConfig& machine)
    : kernel_(kernel), machine_(machine) {
  const double cycles = static_cast<double>(kernel.cycles);
  const double launch = machine.gpu.launch_cycles + static_cast<double>(machine.gpu.block_start_cycles);
  start_ = std::min(1.0, launch / cycles);
  crowding_ = busiest_by_mean(kernel, machine);
  slots_ = static_cast<double>(kernel.total_slots());
  drain_ = slots({"drain"});
  // Room that comes free when data arrive: how long that takes is the latency of memory.
  const double waiting =
      mean("lsu_wait_mshr") + mean("lsu_wait_store_buffer") + mean("lsu_wait_merge") + mean("lsu_wait_way");
  double all = 0;
  for (const UnitLoad& u : kernel.units)
    if (u.unit.starts_with("lsu_wait_")) all += u.mean();
  buffers_full_ = all == 0 ? 0 : waiting / all;
  find_fences();
  find_queue_at_dram();
  find_crowding_at_dram();
  find_queue_at_atomics();
}

void KernelShares::find_queue_at_atomics() {
  const Table &t = kernel_.per_pc, &sms = kernel_.per_sm;
  if (!t.has("awaited_memory_l2") || !t.has("executed") || !sms.has("active_warp_cycles") || slots_ == 0)
    return;
  double awaited = 0, executed = 0, warp_cycles = 0;
  for (uint64_t pc = 0; pc < t.rows; ++pc)
    if (text_cell(t, "class", pc) == "atom_global" && t["awaited_memory_l2"][pc] > 0) {
      awaited += static_cast<double>(t["awaited_memory_l2"][pc]);
      executed += static_cast<double>(t["executed"][pc]);
    }
  for (uint64_t sm = 0; sm < sms.rows; ++sm)
    warp_cycles += static_cast<double>(sms["active_warp_cycles"][sm]);
  const double resident = slots_ - static_cast<double>(kernel_.idle_slots());
  if (executed == 0 || resident <= 0) return;
  const double took = awaited / resident * warp_cycles / executed;
  queue_at_atomics_ = awaited / slots_ * std::max(0.0, 1 - trip_cycles(machine_) / std::max(took, 1.0));
}

void KernelShares::find_crowding_at_dram() {
  const auto counter = [&](const char* name) {
    const auto at = kernel_.counters.find(name);
    return at == kernel_.counters.end() ? 0 : at->second;
  };
  const double requests = counter("noc_requests");
  const double further =
      counter("dram_row_hits") + counter("dram_row_misses") + counter("dram_row_conflicts");
  const bool all = machine_.l2.bytes == 0 || requests <= 0 || further <= 0;
  crowding_at_dram_ = 1 + (crowding_ - 1) * (all ? 1 : std::min(1.0, further / requests));
}

double KernelShares::crowding(std::string_view unit) const {
  return unit == "dram_bus" || unit == "l2_wait_dram_queue" ? crowding_at_dram_ : crowding_;
}

void KernelShares::find_queue_at_dram() {
  const UnitLoad* held = kernel_.unit("l2_mshrs");
  const auto counter = [&](const char* name) {
    const auto at = kernel_.counters.find(name);
    return at == kernel_.counters.end() ? 0 : at->second;
  };
  const double read = counter("dram_read_bytes"), written = counter("dram_write_bytes");
  // Requests of lines, of which the controller counts those that read and those that write together.
  const double requests =
      counter("dram_row_hits") + counter("dram_row_misses") + counter("dram_row_conflicts");
  if (held == nullptr || read <= 0 || requests <= 0) return;
  const double reads = requests * read / (read + written);
  const double took =
      static_cast<double>(held->busy) / reads * 1e6 / static_cast<double>(machine_.clocks.interconnect_khz);
  // Sectors come one burst after the other, another row may have to be closed, and a refresh to end, in the
  // middle of which a request comes to its bank.
  const core::MachineConfig::Dram& dram = machine_.dram;
  const double bursts = read / reads / static_cast<double>(dram.burst_bytes);
  const double refresh = dram.refi_ns > 0 ? dram.rfc_ns * dram.rfc_ns / (2 * dram.refi_ns) : 0;
  const double own = bursts * dram.ccd_ns + counter("dram_row_conflicts") / requests * dram.rp_ns + refresh;
  const MemoryWay way = way_to_dram(machine_);
  const double queued = std::max(0.0, took - way.l2 - way.dram - own);
  // What the way takes without queues is known to so much: whole clocks of three domains are part of it.
  constexpr double kKnown = 0.05;
  if (queued > kKnown * way.all()) queue_at_dram_ = queued / (queued + way.all());
}

void KernelShares::find_fences() {
  const std::vector<uint64_t> slots = slots_of_fences(kernel_.per_pc);
  const double trip = trip_cycles(machine_);
  for (uint64_t pc = 0; pc < slots.size() && slots_ > 0; ++pc) {
    if (slots[pc] == 0) continue;
    const auto latency = machine_.latency.find(text_cell(kernel_.per_pc, "class", pc));
    const double own = latency == machine_.latency.end() ? 0 : static_cast<double>(latency->second);
    const double share = static_cast<double>(slots[pc]) / slots_;
    const double takes = std::max(own, trip), halved = std::max(own / 2, trip);
    if (takes > 0) fences_ += share * (takes - halved) / takes;
    if (own < trip) fenced_stores_ += share;
  }
}

double KernelShares::mean(std::string_view unit) const {
  const UnitLoad* u = kernel_.unit(unit);
  return u == nullptr ? 0 : u->mean();
}

double KernelShares::peak(std::string_view unit) const {
  const UnitLoad* u = kernel_.unit(unit);
  return u == nullptr ? 0 : u->peak();
}

double KernelShares::at_a_time(std::string_view unit) const {
  return std::min(active(), std::max(peak(unit), mean(unit) * crowding(unit)));
}

double KernelShares::fullest_port() const {
  double port = 0;
  for (const char* unit :
       {"request_in", "request_out", "request_links", "l2_data", "reply_in", "reply_out", "reply_links"})
    port = std::max(port, peak(unit));
  return std::min(active(), port);
}

double KernelShares::wait(std::string_view unit) const {
  return std::max(std::sqrt(peak(unit) * mean(unit)), mean(unit) * crowding(unit));
}

double KernelShares::wait_of_sms(std::string_view unit) const { return std::sqrt(peak(unit) * mean(unit)); }

double KernelShares::slots(std::initializer_list<const char*> causes) const {
  double sum = 0;
  for (const char* cause : causes) sum += static_cast<double>(kernel_.slots_of(cause));
  return slots_ == 0 ? 0 : sum / slots_;
}

double KernelShares::of_resident(double share) const {
  const double resident = 1 - static_cast<double>(kernel_.idle_slots()) / std::max(slots_, 1.0);
  return resident <= 0 ? 0 : std::max(0.0, active() - drain_) * share / resident;
}

double KernelShares::translation() const {
  const auto waited = kernel_.counters.find("tlb_l1_wait_cycles");
  const double sm_cycles = slots_ * machine_.scheduler.issue_cycles / machine_.scheduler.count;
  return waited == kernel_.counters.end() || sm_cycles == 0 ? 0 : waited->second / sm_cycles;
}

MemoryWay way_to_dram(const core::MachineConfig& m) {
  const double l1 = m.l1.bytes == 0 ? 0 : m.l1.latency * 1e6 / static_cast<double>(m.clocks.core_khz);
  return {m.interconnect.request_latency_ns + m.interconnect.reply_latency_ns, m.l2.latency_ns,
          m.dram.latency_ns + m.dram.rcd_ns + m.dram.cl_ns, l1};
}
MemoryWay way_to_l2(const core::MachineConfig& m) {
  MemoryWay way = way_to_dram(m);
  way.l2 = m.l2.hit_latency_ns;
  way.dram = 0;
  return way;
}

MemoryWay memory_waits(const KernelShares& s, const core::MachineConfig& machine) {
  const double l1 = s.slots({"memory_l1", "memory_tex_l1"});
  const double l2 =
      std::max(0.0, s.slots({"memory_l2", "memory_const_l2", "memory_const_l3", "memory_tex_l2"}) -
                        s.queue_at_atomics()) +
      s.fenced_stores();
  const double dram =
      (s.slots({"memory_dram"}) + s.slots({"memory_throttle"}) * s.buffers_full()) * (1 - s.queue_at_dram());
  const MemoryWay far = way_to_dram(machine), near = way_to_l2(machine);
  const auto share = [&](double MemoryWay::*part) {
    return dram * (far.*part) / std::max(far.all(), 1e-9) + l2 * (near.*part) / std::max(near.all(), 1e-9);
  };
  const double other = std::max(0.0, 1 - s.translation() / std::max(dram + l2 + l1, 1e-9));
  return {share(&MemoryWay::network) * other, share(&MemoryWay::l2) * other, share(&MemoryWay::dram) * other,
          l1 * other};
}

double trip_cycles(const core::MachineConfig& m) {
  return (m.l2.bytes == 0 ? way_to_dram(m) : way_to_l2(m)).all() * 1e-6 *
         static_cast<double>(m.clocks.core_khz);
}

}  // namespace gpusim::analysis
