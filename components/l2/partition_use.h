// How busy a memory partition has been since the start of the simulation, and what its oldest request has
// waited for. Plain counts of interconnect cycles.
#pragma once
#include <cstdint>

#include "simcore/enum_array.h"

namespace gpusim::comp {

/// Why the oldest request of a partition could not be taken.
enum class PartitionWait : uint8_t {
  kNone,
  kMshr,       ///< no MSHR of the L2 slice is free
  kMerge,      ///< its line is on its way, and the line's MSHR has no room for one more
  kWay,        ///< all lines of its set are on their way
  kDramQueue,  ///< the way to DRAM is full
  kReply,      ///< replies do not leave
  kAtomics,    ///< the unit that performs atomics is busy
  kData,       ///< the port of the slice's data is busy
  kCount
};

struct PartitionUse {
  uint64_t requests = 0, replies = 0;  ///< one of each a cycle at most
  uint64_t atomic_cycles = 0;          ///< of the unit that performs atomics
  uint64_t data_cycles = 0;            ///< of the port of the slice's data
  uint64_t mshrs = 0;                  ///< of the L2 slice in use x cycles; right when nothing is on its way
  core::EnumArray<uint64_t, PartitionWait> waits{};
};

}  // namespace gpusim::comp
