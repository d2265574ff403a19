#include "components/memory_partition.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

MemoryPartition::MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      index_(index),
      core_khz_(static_cast<uint64_t>(machine.clocks.core_khz)),
      atomic_cycles_(static_cast<uint64_t>(machine.l2.atomic_cycles)),
      l3_latency_(domain.cycles_of_ns(machine.constant.l3_latency_ns)),
      events_(events),
      interleave_(static_cast<uint64_t>(machine.l2.interleave)),
      span_(static_cast<uint64_t>(machine.l2.interleave * machine.l2.partitions)),
      l3_(static_cast<uint64_t>(machine.constant.l3_bytes / machine.l2.partitions),
          static_cast<uint32_t>(machine.constant.l3_line), static_cast<uint32_t>(machine.constant.l3_ways)) {}

core::Cycle MemoryPartition::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  bool reply_blocked = false, request_blocked = false;
  uint64_t retry = core::kNever.count();
  // 1. One reply of the channel goes back.
  if (next_reply_ <= cycle) {
    if (replies_->can_push()) {
      const MemoryReply r = from_dram_->pop();
      if (r.kind == RequestKind::kConstant) l3_.fill(local(r.address));
      replies_->push(r);
    } else {
      reply_blocked = true;
    }
  }
  // 2. One request is taken.
  if (next_request_ <= cycle) {
    const MemoryRequest* r = requests_->front();
    if (r->kind == RequestKind::kConstant && look_up_constant(r->address)) {
      if (replies_->can_push()) {
        const MemoryRequest hit = requests_->pop();
        replies_->push({hit.address, hit.bytes, hit.kind, MemoryLevel::kConstantL3, hit.port, hit.tag, true},
                       l3_latency_);
        ++constant_hits_;
      } else {
        request_blocked = true;
      }
    } else if (r->kind == RequestKind::kAtomic && atomic_free_ > now) {
      retry = atomic_free_;
      request_blocked = true;
    } else if (!to_dram_->can_push()) {
      request_blocked = true;
    } else {
      const MemoryRequest request = requests_->pop();
      if (request.kind == RequestKind::kAtomic) atomic_free_ = now + request.parts * atomic_cycles_;
      constant_misses_ += request.kind == RequestKind::kConstant;
      to_dram_->push(request);
    }
  }
  return next_wanted(now, reply_blocked, request_blocked, retry);
}

bool MemoryPartition::look_up_constant(uint64_t address) {
  const bool hit = l3_.access(local(address));
  if (events_->cache != nullptr) {
    // Event tables count core cycles.
    const auto core_cycle = static_cast<uint64_t>(static_cast<unsigned __int128>(domain().engine().now_fs()) *
                                                  core_khz_ / 1'000'000'000'000u);
    record_cache_event(*events_->cache, core_cycle, address, index_, 3, hit);
  }
  return hit;
}

core::Cycle MemoryPartition::next_wanted(uint64_t now, bool reply_blocked, bool request_blocked,
                                         uint64_t retry) const {
  // What is blocked is woken by the link that refused it.
  uint64_t next = retry;
  if (!reply_blocked) next = std::min(next, next_reply_.count());
  if (!request_blocked) next = std::min(next, next_request_.count());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

std::string MemoryPartition::waiting_for() const {
  const uint32_t held = requests_->size() + from_dram_->size();
  return held == 0 ? std::string()
                   : fmt::format("{} requests and {} replies held", requests_->size(), from_dram_->size());
}

}  // namespace gpusim::comp
