// The form between PTX and KernelImage: micro-ops over virtual variables, in basic blocks. Selection produces
// it, the passes rewrite it, allocation turns variables into rows. Once branches are predicated and loops
// unrolled, blocks never merge or split, so the PTX instructions of a block stay countable: the ptx_count
// of a block's ops always sums to its statements.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/exec/semantics/table.h"
#include "isa/lowering/lowering.h"

namespace gpusim::isa::lir {

using Var = uint32_t;
inline constexpr Var kNoVar = ~0u;
inline constexpr uint32_t kNone = ~0u;

/// The last two: 32 or 64 bits that take no general register, or share one with what they are made of or
/// become.
enum class VarClass : uint8_t { kRow32, kRow64, kPredicate, kAside, kWideAside };
[[nodiscard]] constexpr bool is_wide(VarClass c) {
  return c == VarClass::kRow64 || c == VarClass::kWideAside;
}

/// A source operand: a variable, or a literal of 32 or 64 bits.
struct Value {
  Var var = kNoVar;
  bool wide = false;                 ///< 64-bit lanes
  uint64_t bits = 0;                 ///< literal, if var == kNoVar
  uint32_t launch_constant = kNone;  ///< a literal that the launch gives: index into the Program's
  ObjectId object = kNoObject;       ///< of a literal that is a variable's address
  [[nodiscard]] bool is_literal() const { return var == kNoVar; }
  /// A literal that is known before the launch, and no address.
  [[nodiscard]] bool is_number() const {
    return is_literal() && launch_constant == kNone && object == kNoObject;
  }
};

/// Predicates that one operation writes at most: tests of seven bits (r2p).
inline constexpr size_t kMaxPredicates = 7;
inline constexpr std::array<Var, kMaxPredicates> kNoPredicates = {kNoVar, kNoVar, kNoVar, kNoVar,
                                                                  kNoVar, kNoVar, kNoVar};

struct Op {
  uint64_t key = 0;  ///< form key of `exec` / `mem`, 0 for control
  ExecFn exec = nullptr;
  MemFn mem = nullptr;
  OpKind kind = OpKind::kNop;
  OpClass op_class = OpClass::kNop;
  Type type = Type::kNone;
  uint8_t flops = 0;
  uint8_t modifiers = 0;
  uint8_t num_dst = 0;
  uint8_t num_src = 0;
  uint8_t issue_slots = 1;    ///< instructions that a scheduler issues for it. machine_count.h
  uint16_t instructions = 1;  ///< instructions that ptxas' code executes for it. machine_count.h
  bool guard_negated = false;
  bool whole_warp = false;
  /// Of a kSync without exec: it is for a whole warp's operation and, unlike bar.warp.sync, orders no
  /// accesses.
  bool only_gathers = false;
  /// Of a guarded op. Its count of PTX instructions holds in the lanes of the guard; nobody wants what other
  /// lanes had in its results. predicate_branches.cpp
  bool counts_guarded = false, writes_all = false;
  bool contractible = false;   ///< floating-point arithmetic whose statement names no rounding
  bool others_access = false;  ///< see MicroOp
  std::array<Var, 4> dst{kNoVar, kNoVar, kNoVar, kNoVar};
  std::array<Value, 10> src{};
  std::array<Var, kMaxPredicates> pred_dst = kNoPredicates;
  std::array<Var, 3> pred_src{kNoVar, kNoVar, kNoVar};
  std::array<bool, 3> pred_negated{};
  Var guard = kNoVar;
  uint64_t imm = 0;
  MemoryOperand memory;
  uint8_t accesses = 1;  ///< of the program that are this one. merge_accesses.cpp
  uint8_t joined =
      0;  ///< operations of the program that became part of it: ptxas counts them before it unrolls
  bool outgoing =
      false;  ///< memory operation on the frame of the function to be called, behind the own frame
  uint32_t target = kNone;  ///< kBranch: block; kBranchTable: index into Program::tables; kCall: number of
                            ///< the function, kNone if src[0] is its address
  uint32_t ptx_index = 0;
  uint32_t scope = 0;  ///< see KernelImage::scopes
  uint16_t ptx_count = 0;
  uint32_t folded = kNone;  ///< index into Program::folded

  [[nodiscard]] bool is_memory() const {
    return kind == OpKind::kLoad || kind == OpKind::kStore || kind == OpKind::kAtomic;
  }
  /// Removable when nothing reads its results: only register and predicate writes.
  [[nodiscard]] bool is_pure() const { return kind == OpKind::kAlu && folded == kNone; }
  /// After it, nothing that its results held before is wanted.
  [[nodiscard]] bool overwrites() const { return guard == kNoVar || writes_all; }
  [[nodiscard]] uint32_t opcode() const { return static_cast<uint32_t>(key >> 48); }
};

/// Calls fn(Var) for every variable `op` reads: sources, predicates, guard.
template <class Fn>
void for_each_use(const Op& op, Fn fn) {
  for (int i = 0; i < op.num_src; ++i) {
    if (!op.src[i].is_literal()) fn(op.src[i].var);
  }
  for (const Var v : op.pred_src) {
    if (v != kNoVar) fn(v);
  }
  if (op.guard != kNoVar) fn(op.guard);
}
/// Calls fn(Var) for every variable `op` writes.
template <class Fn>
void for_each_def(const Op& op, Fn fn) {
  for (int i = 0; i < op.num_dst; ++i) {
    if (op.dst[i] != kNoVar) fn(op.dst[i]);
  }
  for (const Var v : op.pred_dst) {
    if (v != kNoVar) fn(v);
  }
}

struct Block {
  std::vector<Op> ops;
  bool no_unroll = false;  ///< a loop that starts here stays as it is (.pragma "nounroll")
  /// Variables in shared memory whose addresses the program names here, up to kMostNamed of them.
  uint8_t shared_named = 0;
  static constexpr size_t kMostNamed = 16;
  uint32_t gone =
      0;  ///< where a loop became code just now: operations of its iterations that went. unroll.cpp
};

/// The code of the kernel, or of one function that is called through the call stack.
struct Program {
  std::vector<VarClass> vars;
  std::vector<Block> blocks;  ///< layout order; block 0 is the entry; falls through to the next one
  std::vector<Op> folded;     ///< shared loads folded into an arithmetic op
  std::vector<LaunchConstant> launch_constants;
  std::map<uint64_t, uint64_t> constants;     ///< variables in constant memory that the code names:
                                              ///< addresses and bytes
  std::map<uint64_t, uint64_t> globals;       ///< likewise, in global memory
  std::vector<std::vector<uint32_t>> tables;  ///< blocks of a brx.idx
  std::vector<std::pair<Var, Var>> splits;    ///< part and whole, from split_local_ranges()
  /// 32-bit variable with the local address of this activation's frame: base of all local accesses of a
  /// function. The kernel's own frame is at 0; its programs have one only if it calls through the stack.
  Var stack_pointer = kNoVar;
  bool is_function = false;
  int machine_capability = 0;     ///< compute capability * 10
  bool special_operands = false;  ///< allocate() marks the operations that have a subroutine for them
  uint32_t executed_once = 0;     ///< instructions of each warp besides Op::instructions, by count_executed()
  bool reconverge_operations = false;  ///< allocate() puts them where lanes meet
  bool has_several_loops = false;      ///< before any became code. unroll.cpp
  uint32_t local_bytes = 0;            ///< the frame
  uint32_t local_align = 16;
  uint32_t outgoing_bytes = 0;  ///< most arguments and results of a call through the stack

  /// Whether a variable is in a register that a warp has once; empty where none are (uniform_registers.cpp).
  std::vector<bool> uniform;
  /// Whether a variable of 64 bits takes one register, because it is part of addresses that have 32 bits on
  /// the machine, or its upper half is zero; empty where none does (narrow_addresses.cpp).
  std::vector<bool> narrow;
  /// The (first) register of a thread in which ptxas' code would have a variable, kNone for none; empty where
  /// registers are not assigned (assign_registers.cpp).
  std::vector<uint32_t> places;

  Var new_var(VarClass c) {
    vars.push_back(c);
    return static_cast<Var>(vars.size() - 1);
  }
};

/// Control flow of a program, for the (post-)dominator functions and data flow.
struct Flow {
  std::vector<std::pair<uint32_t, uint32_t>> edges;  ///< by their first block
  std::vector<uint32_t> first_edge;                  ///< of each block, and the end
  std::vector<uint32_t> exits;
  /// The edges that leave `block`.
  [[nodiscard]] std::span<const std::pair<uint32_t, uint32_t>> out_of(uint32_t block) const {
    return {edges.data() + first_edge[block], edges.data() + first_edge[block + 1]};
  }
};
[[nodiscard]] Flow build_flow(const Program& program);
/// All blocks such that each stands behind those that it leads to, as far as loops allow. What is found by
/// going along the flow until nothing changes needs few rounds in this order, or from its end, however the
/// blocks are laid out.
[[nodiscard]] std::vector<uint32_t> post_order(const Flow& flow);
/// Calls fn(block, op) for all operations, along the flow and then against it in turn, while `again()`: what
/// spreads from an operation to others, through loops too, needs few rounds.
template <class Fn, class Again>
void for_each_round(const Program& program, const Flow& flow, Fn fn, Again again) {
  const std::vector<uint32_t> order = post_order(flow);
  for (bool along = true; again(); along = !along) {
    for (size_t i = 0; i < order.size(); ++i) {
      const uint32_t b = order[along ? order.size() - 1 - i : i];
      const std::vector<Op>& ops = program.blocks[b].ops;
      for (size_t k = 0; k < ops.size(); ++k) fn(b, ops[along ? k : ops.size() - 1 - k]);
    }
  }
}

/// What all programs of a kernel number together: statements, inlined calls, variables whose address is
/// taken.
struct Statements {
  std::vector<PtxStatement> list;
  std::unordered_map<const Instruction*, uint32_t> numbers;
  std::vector<uint32_t> outer_scopes;
  std::vector<AddressedVariable> addressed;
  std::unordered_map<const Variable*, ObjectId> module_objects;  ///< of all functions

  /// kNoObject if there are more than can be told apart.
  ObjectId add_object(AddressedVariable variable) {
    constexpr size_t kMost = 0xffff - kFirstObject;
    if (addressed.size() == kMost) return kNoObject;
    addressed.push_back(std::move(variable));
    return static_cast<ObjectId>(kFirstObject + addressed.size() - 1);
  }
};

/// Inlining may multiply code, and so may what is saved around calls; beyond this many micro-ops the kernel
/// is refused instead of filling memory.
inline constexpr size_t kMaxOps = 4'000'000;

struct CallPlan;  // call_plan.h

// The passes, in order. Each is one file.
/// `root` is the kernel or a function with a frame of its own. select.cpp: also inlines calls
[[nodiscard]] Program select(const Module& module, const Function& root, const CallPlan& plan,
                             const LoweringOptions& options, Statements& statements, Diagnostics& errors);
void exit_early(Program& program);  // early_exit.cpp: before the flow is built
/// True if something changed. predicate_branches.cpp: blocks become fewer, so the flow is built again
bool predicate_branches(Program& program, const Flow& flow, SimdLevel level);
/// True if loops became others. unroll.cpp: blocks become more, so the flow is built again; `again`: only
/// loops around those that became code just now
bool unroll_loops(Program& program, const Flow& flow, SimdLevel level, bool again);
void join_steps(Program& program, const Flow& flow);  // join_steps.cpp
/// True if something changed: the flow is built again. fold_conditions.cpp: 7.0 and up
bool fold_conditions(Program& program, const Flow& flow, SimdLevel level);
/// Sets Op::writes_all of values that both ways of a condition write. complementary_writes.cpp: 7.0 and up
void find_complementary_writes(Program& program);
void split_local_ranges(Program& program);  // split_ranges.cpp
/// propagate.cpp: copies, constants; `computes`: also what operations on numbers give
void propagate_copies(Program& program, const Flow& flow, bool computes, SimdLevel level);
/// `rewritten`: also where an `or` stands for an addition, and only what an instruction can add.
/// fold_address.cpp
void fold_addresses(Program& program, const Flow& flow, bool rewritten);
void share_values(Program& program, const Flow& flow, SimdLevel level);     // common_values.cpp: 7.0 and up
void remove_dead_code(Program& program);                                    // dead_code.cpp
void fuse_operations(Program& program, const Flow& flow, SimdLevel level);  // fuse.cpp: 7.0 and up
void narrow_loads(Program& program);                                        // narrow_loads.cpp: 7.0 and up
void merge_accesses(Program& program, SimdLevel level);                     // merge_accesses.cpp: 7.0 and up
void bind_operands(Program& program, const Flow& flow);                     // bind_operands.cpp: 2.0 and up
/// wide_products.cpp: 7.0 and up, where one instruction multiplies 32 bits to 64, and adds
void time_wide_products(Program& program);
void time_as_machine(Program& program);      // machine_classes.cpp
void mark_foreign_stores(Program& program);  // foreign_stores.cpp
/// known_divisors.cpp: 7.0 and up, approximate divisions whose reciprocal is there are products
void time_known_divisors(Program& program);
void contract_products(Program& program, SimdLevel level);  // contract.cpp: 7.0 and up
/// aggregate_atomics.cpp: 7.0 and up
void aggregate_atomics(Program& program, const Flow& flow, int capability, SimdLevel level);
/// `first`: where the block's shared variables begin in shared memory. fold_shared.cpp: before 2.0
void fold_shared_operands(Program& program, uint32_t first);
/// These set Program::narrow. narrow_addresses.cpp: before 2.0; 7.0 and up
void narrow_addresses(Program& program);
void narrow_values(Program& program, const Flow& flow);
/// address_registers.cpp: before 2.0
void use_address_registers(Program& program, const Flow& flow, SimdLevel level);
/// missing_instructions.cpp: before 2.0
void add_missing_instructions(Program& program, const Flow& flow, SimdLevel level);
void sink_values(Program& program, const Flow& flow);  // sink.cpp
/// Sets Program::uniform. uniform_registers.cpp: 7.5 and up
void find_uniform(Program& program, const Flow& flow);
/// The program in which addresses that are made in front of a loop, and are equal for all lanes, stay in
/// registers of the warp, and each access takes a copy of its own, as ptxas has it from 8.0 on where
/// registers are few. None if there are no such addresses.
[[nodiscard]] std::optional<Program> carry_addresses(const Program& program, const Flow& flow,
                                                     SimdLevel level);
/// Of an order of operations: schedule.h
struct ScheduleOptions {
  uint32_t limit = 0;  ///< registers, as far as possible
  /// No operation goes before one that is so many places before it. Who looks far takes what could start at
  /// once, and may lack the registers then for what completes it.
  uint32_t window = 2048;
  /// The lanes of a warp stay together without a bar.warp.sync, so they may exchange data through memory
  /// without one.
  bool lockstep = false;
  /// Only loads from global memory, and what they need, move before the rest, which stays in its order.
  bool only_loads = false;
};
void coalesce(Program& program, const Flow& flow);  // coalesce.cpp
/// Removes the ops of kind kNop from a block; their PTX counts go to a neighbour, or to one kNop if nothing
/// else is left. dead_code.cpp
void drop_nops(Block& block);
/// True if `op` alone gives the same value wherever it runs, without any register: a kernel parameter, a
/// special register that is equal in a block of threads, a constant. sink.cpp
[[nodiscard]] bool recomputable(const Op& op);
/// Makes of an operation with one result a move of `source` to it; `move`: the form for its width.
/// propagate.cpp
void become_move(Op& op, const SemanticRow& move, const Value& source);
/// base + index * size: the base is a parameter more often than not, and the size stays in a register before
/// 9.0.
[[nodiscard]] bool is_address_product(const Op& op);
/// A load of a kernel parameter, or of constant memory at an address that is known: an operand of an
/// instruction, or what takes little more than a move.
[[nodiscard]] bool reads_constant_bank(const Op& op);
/// The first machine whose arithmetic reads no operand from the constant bank: each constant is loaded (LDC,
/// ULDC), and words side by side by one load of so many bytes. Found with probes of ptxas 13.
inline constexpr int kLoadsConstantsFrom = 90;
inline constexpr uint64_t kConstantsTogether = 8;
/// Two words that one such load brings.
[[nodiscard]] bool loaded_together(const LaunchConstant& a, const LaunchConstant& b);

/// IEEE divisions and roots, and divisions of 64 bits: ptxas branches to a subroutine, for some operands or
/// for all, so its basic block ends there, and no load behind it starts before it (probes for 7.5, 8.0 and
/// 9.0: docs/studies/compiler_history.md). What stands before it may come after: the block ends in the middle
/// of the sequence, whose first operations are in the same block.
[[nodiscard]] bool branches_inside(const Op& op);
/// Registers per thread: most 32-bit values alive at one point. liveness.cpp
[[nodiscard]] uint32_t register_estimate(const Program& program, const Flow& flow);
/// Recomputes variables at their readers or moves them to local memory until the estimate is at most `limit`
/// (or nothing more can move); returns how many 32-bit registers went to local memory. spill.cpp
uint32_t spill(Program& program, const Flow& flow, uint32_t limit, SimdLevel level);
/// Keeps what lives across a call through the stack in the frame, for the callee uses the same registers.
/// False if that takes more operations than a program may have. save_registers.cpp
[[nodiscard]] bool save_registers(Program& program, const Flow& flow, SimdLevel level);
/// Lets spilled and saved values that are not wanted at the same time share their places in the frame, which
/// begin at `first_byte`. share_slots.cpp
void share_slots(Program& program, const Flow& flow, uint32_t first_byte);
/// Moves the stack pointer by the frame around each such call, once the frame has its size.
/// save_registers.cpp
void adjust_stack_pointer(Program& program, SimdLevel level);
/// A load or store of `v` at `offset` of the frame. save_registers.cpp
[[nodiscard]] Op frame_access(const Program& program, OpKind kind, Var v, uint32_t offset, SimdLevel level);
/// Bytes of the frame for `bytes` more; returns their offset.
[[nodiscard]] uint32_t extend_frame(Program& program, uint32_t bytes);
/// Rows, literals, branch targets, reconvergence points: the final image (without header fields).
/// `row_widths` (first empty) goes from one program of a kernel to the next. allocate.cpp
[[nodiscard]] bool allocate(const Program& program, const Flow& flow, std::vector<uint8_t>& row_widths,
                            KernelImage& image, Diagnostics& errors);

}  // namespace gpusim::isa::lir
