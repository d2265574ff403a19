#include "components/lsu/global_path.h"

#include <algorithm>
#include <bit>

#include "components/lsu/l1_path.h"
#include "components/lsu/tlb/no_tlb.h"
#include "components/lsu/uncached_path.h"

namespace gpusim::comp {

GlobalPath::GlobalPath(const core::MachineConfig& machine, uint16_t port, const Links& links,
                       AccessTable& accesses)
    : queue_capacity_(machine.lsu.queue),
      store_capacity_(machine.lsu.store_buffer),
      mshr_count_(machine.lsu.mshrs),
      send_interval_(machine.coalescer.cycles_per_transaction),
      port_(port),
      to_network_(*links.request),
      accesses_(accesses),
      rule_(machine.coalescer.rule),
      line_bytes_(machine.l1.line) {
  links.reply->deliver_to(*this);
}

void GlobalPath::prepare() {
  queue_.resize(queue_capacity_);
  arrivals_ = core::Ring<Arrival>(most_replies());
  mshr_record_.resize(mshr_count_);
  free_mshrs_ = FreeList<uint16_t>(mshr_count_);
  store_record_.resize(store_capacity_);
  free_stores_ = FreeList<uint16_t>(store_capacity_);
}

GlobalPath::QueueEntry& GlobalPath::enqueue(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                                            const isa::MemoryAccess& access, bool is_atomic, uint64_t now) {
  const uint32_t index = accesses_.open(op, warp, pc, now);
  const uint32_t tail = queue_head_ + queue_count_;
  QueueEntry& entry = queue_[tail >= queue_capacity_ ? tail - queue_capacity_ : tail];
  entry.record = index;
  entry.next = 0;
  entry.sent_at = kUnknownCycle;
  entry.list.count = 0;
  const bool is_store = op.kind == isa::OpKind::kStore;
  entry.kind = is_atomic ? RequestKind::kAtomic : is_store ? RequestKind::kWrite : RequestKind::kRead;
  entry.local = access.space == isa::Space::kLocal;
  entry.floating = is_atomic && isa::is_float(op.memory.type);
  entry.refused = false;
  entry.looked_up = false;
  coalesce(rule_, access, entry.list, line_bytes_);
  if (is_atomic) {
    split_into_runs(access, entry.list);
    count_atomic_operations(rule_, access, entry.list);
  }
  AccessRecord& r = accesses_[index];
  // Asynchronous copies are loads without a result: like stores, nothing but a fence waits for them.
  // Of an asynchronous copy, as of a store, nothing waits but a fence.
  if (is_store || op.memory.asynchronous || (is_atomic && op.num_sb_writes == 0)) accesses_.mark_store(index);
  r.remaining = r.unannounced = r.transactions = static_cast<uint16_t>(entry.list.count);
  r.first_address = entry.list.items[0].address;
  for (uint32_t t = 0; t < entry.list.count; ++t) r.bytes += entry.list.items[t].bytes;
  if (is_atomic) {
    uint32_t words = 0;
    for (uint32_t t = 0; t < entry.list.count; ++t) words += entry.list.items[t].operations;
    r.atomic_words = static_cast<uint16_t>(words);
  }
  ++queue_count_;
  use_.queued -= now;
  if (queue_unsent_++ == 0) {
    next_send_ = std::max(next_send_, now);
    blocked_ = false;
  }
  return entry;
}

MemoryRequest GlobalPath::request_of(const QueueEntry& entry, uint16_t tag) const {
  const Transaction& t = entry.transaction();
  const bool atomic = entry.kind == RequestKind::kAtomic;
  const bool wants_data = !atomic || !accesses_[entry.record].is_store;
  const uint8_t parts = atomic ? t.operations : t.sectors;
  const bool is_run = atomic && t.sectors != 0;
  const uint64_t address = t.address + (is_run ? 32u * std::countr_zero(t.sectors) : 0u);
  return {address, t.bytes, entry.kind, parts, port_, tag, wants_data, entry.floating};
}

void GlobalPath::record_mshr(uint64_t now, uint64_t address, core::MshrAction action,
                             uint32_t occupied) const {
  events_->mshr->append(
      {.cycle = now, .address = address, .sm = port_, .occupied = occupied, .action = action});
}

std::unique_ptr<GlobalPath> make_global_path(const core::MachineConfig& machine, uint16_t port,
                                             const GlobalPath::Links& links, AccessTable& accesses) {
  const bool l1 = machine.l1.bytes != 0, tlb = machine.tlb.l1_entries != 0;
  if (l1 && tlb) return std::make_unique<L1Path<SmTlb>>(machine, port, links, accesses);
  if (l1) return std::make_unique<L1Path<NoTlb>>(machine, port, links, accesses);
  if (tlb) return std::make_unique<UncachedPath<SmTlb>>(machine, port, links, accesses);
  return std::make_unique<UncachedPath<NoTlb>>(machine, port, links, accesses);
}

}  // namespace gpusim::comp
