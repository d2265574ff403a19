// How many blocks a computation that divides its data among them should have: time and energy of a run with
// M blocks from one run with another number. Kernels whose grid is M divide the data; those of one block work
// through a tree of M leaves (up-sweep and down-sweep of a prefix sum: 2 log2 M steps).
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/energy/run.h"
#include "simcore/config/choices.h"

namespace gpusim::analysis::energy {

/// Of one kernel, in seconds at the run's clock. A divided kernel's operations are of two kinds: those that a
/// warp executes for each tile of data (one element for each thread), and those that it executes however
/// much there is; their counts tell.
struct BlockParts {
  uint64_t blocks = 0;   ///< M of the run
  bool divided = false;  ///< else one block with a tree of `blocks` leaves
  uint64_t elements = 0, threads = 0;
  double launch = 0;                     ///< before the first block and after the last
  double tile_path = 0, fixed_path = 0;  ///< life of a block on its own: for each tile, and however many
  double tile_work = 0, fixed_work = 0;  ///< of a block, on the busiest unit
  double memory = 0;                     ///< all data over the DRAM's buses
  uint64_t sms = 0, resident = 0;        ///< blocks that the machine holds at a time
  double scale = 1;                      ///< what brings seconds_with(blocks) to the run's time
  core::CoalescingRule coalescing = core::CoalescingRule::kCc12;
  /// Warps access neighbouring words from where their block's piece begins on, and no cache keeps what the
  /// transactions bring besides.
  bool in_pieces = false;
  [[nodiscard]] double tiles_with(uint64_t m) const;
  /// Bytes of DRAM's transactions, by those of the run: pieces that do not begin where a transaction does
  /// take more of them.
  [[nodiscard]] double bytes_ratio(uint64_t m) const;
  /// Work of all blocks with `m` of them, by that of the run.
  [[nodiscard]] double work_ratio(uint64_t m) const;
  /// SMs that hold any, by those of the run.
  [[nodiscard]] double occupied_ratio(uint64_t m) const;
  /// Steps through a tree with `m` leaves, by those of the run.
  [[nodiscard]] double tree_ratio(uint64_t m) const;
  [[nodiscard]] double seconds_with(uint64_t m) const;
};
/// Whether the kernel's bytes are those of `blocks` pieces of neighbouring words, `elements` in all.
[[nodiscard]] bool moves_pieces(const KernelRecord& kernel, core::CoalescingRule rule, uint64_t elements,
                                uint64_t blocks);
/// `elements`: that all blocks of divided kernels have together.
[[nodiscard]] BlockParts block_parts(const KernelLaunch& run, const Recording& recording, uint64_t m,
                                     uint64_t elements);

/// The number of blocks that divide the data: the largest grid of the run. Throws core::RecordError if it is
/// below 2.
[[nodiscard]] uint64_t blocks_of(const Run& run);

/// J and s of all kernels with `m` blocks, from `base`.
struct BlockPrediction {
  double seconds = 0;
  core::EnergyAmounts joules{};
};
[[nodiscard]] BlockPrediction predict_blocks(const Run& base, uint64_t m);

/// Steps of one block that the run did, counted where PrefixSum::steps() has a formula.
struct CountedSteps {
  double elements = 0;   ///< N: words that the last divided kernel stores
  double computing = 0;  ///< words that a block reads, and intervals of the tree
  double memory = 0;     ///< transactions of a block's reads, and intervals of the tree
  double barriers = 0;   ///< of the tree
};
[[nodiscard]] CountedSteps counted_steps(const Run& run);

}  // namespace gpusim::analysis::energy
