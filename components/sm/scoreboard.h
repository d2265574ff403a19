// Scoreboard of one SM: for every warp and register (or predicate), the cycle from which its value may be
// used, or the load that will bring it. Plain class; one 64-bit word per entry keeps a check to one load and
// one compare.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "components/sm/stall_cause.h"
#include "isa/exec/micro_op.h"

namespace gpusim::comp {

class Scoreboard {
 public:
  /// `ids` = register rows + predicates of the kernel, for `warps` warp slots.
  void configure(uint32_t warps, uint32_t ids) {
    ids_ = ids;
    entries_.assign(size_t{warps} * ids, 0);
  }
  /// Makes room for more warps or identifiers; the entries of other kernels' warps stay.
  void widen(uint32_t warps, uint32_t ids) {
    if (ids <= ids_) return;
    std::vector<uint64_t> wider(size_t{warps} * ids, 0);
    for (uint32_t w = 0; w < warps; ++w)
      std::copy_n(entries_.begin() + size_t{w} * ids_, ids_, wider.begin() + size_t{w} * ids);
    entries_ = std::move(wider);
    ids_ = ids;
  }
  void reset_warp(uint32_t warp) { std::fill_n(entries_.begin() + size_t{warp} * ids_, ids_, 0); }

  void set_ready_at(uint32_t warp, uint32_t id, uint64_t cycle, StallCause cause) {
    entries_[size_t{warp} * ids_ + id] = cycle << kCauseBits | static_cast<uint64_t>(cause);
  }
  void set_pending(uint32_t warp, uint32_t id, uint32_t load) {
    entries_[size_t{warp} * ids_ + id] = kPending | load;
  }

  struct Wait {
    bool pending = false;  ///< for a load of unknown completion
    uint32_t load = 0;     ///< which
    uint64_t cycle = 0;    ///< else: ready from here
    StallCause cause = StallCause::kAluDependency;
  };
  /// What `op` of `warp` waits for: a pending load among its operands (of several, the highest record), else
  /// the latest ready cycle.
  [[nodiscard]] Wait wait_of(uint32_t warp, const isa::MicroOp& op) const {
    const uint64_t* row = entries_.data() + size_t{warp} * ids_;
    uint64_t latest = latest_read(row, op);
    for (uint32_t i = 0; i < op.num_sb_writes; ++i)
      latest = row[op.sb_writes[i]] > latest ? row[op.sb_writes[i]] : latest;
    return wait_for(latest);
  }
  /// The same of what it reads alone.
  [[nodiscard]] Wait wait_of_reads(uint32_t warp, const isa::MicroOp& op) const {
    return wait_for(latest_read(entries_.data() + size_t{warp} * ids_, op));
  }

 private:
  static constexpr uint64_t kPending = uint64_t{1} << 63;
  static constexpr uint64_t kNoCycle = ~0ull;
  static constexpr int kCauseBits = 5;
  static_assert(kNumStallCauses <= 1u << kCauseBits);
  static uint64_t latest_read(const uint64_t* row, const isa::MicroOp& op) {
    uint64_t latest = 0;
    for (uint32_t i = 0; i < op.num_sb_reads; ++i)
      latest = row[op.sb_reads[i]] > latest ? row[op.sb_reads[i]] : latest;
    return latest;
  }
  static Wait wait_for(uint64_t entry) {
    if ((entry & kPending) != 0) return {true, static_cast<uint32_t>(entry), kNoCycle, StallCause::kDram};
    return {false, 0, entry >> kCauseBits, static_cast<StallCause>(entry & ((1u << kCauseBits) - 1))};
  }
  uint32_t ids_ = 0;
  std::vector<uint64_t> entries_;
};

}  // namespace gpusim::comp
