// Shared-memory bank conflicts, compute capability 1.x rules (half-warps, 16 banks, broadcast of one word per
// step) and, with 32 lanes per access, the rules from 2.0 (lanes of one word never conflict). Plain
// functions: the SM adds the cycles. Source: CUDA C Programming Guide 2.x-4.x, appendix "Compute
// Capability 1.x" and "2.x", shared memory. From 7.0 on, a load of 64 or 128 bits whose lanes pair up takes
// half the steps (see SharedMemoryRules::pairs). Source: an engineer of NVIDIA in forum thread 77228,
// "Unexpected shared memory bank conflict": the memory returns one register of a warp a cycle, and lanes of
// one address share theirs; thread 373160 has counts of the profiler for 8.6 and 9.0 that agree.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

struct SharedMemoryRules {
  uint32_t banks = 16;
  uint32_t bank_bytes = 4;
  uint32_t lanes_per_access = 16;  ///< 16: half-warps; 32: whole warps
  /// Wide loads go to twice as many lanes at a time if lanes l and l ^ 1, or lanes l and l ^ 2, have the same
  /// address throughout the warp, as far as they are active. From compute capability 7.0 on.
  bool pairs = false;
  /// A sum of floating-point numbers is a loop: a load, the sum, and a compare-and-swap. From 5.0 on.
  bool loops_for_sums = false;
};

[[nodiscard]] SharedMemoryRules shared_memory_rules(const core::MachineConfig& machine);

struct SharedMemoryCost {
  uint32_t steps = 0;  ///< serial steps over all half-warps (or the warp)
  uint32_t least =
      0;  ///< steps without conflicts: groups with an active lane, times the bank-wide words per lane
  [[nodiscard]] uint32_t replays() const { return steps - least; }
};
/// Cost of an access with at least one lane. Conflict-free, a full warp takes 2 steps by half-warp rules, 1
/// by whole-warp rules.
[[nodiscard]] SharedMemoryCost shared_access_cost(const SharedMemoryRules& rules,
                                                  const isa::MemoryAccess& access, isa::OpKind kind);

/// Rounds of the loop in which the lanes add floating-point numbers, in each of which one lane of each word
/// succeeds; 0: another operation, or no loop. There are integer atomics in shared memory and
/// compare-and-swap, with which all others are made (Maxwell Tuning Guide, "Shared Memory Atomics"); ptxas 13
/// writes LDS, the sum, ATOMS.CAS, a test and a branch back for 7.5, 8.0 and 9.0. A swap that fails because
/// of another warp's is not seen.
[[nodiscard]] uint32_t shared_sum_rounds(const SharedMemoryRules& rules, const isa::MicroOp& op,
                                         const isa::MemoryAccess& access);

/// Cycles of such a round, of `latency(op_class)`.
template <class Latency>
[[nodiscard]] auto round_of_sums(const isa::MicroOp& op, Latency latency) {
  return latency(isa::OpClass::kLoadShared) +
         latency(op.type == isa::Type::kF64 ? isa::OpClass::kFp64 : isa::OpClass::kFp32) +
         latency(op.op_class) + latency(isa::OpClass::kInt) + latency(isa::OpClass::kBranch);
}

/// Steps of an atomic access, whose steps as a load are `cost`; `rounds`: shared_sum_rounds(), each of which
/// is a load and a swap. On 1.2/1.3 it is a lock loop: the whole access again for each lane of the busiest
/// word. By the whole-warp rule a bank serves its lanes one after the other, whether they update one word or
/// several: the busiest bank counts each of its lanes once. Random bins of a histogram take 3.5 steps that
/// way, as on an H100 (regress/hardware), and not 6.1.
[[nodiscard]] uint32_t shared_atomic_steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access,
                                           const SharedMemoryCost& cost, uint32_t rounds);

struct SharedOperationCost {
  SharedMemoryCost cost;
  uint32_t rounds = 0;  ///< shared_sum_rounds()
};
/// Cost of what an operation does to shared memory with at least one lane. A test of an mbarrier, whose
/// result is a predicate, is a load: it changes nothing.
[[nodiscard]] SharedOperationCost shared_operation_cost(const SharedMemoryRules& rules,
                                                        const isa::MicroOp& op,
                                                        const isa::MemoryAccess& access);

}  // namespace gpusim::comp
