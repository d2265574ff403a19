// The memory partition with a slice of the L2 between the interconnect and its DRAM channels.
#include <algorithm>

#include "components/l2/memory_partition.h"

namespace gpusim::comp {

core::Cycle MemoryPartition::tick_with_l2(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. A reply of a channel sinks.
  if (Channel* channel = replying(cycle)) l2_->fill(channel->from->pop(), now);
  // 2. One answer leaves.
  const bool answer_blocked = l2_->answer_at() <= now && !replies_->can_push();
  if (!answer_blocked && l2_->answer_at() <= now) send_answer();
  // 3. One request is taken.
  if (next_request_ <= cycle) refused_ = !take_request(now);
  // 4. One request goes to its channel.
  bool dram_blocked = false;
  if (l2_->has_dram_request()) {
    core::Link<MemoryRequest>& to_dram = *channel_of(l2_->next_dram_request().address).to;
    dram_blocked = !to_dram.can_push();
    if (!dram_blocked) to_dram.push(l2_->pop_dram_request());
  }
  // Links wake what they refused. A request that waits for an entry, a place among the answers or the queue
  // to DRAM is looked at again when a reply, an answer or a request to DRAM moves, which wakes this module.
  uint64_t next = next_reply().count();
  if (!answer_blocked) next = std::min(next, l2_->answer_at());
  if (!dram_blocked && l2_->has_dram_request()) next = now + 1;
  if (!refused_) next = std::min(next, next_request_.count());
  if (refused_ && l2_->atomic_free() > now && requests_->front()->kind == RequestKind::kAtomic)
    next = std::min(next, l2_->atomic_free());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

void MemoryPartition::send_answer() {
  const MemoryReply answer = l2_->pop_answer();
  if (answer.kind == RequestKind::kConstant && answer.level != MemoryLevel::kConstantL3)
    l3_.fill(map_.local(answer.address));
  replies_->push(answer);
}

bool MemoryPartition::take_request(uint64_t now) {
  const MemoryRequest& r = *requests_->front();
  const bool constant = r.kind == RequestKind::kConstant;
  if (constant && look_up_constant(r.address)) {
    if (!l2_->take_constant_hit(r, now)) return false;
    ++constant_hits_;
  } else {
    const core::CacheResult result = l2_->take(r, now, refused_);
    const bool taken = result != core::CacheResult::kReservationFail;
    if (taken || !refused_) record(r.address, kL2Cache, result);
    if (!taken) return false;
    constant_misses_ += constant;
  }
  requests_->pop();
  return true;
}

}  // namespace gpusim::comp
