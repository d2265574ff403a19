// Functional execution of one micro-op for the 32 lanes of one warp. The executor knows values, not time:
// components/ decides when an operation issues and calls execute_alu()/execute_memory() at that moment
// ("execute at issue"). SIMD: the semantic functions are plain loops over 32 contiguous lanes, compiled for
// several instruction sets; the widest that the CPU has is chosen once at lowering, and all give the same
// bits (see isa/exec/semantics/).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "isa/exec/micro_op.h"

namespace gpusim::isa {

/// A contiguous piece of device memory: [begin, end) in the device's address space, `data` is the host byte
/// of `begin`.
struct MemoryWindow {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::byte* data = nullptr;
  bool writable = true;
};

struct Texture;        // isa/exec/texture.h
class DeviceServices;  // isa/exec/device_services.h

/// Device memory as the executor sees it (implemented over simcore's DeviceMemory by components/).
class GlobalMemory {
 public:
  virtual ~GlobalMemory() = default;
  /// The allocation that holds `address`; a window with data == nullptr if none does.
  [[nodiscard]] virtual MemoryWindow window(uint64_t address) const = 0;
  /// For an access that begins in the allocation of `address` and ends behind it: a window that holds more,
  /// where that is allowed; else one with data == nullptr.
  [[nodiscard]] virtual MemoryWindow window_beyond(uint64_t address) const {
    (void)address;
    return {};
  }
  /// The texture with this handle (see texture_handle()); nullptr if there is none.
  [[nodiscard]] virtual const Texture* texture(uint64_t handle) const {
    (void)handle;
    return nullptr;
  }
  /// Who carries out system calls; nullptr if nobody does.
  [[nodiscard]] virtual DeviceServices* services() const { return nullptr; }
  /// Where `address` lies relative to the nearest allocation, for error messages; may be empty.
  [[nodiscard]] virtual std::string describe(uint64_t address) const {
    (void)address;
    return {};
  }
};

/// Windows of the generic address space (cvta): shared and local memory of the running thread's block.
inline constexpr uint64_t kSharedWindowBase = 0x0100'0000;
inline constexpr uint64_t kLocalWindowBase = 0x0200'0000;
inline constexpr uint64_t kWindowBytes = 0x0100'0000;
/// Functions have addresses of their own, so that a pointer to one is told from any other: number i of the
/// module's functions is at kCodeWindowBase + 16 i. Nothing can be loaded or stored there.
inline constexpr uint64_t kCodeWindowBase = 0x0300'0000;
inline constexpr uint64_t kFunctionStride = 16;
[[nodiscard]] constexpr uint64_t function_address(uint64_t number) {
  return kCodeWindowBase + kFunctionStride * number;
}
/// Texture objects and references are handles: number i of the launch's textures is kTextureWindowBase + 32
/// i. They are no addresses that can be loaded from.
inline constexpr uint64_t kTextureWindowBase = 0x0400'0000;
inline constexpr uint64_t kTextureStride = 32;
[[nodiscard]] constexpr uint64_t texture_handle(uint64_t number) {
  return kTextureWindowBase + kTextureStride * number;
}
/// Generic addresses of kernel parameters (cvta.param); they can only be read.
inline constexpr uint64_t kParamWindowBase = 0x0500'0000;
/// Shared memory of a cluster's blocks: that of rank r begins at kClusterWindowBase + r * kClusterStride. The
/// same addresses in the .shared::cluster space are less by kSharedWindowBase, as those of the own block are;
/// they are beyond any offset in a block's shared memory.
inline constexpr uint64_t kClusterWindowBase = 0x0600'0000;
inline constexpr uint64_t kClusterStride = 0x0010'0000;
inline constexpr uint32_t kMaxClusterBlocks = 16;
inline constexpr uint64_t kClusterWindowBytes = kMaxClusterBlocks * kClusterStride;
/// Device allocations start here, above all windows and below 4 GiB so that 32-bit PTX can address them.
inline constexpr uint64_t kDeviceMemoryBase = 0x1000'0000;

enum class FaultKind : uint8_t {
  kNone,
  kOutOfBounds,  ///< global, shared, local, const or param access outside its allocation
  kMisaligned,
  kReadOnly,      ///< store to constant memory
  kNoTexture,     ///< tex or txq of a value that is no texture's handle
  kTextureShape,  ///< tex of another geometry than the texture has
  kSurface,       ///< suld.trap or sust.trap outside of the surface
  kNoSurface,     ///< sust to what can only be read
  kMatrixPlace,   ///< wmma: the lanes give different addresses or strides
  kTrap,
  kAssert,         ///< an assert() of the program failed
  kBadFree,        ///< free() of an address that malloc() has not given
  kStack,          ///< alloca of more than is left of the stack
  kAbsentBlock,    ///< shared memory of a block that the cluster does not have, or that does not run
  kRemote,         ///< an operation that is not simulated on the shared memory of another block
  kNoTensorMap,    ///< a copy of a tensor whose map is not one
  kTensorRank,     ///< with another number of coordinates than the tensor has dimensions
  kTensorElement,  ///< a reduction that the tensor's elements do not have
  kNoService,      ///< a system call that nobody carries out
};

/// How the lanes' addresses lie, as far as the executor noticed.
enum class AccessShape : uint8_t {
  kOther,       ///< anything, one of the others included
  kUniform,     ///< all active lanes at one address
  kContiguous,  ///< all 32 lanes active, lane l at address[0] + l * bytes
};

/// Bytes that an asynchronous copy brings to where an mbarrier counts them. ranks: the blocks of the cluster
/// that have it, at `offset` of their shared memory.
struct Arrival {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint16_t ranks = 0;  ///< none: nothing arrives anywhere
};

/// What one memory micro-op did: the coalescer's input, and the fault if there was one.
struct MemoryAccess {
  alignas(64) uint64_t address[kWarpSize];  ///< per lane, valid where `lanes` is set; byte address in `space`
                                            ///< (shared/local: offset)
  LaneMask lanes;                           ///< lanes that accessed `space`
  Space space = Space::kNone;  ///< kGlobal, kShared, kLocal, kConst, kParam (generic accesses are resolved;
                               ///< if the lanes of one generic access differ in space, kGlobal lanes are
                               ///< reported here and the others are treated as shared at no cost)
  uint16_t bytes = 0;          ///< per lane: element_bytes * elements
  FaultKind fault = FaultKind::kNone;
  /// Hints, which save the timing model a pass over the addresses: the warp's shape, and those of its halves
  /// (kContiguous there: active lane l of the half at its first address + l * bytes).
  AccessShape shape = AccessShape::kOther;
  AccessShape half[2] = {AccessShape::kOther, AccessShape::kOther};
  uint64_t fault_address = 0;
  uint8_t fault_lane = 0;
  /// An atomic operation has left everything there as it was. Whoever asks clears it before.
  bool changed_nothing = false;
  /// Lanes whose place is the shared memory of another block of the cluster; `space` is kShared then, and
  /// rank[] has the blocks of all lanes. Valid where the warp's block has a cluster.
  LaneMask remote;
  uint8_t rank[kWarpSize];
  /// Of an operation with MemoryOperand::asynchronous in a warp that defers arrivals: what is to be told an
  /// mbarrier once the access is complete.
  Arrival arrival;

  void set_shape(AccessShape of_warp, AccessShape of_low_half, AccessShape of_high_half) {
    shape = of_warp;
    half[0] = of_low_half;
    half[1] = of_high_half;
  }
  void set_shape(AccessShape of_all) { set_shape(of_all, of_all, of_all); }
};

/// MicroOp::imm of an isspacep that asks for .shared::cluster, besides the Space.
inline constexpr uint64_t kOfCluster = 0x100;
/// A read of %envreg has the register's number above the SpecialRegister in MicroOp::imm.
inline constexpr int kEnvregShift = 8;

/// Where the shared memories of a cluster's blocks are, by rank; nullptr: the block has not begun, or has
/// ended.
struct ClusterMemory {
  std::byte* shared[kMaxClusterBlocks] = {};
};

struct WarpContext;
/// Sees operations instead of their semantic functions, which it calls itself: a checker puts observed_memory
/// and observed_exec into the operations of a kernel and itself into the contexts of its warps. What is not
/// observed pays nothing.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void memory(const MicroOp& op, WarpContext& context, LaneMask mask, MemoryAccess& access) = 0;
  virtual void exec(const MicroOp& op, WarpContext& context, LaneMask mask) = 0;
};

/// Everything one warp's semantic functions may touch. Owned by the SM (or the functional runner).
struct WarpContext {
  std::byte* bank[2] = {nullptr, nullptr};  ///< indexed by Bank; 64-byte aligned rows
  /// The 32 lanes of a register, literal or other row.
  [[nodiscard]] std::byte* row(const RowRef& ref) const {
    return bank[static_cast<size_t>(ref.bank)] + ref.offset;
  }
  uint32_t* predicates = nullptr;  ///< num_predicates lane masks
  // Memories
  std::byte* shared = nullptr;
  uint32_t shared_bytes = 0;
  uint32_t param_bytes = 0;
  const std::byte* params = nullptr;
  const GlobalMemory* global = nullptr;
  MemoryWindow window;           ///< last window used: most accesses hit it
  MemoryWindow previous_window;  ///< the one before: kernels often take turns between two buffers
  std::byte* local = nullptr;    ///< 32 lanes x local_bytes, lane-major
  uint32_t local_bytes = 0;
  LaneMask existing;  ///< lanes that hold a thread (the last warp of a block may be partial)
  // Block and grid, for special registers
  uint64_t clock = 0;  ///< core cycle of the issue; set by the caller when the op is kSpecial
  uint64_t globaltimer_ns = 0;
  uint64_t grid_id = 0;
  uint64_t grid_workspace = 0;  ///< of a cooperative launch: %envreg1 and %envreg2 (high and low half)
  uint32_t warp_in_block = 0, warps_in_block = 0, sm = 0, num_sms = 0, warp_slot = 0;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t ntid[3] = {}, ctaid[3] = {}, nctaid[3] = {};
  uint32_t tid[3][kWarpSize] = {};
  // The block's cluster; without one the block is a cluster of its own.
  const ClusterMemory* cluster = nullptr;
  uint32_t cluster_rank = 0;
  uint32_t cluster_ctaid[3] = {}, cluster_nctaid[3] = {1, 1, 1};
  bool explicit_cluster = false;
  bool defers_arrivals =
      false;  ///< bytes arrive at an mbarrier when the caller says so (MemoryAccess::arrival)
  ExecutionObserver* observer = nullptr;  ///< of a kernel that is checked
};

/// The MemFn and the ExecFn of an observed operation.
inline void observed_memory(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  ctx.observer->memory(op, ctx, mask, access);
}
inline void observed_exec(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  ctx.observer->exec(op, ctx, mask);
}

/// Guard predicate of `op` applied to the lanes in `active`.
[[nodiscard]] inline LaneMask guarded(const MicroOp& op, const WarpContext& ctx, LaneMask active) {
  if (op.guard == kNoPredicate) return active;
  const uint32_t p = ctx.predicates[op.guard];
  return active & LaneMask(op.guard_negated ? ~p : p);
}

/// Lanes in which the PTX instructions that `op` stands for count: `lanes` of its guard where it took the
/// place of a branch, else all that come to it.
[[nodiscard]] inline LaneMask counted(const MicroOp& op, LaneMask active, LaneMask lanes) {
  return op.counts_guarded ? lanes : active;
}

/// An operation of the whole warp that only some lanes have come to.
[[nodiscard]] inline bool lacks_lanes(const MicroOp& op, LaneMask mask) {
  return op.whole_warp && !mask.full() && mask.any();
}

/// Runs a kAlu micro-op for the lanes in `mask` (the guard applied, see guarded()). A folded shared load must
/// have run before, through execute_memory() on KernelImage::folded_loads[op.folded_load] with the same mask.
inline void execute_alu(const MicroOp& op, WarpContext& ctx, LaneMask mask) { op.exec(op, ctx, mask); }

/// Runs a load, store or atomic; `access` is overwritten (addresses only where it ran). After a fault no data
/// has moved and access.fault names it.
inline void execute_memory(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  op.mem(op, ctx, mask, access);
}

/// "misaligned access" and so on, for messages.
[[nodiscard]] std::string_view fault_name(FaultKind kind);

}  // namespace gpusim::isa
