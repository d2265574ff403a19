// What travels over links between Clocked modules: memory requests and replies, block starts and SM reports.
#pragma once
#include <cstdint>

#include "components/sm/stall_cause.h"
#include "simcore/config/limits.h"

namespace gpusim::comp {

struct KernelLaunch;
class Cluster;

/// Kernels that run at the same time, at most (the range of gpu.concurrent_kernels).
using core::kMaxKernels;
static_assert(core::kMaxTransactions <= 1 << 15, "tags have 15 bits");

enum class RequestKind : uint8_t { kRead, kWrite, kAtomic, kConstant, kTexture };

/// One memory transaction on its way from an SM (or a constant or texture cache) to a partition. Every
/// request is answered by exactly one reply; its sender has reserved the room for it (an MSHR or a
/// store-buffer entry) before sending.
struct MemoryRequest {
  uint64_t address = 0;  ///< of the first byte, aligned to the transaction size
  uint16_t bytes = 0;    ///< 32, 64 or 128 (constant, texture: the line)
  RequestKind kind = RequestKind::kRead;
  /// kAtomic: serial updates of the busiest word of `bytes` contiguous ones. kRead, kWrite: the 32-byte
  /// sectors from `address` on that are meant, a bit each, `bytes` in all; 0: they are contiguous.
  uint8_t parts = 0;
  uint32_t port : 15 = 0;      ///< reply destination: index of the crossbar's reply link
  uint32_t tag : 15 = 0;       ///< sender's entry
  bool wants_data : 1 = true;  ///< kAtomic without destination: the reply is an acknowledgement
  bool floating : 1 = false;   ///< kAtomic: of floating-point numbers
};

struct MemoryReply {
  uint64_t address = 0;
  uint16_t bytes = 0;
  RequestKind kind = RequestKind::kRead;
  MemoryLevel level = MemoryLevel::kDram;
  uint32_t port : 15 = 0;
  uint32_t tag : 15 = 0;
  bool has_data : 1 = true;
};
static_assert(sizeof(MemoryRequest) == 16 && sizeof(MemoryReply) == 16, "links hold many of them");

/// Dispatcher to SM: start block `block` of `run`.
struct BlockStart {
  KernelLaunch* run = nullptr;
  uint64_t block = 0;          ///< linear index, x fastest
  bool fresh = false;          ///< the SM holds nothing: its L1 caches are emptied and shaped for the kernel
  Cluster* cluster = nullptr;  ///< of a kernel that has any
};

/// SM to dispatcher.
struct SmReport {
  uint16_t sm = 0;
  uint16_t blocks_finished = 0;
  bool drained = false;  ///< no block of the kernel resident, no transaction of it outstanding
  uint8_t kernel = 0;    ///< KernelLaunch::slot
};

}  // namespace gpusim::comp
