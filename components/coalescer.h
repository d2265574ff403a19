// Half-warp memory coalescer of compute capability 1.x: turns the lane addresses of one warp access into
// transactions. Rules: CUDA C Programming Guide 2.x-4.x, appendix "Compute Capability 1.x" (global
// memory): 1.2/1.3 serve the segment of the lowest active thread and shrink it; 1.0/1.1 coalesce only if
// thread k touches word k of an aligned segment. Plain class without time of its own; the load/store unit
// decides when a transaction leaves.
#pragma once
#include <array>
#include <cstdint>

#include "isa/executor.h"

namespace gpusim::comp {

struct Transaction {
  uint64_t address = 0;
  uint16_t bytes = 0;
  uint8_t operations = 1;  ///< atomics: updates of the busiest word (they are serial)
  uint32_t lanes = 0;      ///< that it serves, bit per lane
};

/// Transactions of one warp access; at most one per lane and 8-byte half of a 16-byte word on 1.0/1.1.
struct TransactionList {
  std::array<Transaction, 2 * isa::kWarpSize> items;
  uint32_t count = 0;
  void add(uint64_t address, uint32_t bytes, uint32_t lanes) {
    items[count++] = {address, static_cast<uint16_t>(bytes), 1, lanes};
  }
};

enum class CoalescingRule : uint8_t { kCc10, kCc12 };

/// Splits `access` (global or local addresses in access.address) by `rule`. Appends to `out` in the order of
/// issue.
void coalesce(CoalescingRule rule, const isa::MemoryAccess& access, TransactionList& out);

/// Fills Transaction::operations for an atomic access: how many of its lanes update the busiest word of each
/// transaction.
void count_atomic_operations(const isa::MemoryAccess& access, TransactionList& list);

}  // namespace gpusim::comp
