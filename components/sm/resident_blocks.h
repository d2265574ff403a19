// Kernels and blocks on an SM: the books of a kernel from its first block to its last, a block's start,
// phases and end, and what the dispatcher is told of it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/noc/messages.h"
#include "components/sm/issue_slots.h"
#include "components/sm/sm_state.h"
#include "components/sm/warp_front_end.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class ResidentBlocks {
 public:
  ResidentBlocks(SmState& sm, IssueSlots& slots, WarpFrontEnd& front_end)
      : sm_(sm), slots_(slots), front_end_(front_end) {}

  /// Opens the books of a kernel at its `start`.
  void open_kernel(KernelLaunch& run);
  /// Closes the books of a kernel that has drained at its `end`.
  void close_kernel(const KernelLaunch& run);
  /// The open kernel in slot `slot` (KernelLaunch::slot).
  [[nodiscard]] ResidentKernel& kernel(uint32_t slot) { return *kernels_[slot]; }

  void start_block(const BlockStart& start, uint64_t now);
  /// All lanes of warp `w` have exited.
  void end_warp(uint32_t w, uint64_t now);
  /// The block of warp slot `w` may have ended: its warps have, and their loads are here.
  void finish_if_done(uint32_t block_slot, uint64_t now);
  /// A load of the block is in flight, or has come.
  void load_starts(uint32_t block_slot) { ++sm_.blocks[block_slot].loads_in_flight; }
  void load_ends(uint32_t block_slot, uint64_t now);

  /// Something is to be reported to the dispatcher.
  [[nodiscard]] bool due() const { return due_ != 0; }
  /// A block or a kernel may end without a further operation: in its own cycle, not ahead of time.
  [[nodiscard]] bool ending() const { return due_ != 0 || ending_blocks_ != 0; }
  void report(core::Link<SmReport>& reports);

 private:
  /// `alone`: no other block is here.
  void configure(ResidentKernel& kernel, bool alone);
  void start_warp(uint32_t w, uint32_t slot, uint32_t warp_in_block, std::byte* shared, uint64_t now);
  void finish(uint32_t slot, uint64_t now);
  /// Counts the warps that the kernel has had here until now.
  static void count_residence(ResidentKernel& kernel, uint64_t now);
  void update_due(ResidentKernel& kernel);
  [[nodiscard]] bool is_drained(const ResidentKernel& kernel) const;

  SmState& sm_;
  IssueSlots& slots_;
  WarpFrontEnd& front_end_;
  uint32_t due_ = 0;                                      ///< kernels that are due to be reported
  uint32_t ending_blocks_ = 0;                            ///< whose warps have ended, but not their loads
  uint32_t undrained_ = 0;                                ///< kernels that are
  uint64_t block_slots_ = 0, warp_slots_ = 0;             ///< that are taken, a bit each
  std::vector<std::unique_ptr<ResidentKernel>> kernels_;  ///< by KernelLaunch::slot
  uint64_t next_age_ = 0;
};

}  // namespace gpusim::comp
