#include "analysis/models/reuse_distance/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/occupancy/machine_limits.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {
namespace {

uint32_t number(int64_t n) { return static_cast<uint32_t>(n); }

uint32_t resident_blocks(const core::MachineConfig& m, const WarpTraceHeader& t) {
  const isa::Occupancy fits =
      isa::compute_occupancy(core::occupancy_limits(m), static_cast<int>(t.block_threads),
                             static_cast<int>(t.registers), t.shared_bytes);
  if (fits.blocks_per_sm > 0) return number(fits.blocks_per_sm);
  throw core::InputError(fmt::format(
      "gpusim: error: no block of kernel '{}' ({} threads, {} registers each, {} bytes of shared "
      "memory) fits "
      "an SM of {}",
      core::short_kernel_name(t.kernel), t.block_threads, t.registers, t.shared_bytes, m.gpu.name));
}

}  // namespace

ReuseMachine reuse_machine(const core::MachineConfig& m, const WarpTraceHeader& trace, bool needs_l1) {
  if (m.l1.bytes == 0 && needs_l1)
    throw core::InputError(
        fmt::format("gpusim: error: {} has no L1 data cache ([l1] size is 0), which the reuse-distance model "
                    "predicts; machines with one: gtx470, gtx480, tesla_v100, h200",
                    m.gpu.name));
  ReuseMachine r;
  r.line = number(m.l1.line);
  r.sector = number(m.l1.sector);
  r.has_l1 = m.l1.bytes != 0;
  r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways));
  if (!r.has_l1) r.sets = 1;
  r.rule = m.coalescer.rule;
  r.reads = r.has_l1 ? 0 : number(m.lsu.mshrs);
  r.index = m.l1.index;
  r.mshrs = number(m.l1.mshrs);
  r.merges = number(m.l1.merges);
  r.warp_mshrs = number(m.l1.warp_mshrs);
  r.caches_global = m.l1.cache_global;
  r.read_only_elsewhere = m.texture.cache == core::TextureCache::kOwn && m.texture.read_only_loads;
  r.allocate = m.l1.allocate;
  r.write_global = m.l1.write_global;
  r.write_local = m.l1.write_local;
  r.hit_cycles = static_cast<double>(m.l1.latency);
  r.sms = number(m.gpu.sms);
  r.most_warps = number(m.sm.max_warps);
  r.blocks_per_sm = resident_blocks(m, trace);
  r.ways = std::max(1u, core::l1_ways_beside(m, uint64_t{trace.shared_bytes} * r.blocks_per_sm));
  r.schedulers = number(m.scheduler.count);
  r.turned = m.scheduler.turned;
  r.share_in_turn = m.scheduler.share_in_turn;
  r.policy = m.scheduler.policy == "gto"      ? ReuseMachine::Policy::kGreedy
             : m.scheduler.policy == "oldest" ? ReuseMachine::Policy::kOldest
                                              : ReuseMachine::Policy::kRoundRobin;
  r.send_cycles = static_cast<double>(m.coalescer.cycles_per_transaction);
  r.queue = number(m.lsu.queue);
  r.look_ahead = m.tlb.look_ahead;
  r.warp_loads = number(m.scheduler.warp_loads);
  r.store_buffer = number(m.lsu.store_buffer);
  r.block_start_cycles = static_cast<double>(m.gpu.block_start_cycles);
  r.block_interval = m.gpu.block_interval;
  return r;
}

std::vector<std::string> unmodelled_memory(const core::MachineConfig& m) {
  std::vector<std::string> rules;
  const auto taken = [&](const char* key, const std::string& word, const char* as) {
    rules.push_back(fmt::format("{} = \"{}\": taken as {}", key, word, as));
  };
  if (m.l1.bytes != 0 && m.l1.replacement != "lru") taken("l1.replacement", m.l1.replacement, "lru");
  if (m.l2.bytes != 0 && m.l2.replacement != "lru") taken("l2.replacement", m.l2.replacement, "lru");
  if (m.interconnect.topology != "crossbar")
    taken("interconnect.topology", m.interconnect.topology, "crossbar");
  if (m.l2.far_latency_ns > 0) rules.emplace_back("l2.far_latency: taken as 0");
  const core::MachineConfig::Dram& dram = m.dram;
  if (dram.scheduler != "frfcfs" && dram.scheduler != "fcfs")
    taken("dram.scheduler", dram.scheduler, "frfcfs");
  if (dram.page != "open" && dram.page != "closed") taken("dram.page", dram.page, "open");
  if (dram.refresh != "all" && dram.refresh != "bank") taken("dram.refresh", dram.refresh, "all");
  return rules;
}

std::vector<std::string> unmodelled_by_reuse(const core::MachineConfig& m, bool all_sms) {
  std::vector<std::string> rules = unmodelled_memory(m);
  const std::string& policy = m.scheduler.policy;
  if (policy != "lrr" && policy != "gto" && policy != "oldest")
    rules.push_back(fmt::format("scheduler.policy = \"{}\": taken as lrr", policy));
  if (m.l1.bytes != 0 && m.l1.tag_lines > 1)
    rules.push_back(fmt::format("l1.tag_lines = {}: taken as 1", m.l1.tag_lines));
  if (m.l2.bytes != 0 && m.l2.dirty_share < 1)
    rules.push_back(fmt::format("l2.dirty_share = {}: taken as 1", m.l2.dirty_share));
  if (m.tlb.l1_entries != 0 && !all_sms) rules.emplace_back("tlb: pages are taken as known");
  return rules;
}

}  // namespace gpusim::analysis
