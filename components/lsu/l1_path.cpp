#include "components/lsu/l1_path.h"

#include <fmt/format.h>

#include "components/lsu/tlb/no_tlb.h"

namespace gpusim::comp {

template <class Tlb>
L1Path<Tlb>::L1Path(const core::MachineConfig& machine, uint16_t port, const Links& links,
                    AccessTable& accesses)
    : GlobalPath(machine, port, links, accesses),
      tlb_(machine.tlb, links.tlb),
      l1_(fmt::format("l1_{}", port).c_str(), machine.l1, kMaxWarps),
      group_bytes_(uint64_t{machine.l1.line} * machine.l1.tag_lines),
      by_groups_(machine.l1.tag_lines > 1),
      data_rules_(shared_memory_rules(machine)),
      hits_((l1_.latency() + 2) * machine.l1.tag_lines),
      holds_textures_(machine.texture.cache == core::TextureCache::kL1),
      holds_read_only_(holds_textures_ && machine.texture.read_only_loads) {}

template <class Tlb>
void L1Path<Tlb>::prepare() {
  GlobalPath::prepare();
  line_requests_.resize(mshr_count_);
}

template <class Tlb>
bool L1Path<Tlb>::is_cached(const isa::MicroOp& op, bool local) const {
  if (op.op_class == isa::OpClass::kTexture) return holds_textures_;
  if (op.memory.bypasses_l1) return false;
  return local || l1_.caches_global() || (holds_read_only_ && op.memory.read_only);
}

template <class Tlb>
uint32_t L1Path<Tlb>::submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                             const isa::MemoryAccess& access, bool is_atomic, uint64_t now) {
  QueueEntry& entry = enqueue(op, warp, pc, access, is_atomic, now);
  entry.cached = entry.kind == RequestKind::kRead && is_cached(op, entry.local);
  tlb_.enter(entry.list);
  // Texels are gathered from quads, whose words need not lie as the lanes ask for them.
  const bool by_groups = by_groups_ && entry.cached && op.op_class != isa::OpClass::kTexture;
  entry.data_cycles = by_groups ? shared_access_cost(data_rules_, access, op.kind).steps : 0;
  return entry.record;
}

template <class Tlb>
void L1Path<Tlb>::collect(uint64_t now) {
  while (has_arrival(now)) {
    const Arrival r = take_arrival();
    if (!r.is_write && line_requests_[r.tag].entry != AccessTable::kNoRecord)
      finish_line(r.tag, r.level, now);
    else if (r.record != AccessTable::kNoRecord)
      accesses_.answer(r.record, r.level);
  }
  while (hits_.size() != 0 && hits_.front().at <= now) accesses_.answer(hits_.pop().record, MemoryLevel::kL1);
  if (tlb_.collect(now)) blocked_ = false;
}

template <class Tlb>
void L1Path<Tlb>::send(uint64_t now) {
  leave_queue(now);
  tlb_.send();
  if (now >= next_send_ && has_work()) send_one(now, to_network_.can_push());
}

template <class Tlb>
void L1Path<Tlb>::send_at(uint64_t at) {
  leave_queue(at);
  if (at >= next_send_ && has_work()) send_one(at, true);
}

template <class Tlb>
void L1Path<Tlb>::send_one(uint64_t now, bool link) {
  if (l1_.has_writeback() && link && can_reserve(RequestKind::kWrite)) {
    send_writeback(now);
    occupy_port(send_interval_, now + send_interval_);
    blocked_ = false;
    return;
  }
  blocked_ = !unsent() || !send_transaction(head(), now, link);
  leave_queue(now);
}

template <class Tlb>
L1Cache::Access L1Path<Tlb>::access_of(const QueueEntry& entry) const {
  const Transaction& t = entry.transaction();
  return {t.address, t.sectors, accesses_[entry.record].warp, entry.record, entry.local, entry.refused};
}

template <class Tlb>
bool L1Path<Tlb>::send_transaction(QueueEntry& entry, uint64_t now, bool link) {
  if (!entry.looked_up) {
    entry.looked_up = true;
    tlb_.look_up(entry.list);
    tlb_.send();
  }
  if (!tlb_.knows(entry.next, now)) {
    waits_for(HeadWait::kPage, now);
    return false;
  }
  count_for(entry.record);
  const bool can_send = link && can_reserve(entry.kind) && !l1_.has_writeback();
  const L1Cache::Access access = access_of(entry);
  if (entry.cached) {
    if (load(entry, access, now, can_send)) return true;
    waits_for(refusal(entry.kind, link), now);
    return false;
  }
  if (entry.kind == RequestKind::kWrite) {
    const L1Cache::Stored stored = l1_.store(access, can_send);
    if (stored == L1Cache::Stored::kRefused) {
      waits_for(refusal(entry.kind, link), now);
      entry.refused = true;
      return false;
    }
    record_look_up(now, access, core::CacheResult::kWrite);
    if (stored == L1Cache::Stored::kKept) {
      hits_.push({now + l1_.latency(), entry.record});
      step(entry, now, true);
      return true;
    }
  } else if (!can_send) {
    waits_for(missing_for(entry.kind, link), now);
    return false;
  } else if (entry.kind == RequestKind::kAtomic) {
    l1_.drop(access);
    record_look_up(now, access, core::CacheResult::kWrite);
  } else {
    l1_.bypass(access);
  }
  entry.refused = false;
  transmit(entry, now);
  return true;
}

template <class Tlb>
HeadWait L1Path<Tlb>::refusal(RequestKind kind, bool link) const {
  const MshrRefusal why = l1_.refusal();
  if (why == MshrRefusal::kMerges) return HeadWait::kMerge;
  if (why != MshrRefusal::kNone) return HeadWait::kMshr;
  return missing_for(kind, link);
}

template <class Tlb>
bool L1Path<Tlb>::load(QueueEntry& entry, const L1Cache::Access& access, uint64_t now, bool can_send) {
  using core::CacheResult;
  const L1Cache::Result result = l1_.load(access, can_send);
  use_.l1_outstanding -= result.opened ? now : 0;
  const bool hit = result.answer == L1Cache::Answer::kHit;
  if (result.answer == L1Cache::Answer::kRefused) {
    if (!entry.refused) record_look_up(now, access, CacheResult::kReservationFail);
    entry.refused = true;
    return false;
  }
  if (entry.next == 0) entry.began_at = now;
  record_look_up(now, access,
                 hit                   ? CacheResult::kHit
                 : result.request != 0 ? CacheResult::kMiss
                                       : CacheResult::kMissMerged);
  if (hit)
    hits_.push({now + l1_.latency(), entry.record});
  else if (result.request == 0)
    record_mshrs(now, access.address, core::MshrAction::kMerge);
  else
    ask_for_line(entry, result, access.address, now);
  entry.refused = false;
  const uint64_t group = group_of(access.address);
  step(entry, now, true);
  if (entry.data_cycles == 0) return true;
  load_neighbours(entry, group, now);
  const uint64_t read = entry.began_at + entry.data_cycles * send_interval_;
  if (entry.next == entry.list.count && read > next_send_) {
    use_.data_cycles += read - next_send_;
    occupy_port(read - next_send_, read);
  }
  return true;
}

template <class Tlb>
void L1Path<Tlb>::load_neighbours(QueueEntry& entry, uint64_t group, uint64_t now) {
  while (entry.next < entry.list.count && group_of(entry.transaction().address) == group) {
    const L1Cache::Access access = access_of(entry);
    if (!tlb_.knows(entry.next, now) || !l1_.holds(access)) return;
    (void)l1_.load(access, false);
    record_look_up(now, access, core::CacheResult::kHit);
    hits_.push({now + l1_.latency(), entry.record});
    step(entry, now, true);
  }
}

template <class Tlb>
void L1Path<Tlb>::ask_for_line(const QueueEntry& entry, const L1Cache::Result& miss, uint64_t address,
                               uint64_t now) {
  const uint16_t tag = reserve_mshr(entry.record, now);
  line_requests_[tag] = {miss.entry, miss.request};
  send_sectors(address, miss.request, RequestKind::kRead, tag, now);
  record_mshrs(now, address, core::MshrAction::kAllocate);
}

template <class Tlb>
void L1Path<Tlb>::transmit(QueueEntry& entry, uint64_t now) {
  uint16_t tag;
  if (entry.kind == RequestKind::kWrite) {
    tag = reserve_store(entry.record, now);
  } else {
    tag = reserve_mshr(entry.record, now);
    line_requests_[tag] = LineRequest{};
  }
  to_network_.push_at(core::Cycle(now), request_of(entry, tag));
  step(entry, now, entry.kind != RequestKind::kRead);  // a read that comes here bypasses the tags
}

template <class Tlb>
void L1Path<Tlb>::send_writeback(uint64_t now) {
  L1Cache::Writeback w;
  if (!l1_.take_writeback(w)) return;
  send_sectors(w.address, w.sectors, RequestKind::kWrite, reserve_store(AccessTable::kNoRecord, now), now);
}

template <class Tlb>
void L1Path<Tlb>::send_sectors(uint64_t address, SectorMask sectors, RequestKind kind, uint16_t tag,
                               uint64_t now) {
  const auto parts = static_cast<uint8_t>(sectors);  // a line has eight at most
  to_network_.push_at(core::Cycle(now), {address, bytes_of(sectors), kind, parts, port_, tag, true});
}

template <class Tlb>
void L1Path<Tlb>::finish_line(uint32_t tag, MemoryLevel level, uint64_t now) {
  const LineRequest request = line_requests_[tag];
  const uint64_t address = l1_.line_address(request.entry);
  count_for(mshr_record_[tag]);
  const bool closed =
      l1_.fill(request.entry, request.sectors, [&](uint32_t record) { accesses_.answer(record, level); });
  use_.l1_outstanding += closed ? now : 0;
  record_mshrs(now, address, core::MshrAction::kRelease);
}

template <class Tlb>
void L1Path<Tlb>::record_look_up(uint64_t now, const L1Cache::Access& access,
                                 core::CacheResult result) const {
  if (events_ != nullptr && events_->cache != nullptr)
    record_cache_event(*events_->cache, now, access.address, port_, kL1Cache, result, access.sectors);
}

template <class Tlb>
uint64_t L1Path<Tlb>::next_send() const {
  if (tlb_.has_to_ask()) return 0;
  // As without an L1: links and replies wake the SM for what is blocked.
  return or_queue_opens(has_work() && !blocked_ ? next_send_ : kUnknownCycle);
}

template class L1Path<SmTlb>;
template class L1Path<NoTlb>;

}  // namespace gpusim::comp
