#include "components/l2/uncached_partition.h"

#include <algorithm>

namespace gpusim::comp {

template <class TextureLevel>
UncachedPartition<TextureLevel>::UncachedPartition(const sc_core::sc_module_name& name,
                                                   core::ClockDomain& domain,
                                                   const core::MachineConfig& machine, uint32_t index,
                                                   const EventSink* events)
    : MemoryPartition(name, domain, machine, index, events),
      atomics_(machine.l2),
      textures_(machine, cycles_of_ns(machine.texture.l2_latency_ns)) {
  domain.on_change(
      [this, ns = machine.texture.l2_latency_ns] { textures_.set_latency(this->cycles_of_ns(ns)); });
}

template <class TextureLevel>
core::Cycle UncachedPartition<TextureLevel>::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  const bool reply_blocked = !send_reply(cycle);
  const core::Cycle host_reply = pass_host_reply(cycle);
  const bool request_blocked = next_request_ <= cycle && !take_request(now);
  // What is blocked is woken by the link that refused it.
  uint64_t next = host_reply.count();
  if (!reply_blocked) next = std::min({next, next_reply().count(), textures_.answer_at()});
  if (!request_blocked)
    next = std::min(next, next_request_.count());
  else if (atomics_.free_at() > now && requests_->front()->kind == RequestKind::kAtomic)
    next = std::min(next, atomics_.free_at());
  return later(next, now);
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::replies_can_push() {
  return std::ranges::all_of(replies_, [](core::Link<MemoryReply>* link) { return link->can_push(); });
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::send_reply(core::Cycle cycle) {
  const core::Cycle of_channel = next_reply();
  // The older one first: hits that follow one another closely would hold back a channel's replies for ever.
  const bool texture = textures_.answer_at() < of_channel.count();
  if ((texture ? textures_.answer_at() : of_channel.count()) > cycle.count()) return true;
  if (!replies_can_push()) return false;
  if (texture) {
    const MemoryReply answer = textures_.pop_answer();
    replies_to(answer.port).push(answer);
    ++use_.replies;
    return true;
  }
  const MemoryReply r = replying(cycle)->from->pop();
  if (r.kind == RequestKind::kConstant) l3_.fill(map_.local(r.address));
  if (TextureLevel::kExists && r.kind == RequestKind::kTexture) textures_.fill(map_.local(r.address));
  replies_to(r.port).push(r);
  ++use_.replies;
  return true;
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::take_request(uint64_t now) {
  const MemoryRequest& r = *requests_->front();
  if (is_for_host(r)) return pass_to_host(now);
  if (r.kind == RequestKind::kConstant && look_up_constant(r.address, false)) return answer_constant(now);
  if (TextureLevel::kExists && r.kind == RequestKind::kTexture && textures_.find(map_.local(r.address)))
    return answer_texture(now);
  if (r.kind == RequestKind::kAtomic && atomics_.free_at() > now) {
    waits_for(PartitionWait::kAtomics, now);
    return false;
  }
  return pass_on(now);
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::answer_constant(uint64_t now) {
  if (!replies_can_push()) {
    waits_for(PartitionWait::kReply, now);
    return false;
  }
  goes_on(now);
  ++use_.requests;
  ++use_.replies;
  const MemoryRequest hit = requests_->pop();
  replies_to(hit.port).push(
      {hit.address, hit.bytes, hit.kind, MemoryLevel::kConstantL3, hit.port, hit.tag, true}, l3_latency_);
  ++constant_hits_;
  return true;
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::answer_texture(uint64_t now) {
  if (!textures_.can_answer()) {
    waits_for(PartitionWait::kReply, now);
    return false;
  }
  goes_on(now);
  ++use_.requests;
  const MemoryRequest hit = requests_->pop();
  textures_.answer(hit, now);
  record(hit.address, kTextureL2Cache, core::CacheResult::kHit);
  return true;
}

template <class TextureLevel>
bool UncachedPartition<TextureLevel>::pass_on(uint64_t now) {
  core::Link<MemoryRequest>& channel = *channel_of(requests_->front()->address).to;
  if (!channel.can_push()) {
    waits_for(PartitionWait::kDramQueue, now);
    return false;
  }
  goes_on(now);
  ++use_.requests;
  const MemoryRequest request = requests_->pop();
  if (request.kind == RequestKind::kAtomic) atomics_.take(request.parts, request.floating, now);
  constant_misses_ += request.kind == RequestKind::kConstant;
  if (TextureLevel::kExists && request.kind == RequestKind::kTexture) {
    textures_.count_miss();
    record(request.address, kTextureL2Cache, core::CacheResult::kMiss);
  }
  channel.push(request);
  return true;
}

template class UncachedPartition<TextureL2>;
template class UncachedPartition<NoTextureL2>;

}  // namespace gpusim::comp
