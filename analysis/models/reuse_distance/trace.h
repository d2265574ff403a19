// Memory traces of threads, the input of the reuse-distance model. Text: a first line "blocksize: X Y Z",
// then one line "TID DIR ADDRESS BYTES" in decimal for each access; DIR 0 is a load, 1 a store. Only the
// order of the lines of one thread matters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/warp_trace.h"

namespace gpusim::analysis {

struct TraceLoad {
  uint64_t address = 0;
  uint32_t bytes = 0;
};

struct Trace {
  uint32_t block_threads = 0;
  std::vector<std::vector<TraceLoad>> threads;  ///< loads of each thread, in its order
};

/// Reads a trace; stores are dropped. Throws core::InputError with file, line and column for what is not as
/// above, threads from 2^22 on, and a file without loads.
[[nodiscard]] Trace parse_trace(std::string_view text, const std::string& name);

/// The warps of such a trace: the k-th accesses of a warp's threads are one, each waits for the one before,
/// and nothing lies between them.
[[nodiscard]] WarpTrace warps_of(const Trace& trace, const std::string& name);

}  // namespace gpusim::analysis
