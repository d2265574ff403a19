// Values only (`--functional`): runs the blocks of a launch one after another, the warps of a block in turn
// from barrier to barrier, without time. Same micro-ops, same executor and same SIMT stacks as the timing
// model, so for race-free programs results and instruction counts are the same.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/checker/checker.h"
#include "components/kernel_run.h"
#include "components/simt_stack.h"

namespace gpusim::comp {

class FunctionalRunner {
 public:
  /// `max_operations`: warp operations after which a kernel counts as endless. `interrupted` is polled now
  /// and then.
  FunctionalRunner(const isa::GlobalMemory& memory, uint64_t max_operations,
                   std::function<bool()> interrupted, Checker* checker = nullptr)
      : memory_(memory),
        max_operations_(max_operations),
        interrupted_(std::move(interrupted)),
        checker_(checker) {}

  enum class Outcome { kDone, kError, kDeadlock, kInterrupted };
  /// Runs all blocks; counts go into run.sm[0] and run.pc. On kError and kDeadlock, error() says why.
  Outcome run(KernelRun& run);
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct Warp {
    SimtStack stack;
    isa::WarpContext context;
    bool at_barrier = false;
    uint32_t barrier = 0, barrier_threads = 0;
    isa::LaneMask barrier_lanes;
  };
  enum class Stop { kBarrier, kDone, kError };
  void prepare(KernelRun& run);
  bool run_block(KernelRun& run, uint64_t block);
  bool run_warps(KernelRun& run, uint64_t block);
  Stop run_warp(KernelRun& run, uint64_t block, Warp& warp);
  bool release_barriers(KernelRun& run, uint64_t block);
  bool step_memory(KernelRun& run, uint64_t block, Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes);
  bool step_transfer(KernelRun& run, uint64_t block, Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes);

  const isa::GlobalMemory& memory_;
  uint64_t max_operations_;
  std::function<bool()> interrupted_;
  Checker* checker_;               ///< of a run with --check
  BlockChecks* checks_ = nullptr;  ///< its part for the running block
  uint64_t operations_ = 0;
  std::string error_;
  bool deadlock_ = false;
  std::vector<Warp> warps_;
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> registers_, shared_, local_;
  std::vector<uint32_t> predicates_;
  isa::MemoryAccess access_;
};

}  // namespace gpusim::comp
