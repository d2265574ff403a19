#include "components/lsu/uncached_path.h"

#include <algorithm>

#include "components/lsu/tlb/no_tlb.h"

namespace gpusim::comp {

template <class Tlb>
UncachedPath<Tlb>::UncachedPath(const core::MachineConfig& machine, uint16_t port, const Links& links,
                                AccessTable& accesses)
    : GlobalPath(machine, port, links, accesses), tlb_(machine.tlb, links.tlb) {
  to_network_.give_credits_to(*this);
}

template <class Tlb>
void UncachedPath<Tlb>::prepare() {
  GlobalPath::prepare();
  completions_ = core::Ring<core::Cycle>(most_replies());
  mshr_address_.resize(mshr_count_);
}

template <class Tlb>
bool UncachedPath<Tlb>::deliver(const MemoryReply& reply, core::Cycle visible) {
  AccessRecord& r = accesses_[announce(reply, visible)];
  const bool recorded = records_mshrs();
  bool wakes = recorded || blocked_;
  if (--r.unannounced == 0) {
    completions_.push(visible);
    r.done_at = visible;
    wakes |= r.awaited;
  }
  if (recorded || (r.awaited && r.unannounced == 0)) accesses_.wake_at(visible);
  return wakes;
}

template <class Tlb>
void UncachedPath<Tlb>::collect(uint64_t now) {
  while (has_arrival(now)) {
    const Arrival r = take_arrival();
    if (!r.is_write && records_mshrs())
      record_mshr(now, mshr_address_[r.tag], core::MshrAction::kRelease, mshrs_in_use());
    accesses_.answer(r.record, r.level);
  }
  if (tlb_.collect(now)) blocked_ = false;
  while (completions_.size() != 0 && completions_.front().count() <= now) completions_.pop();
}

template <class Tlb>
void UncachedPath<Tlb>::send(uint64_t now) {
  leave_queue(now);
  tlb_.send();
  if (!unsent() || awaits_credit_ || now < next_send_) return;
  QueueEntry& entry = head();
  if (!entry.looked_up) {
    entry.looked_up = true;
    tlb_.look_up(entry.list);
    tlb_.send();
  }
  if (!tlb_.knows(entry.next, now)) {
    blocked_ = true;
    waits_for(HeadWait::kPage, now);
    return;
  }
  if (!can_reserve(entry.kind) || !to_network_.can_push()) {
    if (!blocked_ && !can_reserve(entry.kind) && records_mshrs())
      record_mshr(now, entry.transaction().address, core::MshrAction::kFull, mshrs_in_use());
    blocked_ = true;
    waits_for(missing_for(entry.kind, false), now);
    return;
  }
  blocked_ = false;
  to_network_.push(request_of(entry, reserve(entry, now)));
  step(entry, now, false);
  leave_queue(now);
}

template <class Tlb>
void UncachedPath<Tlb>::send_ahead(uint64_t now) {
  // Entries and link slots can only become free until then. Events of MSHRs are recorded as they happen.
  if (!blocked_ && !awaits_credit_ && !records_mshrs()) plan_sends(now + 1);
}

template <class Tlb>
bool UncachedPath<Tlb>::translated_ahead(QueueEntry& entry) {
  // Pages that are on their way could make a difference until then.
  if (entry.looked_up) return tlb_.idle();
  entry.looked_up = tlb_.look_up_ahead(entry.list);
  return entry.looked_up;
}

template <class Tlb>
void UncachedPath<Tlb>::plan_sends(uint64_t earliest) {
  while (unsent()) {
    QueueEntry& entry = head();
    if (!can_reserve(entry.kind) || !translated_ahead(entry)) return;
    if (std::max(next_send_, earliest) > to_network_.steady_until().count()) return;
    const core::Cycle from = to_network_.take_credit();
    awaits_credit_ = from == core::kNever;
    if (awaits_credit_) {
      waits_for(HeadWait::kNetwork, std::max(next_send_, earliest));
      return;
    }
    const uint64_t at = std::max({next_send_, from.count(), earliest});
    to_network_.push_at(core::Cycle(at), request_of(entry, reserve(entry, at)));
    step(entry, at, false);
  }
}

template <class Tlb>
core::Cycle UncachedPath<Tlb>::credit(core::Cycle at) {
  if (!awaits_credit_) return at;
  awaits_credit_ = false;
  plan_sends(at.count());
  return core::Cycle(next_send());
}

template <class Tlb>
uint16_t UncachedPath<Tlb>::reserve(const QueueEntry& entry, uint64_t at) {
  if (entry.kind == RequestKind::kWrite) return reserve_store(entry.record, at);
  const uint16_t tag = reserve_mshr(entry.record, at);
  if (records_mshrs()) {
    mshr_address_[tag] = entry.transaction().address;
    record_mshr(at, mshr_address_[tag], core::MshrAction::kAllocate, mshrs_in_use());
  }
  return tag;
}

template <class Tlb>
uint64_t UncachedPath<Tlb>::next_send() const {
  if (tlb_.has_to_ask()) return 0;
  // A refused push leaves the wake-up to the link; a missing entry is freed by a reply, which wakes the SM
  // too.
  return or_queue_opens(unsent() && !blocked_ && !awaits_credit_ ? next_send_ : kUnknownCycle);
}

template <class Tlb>
bool UncachedPath<Tlb>::may_open() const {
  if (awaits_credit_) return !has_room();
  if (!blocked_) return false;
  if constexpr (Tlb::kTranslates) return !has_room();
  return unsent() && can_reserve(head().kind);
}

template class UncachedPath<SmTlb>;
template class UncachedPath<NoTlb>;

}  // namespace gpusim::comp
