// The path of global accesses on a machine without an L1 for them: transactions go straight to the
// interconnect. What leaves when is decided ahead of time as far as it is certain, and the SM sleeps through
// replies that complete nothing which is awaited.
#pragma once
#include "components/lsu/global_path.h"

namespace gpusim::comp {

/// `Tlb`: SmTlb, or NoTlb where addresses need no translation.
template <class Tlb>
class UncachedPath final : public GlobalPath, public core::CreditTaker {
 public:
  UncachedPath(const core::MachineConfig& machine, uint16_t port, const Links& links, AccessTable& accesses);

  void prepare() override;
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  bool is_atomic, uint64_t now) override {
    const QueueEntry& entry = enqueue(op, warp, pc, access, is_atomic, now);
    tlb_.enter(entry.list);
    return entry.record;
  }
  /// The SM wakes if the reply completes an access that is awaited or something waits for its tag.
  bool deliver(const MemoryReply& reply, core::Cycle visible) override;
  /// Room in the link of requests: the next transaction leaves at `at`, or later if the path is not free.
  core::Cycle credit(core::Cycle at) override;
  void collect(uint64_t now) override;
  void send(uint64_t now) override;
  void send_ahead(uint64_t now) override;
  [[nodiscard]] uint64_t next_send() const override;
  [[nodiscard]] core::Cycle next_event() const override {
    return blocked_ ? std::min(next_arrival(), tlb_.next_page()) : tlb_.next_page();
  }
  [[nodiscard]] core::Cycle next_completion() const override {
    const core::Cycle next = next_event();
    return completions_.size() == 0 ? next : std::min(next, completions_.front());
  }
  [[nodiscard]] uint64_t next_surprise(uint64_t /*now*/) const override { return kUnknownCycle; }
  [[nodiscard]] bool may_open() const override;
  [[nodiscard]] const SmTlbStats& tlb_stats() const override { return tlb_.stats(); }
  void forget_pages() override { tlb_.forget(); }

 private:
  void plan_sends(uint64_t earliest);
  /// True if the page of the entry's next transaction is known as far ahead as that transaction is decided.
  [[nodiscard]] bool translated_ahead(QueueEntry& entry);
  /// Reserves the tag of the entry's next transaction.
  uint16_t reserve(const QueueEntry& entry, uint64_t at);

  bool awaits_credit_ = false;  ///< the head leaves when the link has a slot: credit()
  Tlb tlb_;
  core::Ring<core::Cycle> completions_;  ///< when replies become visible that complete an access
  std::vector<uint64_t> mshr_address_;   ///< for events
};

}  // namespace gpusim::comp
