// The named barriers of one thread block (PTX ISA, "bar, barrier"): who has arrived, who waits, and what a
// reduction over the threads found. Plain class, no time of its own; the caller says when warps go on.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/exec/executor.h"

namespace gpusim::comp {

/// What one barrier operation of a warp asks for.
struct BarrierRequest {
  isa::BarrierAction action = isa::BarrierAction::kSync;
  uint32_t number = 0;
  uint32_t threads = 0;    ///< that complete the barrier; 0: all live threads of the block
  isa::LaneMask lanes;     ///< that execute it
  isa::LaneMask arriving;  ///< that count as arrived
  isa::LaneMask alive;     ///< of the warp
  isa::LaneMask holding;   ///< of a reduction: lanes whose predicate is true

  [[nodiscard]] bool waits() const { return action != isa::BarrierAction::kArrive; }
};
/// Reads the operands of `op` for `lanes` (at least one), of a warp whose live lanes are `alive`. Below
/// compute capability 7.0 (not `independent`) barriers are per warp: one lane that executes it does so for
/// all (PTX ISA 5.0, "bar"). An error text if the lanes name no barrier or different ones, else empty.
[[nodiscard]] std::string read_barrier_request(const isa::MicroOp& op, const isa::WarpContext& context,
                                               isa::LaneMask lanes, isa::LaneMask alive, bool independent,
                                               BarrierRequest& request);

class BlockBarriers {
 public:
  /// A barrier that has opened.
  struct Opened {
    uint64_t warps = 0;                 ///< that waited, one bit each
    uint32_t holding = 0, lacking = 0;  ///< threads whose predicate was true, or false
  };
  void reset() {
    barriers_ = {};
    arrived_ = 0;
  }
  /// Lanes of warp `warp` (below 64) arrive.
  void arrive(const BarrierRequest& request, uint32_t warp);
  /// Lanes of warp `warp` exit; those in `alive` are left.
  void leave(uint32_t warp, isa::LaneMask alive);
  /// Barriers, a bit each, at which lanes have arrived.
  [[nodiscard]] uint32_t arrived() const { return arrived_; }
  /// True if lanes have arrived and they complete the barrier of a block with `live` threads.
  [[nodiscard]] bool complete(uint32_t number, uint32_t live) const;
  /// Empties the barrier.
  Opened open(uint32_t number);

 private:
  /// Arrived lanes of a warp whose other lanes have not.
  struct Part {
    uint32_t warp;
    isa::LaneMask lanes;
  };
  struct Barrier {
    uint64_t warps = 0;
    uint32_t threads = 0;   ///< arrived
    uint32_t slots = 0;     ///< warps whose live lanes have all arrived x 32: compared with an explicit count
    uint32_t expected = 0;  ///< explicit count, 0 if none was given
    uint32_t holding = 0, lacking = 0;
    std::vector<Part> parts;
  };
  std::array<Barrier, isa::kAllBarriers> barriers_{};
  uint32_t arrived_ = 0;  ///< bit per barrier whose `threads` are not 0
};

/// Gives the result of a reduction to the lanes that waited for it with `op`.
void write_barrier_result(const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask lanes,
                          const BlockBarriers::Opened& opened);

}  // namespace gpusim::comp
