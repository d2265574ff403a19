// The load/store unit with an L1 data cache: look-ups, requests for lines, write-backs.
#include "components/lsu/load_store_unit.h"

namespace gpusim::comp {

void LoadStoreUnit::send_at(uint64_t at) {
  leave_queue(at);
  if (at >= next_send_ && (unsent() || has_writeback())) send_through_l1(at, true);
}

void LoadStoreUnit::send_through_l1(uint64_t now, bool link) {
  if (has_writeback() && link && can_reserve(RequestKind::kWrite)) {
    send_writeback(now);
    next_send_ = now + send_interval_;
    blocked_ = false;
    return;
  }
  blocked_ = !unsent() || !send_transaction(queue_[queue_send_], now, link);
  leave_queue(now);
}

bool LoadStoreUnit::send_transaction(QueueEntry& entry, uint64_t now, bool link) {
  if (tlb_ != nullptr && !translated(entry, now)) return false;
  const Transaction& t = entry.list.items[entry.next];
  count_for(entry.record);
  const bool can_send = link && can_reserve(entry.kind) && !has_writeback();
  const L1Cache::Access access{t.address,    t.sectors,   records_[entry.record].warp,
                               entry.record, entry.local, entry.refused};
  if (entry.cached) return load_through_l1(entry, access, now, can_send);
  if (entry.kind == RequestKind::kWrite) {
    const L1Cache::Stored stored = l1_->store(access, can_send);
    if (stored == L1Cache::Stored::kRefused) {
      entry.refused = true;
      return false;
    }
    record_l1(now, access.address, core::CacheResult::kWrite);
    if (stored == L1Cache::Stored::kKept) {
      hits_.push({now + l1_->latency(), entry.record});
      step(entry, now);
      return true;
    }
  } else if (!can_send) {
    return false;
  } else if (entry.kind == RequestKind::kAtomic) {
    l1_->drop(access);
    record_l1(now, access.address, core::CacheResult::kWrite);
  } else {
    l1_->bypass(access);
  }
  entry.refused = false;
  transmit(entry, now, true);
  return true;
}

bool LoadStoreUnit::load_through_l1(QueueEntry& entry, const L1Cache::Access& access, uint64_t now,
                                    bool can_send) {
  using core::CacheResult;
  const L1Cache::Result result = l1_->load(access, can_send);
  const bool hit = result.answer == L1Cache::Answer::kHit;
  if (result.answer == L1Cache::Answer::kRefused) {
    if (!entry.refused) record_l1(now, access.address, CacheResult::kReservationFail);
    entry.refused = true;
    return false;
  }
  record_l1(now, access.address,
            hit                   ? CacheResult::kHit
            : result.request != 0 ? CacheResult::kMiss
                                  : CacheResult::kMissMerged);
  if (hit) {
    hits_.push({now + l1_->latency(), entry.record});
  } else if (result.request == 0) {
    record_mshr(now, access.address, core::MshrAction::kMerge);
  } else {
    const uint16_t tag = free_mshrs_.back();
    free_mshrs_.pop_back();
    const auto sectors = static_cast<uint8_t>(result.request);
    line_requests_[tag] = {result.entry, sectors};
    mshr_record_[tag] = entry.record;
    const auto bytes = static_cast<uint16_t>(32 * std::popcount(sectors));
    links_.request->push_at(core::Cycle(now),
                            {access.address, bytes, RequestKind::kRead, sectors, port_, tag, true});
    record_mshr(now, access.address, core::MshrAction::kAllocate);
  }
  entry.refused = false;
  step(entry, now);
  return true;
}

void LoadStoreUnit::send_writeback(uint64_t now) {
  L1Cache::Writeback w;
  if (!l1_->take_writeback(w)) return;
  const uint16_t tag = free_stores_.back();
  free_stores_.pop_back();
  store_record_[tag] = kNoRecord;
  ++stores_in_flight_;
  const auto sectors = static_cast<uint8_t>(w.sectors);
  const auto bytes = static_cast<uint16_t>(32 * std::popcount(sectors));
  links_.request->push_at(core::Cycle(now),
                          {w.address, bytes, RequestKind::kWrite, sectors, port_, tag, true});
}

void LoadStoreUnit::finish_line(uint32_t tag, MemoryLevel level, uint64_t now) {
  const LineRequest request = line_requests_[tag];
  const uint64_t address = l1_->line_address(request.entry);
  count_for(mshr_record_[tag]);
  l1_->fill(request.entry, request.sectors, [&](uint32_t record) { finish_one(record, level); });
  record_mshr(now, address, core::MshrAction::kRelease);
}

void LoadStoreUnit::record_l1(uint64_t now, uint64_t address, core::CacheResult result) {
  if (events_ != nullptr && events_->cache != nullptr)
    record_cache_event(*events_->cache, now, address, port_, kL1Cache, result);
}

}  // namespace gpusim::comp
