// What the units of the GPU count, gathered over their instances.
#include "components/simulation/unit_use.h"

#include <algorithm>

#include "components/simulation/gpu.h"

namespace gpusim::comp {

namespace {

/// One kind after the other.
class Units {
 public:
  /// Those that are added next: one for each instance.
  void kind(std::string name, const char* place, UnitClock clock, const char* meaning, uint64_t entries = 1) {
    all_.push_back({std::move(name), place, meaning, clock, entries, {}, {}});
  }
  void add(uint32_t number, uint64_t busy) {
    all_.back().numbers.push_back(number);
    all_.back().busy.push_back(busy);
  }
  [[nodiscard]] std::vector<UnitCount> take() { return std::move(all_); }

 private:
  std::vector<UnitCount> all_;
};

using Sms = std::vector<std::unique_ptr<Sm>>;

struct WaitName {
  const char* name;
  const char* meaning;
};

constexpr core::EnumArray<WaitName, HeadWait> kHeadWaits = {
    WaitName{"lsu_wait_mshr", "cycles in which its oldest transaction waited for an MSHR"},
    WaitName{"lsu_wait_store_buffer", "cycles in which its oldest transaction waited for the store buffer"},
    WaitName{"lsu_wait_network", "cycles in which its oldest transaction waited for the interconnect"},
    WaitName{"lsu_wait_merge", "cycles in which its oldest transaction waited for room in its line's MSHR"},
    WaitName{"lsu_wait_way", "cycles in which its oldest transaction waited for a line of its set"},
    WaitName{"lsu_wait_page", "cycles in which its oldest transaction waited for its page"}};

constexpr core::EnumArray<WaitName, PartitionWait> kPartitionWaits = {
    WaitName{"", ""},
    WaitName{"l2_wait_mshr", "cycles in which its oldest request waited for an MSHR"},
    WaitName{"l2_wait_merge", "cycles in which its oldest request waited for room in its line's MSHR"},
    WaitName{"l2_wait_way", "cycles in which its oldest request waited for a line of its set"},
    WaitName{"l2_wait_dram_queue", "cycles in which its oldest request waited for the way to DRAM"},
    WaitName{"l2_wait_reply", "cycles in which its oldest request waited for replies to leave"},
    WaitName{"l2_wait_atomics", "cycles in which its oldest request waited for earlier atomics"},
    WaitName{"l2_wait_data", "cycles in which its oldest request waited for the port of the slice's data"}};

void add_schedulers(Units& units, const Sms& sms, const core::MachineConfig& machine,
                    const TimingTables& timing) {
  const uint32_t schedulers = machine.scheduler.count;
  units.kind("issue", "scheduler", UnitClock::kCore, "cycles of issue slots that issued",
             machine.scheduler.issue_width);
  for (const auto& sm : sms)
    for (uint32_t s = 0; s < schedulers; ++s)
      units.add(sm->index() * schedulers + s, sm->issued_slots(s) * machine.scheduler.issue_cycles);
  size_t shared = 0, own = 0;
  for (const core::MachineConfig::Pipe& pipe : machine.pipes) {
    units.kind("pipe_" + pipe.name, pipe.per_scheduler ? "scheduler" : "SM", UnitClock::kCore,
               "cycles for which operations took the pipe");
    const size_t first = pipe.per_scheduler ? timing.shared_pipes + own++ : shared++;
    for (const auto& sm : sms)
      for (uint32_t s = 0; s < (pipe.per_scheduler ? schedulers : 1); ++s)
        units.add(pipe.per_scheduler ? sm->index() * schedulers + s : sm->index(),
                  sm->pipe_cycles(first + size_t{s} * timing.own_pipes));
  }
}

template <class Count>
void add_sms(Units& units, const std::vector<LsuUse>& uses, const Sms& sms, const char* name,
             const char* meaning, uint64_t entries, Count count) {
  units.kind(name, "SM", UnitClock::kCore, meaning, entries);
  for (size_t i = 0; i < sms.size(); ++i) units.add(sms[i]->index(), count(uses[i]));
}

void add_load_store(Units& units, const Sms& sms, const core::MachineConfig& machine, uint64_t now) {
  std::vector<LsuUse> uses;
  uses.reserve(sms.size());
  for (const auto& sm : sms) uses.push_back(sm->lsu_use(now));
  add_sms(units, uses, sms, "lsu_port", "cycles in which transactions left the load/store queue", 1,
          [](const LsuUse& u) { return u.port_cycles; });
  add_sms(units, uses, sms, "coalescer",
          "of these, cycles that transactions of accesses took, at the coalescer's rate", 1,
          [](const LsuUse& u) { return u.coalescer_cycles; });
  if (machine.l1.bytes != 0) {
    add_sms(units, uses, sms, "l1_tags", "of these, cycles in which its tags were looked up", 1,
            [](const LsuUse& u) { return u.tag_cycles; });
    add_sms(units, uses, sms, "l1_data",
            "of the port's cycles, those that reading data took beyond looking up tags", 1,
            [](const LsuUse& u) { return u.data_cycles; });
    add_sms(units, uses, sms, "l1_mshrs", "MSHRs of the L1 in use, summed over cycles", machine.l1.mshrs,
            [](const LsuUse& u) { return u.l1_outstanding; });
  }
  add_sms(units, uses, sms, "lsu_queue", "accesses in the load/store queue, summed over cycles",
          machine.lsu.queue, [](const LsuUse& u) { return u.queued; });
  add_sms(units, uses, sms, "lsu_mshrs", "MSHRs in use, summed over cycles", machine.lsu.mshrs,
          [](const LsuUse& u) { return u.outstanding; });
  add_sms(units, uses, sms, "store_buffer", "entries in use, summed over cycles", machine.lsu.store_buffer,
          [](const LsuUse& u) { return u.stores; });
  for (size_t i = 0; i < static_cast<size_t>(HeadWait::kCount); ++i) {
    const auto why = static_cast<HeadWait>(i);
    if (why == HeadWait::kPage && machine.tlb.l1_entries == 0) continue;
    if ((why == HeadWait::kMerge || why == HeadWait::kWay) && machine.l1.bytes == 0) continue;
    add_sms(units, uses, sms, kHeadWaits[why].name, kHeadWaits[why].meaning, 1,
            [why](const LsuUse& u) { return u.waits[why]; });
  }
}

/// What SMs share a port of the interconnect.
const char* port_place(const core::MachineConfig& machine) {
  const uint32_t sms = core::sms_per_port(machine);
  return sms == machine.gpu.sms_per_cluster ? "cluster" : sms == 1 ? "SM" : "port";
}

void add_ports(Units& units, const std::vector<uint64_t>& flits, const char* name, const char* place,
               const char* meaning) {
  if (flits.empty()) return;
  units.kind(name, place, UnitClock::kInterconnect, meaning);
  for (uint32_t p = 0; p < flits.size(); ++p) units.add(p, flits[p]);
}

template <class Count>
void add_partitions(Units& units, const std::vector<std::unique_ptr<MemoryPartition>>& partitions,
                    uint64_t now, const char* name, const char* meaning, uint64_t entries, Count count) {
  units.kind(name, "partition", UnitClock::kInterconnect, meaning, entries);
  for (uint32_t p = 0; p < partitions.size(); ++p) units.add(p, count(partitions[p]->use(now)));
}

template <class Count>
void add_channels(Units& units, const std::vector<std::unique_ptr<DramChannel>>& channels, const char* name,
                  const char* meaning, Count count) {
  if (channels.empty()) return;
  units.kind(name, "channel", UnitClock::kDram, meaning);
  for (uint32_t c = 0; c < channels.size(); ++c) units.add(c, count(channels[c]->stats()));
}

}  // namespace

std::vector<UnitCount> Gpu::unit_counts() const {
  Units units;
  add_schedulers(units, sms_, machine_, timing_);
  add_load_store(units, sms_, machine_, core_.now().count());
  if (!tlbs_.empty()) {
    units.kind("tlb_l2", machine_.tlb.l2_scope == core::TlbScope::kGpu ? "GPU" : "cluster", UnitClock::kCore,
               "pages looked up, one a cycle");
    for (uint32_t t = 0; t < tlbs_.size(); ++t)
      units.add(t, tlbs_[t]->stats().hits + tlbs_[t]->stats().misses);
    units.kind("tlb_walkers", machine_.tlb.l2_scope == core::TlbScope::kGpu ? "GPU" : "cluster",
               UnitClock::kCore, "walkers of page tables in use, summed over cycles", machine_.tlb.walkers);
    const uint64_t walk = core_.cycles_of_ns(machine_.tlb.walk_latency_ns);
    for (uint32_t t = 0; t < tlbs_.size(); ++t) units.add(t, tlbs_[t]->stats().walks * walk);
  }
  const char* const port = port_place(machine_);
  add_ports(units, requests_->input_flits(), "request_in", port,
            "flits of requests that entered the interconnect, one a cycle");
  add_ports(units, requests_->link_flits(), "request_links", "link", "flits of requests between two routers");
  add_ports(units, requests_->output_flits(), "request_out", "partition",
            "flits of requests that left the interconnect, one a cycle");
  add_ports(units, replies_->input_flits(), "reply_in", "partition",
            "flits of replies that entered the interconnect, one a cycle");
  add_ports(units, replies_->link_flits(), "reply_links", "link", "flits of replies between two routers");
  add_ports(units, replies_->output_flits(), "reply_out", port,
            "flits of replies that left the interconnect, one a cycle");
  add_partitions(units, partitions_, interconnect_.now().count(), "l2_requests",
                 "requests that it took, one a cycle", 1, [](const PartitionUse& u) { return u.requests; });
  add_partitions(units, partitions_, interconnect_.now().count(), "l2_replies",
                 "replies that it sent, one a cycle", 1, [](const PartitionUse& u) { return u.replies; });
  add_partitions(units, partitions_, interconnect_.now().count(), "l2_atomics",
                 "cycles for which atomics took their unit", 1,
                 [](const PartitionUse& u) { return u.atomic_cycles; });
  const core::MachineConfig::Partition& l2 = machine_.l2;
  if (l2.read_cycles + l2.write_cycles + l2.fill_cycles > 0)
    add_partitions(units, partitions_, interconnect_.now().count(), "l2_data",
                   "cycles for which sectors took the port of its L2 slice's data", 1,
                   [](const PartitionUse& u) { return u.data_cycles; });
  if (machine_.l2.bytes != 0)
    add_partitions(units, partitions_, interconnect_.now().count(), "l2_mshrs",
                   "MSHRs of the L2 slice in use, summed over cycles", machine_.l2.mshrs,
                   [](const PartitionUse& u) { return u.mshrs; });
  for (size_t i = 1; i < static_cast<size_t>(PartitionWait::kCount); ++i) {
    const auto why = static_cast<PartitionWait>(i);
    const bool of_cache = why == PartitionWait::kMshr || why == PartitionWait::kMerge ||
                          why == PartitionWait::kWay || why == PartitionWait::kData;
    if (of_cache && machine_.l2.bytes == 0) continue;
    add_partitions(units, partitions_, interconnect_.now().count(), kPartitionWaits[why].name,
                   kPartitionWaits[why].meaning, 1, [why](const PartitionUse& u) { return u.waits[why]; });
  }
  add_channels(units, channels_, "dram_bus", "clocks in which its data bus moves data",
               [](const DramStats& s) { return s.busy_clocks; });
  add_channels(units, channels_, "dram_rows", "clocks in which its data bus waits for a row to be opened",
               [](const DramStats& s) { return s.row_clocks; });
  add_channels(units, channels_, "dram_turnarounds",
               "clocks in which its data bus changes between reading and writing",
               [](const DramStats& s) { return s.turnaround_clocks; });
  add_channels(units, channels_, "dram_refresh", "clocks in which its data bus waits for a refresh",
               [](const DramStats& s) { return s.refresh_clocks; });
  if (machine_.host.copy_engines != 0) {
    units.kind("copy_engine", "copy engine", UnitClock::kCore,
               "cycles in which it carried a transfer between host and device");
    for (uint32_t e = 0; e < machine_.host.copy_engines; ++e)
      units.add(e, dispatcher_->copy_cycles(e, core_.now().count()));
  }
  return units.take();
}

UnitCycles Gpu::cycles_between(core::Femtoseconds start, core::Femtoseconds end) const {
  const auto count = [&](const core::ClockDomain& domain) {
    return domain.cycle_at(end).count() - domain.cycle_at(start).count();
  };
  return {count(core_), count(interconnect_), count(dram_)};
}

std::vector<UnitLoad> unit_loads(const std::vector<UnitCount>& now, const std::vector<UnitCount>& then,
                                 const UnitCycles& cycles) {
  std::vector<UnitLoad> loads;
  loads.reserve(now.size());
  for (size_t u = 0; u < now.size(); ++u) {
    const UnitCount& unit = now[u];
    UnitLoad load{unit.name, unit.place, unit.meaning, unit.busy.size(), 0, 0, 0, 0, 0};
    load.capacity = unit.entries * (unit.clock == UnitClock::kCore           ? cycles.core
                                    : unit.clock == UnitClock::kInterconnect ? cycles.interconnect
                                                                             : cycles.dram);
    std::vector<uint64_t> busy(unit.busy.size());
    for (size_t i = 0; i < busy.size(); ++i) {
      // A reply that an SM has not looked at yet counts until now, and later only until it came.
      const bool less = unit.busy[i] < then[u].busy[i];
      busy[i] = less ? 0 : unit.busy[i] - then[u].busy[i];
      load.busy += busy[i];
      if (busy[i] > load.most) load.most = busy[i], load.busiest = unit.numbers[i];
    }
    load.near = static_cast<uint64_t>(
        std::ranges::count_if(busy, [&](uint64_t b) { return b != 0 && b >= load.most - load.most / 10; }));
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace gpusim::comp
