// Load/store unit of an SM: a queue of coalesced warp accesses, the table of outstanding transactions (MSHRs
// for reads, a store buffer for writes) and the records of warp loads in flight. Not a Clocked module: the SM
// calls it in its tick, in the order replies, send, (issue,) send ahead. A transaction leaves only when its
// MSHR or store-buffer entry is reserved, so every reply sinks: the unit is told of replies when the
// interconnect delivers them, and the SM wakes only for those that something waits for.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/lsu/coalescer.h"
#include "components/lsu/l1_cache.h"
#include "components/lsu/texture_path.h"
#include "components/lsu/tlb/sm_tlb.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "components/sm/warp_table.h"
#include "isa/exec/executor.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/ring.h"

namespace gpusim::comp {

/// A warp access in flight: from issue until its last transaction is answered.
struct alignas(64) AccessRecord {
  const isa::MicroOp* op = nullptr;
  uint32_t pc = 0;
  uint32_t bytes = 0;
  uint16_t warp = 0;
  uint16_t transactions = 0;
  uint16_t remaining = 0;    ///< transactions whose reply has not been taken yet
  uint16_t unannounced = 0;  ///< transactions whose reply has not been sent yet
  uint64_t first_address = 0;
  uint64_t issued = 0;                 ///< core cycle
  uint64_t stall_slots = 0;            ///< issue slots lost to waiting for it; booked when its level is known
  core::Cycle done_at = core::kNever;  ///< when its last reply is visible, once that has been sent
  MemoryLevel level = MemoryLevel::kNone;
  bool is_store = false;  ///< no warp waits for it, except at a fence
  bool awaited = false;   ///< the SM must be awake at done_at
  uint8_t kernel = 0;     ///< KernelLaunch::slot
};
static_assert(sizeof(AccessRecord) == 64);

class LoadStoreUnit : public core::MessageSink<MemoryReply>, public core::CreditTaker {
 public:
  struct Links {
    core::Link<MemoryRequest>* request = nullptr;           ///< to the crossbar
    core::Link<MemoryReply>* reply = nullptr;               ///< from the crossbar
    core::Link<MemoryRequest>* constant_request = nullptr;  ///< to the cluster's constant cache
    core::Link<MemoryReply>* constant_reply = nullptr;
    SmTlb::Links tlb = {};            ///< on a machine that has one
    TexturePath::Links texture = {};  ///< links for a texture cache of its own
  };
  LoadStoreUnit(const core::MachineConfig& machine, uint16_t port, const Links& links);

  /// Takes memory for the tables, the first time; before the first access. An SM that never gets a block
  /// needs none.
  void prepare();
  /// Where look-ups and MSHR changes are recorded; the unit is named by its SM's number.
  void set_events(const EventSink* events) { events_ = events; }
  /// True if one more warp access fits the queue and a record is free.
  [[nodiscard]] bool can_accept() const {
    return queue_count_ < queue_capacity_ && free_records_.size() > kReserve;
  }
  /// Takes a global or local access at cycle `now`; `access.address` are device addresses. Returns the
  /// record's index.
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  bool is_atomic, uint64_t now);
  /// True if the operation takes the way to the texture cache.
  [[nodiscard]] bool reads_texture_cache(const isa::MicroOp& op) const {
    return texture_ != nullptr && texture_->takes(op);
  }
  /// True if an operation that takes this way can be accepted now.
  [[nodiscard]] bool can_accept_texture() const {
    return texture_ == nullptr || (texture_->has_room() && free_records_.size() > kReserve);
  }
  /// True if a constant load may issue: a record is free and no earlier miss waits for an MSHR.
  [[nodiscard]] bool can_accept_constant() const { return deferred_lines_.empty() && !free_records_.empty(); }
  /// Constant load: returns kHit if all lines are in the first level, else the record's index.
  static constexpr uint32_t kHit = ~0u;
  uint32_t submit_constant(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                           const isa::MemoryAccess& access, uint32_t& distinct, uint64_t now);

  /// Something waits for the load: the SM must be awake when it completes.
  void await(uint32_t index);
  /// Awaits all loads of the warp.
  void await_all(uint32_t warp);

  /// Every reply sinks; the SM wakes if it completes an access that is awaited or something waits for its
  /// entry.
  bool deliver(const MemoryReply& reply, core::Cycle visible) override;
  /// Room in the link of requests: the next transaction leaves at `at`, or later if the unit is not free.
  core::Cycle credit(core::Cycle at) override;
  /// Takes every visible reply; calls done(record index) for each access that completed, in order. The record
  /// is freed after the call.
  template <class Done>
  void collect_replies(uint64_t now, Done&& done);
  /// Sends transactions that may leave at `now`.
  void send(uint64_t now);
  /// Decides now, after the last submit of cycle `now`, what leaves in later cycles, as far as that is
  /// certain.
  void send_ahead(uint64_t now);
  /// True if all that this unit does is known ahead of time, as far as replies have been sent: what it looks
  /// up is its own, and the link to the interconnect has room for certain.
  [[nodiscard]] bool foresees() const {
    return l1_ != nullptr && tlb_ == nullptr && !has_unannounced() && links_.request->has_room();
  }
  /// Does what send() would do in the later cycle `at`, decided now. Requires foresees(), and that the
  /// replies until then have been collected.
  void send_at(uint64_t at);
  /// Next cycle at which send() has something to do of its own accord; kUnknownCycle if only an event can
  /// help.
  [[nodiscard]] uint64_t next_send() const;
  /// Next cycle at which a reply comes for which the SM must be awake.
  [[nodiscard]] core::Cycle next_reply() const {
    return earliest_reply(awaited_.empty() ? core::kNever : awaited_.back());
  }
  /// Next cycle at which a reply completes an access, as far as replies have been sent.
  [[nodiscard]] core::Cycle next_completion() const {
    return earliest_reply(completions_.size() == 0 ? core::kNever : completions_.front());
  }
  /// First cycle in which an access may complete of which nothing is known at `now`: a hit in the L1
  /// behind a transaction that waits for the link.
  [[nodiscard]] uint64_t next_surprise(uint64_t now) const {
    return l1_ != nullptr && unsent() ? now + 1 + l1_->latency() : kUnknownCycle;
  }
  /// The warp slot belongs to the kernel in slot `kernel` from now on.
  void set_kernel(uint32_t warp, uint32_t kernel) { kernel_of_warp_[warp] = static_cast<uint8_t>(kernel); }
  /// Where look-ups of that kernel's accesses in the L1 are counted.
  void count_l1(uint32_t kernel, L1Stats& stats) { l1_stats_[kernel] = &stats; }
  /// From now on the L1 keeps its events; to be called once, before the first access.
  void watch_l1() {
    if (l1_ != nullptr) l1_->watch();
  }
  /// What the L1 has done since forget_l1_events().
  [[nodiscard]] std::span<const L1Cache::LineEvent> l1_events() const {
    return l1_ == nullptr ? std::span<const L1Cache::LineEvent>() : l1_->events();
  }
  void forget_l1_events() {
    if (l1_ != nullptr) l1_->forget_events();
  }
  /// Where the L1 counts at present; null if there is none.
  [[nodiscard]] const L1Stats* l1_stats() const { return l1_ == nullptr ? nullptr : &l1_->stats(); }
  /// Accesses of the kernel in flight.
  [[nodiscard]] uint32_t outstanding(uint32_t kernel) const { return outstanding_[kernel]; }
  /// Of the translation look-aside buffer since the simulation's start; null if there is none.
  [[nodiscard]] const SmTlbStats* tlb_stats() const { return tlb_ == nullptr ? nullptr : &tlb_->stats(); }

  [[nodiscard]] AccessRecord& record(uint32_t index) { return records_[index]; }
  /// True while can_accept() may change at any time: a full queue waits for room in the link, or for a page.
  [[nodiscard]] bool may_open() const {
    if (awaits_credit_) return queue_count_ == queue_capacity_;
    if (l1_ != nullptr || tlb_ != nullptr) return blocked_ && queue_count_ == queue_capacity_;
    return blocked_ && unsent() && can_reserve(queue_[queue_send_].kind);
  }
  /// True while something is on its way of which nothing is known before it comes.
  [[nodiscard]] bool has_unannounced() const {
    return constants_outstanding_ != 0 || (texture_ != nullptr && texture_->outstanding());
  }
  [[nodiscard]] bool idle() const {
    return free_records_.size() == records_.size() && stores_in_flight_ == 0 && !has_writeback();
  }
  [[nodiscard]] uint32_t outstanding_stores(uint32_t warp) const { return stores_of_warp_[warp]; }
  [[nodiscard]] uint32_t mshrs_in_use() const {
    return static_cast<uint32_t>(mshr_record_.size() - free_mshrs_.size());
  }
  [[nodiscard]] uint32_t queued() const { return queue_count_; }
  /// The L1 caches are empty, that of data has so many ways at most. Requires idle().
  void invalidate_caches(uint32_t l1_ways);

 private:
  static constexpr size_t kReserve = 2;  ///< records kept for constant misses, which do not pass the queue
  static constexpr uint64_t kNone = ~0ull;
  static constexpr uint32_t kNoRecord = ~0u;
  struct QueueEntry {
    uint32_t record = 0;
    uint32_t next = 0;     ///< transaction to send next
    uint64_t sent_at = 0;  ///< cycle of the last transaction, once it is known
    RequestKind kind = RequestKind::kRead;
    bool cached = false;  ///< its transactions ask the L1
    bool local = false;
    bool looked_up = false;  ///< its pages, in the translation look-aside buffer
    bool refused = false;    ///< the L1 could not take its next transaction yet
    TransactionList list;
  };
  /// A request for sectors of a line of the L1.
  struct LineRequest {
    uint32_t entry = kNoRecord;  ///< kNoRecord: the transaction of a record
    uint8_t sectors = 0;
  };
  struct Hit {
    uint64_t at = 0;
    uint32_t record = 0;
  };
  struct ConstantMiss {
    uint64_t line = kNone;
    std::vector<uint32_t> waiting;  ///< records; capacity fixed at construction
  };
  /// A reply on its way.
  struct Arrival {
    core::Cycle visible{0};
    uint16_t tag = 0;
    bool is_write = false;
    MemoryLevel level = MemoryLevel::kNone;
    uint32_t record = 0;
  };
  [[nodiscard]] bool unsent() const { return queue_unsent_ != 0; }
  [[nodiscard]] core::Cycle earliest_reply(core::Cycle next) const {
    if ((blocked_ || l1_ != nullptr) && arrivals_.size() != 0) next = arrivals_.front().visible;
    if (l1_ != nullptr && hits_.size() != 0) next = std::min(next, core::Cycle(hits_.front().at));
    if (tlb_ != nullptr) next = std::min(next, tlb_->next_page());
    if (texture_ != nullptr) next = std::min(next, texture_->next_reply());
    return constants_outstanding_ == 0 ? next : std::min(next, links_.constant_reply->next_visible());
  }
  void add_awaited(core::Cycle at);
  uint32_t submit_texture(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                          uint64_t now);
  /// True if a global or local read asks the L1.
  [[nodiscard]] bool is_cached(const isa::MicroOp& op, bool local) const;
  void plan_sends(uint64_t earliest);
  /// False if the entry's next transaction waits for its page.
  [[nodiscard]] bool translated(QueueEntry& entry, uint64_t now);
  /// translated(), asked ahead of time: false too if pages that are on their way could make a difference
  /// until then.
  [[nodiscard]] bool translated_ahead(QueueEntry& entry);
  void collect_constants();
  void send_constants();
  void transmit(QueueEntry& entry, uint64_t at, bool ahead);
  /// The entry's next transaction is done with at `at`.
  void step(QueueEntry& entry, uint64_t at);
  // load_store_l1.cpp: with an L1
  /// `link`: a transaction can leave.
  void send_through_l1(uint64_t now, bool link);
  /// False if the transaction at the head of the queue has to wait.
  [[nodiscard]] bool send_transaction(QueueEntry& entry, uint64_t now, bool link);
  [[nodiscard]] bool load_through_l1(QueueEntry& entry, const L1Cache::Access& access, uint64_t now,
                                     bool can_send);
  void send_writeback(uint64_t now);
  void finish_line(uint32_t tag, MemoryLevel level, uint64_t now);
  /// What the L1 does next, it does for this access.
  void count_for(uint32_t record) {
    if (L1Stats* stats = l1_stats_[records_[record].kernel]; stats != nullptr) l1_->count_in(*stats);
  }
  [[nodiscard]] bool has_writeback() const { return l1_ != nullptr && l1_->has_writeback(); }
  void record_l1(uint64_t now, uint64_t address, core::CacheResult result);
  void leave_queue(uint64_t now);
  uint32_t allocate(const isa::MicroOp& op, uint32_t warp, uint32_t pc, uint64_t now);
  void finish_one(uint32_t record, MemoryLevel level);
  [[nodiscard]] bool records_mshrs() const { return events_ != nullptr && events_->mshr != nullptr; }
  void record_mshr(uint64_t now, uint64_t address, core::MshrAction action);
  [[nodiscard]] bool wait_for_line(uint64_t line, uint32_t record);
  [[nodiscard]] bool can_reserve(RequestKind kind) const {
    return kind == RequestKind::kWrite ? stores_in_flight_ < store_capacity_ : !free_mshrs_.empty();
  }

  struct DeferredLine {
    uint64_t line;
    uint32_t record;
  };

  // What every tick of the SM looks at comes first.
  /// Accesses in the queue, oldest first: all of them, then from `queue_send_` on those that have
  /// transactions to send. The others leave it at their sent_at.
  uint32_t queue_head_ = 0, queue_count_ = 0, queue_send_ = 0, queue_unsent_ = 0;
  uint32_t queue_capacity_, store_capacity_, mshr_count_, constant_mshr_count_;
  uint32_t stores_in_flight_ = 0;
  uint32_t constants_outstanding_ = 0;  ///< lines asked for, requests not sent yet included
  uint64_t next_send_ = 0;
  uint64_t send_interval_;
  const EventSink* events_ = nullptr;
  std::unique_ptr<L1Cache> l1_;           ///< L1 data cache, if the machine has one
  std::unique_ptr<SmTlb> tlb_;            ///< if addresses are translated
  std::unique_ptr<TexturePath> texture_;  ///< if texture reads have a cache of their own
  core::Ring<Arrival> arrivals_;          ///< replies sent, not taken yet
  core::Ring<core::Cycle> completions_;   ///< when those become visible that complete an access
  std::vector<core::Cycle> awaited_;      ///< those of them for which the SM must be awake, the next one last
  std::vector<uint32_t> completed_;
  std::vector<uint32_t> free_records_;
  std::vector<DeferredLine> deferred_lines_;  ///< misses of one warp beyond the free constant MSHRs
  std::vector<AccessRecord> records_;
  std::vector<QueueEntry> queue_;
  std::vector<uint32_t> mshr_record_;
  std::vector<uint16_t> free_mshrs_;
  Links links_;
  bool blocked_ = false;        ///< send() found no MSHR, store-buffer entry or link slot for the head
  bool awaits_credit_ = false;  ///< the head leaves when the link has a slot: credit()
  CoalescingRule rule_;
  bool textures_in_l1_, read_only_in_l1_;  ///< what a unified L1 holds besides
  uint16_t port_;
  uint32_t line_bytes_;
  std::vector<LineRequest> line_requests_;  ///< by MSHR
  core::Ring<Hit> hits_;                    ///< of the L1, not complete yet
  std::vector<uint64_t> mshr_address_;      ///< for events
  std::vector<uint32_t> store_record_;
  std::vector<uint16_t> free_stores_;
  std::vector<uint32_t> stores_of_warp_, records_of_warp_;  ///< accesses under way, by warp
  std::array<uint8_t, kMaxWarps> kernel_of_warp_{};
  std::array<uint32_t, kMaxKernels> outstanding_{};
  std::array<L1Stats*, kMaxKernels> l1_stats_{};
  TagCache constant_l1_;
  std::vector<ConstantMiss> constant_mshrs_;
  std::vector<uint16_t> unsent_lines_;  ///< constant MSHRs whose request has not left yet, oldest first
};

template <class Done>
void LoadStoreUnit::collect_replies(uint64_t now, Done&& done) {
  while (arrivals_.size() != 0 && arrivals_.front().visible.count() <= now) {
    const Arrival r = arrivals_.pop();
    if (r.is_write) {
      free_stores_.push_back(r.tag);
      --stores_in_flight_;
    } else {
      free_mshrs_.push_back(r.tag);
      if (l1_ == nullptr && records_mshrs())
        record_mshr(now, mshr_address_[r.tag], core::MshrAction::kRelease);
    }
    blocked_ = false;
    if (l1_ != nullptr && !r.is_write && line_requests_[r.tag].entry != kNoRecord)
      finish_line(r.tag, r.level, now);
    else if (r.record != kNoRecord)
      finish_one(r.record, r.level);
  }
  while (l1_ != nullptr && hits_.size() != 0 && hits_.front().at <= now)
    finish_one(hits_.pop().record, MemoryLevel::kL1);
  if (tlb_ != nullptr && tlb_->collect(now)) blocked_ = false;
  while (completions_.size() != 0 && completions_.front().count() <= now) completions_.pop();
  if (constants_outstanding_ != 0) collect_constants();
  if (texture_ != nullptr)
    texture_->collect([this](uint32_t record, MemoryLevel level) { finish_one(record, level); });
  for (const uint32_t index : completed_) {
    if (records_[index].is_store) --stores_of_warp_[records_[index].warp];
    done(index);
    --outstanding_[records_[index].kernel];
    --records_of_warp_[records_[index].warp];
    free_records_.push_back(index);
  }
  completed_.clear();
  while (!awaited_.empty() && awaited_.back().count() <= now) awaited_.pop_back();
}

}  // namespace gpusim::comp
