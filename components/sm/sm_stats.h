// Counts of one SM in one kernel. Names are nvprof's where one exists; docs/statistics.md says what each
// means.
#pragma once
#include <array>
#include <cstdint>

#include "components/lsu/l1_stats.h"
#include "components/sm/stall_cause.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

inline bool has_instruction_cache(const core::MachineConfig& machine) {
  return machine.instruction.l1_bytes != 0;
}
inline bool has_block_clusters(const core::MachineConfig& machine) { return machine.clusters.gpcs != 0; }
inline bool has_register_banks(const core::MachineConfig& machine) { return machine.sm.register_banks != 0; }

// What blocks executed: counted in functional runs too.
#define GPUSIM_SM_WORK_COUNTERS(COUNTER)                                                                     \
  COUNTER(warp_instructions, "warp_instructions", "1",                                                       \
          "PTX instructions executed by warps, before lowering", {.per_sm = "warp_instructions"})            \
  COUNTER(thread_instructions, "thread_instructions", "1", "the same times active threads",                  \
          {.per_sm = "thread_instructions"})                                                                 \
  COUNTER(inst_executed, "inst_executed", "1", "machine operations executed by warps, after lowering",       \
          {.reference = "nvprof", .per_sm = "inst_executed"})                                                \
  COUNTER(inst_issued, "inst_issued", "1", "machine operations issued, replays included",                    \
          {.reference = "nvprof", .per_sm = "inst_issued"})                                                  \
  COUNTER(longest_warps, "longest_warp_of_blocks", "1",                                                      \
          "machine operations of the warp that executes the most of its block, summed over blocks")          \
  COUNTER(longest_warp, "longest_warp", "1", "machine operations of the warp that executes the most of all", \
          {.sum = core::CounterSum::kMost})                                                                  \
  COUNTER(flops, "flop_count", "1",                                                                          \
          "floating-point operations of active threads; a fused or unfused multiply-add counts two")         \
  COUNTER(branches, "branch", "1", "branches executed by warps", {.reference = "nvprof"})                    \
  COUNTER(divergent_branches, "divergent_branch", "1", "branches that split their warp",                     \
          {.reference = "nvprof"})                                                                           \
  COUNTER(barriers, "barriers", "1", "barrier instructions executed by warps")                               \
  COUNTER(blocks, "blocks", "1", "thread blocks executed", {.per_sm = "blocks"})                             \
  COUNTER(warps, "warps", "1", "warps launched", {.per_sm = "warps"})

struct SmWork {
  GPUSIM_COUNTERS(SmWork, GPUSIM_SM_WORK_COUNTERS)
};

// What they asked of memory.
#define GPUSIM_SM_ACCESS_COUNTERS(COUNTER)                                                                 \
  COUNTER(active_cycles, "", "core cycles", "cycles with a resident warp", {.per_sm = "active_cycles"})    \
  COUNTER(active_warp_cycles, "", "core cycles", "resident warps integrated over cycles",                  \
          {.per_sm = "active_warp_cycles"})                                                                \
  COUNTER(global_loads, "gld_request", "1", "global load operations of warps", {.reference = "nvprof"})    \
  COUNTER(global_stores, "gst_request", "1", "global store operations of warps", {.reference = "nvprof"})  \
  COUNTER(local_loads, "local_load", "1", "local load operations of warps", {.reference = "nvprof"})       \
  COUNTER(local_stores, "local_store", "1", "local store operations of warps", {.reference = "nvprof"})    \
  COUNTER(shared_loads, "shared_load", "1", "shared-memory loads of warps, shared operands included",      \
          {.reference = "nvprof"})                                                                         \
  COUNTER(shared_stores, "shared_store", "1", "shared-memory stores and atomics of warps",                 \
          {.reference = "nvprof"})                                                                         \
  COUNTER(remote_shared, "remote_shared", "1",                                                             \
          "accesses of warps to the shared memory of other blocks of their cluster, counted above too",    \
          {.present = has_block_clusters})                                                                 \
  COUNTER(remote_shared_packets, "remote_shared_packets", "1",                                             \
          "32-byte sectors that these moved between SMs, of an atomic operation one for each thread",      \
          {.present = has_block_clusters})                                                                 \
  COUNTER(atomics, "atom_count", "1", "global atomic operations of warps", {.reference = "nvprof"})        \
  COUNTER(constant_loads, "constant_load", "1", "constant loads of warps")                                 \
  COUNTER(constant_hits, "constant_load_hit", "1", "of these, served whole by the SM's L1 constant cache") \
  COUNTER(texture_loads, "tex_request", "1", "texture reads of warps that touch a texel")                  \
  COUNTER(texture_transactions, "tex_transactions", "1",                                                   \
          "transactions of texture reads (32, 64 or 128 bytes)")                                           \
  COUNTER(instruction_hits, "inst_cache_hit", "1",                                                         \
          "lines of instructions that warps came to and found in the SM's cache",                          \
          {.present = has_instruction_cache})                                                              \
  COUNTER(instruction_misses, "inst_cache_miss", "1", "the same, not found there or still on their way",   \
          {.present = has_instruction_cache})                                                              \
  COUNTER(load_transactions, "load_transactions", "1",                                                     \
          "transactions of global and local loads and atomics (32, 64 or 128 bytes)",                      \
          {.per_sm = "load_transactions"})                                                                 \
  COUNTER(store_transactions, "store_transactions", "1", "transactions of global and local stores",        \
          {.per_sm = "store_transactions"})                                                                \
  COUNTER(load_bytes, "", "bytes", "moved by load transactions")                                           \
  COUNTER(store_bytes, "", "bytes", "moved by store transactions")                                         \
  COUNTER(requested_load_bytes, "", "bytes", "that threads asked for")                                     \
  COUNTER(requested_store_bytes, "", "bytes", "that threads stored")

struct SmAccesses {
  GPUSIM_COUNTERS(SmAccesses, GPUSIM_SM_ACCESS_COUNTERS)
};

// What conflicts cost.
#define GPUSIM_SM_CONFLICT_COUNTERS(COUNTER)                                                             \
  COUNTER(shared_replays, "l1_shared_bank_conflict", "1",                                                \
          "extra shared-memory steps because of bank conflicts",                                         \
          {.reference = "nvprof", .per_sm = "shared_replays"})                                           \
  COUNTER(shared_steps, "", "1", "steps of shared-memory accesses")                                      \
  COUNTER(register_bank_cycles, "register_bank_conflict", "cycles",                                      \
          "core cycles for which operations kept a pipe longer because their registers lie in one bank", \
          {.present = has_register_banks})                                                               \
  COUNTER(special_operands, "special_operands", "1",                                                     \
          "IEEE divisions and roots of a warp that called a subroutine for some lane's operands")        \
  COUNTER(subroutine_instructions, "", "1", "machine instructions that warps executed in these subroutines")

struct SmConflicts {
  GPUSIM_COUNTERS(SmConflicts, GPUSIM_SM_CONFLICT_COUNTERS)
};

struct SmStats : SmWork, SmAccesses, SmConflicts {
  CauseCounts slots{};  ///< sum equals issue slots of the kernel's cycles
  L1Stats l1;           ///< zeros without an L1 data cache
};

void add(SmStats& sum, const SmStats& s);

}  // namespace gpusim::comp
