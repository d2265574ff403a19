#include "components/lsu/cluster_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

ClusterCacheShape constant_shape(const core::MachineConfig& machine, const core::ClockDomain& domain) {
  const auto& c = machine.constant;
  const auto& i = machine.instruction;
  // Every SM has so many lines outstanding at most, and asks for each line of its own caches once.
  uint32_t lines = c.mshrs, same = std::max(c.l2_line / c.l1_line, 1u);
  if (i.l1_bytes != 0) {
    lines += i.mshrs;
    same += c.l2_line / i.l1_line * (i.per_scheduler ? machine.scheduler.count : 1);
  }
  constexpr uint32_t kMostTags = 1 << 15;
  ClusterCacheShape s;
  s.bytes = c.l2_bytes;
  s.line = c.l2_line;
  s.ways = c.l2_ways;
  s.latency_ns = c.l2_latency_ns;
  s.latency = domain.latency_cycles(s.latency_ns);
  s.mshrs = std::min(lines * machine.gpu.sms_per_cluster, kMostTags);
  s.merges = same * machine.gpu.sms_per_cluster;
  s.kind = RequestKind::kConstant;
  s.level = MemoryLevel::kConstantL2;
  s.code = kConstantL2Cache;
  return s;
}

ClusterCacheShape texture_shape(const core::MachineConfig& machine) {
  const auto& t = machine.texture;
  ClusterCacheShape s;
  s.bytes = t.l1_bytes;
  s.line = t.l1_line;
  s.ways = t.l1_ways;
  s.latency = t.l1_latency;
  s.mshrs = t.mshrs;
  s.merges = t.merges;
  s.kind = RequestKind::kTexture;
  s.level = MemoryLevel::kTextureL1;
  s.code = kTextureL1Cache;
  return s;
}

ClusterCache::ClusterCache(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                           const ClusterCacheShape& shape, uint16_t port)
    : Clocked(name, domain),
      shape_(shape),
      port_(port),
      tags_(shape.bytes, shape.line, shape.ways),
      misses_({shape.mshrs, shape.merges}) {
  if (shape.latency_ns != 0)
    domain.on_change([this] { shape_.latency = this->domain().latency_cycles(shape_.latency_ns); });
}

core::Cycle ClusterCache::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Lines that came back: answer everyone who waits for them.
  while (const MemoryReply* front = from_network_->front()) {
    const MemoryReply r = *front;
    from_network_->pop();
    tags_.fill(r.address);
    misses_.fill(r.tag, 1, [&](uint32_t waiter) { answers_.push_back({waiter, r.level, r.address}); });
  }
  while (answer_one()) {
  }
  // 2. One request a cycle, SMs in turn.
  bool took = false;
  bool blocked = false;
  const auto count = static_cast<uint32_t>(sms_.size());
  for (uint32_t step = 0; step < count && !took; ++step) {
    const uint32_t sm = (next_sm_ + step) % count;
    if (sms_[sm].requests->front() == nullptr) continue;
    took = take_request(sm);
    blocked |= !took;
    if (took) next_sm_ = (sm + 1) % count;
  }
  // What is blocked waits for a line to come back, or for a link, which wakes this module.
  uint64_t next = from_network_->next_visible().count();
  if (took || !blocked)
    for (const SmPort& p : sms_) next = std::min(next, p.requests->next_visible().count());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

MemoryReply ClusterCache::reply(uint64_t line, MemoryLevel level, uint32_t waiter) const {
  const uint16_t port = sms_[waiter >> 16].port;
  const auto bytes = static_cast<uint16_t>(shape_.line);
  return {line, bytes, shape_.kind, level, port, static_cast<uint16_t>(waiter & 0x7fff), true};
}

bool ClusterCache::answer_one() {
  for (auto it = answers_.begin(); it != answers_.end(); ++it) {
    core::Link<MemoryReply>& out = *sms_[it->waiter >> 16].replies;
    if (!out.can_push()) continue;
    out.push(reply(it->line, it->level, it->waiter));
    answers_.erase(it);
    return true;
  }
  return false;
}

bool ClusterCache::take_request(uint32_t sm) {
  const MemoryRequest request = *sms_[sm].requests->front();
  sms_[sm].port = request.port;
  const uint64_t line = tags_.line_of(request.address);
  const bool hit = tags_.access(line);
  if (hit) {
    if (!sms_[sm].replies->can_push()) return false;
    sms_[sm].replies->push(reply(line, shape_.level, waiter_of(sm, request.tag)), shape_.latency);
  } else if (!take_miss(sm, request, line)) {
    return false;
  }
  ++(hit ? stats_.hits : stats_.misses);
  if (events_ != nullptr && events_->cache != nullptr)
    record_cache_event(*events_->cache, domain().now().count(), line, unit_, shape_.code, hit);
  sms_[sm].requests->pop();
  return true;
}

bool ClusterCache::take_miss(uint32_t sm, const MemoryRequest& request, uint64_t line) {
  const uint64_t number = line / shape_.line;
  const uint32_t waiter = waiter_of(sm, request.tag);
  uint32_t entry = misses_.find(number);
  if (entry != MshrTable::kNoEntry) {
    if (misses_.can_merge(entry) != MshrRefusal::kNone) return false;
    misses_.merge(entry, waiter, 1);
    return true;
  }
  if (misses_.full() || !to_network_->can_push()) return false;
  entry = misses_.allocate(number, 0, waiter, 1);
  to_network_->push(
      {line, static_cast<uint16_t>(shape_.line), shape_.kind, 0, port_, static_cast<uint16_t>(entry), true});
  ++stats_.fills;
  return true;
}

std::string ClusterCache::waiting_for() const {
  const uint32_t lines = misses_.in_use();
  if (lines == 0) return {};
  return fmt::format("{} {} lines outstanding", lines,
                     shape_.kind == RequestKind::kConstant ? "constant or instruction" : "texture");
}

}  // namespace gpusim::comp
