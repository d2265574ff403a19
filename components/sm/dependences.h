// What the operations of an SM's warps wait for before they issue: the operands that the scoreboard knows of
// and, on a machine whose dependences are written in control codes, the dependency barriers that the
// operation's code names. Where a warp may have only so many loads on their way (scheduler.warp_loads), its
// next one waits for the oldest of them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/sm/control_codes.h"
#include "components/sm/dependency_barriers.h"
#include "components/sm/scoreboard.h"
#include "components/sm/warp_table.h"
#include "simcore/config/choices.h"
#include "simcore/config/limits.h"

namespace gpusim::comp {

class Dependences {
 public:
  /// `warp_loads`: of global and local memory, on their way for one warp at most; 0: no limit.
  explicit Dependences(core::Dependences kind, uint32_t warp_loads = 0) : most_loads_(warp_loads) {
    if (kind == core::Dependences::kControlCodes) barriers_.emplace(core::kMaxWarps);
    if (warp_loads == 0) return;
    loads_.resize(core::kMaxWarps);
    for (std::vector<uint32_t>& loads : loads_) loads.reserve(warp_loads);
  }

  /// Room for the registers and predicates of a kernel that has the SM for itself.
  void configure(const isa::KernelImage& image) {
    scoreboard_.configure(core::kMaxWarps, image.num_rows + image.num_predicates);
  }
  /// Room for those of one more kernel; what is known of the others' warps stays.
  void widen(const isa::KernelImage& image) {
    scoreboard_.widen(core::kMaxWarps, image.num_rows + image.num_predicates);
  }
  /// Warp slot `w` starts anew.
  void reset_warp(uint32_t w) {
    scoreboard_.reset_warp(w);
    if (barriers_) barriers_->reset(w);
    if (most_loads_ != 0) loads_[w].clear();
  }
  /// The results of warp `w`'s operation may be used from `cycle` on; until then a warp waits for `cause`.
  void ready_at(uint32_t w, const KernelLaunch& run, const isa::MicroOp& op, uint64_t cycle,
                StallCause cause) {
    for (uint32_t i = 0; i < op.num_sb_writes; ++i)
      scoreboard_.set_ready_at(w, op.sb_writes[i], cycle, cause);
    if (!barriers_) return;
    if (const uint8_t b = run.code_of(op).sets; b != ControlCode::kNoBarrier)
      barriers_->set_until(w, b, cycle, cause);
  }
  /// The operation's results come with the data of this record.
  void pending(uint32_t w, const KernelLaunch& run, const isa::MicroOp& op, uint32_t record) {
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) scoreboard_.set_pending(w, op.sb_writes[i], record);
    if (counts(op)) loads_[w].push_back(record);
    if (!barriers_) return;
    if (const uint8_t b = run.code_of(op).sets; b != ControlCode::kNoBarrier)
      barriers_->set_by_load(w, b, record);
  }
  /// The data of this record came at `cycle`.
  void complete(uint32_t w, const isa::MicroOp& op, uint32_t record, uint64_t cycle, StallCause cause) {
    for (uint32_t i = 0; i < op.num_sb_writes; ++i)
      scoreboard_.set_ready_at(w, op.sb_writes[i], cycle, cause);
    if (counts(op)) std::erase(loads_[w], record);
    if (barriers_) barriers_->complete(w, record, cycle, cause);
  }
  /// Warp `w` has issued the operation that it asked wait_of() for.
  void issued(uint32_t w) {
    if (barriers_) barriers_->forget_waits(w);
  }
  /// Core cycles that the operation's code holds the warp back after it; 0 without control codes.
  [[nodiscard]] uint64_t stall_after(const KernelLaunch& run, const isa::MicroOp& op) const {
    return barriers_ ? run.code_of(op).stall : 0;
  }
  /// What `op`, the next operation of warp `w`, waits for; `queued`: see ClassTiming.
  [[nodiscard]] Scoreboard::Wait wait_of(uint32_t w, const KernelLaunch& run, const isa::MicroOp& op,
                                         bool queued = false) {
    Scoreboard::Wait wait = queued ? scoreboard_.wait_of_reads(w, op) : scoreboard_.wait_of(w, op);
    if (barriers_) wait_for_barriers(w, run.code_of(op), wait);
    if (!wait.pending && counts(op) && loads_[w].size() >= most_loads_)
      wait = {true, loads_[w].front(), kUnknownCycle, StallCause::kDram};
    return wait;
  }

  /// The cycle from which the operands of `op`, none of which is pending, are there.
  [[nodiscard]] uint64_t operands_at(uint32_t w, const isa::MicroOp& op) const {
    return scoreboard_.wait_of_reads(w, op).cycle;
  }

 private:
  /// True if the operation is one of the loads that are limited.
  [[nodiscard]] bool counts(const isa::MicroOp& op) const {
    return most_loads_ != 0 &&
           (op.op_class == isa::OpClass::kLoadGlobal || op.op_class == isa::OpClass::kLoadLocal);
  }
  /// Adds what the operation waits for by its control code.
  void wait_for_barriers(uint32_t w, const ControlCode& code, Scoreboard::Wait& wait) {
    barriers_->add_waits(w, code.waits);
    if (wait.pending) {
      // A result of another block of code. When it has come, the rest of its barrier is looked at.
      if (const uint32_t b = barriers_->barrier_of(w, wait.load); b != DependencyBarriers::kMost)
        barriers_->add_waits(w, 1u << b);
      return;
    }
    if (barriers_->waits(w) == 0) return;
    const DependencyBarriers::Wait barrier = barriers_->wait_of(w, barriers_->waits(w));
    if (barrier.pending)
      wait = {true, barrier.load, kUnknownCycle, StallCause::kDram};
    else if (barrier.cycle > wait.cycle)
      wait = {false, 0, barrier.cycle, barrier.cause};
  }

  Scoreboard scoreboard_;
  std::optional<DependencyBarriers> barriers_;  ///< with control codes
  uint32_t most_loads_;
  std::vector<std::vector<uint32_t>> loads_;  ///< by warp: records of loads on their way, oldest first
};

}  // namespace gpusim::comp
