// How busy the load/store unit of an SM has been with global and local accesses since the start of the
// simulation, and what its oldest access has waited for. Plain counts of core cycles. Occupancies are entries
// integrated over cycles: the sum of when each left less when it came, right whenever nothing is on its way,
// as between kernels (GlobalPath::use() adds what is).
#pragma once
#include <cstdint>

#include "simcore/enum_array.h"

namespace gpusim::comp {

/// Why the transaction at the head of the queue could not go on.
enum class HeadWait : uint8_t {
  kMshr,         ///< no MSHR is free, of the SM's or of the L1's
  kStoreBuffer,  ///< no entry of the store buffer is
  kNetwork,      ///< the interconnect does not take it
  kMerge,        ///< its line is on its way, and the line's MSHR has no room for one more
  kWay,          ///< all lines of its set are on their way, or one has to be written back first
  kPage,         ///< its page is not known yet
  kCount
};

struct LsuUse {
  uint64_t port_cycles = 0;       ///< in which transactions left the queue, or the L1 looked them up
  uint64_t data_cycles = 0;       ///< of these, those in which only data of the L1 was still read
  uint64_t coalescer_cycles = 0;  ///< of these, those that transactions of accesses took
  uint64_t tag_cycles = 0;        ///< and of these, those of transactions that the L1 looked up
  uint64_t queued = 0;            ///< accesses in the queue x cycles
  uint64_t outstanding = 0;       ///< MSHRs in use x cycles
  uint64_t stores = 0;            ///< store-buffer entries in use x cycles
  uint64_t l1_outstanding = 0;    ///< MSHRs of the L1 in use x cycles
  core::EnumArray<uint64_t, HeadWait> waits{};
};

}  // namespace gpusim::comp
