// Way of an SM's accesses to global and local memory: a queue of coalesced warp accesses, and the outstanding
// transactions with their tags (MSHRs for reads, a store buffer for writes). A transaction leaves only when
// its tag is reserved, so every reply sinks: the path is told of replies when the interconnect delivers them,
// and the SM wakes only for those that something waits for. What happens to the transaction at the head of
// the queue depends on the machine, which chooses one of two paths: it goes to the interconnect
// (UncachedPath), or asks the L1 first (L1Path).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "components/cache/free_list.h"
#include "components/lsu/access_table.h"
#include "components/lsu/coalescer.h"
#include "components/lsu/l1_cache.h"
#include "components/lsu/lsu_use.h"
#include "components/lsu/tlb/sm_tlb.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/ring.h"

namespace gpusim::comp {

class GlobalPath : public core::MessageSink<MemoryReply> {
 public:
  struct Links {
    core::Link<MemoryRequest>* request = nullptr;  ///< to the interconnect
    core::Link<MemoryReply>* reply = nullptr;      ///< from it
    SmTlb::Links tlb = {};                         ///< on a machine that has one
  };
  GlobalPath(const GlobalPath&) = delete;  // links know it
  GlobalPath& operator=(const GlobalPath&) = delete;

  /// Takes memory for the queue and the tags.
  virtual void prepare();
  void set_events(const EventSink* events) { events_ = events; }
  /// Accesses that it can hold, in the queue or outstanding, and the replies of them.
  [[nodiscard]] size_t capacity() const { return queue_capacity_ + most_replies(); }
  [[nodiscard]] size_t most_replies() const { return size_t{mshr_count_} + store_capacity_; }

  [[nodiscard]] bool has_room() const { return queue_count_ < queue_capacity_; }
  [[nodiscard]] uint32_t queued() const { return queue_count_; }
  /// Takes a warp's access; returns its record.
  virtual uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                          bool is_atomic, uint64_t now) = 0;
  /// Takes every visible reply.
  virtual void collect(uint64_t now) = 0;
  /// Sends transactions that may leave at `now`.
  virtual void send(uint64_t now) = 0;
  /// Decides now, after the last submit of cycle `now`, what leaves in later cycles, as far as that is
  /// certain.
  virtual void send_ahead(uint64_t now) = 0;
  /// Next cycle at which send() has something to do of its own accord; kUnknownCycle if only an event can
  /// help.
  [[nodiscard]] virtual uint64_t next_send() const = 0;
  /// Next cycle at which something comes that the SM has to be awake for, besides what
  /// AccessTable::next_wake() says.
  [[nodiscard]] virtual core::Cycle next_event() const = 0;
  /// Next cycle at which a reply completes an access, as far as replies have been sent, or at which
  /// next_event() may let one complete.
  [[nodiscard]] virtual core::Cycle next_completion() const = 0;
  /// First cycle in which an access may complete of which nothing is known at `now`.
  [[nodiscard]] virtual uint64_t next_surprise(uint64_t now) const = 0;
  /// True while has_room() may change at any time: a full queue waits for room in the link, or for a page.
  [[nodiscard]] virtual bool may_open() const = 0;

  [[nodiscard]] virtual bool idle() const { return stores_in_flight_ == 0; }
  [[nodiscard]] uint32_t mshrs_in_use() const {
    return static_cast<uint32_t>(mshr_record_.size() - free_mshrs_.size());
  }
  /// Until `now`, also of what is on its way then.
  [[nodiscard]] LsuUse use(uint64_t now) const {
    LsuUse use = use_;
    for (uint32_t i = 0, at = queue_head_; i < queue_count_; ++i) {
      const bool sent = i < queue_count_ - queue_unsent_;
      use.queued += sent ? std::min(now, queue_[at].sent_at) : now;
      at = at + 1 == queue_capacity_ ? 0 : at + 1;
    }
    use.outstanding += now * mshrs_in_use();
    use.stores += now * stores_in_flight_;
    use.l1_outstanding += now * l1_mshrs_in_use();
    return use;
  }
  [[nodiscard]] virtual const SmTlbStats& tlb_stats() const = 0;
  /// The translation look-aside buffer forgets what it has.
  virtual void forget_pages() = 0;

  // Of the L1; without one there is nothing to do or to tell.
  virtual void count_l1(uint32_t /*kernel*/, L1Stats& /*stats*/) {}
  virtual void watch_l1() {}
  [[nodiscard]] virtual std::span<const L1Cache::LineEvent> l1_events() const { return {}; }
  virtual void forget_l1_events() {}
  virtual void invalidate_l1(uint32_t /*ways*/) {}
  [[nodiscard]] virtual uint32_t l1_mshrs_in_use() const { return 0; }
  [[nodiscard]] virtual const L1Stats* l1_stats() const { return nullptr; }

 protected:
  GlobalPath(const core::MachineConfig& machine, uint16_t port, const Links& links, AccessTable& accesses);

  struct QueueEntry {
    uint32_t record = 0;
    uint32_t next = 0;     ///< transaction to send next
    uint64_t sent_at = 0;  ///< cycle of the last transaction, once it is known
    RequestKind kind = RequestKind::kRead;
    bool cached = false;  ///< its transactions ask the L1
    bool local = false;
    bool floating = false;   ///< an atomic operation on floating-point numbers
    bool looked_up = false;  ///< its pages, in the translation look-aside buffer
    bool refused = false;    ///< the L1 could not take its next transaction yet
    /// Cycles that the data of the whole access take, from `began_at`, at which it was looked up first; 0: as
    /// many as it has transactions.
    uint32_t data_cycles = 0;
    uint64_t began_at = 0;
    TransactionList list;
    [[nodiscard]] const Transaction& transaction() const { return list.items[next]; }
  };
  /// A reply on its way.
  struct Arrival {
    core::Cycle visible{0};
    uint16_t tag = 0;
    bool is_write = false;
    MemoryLevel level = MemoryLevel::kNone;
    uint32_t record = 0;
  };
  /// Opens a record for the access, coalesces it and puts it at the end of the queue.
  QueueEntry& enqueue(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                      bool is_atomic, uint64_t now);
  [[nodiscard]] QueueEntry& head() { return queue_[queue_send_]; }
  [[nodiscard]] const QueueEntry& head() const { return queue_[queue_send_]; }
  /// True if the queue has transactions to send.
  [[nodiscard]] bool unsent() const { return queue_unsent_ != 0; }
  [[nodiscard]] bool can_reserve(RequestKind kind) const {
    return kind == RequestKind::kWrite ? stores_in_flight_ < store_capacity_ : !free_mshrs_.empty();
  }
  uint16_t reserve_mshr(uint32_t record, uint64_t now) {
    const uint16_t tag = free_mshrs_.take();
    use_.outstanding -= now;
    mshr_record_[tag] = record;
    return tag;
  }
  uint16_t reserve_store(uint32_t record, uint64_t now) {
    const uint16_t tag = free_stores_.take();
    use_.stores -= now;
    store_record_[tag] = record;
    ++stores_in_flight_;
    return tag;
  }
  /// The message of the entry's next transaction.
  [[nodiscard]] MemoryRequest request_of(const QueueEntry& entry, uint16_t tag) const;
  /// The entry's next transaction is done with at `at`. `looked_up`: by the L1.
  void step(QueueEntry& entry, uint64_t at, bool looked_up) {
    goes_on(at);
    // The cycle in which one was looked up may serve others, which take the port no further.
    const uint64_t taken = at >= next_send_ ? send_interval_ : 0;
    use_.port_cycles += taken;
    use_.coalescer_cycles += taken;
    use_.tag_cycles += looked_up ? taken : 0;
    next_send_ = at + send_interval_;
    if (++entry.next == entry.list.count) {
      entry.sent_at = at;
      queue_send_ = queue_send_ + 1 == queue_capacity_ ? 0 : queue_send_ + 1;
      --queue_unsent_;
    }
  }
  /// Nothing else leaves until `until`, for `cycles` more than was known.
  void occupy_port(uint64_t cycles, uint64_t until) {
    use_.port_cycles += cycles;
    next_send_ = until;
  }
  /// The head of the queue has to wait at `now`.
  void waits_for(HeadWait why, uint64_t now) {
    if (head_waits_ == why) return;
    goes_on(now);
    head_waits_ = why;
    waits_since_ = now;
  }
  /// It does not, from `at` on.
  void goes_on(uint64_t at) {
    if (head_waits_ == HeadWait::kCount) return;
    use_.waits[head_waits_] += at - std::min(at, waits_since_);
    head_waits_ = HeadWait::kCount;
  }
  /// What the head waits for if it cannot be sent. `link`: the interconnect would take it.
  [[nodiscard]] HeadWait missing_for(RequestKind kind, bool link) const {
    if (can_reserve(kind)) return link ? HeadWait::kWay : HeadWait::kNetwork;
    return kind == RequestKind::kWrite ? HeadWait::kStoreBuffer : HeadWait::kMshr;
  }
  /// Accesses whose last transaction has left leave the queue.
  void leave_queue(uint64_t now) {
    while (queue_count_ != queue_unsent_ && queue_[queue_head_].sent_at <= now) {
      use_.queued += queue_[queue_head_].sent_at;
      queue_head_ = queue_head_ + 1 == queue_capacity_ ? 0 : queue_head_ + 1;
      --queue_count_;
    }
  }
  /// The earlier of `next` and the cycle in which a full queue has room, since its oldest access has left.
  [[nodiscard]] uint64_t or_queue_opens(uint64_t next) const {
    return has_room() ? next : std::min(next, queue_[queue_head_].sent_at);
  }
  /// Keeps a reply that was sent until take_arrival() takes it; returns whose it is.
  uint32_t announce(const MemoryReply& reply, core::Cycle visible) {
    const bool is_write = reply.kind == RequestKind::kWrite;
    const uint32_t record = is_write ? store_record_[reply.tag] : mshr_record_[reply.tag];
    arrivals_.push({visible, static_cast<uint16_t>(reply.tag), is_write, reply.level, record});
    return record;
  }
  [[nodiscard]] bool has_arrival(uint64_t now) const {
    return arrivals_.size() != 0 && arrivals_.front().visible.count() <= now;
  }
  /// The oldest reply, whose tag is free from now on.
  Arrival take_arrival() {
    const Arrival r = arrivals_.pop();
    blocked_ = false;
    if (r.is_write) {
      free_stores_.give_back(r.tag);
      use_.stores += r.visible.count();
      --stores_in_flight_;
    } else {
      free_mshrs_.give_back(r.tag);
      use_.outstanding += r.visible.count();
    }
    return r;
  }
  [[nodiscard]] core::Cycle next_arrival() const {
    return arrivals_.size() == 0 ? core::kNever : arrivals_.front().visible;
  }
  [[nodiscard]] bool records_mshrs() const { return events_ != nullptr && events_->mshr != nullptr; }
  /// Requires records_mshrs().
  void record_mshr(uint64_t now, uint64_t address, core::MshrAction action, uint32_t occupied) const;

  // What every tick of the SM looks at comes first.
  /// Accesses in the queue, oldest first: all of them, then from `queue_send_` on those that have
  /// transactions to send. The others leave it at their sent_at.
  uint32_t queue_head_ = 0, queue_count_ = 0, queue_send_ = 0, queue_unsent_ = 0;
  uint32_t queue_capacity_, store_capacity_, mshr_count_;
  uint32_t stores_in_flight_ = 0;
  uint64_t next_send_ = 0;
  uint64_t send_interval_;
  HeadWait head_waits_ = HeadWait::kCount;  ///< kCount: it does not wait
  bool blocked_ = false;  ///< send() found that the head has to wait, and for what comes of itself
  uint16_t port_;
  const EventSink* events_ = nullptr;
  core::Link<MemoryRequest>& to_network_;
  AccessTable& accesses_;
  core::Ring<Arrival> arrivals_;  ///< replies sent, not taken yet
  std::vector<QueueEntry> queue_;
  std::vector<uint32_t> mshr_record_;
  FreeList<uint16_t> free_mshrs_;
  std::vector<uint32_t> store_record_;
  FreeList<uint16_t> free_stores_;
  CoalescingRule rule_;
  uint32_t line_bytes_;
  uint64_t waits_since_ = 0;
  LsuUse use_;
};

/// The path of this machine.
[[nodiscard]] std::unique_ptr<GlobalPath> make_global_path(const core::MachineConfig& machine, uint16_t port,
                                                           const GlobalPath::Links& links,
                                                           AccessTable& accesses);

}  // namespace gpusim::comp
