#include "components/l2/memory_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpusim::comp {

namespace {

/// By reply port (SMs, the constant caches of the clusters, texture caches): whether it is in the other half
/// of the chip. Each half has the clusters and partitions of half of the numbers.
std::vector<bool> far_ports(const core::MachineConfig& machine, uint32_t partition) {
  std::vector<bool> far;
  if (machine.l2.halves == 1) return far;
  const int64_t clusters = (machine.gpu.sms + machine.gpu.sms_per_cluster - 1) / machine.gpu.sms_per_cluster;
  const int64_t home = partition * machine.l2.halves / machine.l2.partitions;
  const auto add = [&](int64_t cluster) { far.push_back(cluster * machine.l2.halves / clusters != home); };
  for (int64_t sm = 0; sm < machine.gpu.sms; ++sm) add(sm / machine.gpu.sms_per_cluster);
  for (int64_t c = 0; c < clusters; ++c) add(c);
  if (machine.texture.cache == core::TextureCache::kOwn) {
    const bool of_cluster = machine.texture.scope == core::TextureScope::kCluster;
    for (int64_t t = 0; t < (of_cluster ? clusters : machine.gpu.sms); ++t)
      add(of_cluster ? t : t / machine.gpu.sms_per_cluster);
  }
  return far;
}

}  // namespace

MemoryPartition::MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      index_(index),
      atomic_cycles_(static_cast<uint64_t>(machine.l2.atomic_cycles)),
      l3_latency_(domain.cycles_of_ns(machine.constant.l3_latency_ns)),
      events_(events),
      map_(machine.l2),
      l3_(static_cast<uint64_t>(machine.constant.l3_bytes / machine.l2.partitions),
          static_cast<uint32_t>(machine.constant.l3_line), static_cast<uint32_t>(machine.constant.l3_ways)),
      channel_count_(static_cast<uint64_t>(machine.dram.channels)) {
  channels_.reserve(channel_count_.value());  // links write into them
  if (machine.texture.cache == core::TextureCache::kOwn && machine.texture.l2_bytes != 0 &&
      machine.l2.bytes == 0)
    textures_ = std::make_unique<TextureL2>(machine, domain.cycles_of_ns(machine.texture.l2_latency_ns));
  if (machine.l2.bytes != 0)
    l2_ = std::make_unique<L2Slice>(machine.l2, index,
                                    L2Times{domain.cycles_of_ns(machine.l2.hit_latency_ns), l3_latency_,
                                            domain.cycles_of_ns(machine.l2.far_latency_ns)},
                                    far_ports(machine, index));
  domain.on_change([this, &m = machine] {
    const auto cycles = [this](double ns) { return this->domain().cycles_of_ns(ns); };
    l3_latency_ = cycles(m.constant.l3_latency_ns);
    if (textures_ != nullptr) textures_->set_latency(cycles(m.texture.l2_latency_ns));
    if (l2_ != nullptr)
      l2_->set_times({cycles(m.l2.hit_latency_ns), l3_latency_, cycles(m.l2.far_latency_ns)});
  });
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

core::Cycle MemoryPartition::next_reply() const {
  core::Cycle next = core::kNever;
  for (const Channel& c : channels_) next = std::min(next, c.next_reply);
  return next;
}

core::Cycle MemoryPartition::tick(core::Cycle cycle) {
  if (l2_ != nullptr) return tick_with_l2(cycle);
  const uint64_t now = cycle.count();
  bool reply_blocked = false, request_blocked = false;
  uint64_t retry = core::kNever.count();
  // 1. One reply goes back: a texture line that was here, or one of the channel.
  if (textures_ != nullptr && textures_->answer_at() <= now) {
    reply_blocked = !replies_->can_push();
    if (!reply_blocked) replies_->push(textures_->pop_answer());
  } else if (next_reply() <= cycle) {
    if (replies_->can_push()) {
      const MemoryReply r = replying(cycle)->from->pop();
      if (r.kind == RequestKind::kConstant) l3_.fill(map_.local(r.address));
      if (r.kind == RequestKind::kTexture && textures_ != nullptr) textures_->fill(map_.local(r.address));
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
    } else if (r->kind == RequestKind::kTexture && textures_ != nullptr &&
               textures_->find(map_.local(r->address))) {
      request_blocked = !answer_texture(now);
    } else if (r->kind == RequestKind::kAtomic && atomic_free_ > now) {
      retry = atomic_free_;
      request_blocked = true;
    } else if (!channel_of(r->address).to->can_push()) {
      request_blocked = true;
    } else {
      const MemoryRequest request = requests_->pop();
      if (request.kind == RequestKind::kAtomic) atomic_free_ = now + request.parts * atomic_cycles_;
      constant_misses_ += request.kind == RequestKind::kConstant;
      if (request.kind == RequestKind::kTexture && textures_ != nullptr) {
        textures_->count_miss();
        record(request.address, kTextureL2Cache, core::CacheResult::kMiss);
      }
      channel_of(request.address).to->push(request);
    }
  }
  return next_wanted(now, reply_blocked, request_blocked, retry);
}

bool MemoryPartition::answer_texture(uint64_t now) {
  if (!textures_->can_answer()) return false;
  const MemoryRequest hit = requests_->pop();
  textures_->answer(hit, now);
  record(hit.address, kTextureL2Cache, core::CacheResult::kHit);
  return true;
}

bool MemoryPartition::look_up_constant(uint64_t address) {
  const bool hit = l3_.access(map_.local(address));
  if (!refused_) record(address, 3, hit ? core::CacheResult::kHit : core::CacheResult::kMiss);
  return hit;
}

void MemoryPartition::record(uint64_t address, uint8_t cache, core::CacheResult result) const {
  if (events_->cache == nullptr) return;
  // Event tables count core cycles.
  const core::ClockDomain& core = core_ == nullptr ? domain() : *core_;
  const uint64_t core_cycle = core.cycle_at(domain().engine().now_fs()).count();
  record_cache_event(*events_->cache, core_cycle, address, index_, cache, result);
}

core::Cycle MemoryPartition::next_wanted(uint64_t now, bool reply_blocked, bool request_blocked,
                                         uint64_t retry) const {
  // What is blocked is woken by the link that refused it.
  uint64_t next = retry;
  if (!reply_blocked) next = std::min(next, next_reply().count());
  if (!reply_blocked && textures_ != nullptr) next = std::min(next, textures_->answer_at());
  if (!request_blocked) next = std::min(next, next_request_.count());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

std::string MemoryPartition::waiting_for() const {
  uint32_t replies = 0;
  for (const Channel& c : channels_) replies += c.from->size();
  std::string text = requests_->size() + replies == 0
                         ? std::string()
                         : fmt::format("{} requests and {} replies held", requests_->size(), replies);
  const std::string slice = l2_ == nullptr ? std::string() : l2_->waiting_for();
  if (!text.empty() && !slice.empty()) text += "; ";
  return text + slice;
}

}  // namespace gpusim::comp
