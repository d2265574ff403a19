// Loops in which warps ask for one word of global memory again and again until another block has changed it:
// flags of blocks that take turns, look-back scans, locks, barriers of a grid. Found in the counts of a
// recording: an operation that reads what others write, and was executed more often than its address was
// computed.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct PollingLoop {
  uint64_t first = 0, last = 0;  ///< its operations; the last one branches back
  uint64_t asks = 0;             ///< the operation that reads the word
  /// The barrier behind it at which the other warps of a block wait meanwhile; the number of operations:
  /// none.
  uint64_t barrier = 0;
  double waits = 0;    ///< of warps: how often one came to ask for a word
  double repeats = 0;  ///< how often it had to ask again
};

/// `looks`, if given, grows by one for each time that an operation of the program is looked at.
[[nodiscard]] std::vector<PollingLoop> polling_loops(const KernelRecord& kernel, uint64_t* looks = nullptr);

}  // namespace gpusim::analysis
