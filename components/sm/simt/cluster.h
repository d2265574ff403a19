// A cluster of thread blocks that run together (PTX ISA, "Cooperative Thread Arrays", "barrier.cluster"):
// where the shared memories of its blocks are, and the barrier of its threads. Arrival and wait are two
// operations; a phase of the barrier is over when all threads of the cluster that are left have arrived.
// Plain classes without a time of their own.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "isa/exec/executor.h"

namespace gpusim::comp {

class BlockChecks;

/// The number by which lanes wait at the barrier of their cluster; those of a block have 0 to 15.
inline constexpr uint32_t kClusterBarrier = isa::kNumBarriers;

class Cluster {
 public:
  isa::ClusterMemory memory;
  std::array<BlockChecks*, isa::kMaxClusterBlocks> checks{};  ///< by rank, of a run with --check
  /// Where each block runs, for who has to tell it: an SM and a place there.
  struct Place {
    uint32_t sm = 0, block_slot = 0;
  };
  std::array<Place, isa::kMaxClusterBlocks> places{};

  /// Of `blocks` blocks, none of which has begun, with `threads` threads each.
  void begin(uint32_t blocks, uint32_t threads);
  void begin_block(uint32_t rank, std::byte* shared);
  /// True if it was the last one.
  bool end_block(uint32_t rank);
  [[nodiscard]] uint32_t blocks() const { return blocks_; }
  [[nodiscard]] bool runs(uint32_t rank) const { return (running_ >> rank & 1) != 0; }

  /// `threads` arrive at `time`; what they have stored before is where it belongs from then on. True if the
  /// phase is over.
  bool arrive(uint32_t threads, uint64_t time);
  /// `threads` exit, of which `arrived` have arrived in this phase.
  bool leave(uint32_t threads, uint32_t arrived, uint64_t time);
  /// Phases that are over, and the time of the last arrival in the last of them.
  [[nodiscard]] uint32_t phases() const { return phases_; }
  [[nodiscard]] uint64_t opened() const { return opened_; }
  [[nodiscard]] uint32_t live() const { return live_; }
  [[nodiscard]] uint32_t arrived() const { return arrived_; }

 private:
  bool open_if_complete();

  uint32_t blocks_ = 0, left_ = 0, running_ = 0;
  uint32_t live_ = 0, arrived_ = 0, phases_ = 0;
  uint64_t latest_ = 0, opened_ = 0;
};

/// The clusters of a launch that run.
class Clusters {
 public:
  Cluster& begin(uint32_t blocks, uint32_t threads);
  void end(const Cluster& cluster);
  void clear() { running_.clear(); }

 private:
  std::vector<std::unique_ptr<Cluster>> running_, idle_;
};

/// What the lanes of one warp have done at the barrier: arrived in a phase that goes on (`pending`) or that
/// is over (`open`), and not waited since.
struct ClusterArrivals {
  isa::LaneMask pending, open;
  uint32_t phase = 0;

  /// Brings it up to the present phase.
  void update(const Cluster& cluster) {
    if (phase == cluster.phases()) return;
    open = open | pending;
    pending = isa::LaneMask();
    phase = cluster.phases();
  }
};

}  // namespace gpusim::comp
