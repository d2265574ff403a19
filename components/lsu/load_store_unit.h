// Load/store unit of an SM: the records of its warp accesses in flight, and the three ways that they take (to
// global and local memory, to constants, to a texture cache). Not a Clocked module: the SM calls it in its
// tick, in the order replies, send, (issue,) send ahead. Every way reserves the room for a reply before it
// asks, so replies always sink.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "components/lsu/access_table.h"
#include "components/lsu/constant_path.h"
#include "components/lsu/global_path.h"
#include "components/lsu/l1_path.h"
#include "components/lsu/texture_path.h"
#include "components/lsu/tlb/no_tlb.h"

namespace gpusim::comp {

class LoadStoreUnit {
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
  void set_events(const EventSink* events);
  /// True if one more warp access fits the queue and a record is free.
  [[nodiscard]] bool can_accept() const { return global_->has_room() && accesses_.free_records() > kReserve; }
  /// Takes a global or local access at cycle `now`; `access.address` are device addresses. Returns the
  /// record's index.
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  bool is_atomic, uint64_t now) {
    if (textures_.takes(op)) return textures_.submit(op, warp, pc, access, now);
    return global_->submit(op, warp, pc, access, is_atomic, now);
  }
  /// True if the operation takes the way to the texture cache.
  [[nodiscard]] bool reads_texture_cache(const isa::MicroOp& op) const { return textures_.takes(op); }
  /// True if an operation that takes this way can be accepted now.
  [[nodiscard]] bool can_accept_texture() const {
    return textures_.has_room() && accesses_.free_records() > kReserve;
  }
  /// True if a constant load may issue: a record is free and no earlier miss waits for an MSHR.
  [[nodiscard]] bool can_accept_constant() const { return constants_.can_accept(); }
  /// Constant load: returns kHit if all lines are in the first level, else the record's index.
  static constexpr uint32_t kHit = AccessTable::kNoRecord;
  uint32_t submit_constant(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                           const isa::MemoryAccess& access, uint32_t& distinct, uint64_t now) {
    return constants_.submit(op, warp, pc, access, distinct, now);
  }

  /// Something waits for the load: the SM must be awake when it completes.
  void await(uint32_t index) { accesses_.await(index); }
  /// Awaits all loads of the warp.
  void await_all(uint32_t warp) { accesses_.await_all(warp); }

  /// Takes every visible reply; calls done(record index) for each access that completed, in order. The record
  /// is freed after the call.
  template <class Done>
  void collect_replies(uint64_t now, Done&& done) {
    global_->collect(now);
    constants_.collect(now);
    textures_.collect(now);
    accesses_.retire(now, std::forward<Done>(done));
  }
  /// Sends transactions that may leave at `now`.
  void send(uint64_t now) {
    constants_.send();
    textures_.send();
    global_->send(now);
  }
  /// Decides now, after the last submit of cycle `now`, what leaves in later cycles, as far as that is
  /// certain.
  void send_ahead(uint64_t now) { global_->send_ahead(now); }
  /// Next cycle at which send() has something to do of its own accord; kUnknownCycle if only an event can
  /// help.
  [[nodiscard]] uint64_t next_send() const {
    if (constants_.wants_to_send() || textures_.wants_to_send()) return 0;
    return global_->next_send();
  }
  /// Next cycle at which a reply comes for which the SM must be awake.
  [[nodiscard]] core::Cycle next_reply() const {
    return std::min(
        {accesses_.next_wake(), global_->next_event(), constants_.next_reply(), textures_.next_reply()});
  }
  /// Next cycle at which a reply completes an access, as far as replies have been sent.
  [[nodiscard]] core::Cycle next_completion() const {
    return std::min({global_->next_completion(), constants_.next_reply(), textures_.next_reply()});
  }
  /// First cycle in which an access may complete of which nothing is known at `now`: a hit in the L1
  /// behind a transaction that waits for the link.
  [[nodiscard]] uint64_t next_surprise(uint64_t now) const { return global_->next_surprise(now); }
  /// True if all that this unit does is known ahead of time, as far as replies have been sent. What follows
  /// here requires it.
  [[nodiscard]] bool foresees() const {
    return foreseeing_ != nullptr && !has_unannounced() && foreseeing_->foresees();
  }
  /// next_send() and next_reply(), of all that is outstanding then.
  [[nodiscard]] uint64_t next_foreseen_send() const { return foreseeing_->next_send(); }
  [[nodiscard]] uint64_t next_foreseen_reply() const {
    return std::min(accesses_.next_wake(), foreseeing_->next_event()).count();
  }
  /// collect_replies() of the later cycle `at`, decided now.
  template <class Done>
  void collect_foreseen(uint64_t at, Done&& done) {
    foreseeing_->collect(at);
    accesses_.retire(at, std::forward<Done>(done));
  }
  /// send() of the later cycle `at`, decided now: the replies until then have been collected.
  void send_at(uint64_t at) { foreseeing_->send_at(at); }
  /// The warp slot belongs to the kernel in slot `kernel` from now on.
  void set_kernel(uint32_t warp, uint32_t kernel) { accesses_.set_kernel(warp, kernel); }
  /// Where look-ups of that kernel's accesses in the L1 are counted.
  void count_l1(uint32_t kernel, L1Stats& stats) { global_->count_l1(kernel, stats); }
  /// From now on the L1 keeps its events; to be called once, before the first access.
  void watch_l1() { global_->watch_l1(); }
  /// What the L1 has done since forget_l1_events().
  [[nodiscard]] std::span<const L1Cache::LineEvent> l1_events() const { return global_->l1_events(); }
  void forget_l1_events() { global_->forget_l1_events(); }
  /// Where the L1 counts at present; null if there is none.
  [[nodiscard]] const L1Stats* l1_stats() const { return global_->l1_stats(); }
  /// Accesses of the kernel in flight.
  [[nodiscard]] uint32_t outstanding(uint32_t kernel) const { return accesses_.of_kernel(kernel); }
  /// Of the translation look-aside buffer since the simulation's start; zeros if there is none.
  void forget_pages() { global_->forget_pages(); }
  /// Of global and local accesses, since the simulation's start.
  [[nodiscard]] LsuUse use(uint64_t now) const { return global_->use(now); }
  [[nodiscard]] const SmTlbStats* tlb_stats() const { return &global_->tlb_stats(); }

  [[nodiscard]] AccessRecord& record(uint32_t index) { return accesses_[index]; }
  /// True while can_accept() may change at any time: a full queue waits for room in the link, or for a page.
  [[nodiscard]] bool may_open() const { return global_->may_open(); }
  /// True while something is on its way of which nothing is known before it comes.
  [[nodiscard]] bool has_unannounced() const { return constants_.outstanding() || textures_.outstanding(); }
  [[nodiscard]] bool idle() const { return accesses_.all_free() && global_->idle(); }
  [[nodiscard]] uint32_t outstanding_stores(uint32_t warp) const { return accesses_.stores_of_warp(warp); }
  [[nodiscard]] uint32_t mshrs_in_use() const { return global_->mshrs_in_use(); }
  [[nodiscard]] uint32_t queued() const { return global_->queued(); }
  /// The L1 caches are empty, that of data has so many ways at most. Requires idle().
  void invalidate_caches(uint32_t l1_ways) {
    constants_.invalidate();
    global_->invalidate_l1(l1_ways);
  }

 private:
  static constexpr size_t kReserve = 2;  ///< records kept for constant misses, which do not pass the queue

  AccessTable accesses_;
  std::unique_ptr<GlobalPath> global_;
  L1Path<NoTlb>* foreseeing_;  ///< global_ on a machine on which it can foresee what it does, else null
  ConstantPath constants_;
  TexturePath textures_;
};

}  // namespace gpusim::comp
