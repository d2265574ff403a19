// The path of global accesses on a machine with an L1: transactions look there first, misses ask for sectors
// of lines, and dirty lines that lose their place are written back. With l1.tag_lines the tags of an aligned
// group of lines are looked up together, and a load takes as long as its groups or the busiest bank of its
// data, whichever is longer: an H200 loads words 7 apart, which lie in 7 lines and 32 banks, in 2.4 cycles a
// warp, words 8 apart in 8 (h200_l1_cycles_by_stride.csv; the groups give 2.5 and 8, and are within half a
// cycle of all of its other strides). Misses leave line after line, as without.
#pragma once
#include <array>

#include "components/lsu/global_path.h"
#include "components/sm/shared_bank_conflicts.h"

namespace gpusim::comp {

/// `Tlb`: SmTlb, or NoTlb where addresses need no translation.
template <class Tlb>
class L1Path final : public GlobalPath {
 public:
  L1Path(const core::MachineConfig& machine, uint16_t port, const Links& links, AccessTable& accesses);

  void prepare() override;
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  bool is_atomic, uint64_t now) override;
  /// The SM always wakes: who waits for the reply is known when it is taken.
  bool deliver(const MemoryReply& reply, core::Cycle visible) override {
    announce(reply, visible);
    return true;
  }
  void collect(uint64_t now) override;
  void send(uint64_t now) override;
  void send_ahead(uint64_t /*now*/) override {}
  /// True if all that this path does is known ahead of time, as far as replies have been sent: what it looks
  /// up is its own, and the link to the interconnect has room for certain.
  [[nodiscard]] bool foresees() const { return !Tlb::kTranslates && to_network_.has_room(); }
  /// Does what send() would do in the later cycle `at`, decided now. Requires foresees(), and that the
  /// replies until then have been collected.
  void send_at(uint64_t at);
  [[nodiscard]] uint64_t next_send() const override;
  [[nodiscard]] core::Cycle next_event() const override {
    core::Cycle next = std::min(next_arrival(), tlb_.next_page());
    if (hits_.size() != 0) next = std::min(next, core::Cycle(hits_.front().at));
    return next;
  }
  [[nodiscard]] core::Cycle next_completion() const override { return next_event(); }
  /// A hit behind a transaction that waits for the link.
  [[nodiscard]] uint64_t next_surprise(uint64_t now) const override {
    return unsent() ? now + 1 + l1_.latency() : kUnknownCycle;
  }
  [[nodiscard]] bool may_open() const override { return blocked_ && !has_room(); }
  [[nodiscard]] bool idle() const override { return GlobalPath::idle() && !l1_.has_writeback(); }
  [[nodiscard]] const SmTlbStats& tlb_stats() const override { return tlb_.stats(); }
  void forget_pages() override { tlb_.forget(); }

  void count_l1(uint32_t kernel, L1Stats& stats) override { stats_of_kernel_[kernel] = &stats; }
  void watch_l1() override { l1_.watch(); }
  [[nodiscard]] std::span<const L1Cache::LineEvent> l1_events() const override { return l1_.events(); }
  void forget_l1_events() override { l1_.forget_events(); }
  void invalidate_l1(uint32_t ways) override { l1_.invalidate(ways); }
  [[nodiscard]] uint32_t l1_mshrs_in_use() const override { return l1_.mshrs_in_use(); }
  [[nodiscard]] const L1Stats* l1_stats() const override { return &l1_.stats(); }

 private:
  /// A request for sectors of a line of the L1.
  struct LineRequest {
    uint32_t entry = AccessTable::kNoRecord;  ///< kNoRecord: the transaction of a record
    SectorMask sectors = 0;
  };
  struct Hit {
    uint64_t at = 0;
    uint32_t record = 0;
  };
  /// True if a global or local read asks the L1.
  [[nodiscard]] bool is_cached(const isa::MicroOp& op, bool local) const;
  [[nodiscard]] bool has_work() const { return unsent() || l1_.has_writeback(); }
  /// `link`: a transaction can leave.
  void send_one(uint64_t now, bool link);
  /// False if the transaction at the head of the queue has to wait.
  [[nodiscard]] bool send_transaction(QueueEntry& entry, uint64_t now, bool link);
  [[nodiscard]] bool load(QueueEntry& entry, const L1Cache::Access& access, uint64_t now, bool can_send);
  /// What the transaction at the head waits for that the L1 has just refused. `link`: it could be sent.
  [[nodiscard]] HeadWait refusal(RequestKind kind, bool link) const;
  void ask_for_line(const QueueEntry& entry, const L1Cache::Result& miss, uint64_t address, uint64_t now);
  void transmit(QueueEntry& entry, uint64_t now);
  void send_writeback(uint64_t now);
  /// A message for 32-byte sectors of the line at `address`.
  void send_sectors(uint64_t address, SectorMask sectors, RequestKind kind, uint16_t tag, uint64_t now);
  void finish_line(uint32_t tag, MemoryLevel level, uint64_t now);
  /// What the L1 does next, it does for this access.
  void count_for(uint32_t record) {
    if (L1Stats* stats = stats_of_kernel_[accesses_[record].kernel]; stats != nullptr) l1_.count_in(*stats);
  }
  void record_look_up(uint64_t now, const L1Cache::Access& access, core::CacheResult result) const;
  void record_mshrs(uint64_t now, uint64_t address, core::MshrAction action) const {
    if (records_mshrs()) record_mshr(now, address, action, l1_.mshrs_in_use());
  }

  [[nodiscard]] L1Cache::Access access_of(const QueueEntry& entry) const;
  /// More lines of the group that was looked up at `now`, as far as they are here: the cycle serves them too.
  void load_neighbours(QueueEntry& entry, uint64_t group, uint64_t now);
  [[nodiscard]] uint64_t group_of(uint64_t address) const { return address / group_bytes_; }

  Tlb tlb_;
  L1Cache l1_;
  uint64_t group_bytes_;          ///< of lines that are looked up together
  bool by_groups_;                ///< more than one
  SharedMemoryRules data_rules_;  ///< banks of the data, those of shared memory
  core::Ring<Hit> hits_;          ///< not complete yet
  bool holds_textures_, holds_read_only_;
  std::vector<LineRequest> line_requests_;  ///< by MSHR
  std::array<L1Stats*, kMaxKernels> stats_of_kernel_{};
};

}  // namespace gpusim::comp
