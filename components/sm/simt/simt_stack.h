// SIMT reconvergence stack of one warp, or of a group of its lanes (DivergentGroups): the entry on top is
// what the warp executes; a divergent branch leaves its reconvergence point below and pushes one entry a
// side. Reconvergence is at the immediate post-dominator that lowering put into the branch. It is also the
// call stack of return points: a call leaves its return point below and pushes one entry for each function
// that lanes call; inside, lanes join at the points of that activation only, and behind the call when all
// have returned. Plain class, no time of its own.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/exec/micro_op.h"

namespace gpusim::comp {

class SimtStack {
 public:
  /// Starts a warp at micro-op 0 with the lanes in `lanes`.
  void reset(isa::LaneMask lanes) {
    pc_ = 0;
    mask_ = lanes;
    reconverge_ = isa::kNoTarget;
    below_.clear();
  }
  [[nodiscard]] uint32_t pc() const { return pc_; }
  [[nodiscard]] isa::LaneMask mask() const { return mask_; }
  [[nodiscard]] bool done() const { return mask_.none(); }
  /// Entries below the top one.
  [[nodiscard]] size_t depth() const { return below_.size(); }
  /// Every lane that has not exited.
  [[nodiscard]] isa::LaneMask alive() const {
    isa::LaneMask lanes = mask_;
    for (const Entry& e : below_) lanes |= e.mask;
    return lanes;
  }

  /// The highest entry below with lanes that wait for those on top, or have yet to start.
  struct Waiting {
    uint32_t pc = isa::kNoTarget;
    isa::LaneMask lanes;  ///< none: nobody waits
  };
  [[nodiscard]] Waiting waiting() const;

  /// Takes `lanes` (a subset of mask()) out into a stack of their own: both parts keep the points at which
  /// their lanes join among themselves. If nothing is left on top, the lanes below go on.
  [[nodiscard]] SimtStack split(isa::LaneMask lanes);
  /// Takes the lanes of `other` in if both stand at the same place with the same points to join at.
  bool merge(const SimtStack& other);

  /// After any operation that is not a taken branch.
  void advance() {
    ++pc_;
    if (pc_ == reconverge_) pop();
  }

  /// Executes a branch whose `taken` lanes (a subset of mask()) go to op.target. True if the warp diverged.
  bool branch(const isa::MicroOp& op, isa::LaneMask taken) {
    if (taken == mask_) {
      pc_ = op.target;
      if (pc_ == reconverge_) pop();
      return false;
    }
    if (taken.none()) {
      advance();
      return false;
    }
    diverge(op, taken);
    return true;
  }

  /// The lanes in `taken` go to target[lane], the others on; true if the warp diverged.
  bool branch_many(const uint32_t* target, isa::LaneMask taken, uint32_t reconverge);

  /// All lanes call the function at target[lane] and go on behind the call; true if the warp diverged.
  bool call(const uint32_t* target);

  /// The lanes on top return from their function. All its branches have joined: lowering gives it one return.
  void leave_function() { pop(); }

  /// Lanes in `leaving` (a subset of mask()) exit; the rest goes on at the next operation.
  void exit(isa::LaneMask leaving) {
    for (Entry& e : below_) e.mask = e.mask & ~leaving;
    mask_ = mask_ & ~leaving;
    if (mask_.any())
      advance();
    else
      pop();
  }

 private:
  struct Entry {
    uint32_t pc;
    uint32_t reconverge;
    isa::LaneMask mask;
  };
  void pop();
  void diverge(const isa::MicroOp& op, isa::LaneMask taken);
  /// An entry for every different place that `lanes` go to, the lowest on top; returns how many.
  int push_places(const uint32_t* target, isa::LaneMask lanes, uint32_t reconverge);

  uint32_t pc_ = 0;
  uint32_t reconverge_ = isa::kNoTarget;
  isa::LaneMask mask_;
  std::vector<Entry> below_;
};

}  // namespace gpusim::comp
