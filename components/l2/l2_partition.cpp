#include "components/l2/l2_partition.h"

#include <algorithm>
#include <vector>

namespace gpusim::comp {

namespace {

/// By reply port (SMs, the constant caches of the clusters, texture caches): whether it is in the other half
/// of the chip. Each half has the clusters and partitions of half of the numbers.
std::vector<bool> far_ports(const core::MachineConfig& machine, uint32_t partition) {
  std::vector<bool> far;
  if (machine.l2.halves == 1) return far;
  const uint32_t clusters = (machine.gpu.sms + machine.gpu.sms_per_cluster - 1) / machine.gpu.sms_per_cluster;
  const uint32_t home = partition * machine.l2.halves / machine.l2.partitions;
  const auto add = [&](uint32_t cluster) { far.push_back(cluster * machine.l2.halves / clusters != home); };
  for (uint32_t sm = 0; sm < machine.gpu.sms; ++sm) add(sm / machine.gpu.sms_per_cluster);
  for (uint32_t c = 0; c < clusters; ++c) add(c);
  if (machine.texture.cache == core::TextureCache::kOwn) {
    const bool of_cluster = machine.texture.scope == core::TextureScope::kCluster;
    for (uint32_t t = 0; t < (of_cluster ? clusters : machine.gpu.sms); ++t)
      add(of_cluster ? t : t / machine.gpu.sms_per_cluster);
  }
  return far;
}

}  // namespace

L2Partition::L2Partition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                         const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : MemoryPartition(name, domain, machine, index, events),
      l2_(machine.l2, index, times(machine), far_ports(machine, index)) {
  domain.on_change([this, &machine] { l2_.set_times(times(machine)); });
}

L2Times L2Partition::times(const core::MachineConfig& machine) const {
  return {cycles_of_ns(machine.l2.hit_latency_ns), l3_latency_, cycles_of_ns(machine.l2.far_latency_ns)};
}

core::Cycle L2Partition::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. A reply of a channel sinks.
  if (Channel* channel = replying(cycle)) l2_.fill(channel->from->pop(), now);
  // 2. One answer leaves.
  const bool answer_blocked = l2_.answer_at() <= now && !replies_to(l2_.next_answer().port).can_push();
  if (!answer_blocked && l2_.answer_at() <= now) send_answer();
  const core::Cycle host_reply = pass_host_reply(cycle);
  // 3. One request is taken.
  if (next_request_ <= cycle) refused_ = !take_request(now);
  // 4. One request goes to its channel.
  bool dram_blocked = false;
  if (l2_.has_dram_request()) {
    core::Link<MemoryRequest>& to_dram = *channel_of(l2_.next_dram_request().address).to;
    dram_blocked = !to_dram.can_push();
    if (!dram_blocked) to_dram.push(l2_.pop_dram_request());
  }
  // Links wake what they refused. A request that waits for an entry, a place among the answers or the queue
  // to DRAM is looked at again when a reply, an answer or a request to DRAM moves, which wakes this module.
  uint64_t next = std::min(next_reply(), host_reply).count();
  if (!answer_blocked) next = std::min(next, l2_.answer_at());
  if (!dram_blocked && l2_.has_dram_request()) next = now + 1;
  if (!refused_) next = std::min(next, next_request_.count());
  if (refused_ && l2_.atomic_free() > now && requests_->front()->kind == RequestKind::kAtomic)
    next = std::min(next, l2_.atomic_free());
  if (refused_ && l2_.data_free() > now) next = std::min(next, l2_.data_free());
  return later(next, now);
}

void L2Partition::send_answer() {
  const MemoryReply answer = l2_.pop_answer();
  if (answer.kind == RequestKind::kConstant && answer.level != MemoryLevel::kConstantL3)
    l3_.fill(map_.local(answer.address));
  replies_to(answer.port).push(answer);
  ++use_.replies;
}

PartitionUse L2Partition::use(uint64_t now) const {
  PartitionUse use = use_;
  use.atomic_cycles = l2_.atomic_cycles();
  use.data_cycles = l2_.data_cycles();
  use.mshrs = l2_.mshr_cycles(now);
  return use;
}

bool L2Partition::take_request(uint64_t now) {
  const MemoryRequest& r = *requests_->front();
  if (is_for_host(r)) return pass_to_host(now);
  const bool constant = r.kind == RequestKind::kConstant;
  if (constant && look_up_constant(r.address, refused_)) {
    if (!l2_.take_constant_hit(r, now)) {
      waits_for(PartitionWait::kReply, now);
      return false;
    }
    ++constant_hits_;
  } else {
    const core::CacheResult result = l2_.take(r, now, refused_);
    const bool taken = result != core::CacheResult::kReservationFail;
    if (taken || !refused_) record(r.address, kL2Cache, result);
    if (!taken) {
      waits_for(l2_.refusal(), now);
      return false;
    }
    constant_misses_ += constant;
  }
  goes_on(now);
  ++use_.requests;
  requests_->pop();
  return true;
}

std::string L2Partition::waiting_for() const {
  std::string text = MemoryPartition::waiting_for();
  const std::string slice = l2_.waiting_for();
  if (!text.empty() && !slice.empty()) text += "; ";
  return text + slice;
}

}  // namespace gpusim::comp
