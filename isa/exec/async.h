// cp.async and mbarrier (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and
// "Parallel Synchronization and Communication Instructions: mbarrier"). Values move when the copy issues;
// what waits for it waits in the timing model only.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// cp.async: MicroOp::memory is the destination, in shared memory; the sources behind its base are the global
/// address (64 bits) and, with kAsyncHasSize, how many bytes are read (the others become zero). Without the
/// predicate of kAsyncIgnores, which is pred_src[0]: where it holds, nothing is read. For the timing model
/// `access` is the load from global memory.
inline constexpr uint64_t kAsyncBytes = 0xff, kAsyncHasSize = 0x100, kAsyncIgnores = 0x200;
/// MicroOp::imm of a kFence that is cp.async.commit_group, or waits for copies only: in the low 32 bits until
/// at most so many of the committed groups are under way.
inline constexpr uint64_t kAsyncCommit = uint64_t{1} << 32, kAsyncWait = uint64_t{1} << 33;
inline constexpr uint32_t kAsyncWaitAll = ~0u;
/// With one of the two: groups of cp.async.bulk, which are counted for themselves. In the low 32 bits, too,
/// so that they say all of a wait. Alone: waits until what the warp has sent to other blocks' shared memory
/// is there.
inline constexpr uint32_t kAsyncBulk = uint32_t{1} << 31;
inline constexpr uint64_t kAsyncRemote = uint64_t{1} << 34;
/// Of a kFence that is nanosleep: the warp goes on after the nanoseconds in src[0], at most so many.
inline constexpr uint64_t kSleeps = uint64_t{1} << 36;
inline constexpr uint32_t kMostSleepNs = 1'000'000;
void execute_async_copy(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// What an operation on an mbarrier does.
enum class MbarrierAction : uint8_t {
  kInit,  ///< src: the count of arrivals
  kInvalidate,
  kArrive,        ///< src: count; dst[0], if there is one: the state before
  kArriveDrop,    ///< the same, and later phases expect so many fewer
  kExpectArrive,  ///< src: bytes that are still to come; then one arrival
  kExpect,        ///< src: bytes
  kComplete,      ///< src: bytes that have come
  kTest,          ///< src: a state; pred_dst[0]: its phase is over
  kTestParity,    ///< src: the parity of a phase
};
/// MicroOp::imm is the action, MicroOp::memory the object in shared memory; the sources stand behind its
/// base.
void execute_mbarrier(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// Tells the mbarriers of the blocks that still run.
void complete_arrival(const WarpContext& context, const Arrival& arrival);

/// The 64 bits of an mbarrier object, which PTX leaves open: arrivals that each phase expects, those that the
/// current one still waits for, bytes that are to come, and the parity of the current phase.
struct Mbarrier {
  static constexpr uint64_t kMostArrivals = (uint64_t{1} << 20) - 1;
  uint32_t expected = 0, pending = 0;
  int32_t bytes = 0;
  bool odd = false;

  [[nodiscard]] static Mbarrier unpacked(uint64_t word);
  [[nodiscard]] uint64_t packed() const;
  /// The object in memory has been told that these bytes have come.
  static void complete(std::byte* object, uint32_t bytes);
  /// Begins the next phase if the current one is over.
  void finish_phase();
};

}  // namespace gpusim::isa
