#include "analysis/advice/rules.h"

#include <array>

namespace gpusim::analysis::advice {

std::span<const Rule> rules() {
  static constexpr std::array<Rule, 21> kRules{{
      {"coalescing", "warps whose accesses lie in more sectors of memory than their bytes need", coalescing},
      {"packing", "records at places that loaded values say, of which few bytes are used", packing},
      {"partition_camping", "requests that crowd in a few memory partitions", partition_camping},
      {"shared_reuse", "values that several warps of a block load from global memory", shared_reuse},
      {"atomics", "atomic operations on global memory that wait for each other", atomics},
      {"bank_conflicts", "lanes of a warp that use different words of one bank of shared memory",
       bank_conflicts},
      {"constant_tables", "lanes of a warp that load different words of constant memory", constant_tables},
      {"fences", "memory fences in each turn of a loop", fences},
      {"trees", "steps of a tree in shared memory, each with a barrier", trees},
      {"kept_values", "values that the turns of a loop keep at one place of global memory", kept_values},
      {"spills", "registers that are kept in local memory", spills},
      {"local_arrays", "arrays of a thread that registers could hold, in local memory", local_arrays},
      {"occupancy", "registers or shared memory that keep further warps off an SM", occupancy},
      {"more_warps", "latency that too few warps of the launch hide", more_warps},
      {"block_size", "blocks so small that the SM's places for blocks, or their starts, limit the kernel",
       block_size},
      {"wide_accesses", "threads that access a few bytes each where their neighbours access the next",
       wide_accesses},
      {"wave_quantisation", "SMs that are done while others still have blocks", wave_quantisation},
      {"divergence", "lanes that are idle while others of their warp take another way", divergence},
      {"precision", "arithmetic in double precision", precision},
      {"fast_math", "divisions, roots and functions that a sequence of operations makes exact", fast_math},
      {"integer_division", "quotients and remainders of integers by a value that all threads share",
       integer_division},
  }};
  return kRules;
}

}  // namespace gpusim::analysis::advice
