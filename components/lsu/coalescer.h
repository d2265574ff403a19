// Memory coalescer: turns the lane addresses of one warp access into transactions. Rules: CUDA C Programming
// Guide 2.x-4.x, appendices "Compute Capability 1.x" and "2.x" (global memory). Half-warps: 1.2/1.3 serve the
// segment of the lowest active thread and shrink it; 1.0/1.1 coalesce only if thread k touches word k of an
// aligned segment. From 2.0 on: the lines that a warp touches (a half of it with 8-byte words, a quarter with
// 16-byte words), each with its 32-byte sectors. Plain functions without time of their own; the load/store
// unit decides when a transaction leaves.
#pragma once
#include <array>
#include <cstdint>

#include "isa/exec/executor.h"
#include "simcore/config/choices.h"

namespace gpusim::comp {

struct Transaction {
  uint64_t address = 0;
  uint16_t bytes = 0;
  uint8_t operations = 1;  ///< atomics: steps in which a partition performs them
  uint8_t sectors = 0;     ///< 2.0 and later: 32-byte sectors of the line at `address`, `bytes` in all
  uint32_t lanes = 0;      ///< that it serves, bit per lane
};

/// Transactions of one warp access; at most one per lane and 8-byte half of a 16-byte word on 1.0/1.1.
struct TransactionList {
  std::array<Transaction, size_t{2} * isa::kWarpSize> items;
  uint32_t count = 0;
  void add(uint64_t address, uint32_t bytes, uint32_t lanes) {
    items[count++] = {address, static_cast<uint16_t>(bytes), 1, 0, lanes};
  }
};

using core::CoalescingRule;

/// Splits `access` (global or local addresses in access.address) by `rule`. Appends to `out` in the order of
/// issue. `line`: bytes of a line, a power of two from 32 to 256 (2.0 and later).
void coalesce(CoalescingRule rule, const isa::MemoryAccess& access, TransactionList& out,
              uint32_t line = 128);

/// Splits the transactions of an atomic access into runs of neighbouring sectors (2.0 and later): the message
/// of an atomic has no mask of them.
void split_into_runs(const isa::MemoryAccess& access, TransactionList& list);

/// Fills Transaction::operations for an atomic access. From 2.0 on, sector after sector, the lanes of the
/// busiest word of each: lanes on one word are serial, those on neighbouring words are performed together,
/// and a histogram runs at the rate of its sectors on a V100 and an H100 (regress/hardware). Before, with no
/// measurement at hand, the lanes of the busiest word.
void count_atomic_operations(CoalescingRule rule, const isa::MemoryAccess& access, TransactionList& list);

}  // namespace gpusim::comp
