#include "components/lsu/load_store_unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

LoadStoreUnit::LoadStoreUnit(const core::MachineConfig& machine, uint16_t port, const Links& links)
    : queue_capacity_(static_cast<uint32_t>(machine.lsu.queue)),
      store_capacity_(static_cast<uint32_t>(machine.lsu.store_buffer)),
      mshr_count_(static_cast<uint32_t>(machine.lsu.mshrs)),
      constant_mshr_count_(static_cast<uint32_t>(machine.constant.mshrs)),
      send_interval_(static_cast<uint64_t>(machine.coalescer.cycles_per_transaction)),
      links_(links),
      rule_(machine.coalescer.rule),
      textures_in_l1_(machine.texture.cache == core::TextureCache::kL1),
      read_only_in_l1_(textures_in_l1_ && machine.texture.read_only_loads),
      port_(port),
      line_bytes_(static_cast<uint32_t>(machine.l1.line)),
      constant_l1_(static_cast<uint64_t>(machine.constant.l1_bytes),
                   static_cast<uint32_t>(machine.constant.l1_line),
                   static_cast<uint32_t>(machine.constant.l1_ways)) {
  if (machine.l1.bytes != 0) {
    l1_ = std::make_unique<L1Cache>(fmt::format("l1_{}", port).c_str(), machine.l1, kMaxWarps);
    hits_ = core::Ring<Hit>(l1_->latency() + 2);
  }
  if (machine.tlb.l1_entries != 0) tlb_ = std::make_unique<SmTlb>(machine.tlb, links_.tlb);
  if (links_.texture.request != nullptr)
    texture_ = std::make_unique<TexturePath>(machine.texture, port_, links_.texture);
  links_.reply->deliver_to(*this);
  links_.request->give_credits_to(*this);
}

void LoadStoreUnit::prepare() {
  if (!records_.empty()) return;
  const size_t textures = texture_ == nullptr ? 0 : texture_->capacity();
  records_.resize(queue_capacity_ + mshr_count_ + store_capacity_ + kMaxWarps + textures + kReserve);
  for (uint32_t i = static_cast<uint32_t>(records_.size()); i-- > 0;) free_records_.push_back(i);
  queue_.resize(queue_capacity_);
  arrivals_ = core::Ring<Arrival>(mshr_count_ + store_capacity_);
  completions_ = core::Ring<core::Cycle>(mshr_count_ + store_capacity_);
  awaited_.reserve(size_t{mshr_count_} + store_capacity_);
  mshr_record_.resize(mshr_count_);
  mshr_address_.resize(mshr_count_);
  line_requests_.resize(mshr_count_);
  for (uint32_t i = mshr_count_; i-- > 0;) free_mshrs_.push_back(static_cast<uint16_t>(i));
  store_record_.resize(store_capacity_);
  for (uint32_t i = store_capacity_; i-- > 0;) free_stores_.push_back(static_cast<uint16_t>(i));
  stores_of_warp_.assign(kMaxWarps, 0);
  records_of_warp_.assign(kMaxWarps, 0);
  constant_mshrs_.resize(constant_mshr_count_);
  for (ConstantMiss& miss : constant_mshrs_) miss.waiting.reserve(size_t{kMaxWarps} * 2);
  unsent_lines_.reserve(constant_mshr_count_);
  deferred_lines_.reserve(isa::kWarpSize);
  completed_.reserve(records_.size());
}

uint32_t LoadStoreUnit::allocate(const isa::MicroOp& op, uint32_t warp, uint32_t pc, uint64_t now) {
  const uint32_t index = free_records_.back();
  free_records_.pop_back();
  ++records_of_warp_[warp];
  AccessRecord& r = records_[index];
  r = AccessRecord{};
  r.op = &op;
  r.warp = static_cast<uint16_t>(warp);
  r.pc = pc;
  r.issued = now;
  r.kernel = kernel_of_warp_[warp];
  ++outstanding_[r.kernel];
  return index;
}

uint32_t LoadStoreUnit::submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                               const isa::MemoryAccess& access, bool is_atomic, uint64_t now) {
  if (reads_texture_cache(op)) return submit_texture(op, warp, pc, access, now);
  const uint32_t index = allocate(op, warp, pc, now);
  const uint32_t tail = queue_head_ + queue_count_;
  QueueEntry& entry = queue_[tail >= queue_capacity_ ? tail - queue_capacity_ : tail];
  entry.record = index;
  entry.next = 0;
  entry.sent_at = kUnknownCycle;
  entry.list.count = 0;
  const bool is_store = op.kind == isa::OpKind::kStore;
  entry.kind = is_atomic ? RequestKind::kAtomic : is_store ? RequestKind::kWrite : RequestKind::kRead;
  entry.local = access.space == isa::Space::kLocal;
  entry.refused = false;
  entry.looked_up = false;
  entry.cached = l1_ != nullptr && entry.kind == RequestKind::kRead && is_cached(op, entry.local);
  coalesce(rule_, access, entry.list, line_bytes_);
  if (is_atomic) {
    split_into_runs(access, entry.list);
    count_atomic_operations(access, entry.list);
  }
  AccessRecord& r = records_[index];
  r.is_store = is_store || (is_atomic && op.num_sb_writes == 0);
  r.awaited = r.is_store;
  r.remaining = r.unannounced = r.transactions = static_cast<uint16_t>(entry.list.count);
  r.first_address = entry.list.items[0].address;
  for (uint32_t t = 0; t < entry.list.count; ++t) r.bytes += entry.list.items[t].bytes;
  if (r.is_store) ++stores_of_warp_[warp];
  ++queue_count_;
  if (queue_unsent_++ == 0) {
    next_send_ = std::max(next_send_, now);
    blocked_ = false;
  }
  return index;
}

bool LoadStoreUnit::is_cached(const isa::MicroOp& op, bool local) const {
  if (op.op_class == isa::OpClass::kTexture) return textures_in_l1_;
  if (op.memory.bypasses_l1) return false;
  return local || l1_->caches_global() || (read_only_in_l1_ && op.memory.read_only);
}

uint32_t LoadStoreUnit::submit_texture(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                                       const isa::MemoryAccess& access, uint64_t now) {
  const uint32_t index = allocate(op, warp, pc, now);
  const TexturePath::Request request = texture_->submit(index, access);
  AccessRecord& r = records_[index];
  r.awaited = true;
  r.remaining = r.transactions = request.lines;
  r.bytes = request.bytes;
  r.first_address = request.first_address;
  return index;
}

uint32_t LoadStoreUnit::submit_constant(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                                        const isa::MemoryAccess& access, uint32_t& distinct, uint64_t now) {
  // The constant cache serves one address a step; lanes of one address share it.
  std::array<uint64_t, isa::kWarpSize> addresses;
  distinct = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t a = access.address[std::countr_zero(bits)];
    if (std::find(addresses.begin(), addresses.begin() + distinct, a) == addresses.begin() + distinct)
      addresses[distinct++] = a;
  }
  uint32_t index = kHit;
  std::array<uint64_t, isa::kWarpSize> missed;
  uint32_t lines = 0;
  for (uint32_t i = 0; i < distinct; ++i) {
    const uint64_t line = constant_l1_.line_of(addresses[i]);
    const bool hit = constant_l1_.access(line);
    if (events_ != nullptr && events_->cache != nullptr)
      record_cache_event(*events_->cache, now, line, port_, 1, hit);
    if (hit) continue;
    if (index == kHit) {
      index = allocate(op, warp, pc, now);
      records_[index].awaited = true;
    }
    // Addresses that share a line wait for it once.
    if (std::find(missed.begin(), missed.begin() + lines, line) != missed.begin() + lines) continue;
    if (lines == 0) records_[index].first_address = line;
    missed[lines++] = line;
    ++records_[index].remaining;
    ++records_[index].transactions;
    if (!deferred_lines_.empty() || !wait_for_line(line, index)) deferred_lines_.push_back({line, index});
    records_[index].bytes += constant_l1_.line_bytes();
  }
  return index;
}

bool LoadStoreUnit::wait_for_line(uint64_t line, uint32_t record) {
  ConstantMiss* free = nullptr;
  for (ConstantMiss& miss : constant_mshrs_) {
    if (miss.line == line) {
      miss.waiting.push_back(record);
      return true;
    }
    if (miss.line == kNone && free == nullptr) free = &miss;
  }
  if (free == nullptr) return false;
  free->line = line;
  free->waiting.push_back(record);
  ++constants_outstanding_;
  unsent_lines_.push_back(static_cast<uint16_t>(free - constant_mshrs_.data()));
  return true;
}

void LoadStoreUnit::record_mshr(uint64_t now, uint64_t address, core::MshrAction action) {
  if (!records_mshrs()) return;
  core::MshrEvent e{};
  e.cycle = now;
  e.address = address;
  e.sm = port_;
  e.occupied = static_cast<uint16_t>(l1_ == nullptr ? mshrs_in_use() : l1_->mshrs_in_use());
  e.action = static_cast<uint8_t>(action);
  events_->mshr->append(&e);
}

void LoadStoreUnit::finish_one(uint32_t index, MemoryLevel level) {
  AccessRecord& r = records_[index];
  r.level = core::farther(r.level, level);
  if (--r.remaining == 0) completed_.push_back(index);
}

void LoadStoreUnit::collect_constants() {
  while (const MemoryReply* reply = links_.constant_reply->front()) {
    const MemoryReply r = *reply;
    links_.constant_reply->pop();
    ConstantMiss& miss = constant_mshrs_[r.tag];
    constant_l1_.fill(miss.line);
    for (const uint32_t index : miss.waiting) finish_one(index, r.level);
    miss.waiting.clear();
    miss.line = kNone;
    --constants_outstanding_;
    while (!deferred_lines_.empty() &&
           wait_for_line(deferred_lines_.front().line, deferred_lines_.front().record))
      deferred_lines_.erase(deferred_lines_.begin());
  }
}

void LoadStoreUnit::send_constants() {
  while (!unsent_lines_.empty() && links_.constant_request->can_push()) {
    const uint16_t slot = unsent_lines_.front();
    unsent_lines_.erase(unsent_lines_.begin());
    links_.constant_request->push({constant_mshrs_[slot].line,
                                   static_cast<uint16_t>(constant_l1_.line_bytes()), RequestKind::kConstant,
                                   0, port_, slot, true});
  }
}

void LoadStoreUnit::send(uint64_t now) {
  if (constants_outstanding_ != 0) send_constants();
  if (texture_ != nullptr) texture_->send();
  leave_queue(now);
  if (tlb_ != nullptr) tlb_->send();
  if (l1_ != nullptr) {
    if (now >= next_send_ && (unsent() || has_writeback())) send_through_l1(now, links_.request->can_push());
    return;
  }
  if (!unsent() || awaits_credit_ || now < next_send_) return;
  QueueEntry& entry = queue_[queue_send_];
  if (tlb_ != nullptr && !translated(entry, now)) {
    blocked_ = true;
    return;
  }
  if (!can_reserve(entry.kind) || !links_.request->can_push()) {
    if (!blocked_ && !can_reserve(entry.kind))
      record_mshr(now, entry.list.items[entry.next].address, core::MshrAction::kFull);
    blocked_ = true;
    return;
  }
  blocked_ = false;
  transmit(entry, now, false);
  leave_queue(now);
}

void LoadStoreUnit::send_ahead(uint64_t now) {
  // Entries and link slots can only become free until then. Events of MSHRs are recorded as they happen.
  if (l1_ == nullptr && !blocked_ && !awaits_credit_ && !records_mshrs()) plan_sends(now + 1);
}

bool LoadStoreUnit::translated(QueueEntry& entry, uint64_t now) {
  if (!entry.looked_up) {
    entry.looked_up = true;
    tlb_->look_up(entry.list);
    tlb_->send();
  }
  return tlb_->knows(entry.next, now);
}

bool LoadStoreUnit::translated_ahead(QueueEntry& entry) {
  if (entry.looked_up) return tlb_->idle();
  entry.looked_up = tlb_->look_up_ahead(entry.list);
  return entry.looked_up;
}

void LoadStoreUnit::plan_sends(uint64_t earliest) {
  while (unsent()) {
    QueueEntry& entry = queue_[queue_send_];
    if (!can_reserve(entry.kind)) return;
    if (tlb_ != nullptr && !translated_ahead(entry)) return;
    if (std::max(next_send_, earliest) > links_.request->steady_until().count()) return;
    const core::Cycle from = links_.request->take_credit();
    awaits_credit_ = from == core::kNever;
    if (awaits_credit_) return;
    transmit(entry, std::max({next_send_, from.count(), earliest}), true);
  }
}

core::Cycle LoadStoreUnit::credit(core::Cycle at) {
  if (!awaits_credit_) return at;
  awaits_credit_ = false;
  plan_sends(at.count());
  return core::Cycle(next_send());
}

void LoadStoreUnit::transmit(QueueEntry& entry, uint64_t at, bool ahead) {
  const Transaction& t = entry.list.items[entry.next];
  uint16_t tag;
  if (entry.kind == RequestKind::kWrite) {
    tag = free_stores_.back();
    free_stores_.pop_back();
    store_record_[tag] = entry.record;
    ++stores_in_flight_;
  } else {
    tag = free_mshrs_.back();
    free_mshrs_.pop_back();
    mshr_record_[tag] = entry.record;
    if (l1_ != nullptr) line_requests_[tag] = LineRequest{};
    if (l1_ == nullptr && records_mshrs()) {
      mshr_address_[tag] = t.address;
      record_mshr(at, t.address, core::MshrAction::kAllocate);
    }
  }
  const bool wants_data = entry.kind != RequestKind::kAtomic || !records_[entry.record].is_store;
  const uint8_t parts = entry.kind == RequestKind::kAtomic ? t.operations : t.sectors;
  const bool is_run = entry.kind == RequestKind::kAtomic && t.sectors != 0;
  const uint64_t address = t.address + (is_run ? 32u * std::countr_zero(t.sectors) : 0u);
  const MemoryRequest request{address, t.bytes, entry.kind, parts, port_, tag, wants_data};
  if (ahead)
    links_.request->push_at(core::Cycle(at), request);
  else
    links_.request->push(request);
  step(entry, at);
}

void LoadStoreUnit::step(QueueEntry& entry, uint64_t at) {
  next_send_ = at + send_interval_;
  if (++entry.next == entry.list.count) {
    entry.sent_at = at;
    queue_send_ = queue_send_ + 1 == queue_capacity_ ? 0 : queue_send_ + 1;
    --queue_unsent_;
  }
}

void LoadStoreUnit::leave_queue(uint64_t now) {
  while (queue_count_ != queue_unsent_ && queue_[queue_head_].sent_at <= now) {
    queue_head_ = queue_head_ + 1 == queue_capacity_ ? 0 : queue_head_ + 1;
    --queue_count_;
  }
}

bool LoadStoreUnit::deliver(const MemoryReply& reply, core::Cycle visible) {
  const bool is_write = reply.kind == RequestKind::kWrite;
  const uint32_t record = is_write ? store_record_[reply.tag] : mshr_record_[reply.tag];
  arrivals_.push({visible, reply.tag, is_write, reply.level, record});
  if (l1_ != nullptr) return true;  // who waits for it is known when it is taken
  AccessRecord& r = records_[record];
  const bool recorded = records_mshrs();
  bool wakes = recorded || blocked_;
  if (--r.unannounced == 0) {
    completions_.push(visible);
    r.done_at = visible;
    wakes |= r.awaited;
  }
  if (recorded || (r.awaited && r.unannounced == 0)) add_awaited(visible);
  return wakes;
}

void LoadStoreUnit::add_awaited(core::Cycle at) {
  awaited_.insert(std::upper_bound(awaited_.begin(), awaited_.end(), at, std::greater<>{}), at);
}

void LoadStoreUnit::invalidate_caches(uint32_t l1_ways) {
  constant_l1_.invalidate();
  if (l1_ != nullptr) l1_->invalidate(l1_ways);
}

void LoadStoreUnit::await(uint32_t index) {
  AccessRecord& r = records_[index];
  if (!r.awaited && r.done_at != core::kNever) add_awaited(r.done_at);
  r.awaited = true;
}

void LoadStoreUnit::await_all(uint32_t warp) {
  if (records_of_warp_[warp] == stores_of_warp_[warp]) return;  // stores are awaited already
  for (uint32_t i = 0; i < records_.size(); ++i)
    if (records_[i].remaining != 0 && records_[i].warp == warp) await(i);
}

uint64_t LoadStoreUnit::next_send() const {
  if (constants_outstanding_ != 0 && !unsent_lines_.empty()) return 0;
  if (tlb_ != nullptr && tlb_->has_to_ask()) return 0;
  if (texture_ != nullptr && texture_->wants_to_send()) return 0;
  // A refused push leaves the wake-up to the link; a missing entry is freed by a reply, which wakes the SM
  // too.
  const bool work = unsent() || has_writeback();
  const uint64_t next = work && !blocked_ && !awaits_credit_ ? next_send_ : kUnknownCycle;
  // A full queue has room when its oldest access has left.
  return queue_count_ == queue_capacity_ ? std::min(next, queue_[queue_head_].sent_at) : next;
}

}  // namespace gpusim::comp
