// The machine form of a kernel: micro-ops with every operand, timing class and semantic function resolved, so
// that the hot path does no look-up. Produced by lower_kernel() (isa/lowering/lowering.h); executed by
// isa/exec/executor.h; timed by components/.
//
// Register file of a warp: rows of 32 lanes x 4 bytes (128 bytes), lane-contiguous. A 64-bit register takes
// two rows and holds 32 contiguous 8-byte lanes, starting at an even row. 8- and 16-bit registers use the low
// bits of a 32-bit lane. A predicate is one 32-bit lane mask. Register allocation happens at lowering: rows
// are shared by values of one width whose live ranges do not overlap (per-thread liveness; every write is
// masked by the active lanes, and lanes of one width lie over each other).
#pragma once
#include <array>
#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "isa/ptx/types.h"

namespace gpusim::isa {

struct MicroOp;
struct WarpContext;
struct MemoryAccess;

/// Computes one non-memory micro-op for the lanes in `mask` (guard already applied).
using ExecFn = void (*)(const MicroOp&, WarpContext&, LaneMask mask);
/// Executes one memory micro-op: computes lane addresses into `access`, moves the data, reports faults in
/// `access`.
using MemFn = void (*)(const MicroOp&, WarpContext&, LaneMask mask, MemoryAccess& access);

/// What the micro-op is to the control logic of an SM.
enum class OpKind : uint8_t {
  kAlu,          ///< exec() writes registers or predicates
  kLoad,         ///< mem(); also ldu, ld.const
  kStore,        ///< mem()
  kAtomic,       ///< mem(); atom (dst) and red (no dst), global or shared
  kBranch,       ///< to `target` for lanes in the guard; unconditional without a guard
  kBranchTable,  ///< brx.idx: each lane of the guard to its entry src[0] of the table `target`, `imm` entries
  kCall,         ///< of a function with a frame on the call stack: pushes the return point (see CallTarget)
  kReturn,       ///< from such a function
  kSync,         ///< exec() (if any) once all live lanes of the member mask, the last source, are there
  kBarrier,      ///< bar, barrier: see BarrierAction
  kFence,        ///< membar/fence: the warp waits for its own outstanding stores and loads
  kExit,         ///< lanes in the guard leave
  kTrap,  ///< the kernel ends with an error: trap without sources, a failed assert() with kAssertSources
  kNop,   ///< keeps the PTX instruction count of a block whose instructions all vanished
};

// Sources of a kTrap that is a failed assert(): addresses of the condition's text, the file's name and the
// function's name; between the last two the line.
inline constexpr uint8_t kAssertCondition = 0, kAssertFile = 1, kAssertLine = 2, kAssertFunction = 3,
                         kAssertSources = 4;

/// What a kBarrier micro-op does (MicroOp::modifiers). All but kArrive wait until the barrier is complete;
/// the reductions then write the same result in all lanes: to dst[0] how many threads had the predicate
/// pred_src[0], to pred_dst[0] whether all or any had it.
/// The last two are of the barrier of the block's cluster, which has no number.
enum class BarrierAction : uint8_t {
  kSync,
  kArrive,
  kRedPopc,
  kRedAnd,
  kRedOr,
  kClusterArrive,
  kClusterWait
};
/// MicroOp::imm of a kClusterArrive that is .relaxed: what the warp has stored before may come later.
inline constexpr uint64_t kClusterRelaxed = 1;
/// MicroOp::imm of an atomic operation of one element that is one towards the host, too (.sys): it may write
/// the same word at the same time. Others are atomic because the device's operations go one after another.
inline constexpr uint64_t kSystemScope = 1;
// MicroOp::imm of a kBarrier: the number of the barrier in the low bits, or a flag that src[0] has it;
// whether the last source has the count of threads; the value of a reduction's predicate that is a constant.
inline constexpr uint32_t kNumBarriers = 16;
inline constexpr uint64_t kBarrierNumberInSource = 0x10;
inline constexpr uint64_t kBarrierHasCount = 0x20;
inline constexpr uint64_t kBarrierConstant = 0x40;
/// Or neither: the barrier of the four warps that the warp multiplies matrices with (wgmma). Their numbers
/// lie behind those of the block and that of the cluster.
inline constexpr uint64_t kBarrierOfWarpgroup = 0x80;
/// With it: each of the four waits for its groups of products, but for the latest (isa/exec/wgmma.h).
inline constexpr uint64_t kBarrierAfterMatrices = 0x100;
inline constexpr uint32_t kWarpsOfWarpgroup = 4, kMaxWarpgroups = 8;
inline constexpr uint32_t kFirstWarpgroupBarrier = kNumBarriers + 1,
                          kAllBarriers = kFirstWarpgroupBarrier + kMaxWarpgroups;

/// Timing class: names a row in the machine's [latency] and [pipes.*] tables (op_class_name()).
enum class OpClass : uint8_t {
  kInt,    ///< 32-bit and narrower add, sub, logic, shift, min, max, compare, select, mov, address arithmetic
  kInt64,  ///< integer operations on 64 bits (two machine operations)
  kIntMul24,    ///< mul24, mad24, 16-bit multiplies
  kIntMul,      ///< 32-bit multiply and mad (four 16-bit operations on 1.x)
  kIntMulWide,  ///< from 7.0 on 32-bit products that keep the upper half: mul.wide, mad.wide, mul.hi, mad.hi
  kIntMul64,    ///< 64-bit multiply and mad, mul.wide.32 before 7.0
  kIntDivU32,
  kIntDivS32,  ///< 32-bit division and remainder (a subroutine on every machine)
  kIntDiv64,
  kBitCount,  ///< popc, clz, bfind, brev, bfe, bfi, fns
  kFp32,      ///< add, sub, mad, fma, min, max, abs, neg, compare of f32
  kFp32Mul,   ///< mul.f32 (may also use the SFU's multipliers on GT200)
  kHalf,      ///< add, sub, mul, fma, min, max, abs, neg, compare of f16, bf16 and their pairs
  kFp32Div,   ///< approximate f32 division (the sm_1x div.f32, div.full)
  kFp32DivRn,
  kFp32SqrtRn,
  kFp32RcpRn,  ///< IEEE forms from sm_20
  kSfuRcp,     ///< rcp.approx, div.approx
  kSfuRsqrt,   ///< rsqrt, lg2
  kSfuSqrt,    ///< sqrt.approx
  kSfuSin,     ///< sin, cos, ex2, tanh
  kFp64,       ///< add, sub, mul, mad, fma, min, max, compare of f64
  kFp64Div,
  kFp64Sqrt,
  kCvt,            ///< conversions between 32-bit and narrower types
  kCvt64,          ///< conversions from or to f64 or 64-bit integers
  kSharedOperand,  ///< MAD, MUL, ADD with one operand from shared memory (1.x)
  kWarp,           ///< vote, shfl, match, activemask
  kMmaHalf,        ///< wmma.mma of f16 and bf16: 16 x 8 results, 16 products each
  kMmaInt8,        ///< matrix operation on 8-bit integers
  kMmaFp64,        ///< wmma.mma of f64: 8 x 8 results, 4 products each
  kWgmmaHalf,      ///< step of wgmma of f16, bf16, and tf32 (half the products): as kMmaHalf
  kWgmmaInt8,      ///< step of wgmma of 8-bit numbers: 8 x 8 results, 32 products each
  kWgmmaLoad,      ///< what wgmma reads of shared memory for some of its steps
  kSpecial,        ///< clock and other slow special registers
  kLoadGlobal,
  kStoreGlobal,
  kAtomGlobal,
  kLoadLocal,
  kStoreLocal,
  kLoadShared,
  kStoreShared,
  kAtomShared,
  kLoadConst,
  kLoadParam,  ///< kernel parameter (shared memory on 1.x, constant bank later)
  kTexture,    ///< tex, txq
  kBranch,
  kCall,  ///< a call of a function with a frame, the return from it, a branch to an entry of a table
  kBarrier,
  kFence,
  kExit,
  kNop,
  kReconverge,  ///< from 7.0 on, where lanes that have parted meet (bsync)
  kFenceBlock,  ///< a fence that orders accesses for the warp's own block alone
  kCount
};
/// Behind operations of the class a warp waits until it is known where it goes on.
[[nodiscard]] constexpr bool redirects(OpClass c) {
  return c == OpClass::kBranch || c == OpClass::kCall || c == OpClass::kReconverge;
}
/// Configuration key of a class: "int", "fp32_mul", "load_global", ...
[[nodiscard]] std::string_view op_class_name(OpClass c);

/// Where an operand row lives; the byte offset is added to WarpContext::bank[bank].
enum class Bank : uint8_t {
  kRegister = 0,  ///< the warp's register rows
  kConstant = 1,  ///< the kernel's literal rows (KernelImage::literals), every literal broadcast to 32 lanes
};
struct RowRef {
  RowRef() = default;
  RowRef(Bank in, uint32_t at) : bank(in), offset(at) {}

  Bank bank : 1 = Bank::kRegister;
  uint32_t offset : 31 = 0;  ///< bytes
};

/// Which variable's address a constant of the code was made from (KernelImage::addressed), so that a checker
/// can tell an address from a number: none, no single one, or number kFirstObject + i.
using ObjectId = uint16_t;
inline constexpr ObjectId kNoObject = 0, kMixedObjects = 1, kFirstObject = 2;
/// The object of a sum of two constants.
[[nodiscard]] constexpr ObjectId joined_object(ObjectId a, ObjectId b) {
  return a == kNoObject ? b : b == kNoObject ? a : kMixedObjects;
}

inline constexpr uint16_t kNoPredicate = 0xffff;
inline constexpr uint32_t kNoTarget = ~0u;

/// Memory part of a load, store or atomic.
struct MemoryOperand {
  /// An atomic operation that one lane does for all (isa/lowering/aggregate_atomics.cpp): never, if no lane
  /// of the warp is missing, always; or one lane for all of the same address. Values are as ever;
  /// MemoryAccess then has one lane, if the addresses are equal, or one for each address.
  enum class Aggregation : uint8_t { kNone, kFullWarp, kAlways, kEachAddress };
  Space space = Space::kNone;  ///< kGeneric is resolved lane by lane at run time
  Type type = Type::kNone;     ///< element type in memory; decides sign or zero extension
  uint8_t element_bytes = 0;   ///< 1, 2, 4, 8
  uint8_t elements = 1;        ///< vector size 1, 2, 4 (8)
  uint8_t align_mask = 0;      ///< address bits that must be zero besides the size's: part of a larger access
  bool has_base = false;       ///< address = base register (src[0]) + offset; else absolute offset
  bool base_is_64 = false;
  bool is_volatile = false;
  bool is_spill =
      false;  ///< a register saved or an argument passed by the compiler: no access of the program
  bool bypasses_l1 = false;   ///< .cg, .cv, volatile and ordered loads
  bool asynchronous = false;  ///< a load that goes to shared memory (cp.async): nothing waits for it
  bool read_only = false;     ///< ld.global.nc: nobody writes there while the kernel runs
  bool cluster = false;       ///< .shared::cluster: also the shared memory of the cluster's other blocks
  Aggregation aggregation = Aggregation::kNone;
  ObjectId object = kNoObject;  ///< of `offset`
  int64_t offset = 0;
};

/// One machine operation of a warp. What most operations need lies in the first two cache lines.
struct alignas(64) MicroOp {
  ExecFn exec = nullptr;  ///< kAlu (and an operation with a folded shared operand)
  MemFn mem = nullptr;    ///< kLoad, kStore, kAtomic
  OpKind kind = OpKind::kNop;
  OpClass op_class = OpClass::kNop;
  uint8_t num_dst = 0;
  uint8_t num_src = 0;
  Type type = Type::kNone;  ///< operation type (flops and statistics)
  bool whole_warp = false;  ///< needs all 32 lanes (wmma); see lacks_lanes()
  uint8_t modifiers = 0;    ///< semantic function's own use (compare op, boolean op)
  uint8_t flops = 0;        ///< floating-point operations per active lane (fma = 2)
  uint8_t num_sb_reads = 0;
  uint8_t num_sb_writes = 0;
  bool guard_negated = false;
  uint8_t further_slots =
      0;  ///< issue slots that it takes after its first, for an operation of several instructions
  bool may_wait = false;        ///< a branch back: the loop may read what lanes outside of it write
  bool has_subroutine = false;  ///< that some operands of an IEEE division or root take
  bool counts_guarded = false;  ///< ptx_count counts where the guard holds: the branch that did was replaced
  bool others_access = false;   ///< a store where other threads may read (isa/lowering/foreign_stores.cpp)
  uint16_t guard = kNoPredicate;
  uint16_t ptx_count = 1;  ///< PTX instructions this micro-op stands for (dropped and folded ones included)
  std::array<RowRef, 4> dst{};
  std::array<RowRef, 10> src{};
  /// Scoreboard: identifiers read and written. A row's id is its index (64-bit registers: the first row);
  /// predicate p has id KernelImage::num_rows + p.
  std::array<uint16_t, 12> sb_reads{};
  std::array<uint16_t, 7> sb_writes{};
  /// An operation that writes more predicates (tests of bits) has no other results: their numbers are as far
  /// apart as those in `sb_writes`.
  std::array<uint16_t, 2> pred_dst{kNoPredicate, kNoPredicate};
  std::array<uint16_t, 3> pred_src{kNoPredicate, kNoPredicate, kNoPredicate};
  std::array<bool, 3> pred_negated{};
  /// A shared-memory load folded into this operation (index into KernelImage::folded_loads), kNoTarget if
  /// none: it executes first, writes its own register row, and takes no issue slot.
  uint32_t folded_load = kNoTarget;
  uint32_t target = kNoTarget;      ///< kBranch: micro-op index
  uint32_t reconverge = kNoTarget;  ///< kBranch that may diverge: micro-op index of the immediate
                                    ///< post-dominator (kNoTarget: at exit)
  uint32_t ptx_index = 0;           ///< statement this comes from (KernelImage::ptx)
  uint64_t imm = 0;                 ///< barrier number, special-register component, permute mode, ...
  MemoryOperand memory;
};
static_assert(sizeof(MicroOp) == 192, "three cache lines");

/// A function that is called through the call stack (recursive, or through its address) rather than inlined.
/// kCall: src[0] is the stack pointer, the local address of the callee's frame; a direct call has the
/// function's number in `target`, an indirect one its 64-bit address in src[1]; `imm` is the signature that
/// the call assumes.
struct CallTarget {
  std::string name;
  uint32_t entry = kNoTarget;  ///< micro-op index; kNoTarget: it has no code in this kernel
  uint32_t frame_bytes = 0;    ///< arguments, results, .local variables, spilled and saved registers
  uint64_t signature = 0;      ///< sizes and offsets of its parameters and results
};

/// Bytes whose first one is 64-byte aligned, so that register and literal rows can be read with full-width
/// SIMD loads.
using AlignedBytes = std::vector<std::byte, boost::alignment::aligned_allocator<std::byte, 64>>;
inline constexpr uint32_t kRowBytes = 4 * kWarpSize;

/// A PTX statement as statistics and error messages show it.
struct PtxStatement {
  std::string text;
  SourceLoc loc;
  uint32_t source_line = 0;   ///< from .loc, 0 if none
  uint32_t source_file = 0;   ///< its file: index into KernelImage::source_files
  uint32_t inlined_line = 0;  ///< of the outermost call through which it was inlined there, 0 if none
  uint32_t inlined_file = 0;
};

/// Classes of machine instructions, as regress/compiler/opcodes.csv has them; there, kInteger is several:
/// arithmetic, products, moves, predicates, constants and what the uniform data path does.
enum class MachineClass : uint8_t {
  kInteger,
  kFp32,
  kFp64,
  kHalf,
  kTensor,
  kSpecial,  ///< reciprocals, sines and the like, and conversions from and to floating point
  kGlobal,   ///< accesses to global memory and textures
  kShared,
  kLocal,
  kAtomic,
  kWarp,     ///< shuffles, votes
  kControl,  ///< branches, barriers, fences, where warps part and meet
  kCount
};
inline constexpr std::array<std::string_view, static_cast<size_t>(MachineClass::kCount)> kMachineClasses = {
    "integer", "fp32",   "fp64",  "half",   "tensor", "special",
    "global",  "shared", "local", "atomic", "warp",   "control"};
using MachineCounts = std::array<uint32_t, static_cast<size_t>(MachineClass::kCount)>;

/// Where a .shared variable lies.
struct PlacedVariable {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

/// A .shared or .local variable whose address the code takes. A function that is inlined has its variables
/// once for every call.
struct AddressedVariable {
  std::string name;
  Space space = Space::kNone;
  uint32_t offset = 0, bytes = 0;  ///< bytes 0: up to the end of the block's shared memory
  bool on_stack = false;           ///< `offset` counts from the frame of a function called through the stack
  uint32_t scope = 0;              ///< of the function that has it: see KernelImage::scopes
};

/// A row of literals that gets its value at the launch (isa/lowering/launch_constants.h).
struct LaunchConstant {
  enum class Source : uint8_t { kParameter, kSpecial, kConstantMemory };
  Source source = Source::kParameter;
  bool wide = false;  ///< 64-bit lanes
  /// Offset in the parameter block, a SpecialRegister (a component of %ntid or %nctaid), or a device address.
  uint64_t from = 0;
  uint32_t row = 0;  ///< byte offset in KernelImage::literals
};

/// A kernel parameter.
struct KernelParam {
  std::string name;
  Type type = Type::kNone;
  uint32_t offset = 0;  ///< bytes in the parameter block
  uint32_t bytes = 0;
  uint32_t align = 0;
  bool is_array = false;  ///< by-value struct
};

/// See KernelImage::source_registers.
inline constexpr uint8_t kInNoRegister = 0xff;

/// A lowered kernel, ready to run. Immutable after lowering; shared by all SMs.
struct KernelImage {
  std::string name;
  std::vector<MicroOp> ops;
  std::vector<MicroOp> folded_loads;
  std::vector<PtxStatement> ptx;
  std::vector<std::string> files;         ///< names of the PTX files by SourceLoc::file, if there are several
  std::vector<std::string> source_files;  ///< of .file directives, by number
  std::vector<PlacedVariable> shared_variables;  ///< static ones, by offset
  AlignedBytes literals;  ///< Bank::kConstant: one row (64-bit: two) per distinct literal
  // Where addresses come from, for checkers.
  std::vector<AddressedVariable> addressed;  ///< by ObjectId
  std::vector<ObjectId> literal_objects;     ///< of each row of `literals`
  std::vector<uint8_t> row_widths;           ///< of each register row: 2 if 64-bit values lie there, else 1
  /// Of each micro-op: the inlined call that it belongs to, and of each of these the one around it
  /// (kNoTarget: none, it is the kernel or a function that is called through the stack).
  std::vector<uint32_t> scopes, outer_scopes;
  /// Of each micro-op: the instructions that ptxas' code executes for it, and what a warp executes besides
  /// (an estimate). Empty if operations are those of the PTX: before 7.0, at other levels of lowering, and of
  /// programs that read the clock.
  std::vector<uint16_t> instructions;
  uint32_t executed_once = 0;
  /// Of each micro-op: the registers in which ptxas' code would have its first sources (an estimate), and
  /// kInNoRegister for those that are in none of a thread: constants, and what a warp has once. Empty where
  /// no registers are assigned: before 7.0, at other levels of lowering, and where registers are spilled.
  std::vector<std::array<uint8_t, 4>> source_registers;
  std::vector<LaunchConstant> launch_constants;
  std::vector<KernelParam> params;
  uint32_t param_bytes = 0;
  uint32_t num_rows = 0;  ///< register rows per warp
  uint32_t num_predicates = 0;
  uint32_t registers = 0;  ///< 32-bit registers per thread: the estimate, or the limit if spilled
  uint32_t spilled_registers = 0;
  /// How many instructions ptxas would write for this code (an estimate, isa/lowering/machine_count.h): an
  /// operation may stand for several, or be an operand of another.
  MachineCounts machine_counts{};
  [[nodiscard]] uint32_t machine_instructions() const {
    return std::accumulate(machine_counts.begin(), machine_counts.end(), 0u);
  }
  /// What the system keeps of each block's shared memory from 8.0 on, if the kernel reaches for it: its own
  /// variables lie behind.
  uint32_t reserved_shared_bytes = 0;
  uint32_t static_shared_bytes = 0;
  /// What each block has in shared memory besides on 1.x: its place in the grid, and the kernel's parameters.
  uint32_t system_shared_bytes = 0;
  uint32_t dynamic_shared_offset = 0;  ///< where .extern .shared arrays start
  /// Of the kernel's variables, and what lies between them and the .extern ones.
  [[nodiscard]] uint32_t fixed_shared_bytes() const {
    return std::max(dynamic_shared_offset, reserved_shared_bytes + static_shared_bytes) -
           reserved_shared_bytes;
  }
  uint32_t local_bytes = 0;              ///< per thread: .local variables, spills and the call stack
  uint32_t stack_bytes = 0;              ///< of these, for the frames of called functions
  uint32_t alloca_bytes = 0;             ///< and for alloca
  uint32_t stack_end = 0;                ///< local address at which the call stack ends
  std::vector<CallTarget> functions;     ///< by number (see function_address()); empty without such calls
  std::vector<uint32_t> branch_targets;  ///< of all kBranchTable: micro-op indices
  uint32_t address_size = 64;
  int target_sm = 0;
  uint8_t system_calls = 0;  ///< that its code makes: system_call_bit()
  uint32_t maxntid[3] = {0, 0, 0};
  uint32_t reqntid[3] = {0, 0, 0};
  // Of the kernel's directives, see Function.
  uint32_t cluster[3] = {0, 0, 0};
  uint32_t max_cluster = 0;
  bool explicit_cluster = false, blocks_are_clusters = false;
  bool has_cluster_barriers = false;  ///< in its code
  bool has_foreign_stores = false;    ///< MicroOp::others_access
};

}  // namespace gpusim::isa
