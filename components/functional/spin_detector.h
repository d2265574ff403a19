// Notices warps that go round a loop waiting for somebody: to let other lanes of the warp go first
// (independent thread scheduling), and to tell a deadlock from a long loop. Costs a decrement per backward
// branch; what is looked at is a function of the program alone, of no time.
#pragma once
#include <cstdint>
#include <string>

#include "components/launch/kernel_launch.h"
#include "components/sm/simt/divergent_groups.h"
#include "components/sm/simt/simt_stack.h"

namespace gpusim::comp {

class SpinDetector {
 public:
  void reset() { *this = {}; }
  /// At each taken backward branch, of micro-op `branch`: true if it is time to look closer, with the
  /// functions below. `may_yield`: it is if lanes of the warp are apart and the loop may wait for them.
  bool lap(uint32_t branch, bool may_yield) {
    one_loop_ = one_loop_ && branch == branch_;
    branch_ = branch;
    if (--left_ != 0 && !may_yield) return false;
    left_ = waits_ ? 1 : kLaps;
    return true;
  }

  /// At each access of the warp to memory.
  void access(const isa::MicroOp& op, const isa::WarpContext& context) {
    if (op.kind != isa::OpKind::kLoad) changed_memory_ = changed_memory_ || may_change_memory(op, context);
  }

  /// True if the lanes on top of `current` are to yield: others of the warp wait, and the loop that ends at
  /// micro-op `last` is `unchanged` or may read what they write (MicroOp::may_wait). Other loops
  /// get long before they must.
  /// Nobody yields to lanes that wait at a barrier, which no lane of this warp opens.
  [[nodiscard]] bool must_yield(const isa::KernelImage& image, const isa::WarpContext& context, uint32_t last,
                                const SimtStack& current, const DivergentGroups& groups, bool unchanged);
  /// Compares the warp with what it was at an earlier iteration: true if it has gone round this loop only and
  /// its iterations leave everything as it was, so that only memory that others write can end the loop.
  bool unchanged(const isa::KernelImage& image, uint32_t first, uint32_t last,
                 const isa::WarpContext& context, const SimtStack& current, uint64_t now);
  /// First and last time at which the warp was seen unchanged.
  [[nodiscard]] uint64_t unchanged_since() const { return since_; }
  [[nodiscard]] uint64_t unchanged_until() const { return until_; }

 private:
  static constexpr uint32_t kLaps = 64;
  static constexpr uint32_t kPlainRounds = 256;  ///< of kLaps, in a loop that seems to wait for nobody
  static constexpr uint32_t kSampleRounds = 16;  ///< of kLaps, between comparisons of a warp that changes
  static bool may_change_memory(const isa::MicroOp& op, const isa::WarpContext& context);

  uint32_t left_ = kLaps;
  uint32_t rounds_ = 0;
  uint32_t to_sample_ = kSampleRounds;
  bool waits_ = false;  ///< a loop of this warp had to yield: no patience until its lanes are together again
  bool one_loop_ = false;        ///< all iterations since the last comparison were of the same loop
  bool changed_memory_ = false;  ///< since the last comparison, or may have
  uint32_t branch_ = isa::kNoTarget;
  uint64_t digest_ = 0;
  uint64_t since_ = 0, until_ = 0;
};

/// "kernel 'k', ... : deadlock: ..." of a warp that goes round the loop that ends at micro-op `pc` for ever.
[[nodiscard]] std::string describe_spin(const KernelLaunch& run, uint32_t pc, uint64_t block,
                                        uint32_t warp_in_block, const SimtStack& stack);

}  // namespace gpusim::comp
