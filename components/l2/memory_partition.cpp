#include "components/l2/memory_partition.h"

#include <fmt/format.h>

#include "components/l2/l2_partition.h"
#include "components/l2/uncached_partition.h"

namespace gpusim::comp {

MemoryPartition::MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      index_(index),
      l3_latency_(domain.latency_cycles(machine.constant.l3_latency_ns)),
      map_(machine.l2),
      l3_(machine.constant.l3_bytes / machine.l2.partitions, machine.constant.l3_line,
          machine.constant.l3_ways),
      events_(events),
      channel_count_(machine.dram.channels) {
  channels_.reserve(channel_count_.value());  // links write into them
  domain.on_change([this, ns = machine.constant.l3_latency_ns] { l3_latency_ = cycles_of_ns(ns); });
}

MemoryPartition::Channel* MemoryPartition::replying(core::Cycle now) {
  for (size_t step = 1; step <= channels_.size(); ++step) {
    const size_t c = (last_replying_ + step) % channel_count_;
    if (channels_[c].next_reply > now) continue;
    last_replying_ = c;
    return &channels_[c];
  }
  return nullptr;
}

core::Cycle MemoryPartition::pass_host_reply(core::Cycle now) {
  if (host_.next_reply > now) return host_.next_reply;
  core::Link<MemoryReply>& replies = replies_to(host_.from->front()->port);
  if (!replies.can_push()) return core::kNever;
  replies.push(host_.from->pop());
  ++use_.replies;
  return host_.next_reply;
}

bool MemoryPartition::pass_to_host(uint64_t now) {
  if (!host_.to->can_push()) {
    waits_for(PartitionWait::kDramQueue, now);
    return false;
  }
  goes_on(now);
  ++use_.requests;
  host_.to->push(requests_->pop());
  return true;
}

bool MemoryPartition::look_up_constant(uint64_t address, bool again) {
  const bool hit = l3_.access(map_.local(address));
  if (!again) record(address, 3, hit ? core::CacheResult::kHit : core::CacheResult::kMiss);
  return hit;
}

void MemoryPartition::write_event(uint64_t address, uint8_t cache, core::CacheResult result) const {
  // Event tables count core cycles.
  const core::ClockDomain& core = core_ == nullptr ? domain() : *core_;
  const uint64_t core_cycle = core.cycle_at(domain().engine().now_fs()).count();
  record_cache_event(*events_->cache, core_cycle, address, index_, cache, result);
}

std::string MemoryPartition::waiting_for() const {
  uint32_t replies = 0;
  for (const Channel& c : channels_) replies += c.from->size();
  if (host_memory_ != nullptr) replies += host_.from->size();
  if (requests_->size() + replies == 0) return {};
  return fmt::format("{} requests and {} replies held", requests_->size(), replies);
}

std::unique_ptr<MemoryPartition> make_partition(const sc_core::sc_module_name& name,
                                                core::ClockDomain& domain, const core::MachineConfig& machine,
                                                uint32_t index, const EventSink* events) {
  if (machine.l2.bytes != 0) return std::make_unique<L2Partition>(name, domain, machine, index, events);
  if (machine.texture.cache == core::TextureCache::kOwn && machine.texture.l2_bytes != 0)
    return std::make_unique<UncachedPartition<TextureL2>>(name, domain, machine, index, events);
  return std::make_unique<UncachedPartition<NoTextureL2>>(name, domain, machine, index, events);
}

}  // namespace gpusim::comp
