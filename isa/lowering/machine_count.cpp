#include "isa/lowering/machine_count.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "isa/lowering/dominance.h"
#include "isa/lowering/liveness.h"
#include "isa/lowering/loop_nest.h"
#include "isa/lowering/machine_joins.h"
#include "isa/lowering/machine_mix.h"
#include "isa/lowering/machine_readers.h"
#include "isa/lowering/parted_exchanges.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {
namespace {

/// Sequences, counted in code that ptxas 13.0 makes for sm_75: `inline_count` at each use, `subroutine` once
/// in a kernel.
struct Sequence {
  uint32_t inline_count = 1;
  uint32_t subroutine = 0;
};

/// A short block is executed under a predicate instead of being jumped over.
constexpr uint32_t kMaxPredicated = 10;
/// What a warp needs to meet again behind a branch: bmov, bssy, bsync.
constexpr uint32_t kReconvergence = 3;

/// In a loop that may wait for other lanes, at the branch back: yield, and before 8.0 two votes around it,
/// which are compared, and another branch.
uint32_t yield_instructions(int capability) { return capability < 80 ? 5 : 1; }

/// A fence for other blocks: membar, errbar and cctl.ivall, from 9.0 on cgaerrbar too.
uint32_t fence_instructions(int capability) { return capability < 70 ? 1 : capability < 90 ? 3 : 4; }

/// Compute capability of the first machine whose accesses to global memory take a descriptor, which a kernel
/// loads once. Found with probes.
constexpr int kDescribesGlobalFrom = 80;
/// The first whose calls take their address in fewer instructions.
constexpr int kCallsShortFrom = 90;

/// Numbers of 64 bits that stay in registers of the warp (probes of ptxas 13: four do, six do not).
constexpr size_t kMostDoubles = 4;

/// Of a sequence with a subroutine for exponents out of range: what only leads there and back.
constexpr uint32_t kOnlyForSubroutine = 5;

class Counter {
 public:
  Counter(const Program& program, const Flow& flow)
      : program_(program),
        flow_(flow),
        readers_(program),
        divergence_(find_divergence(program, flow)),
        dominators_(static_cast<uint32_t>(program.blocks.size()), flow),
        loops_(program),
        joined_(program, readers_, loops_) {
    for (const Block& block : program.blocks)
      waits_before_.push_back(
          waits_before_.back() + static_cast<uint32_t>(std::ranges::count_if(block.ops, [](const Op& op) {
            return op.kind == OpKind::kAtomic || (op.kind == OpKind::kLoad && op.memory.is_volatile);
          })));
  }

  const std::vector<uint32_t>& blocks() {
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) block_.push_back(count_block(b));
    return block_;
  }
  /// Of each block's operations, the instructions that a warp executes of them on their usual way. An
  /// operation that costs nothing takes one slot here, which a later one of several gives back.
  std::vector<std::vector<uint32_t>> executed() {
    only_executed_ = true;
    std::vector<std::vector<uint32_t>> all(program_.blocks.size());
    for (size_t b = 0; b < all.size(); ++b) {
      uint32_t owed = 0;
      block_at_ = static_cast<uint32_t>(b);
      forget();
      const bool hoists = hoists_doubles(block_at_);
      for (const Op& op : program_.blocks[b].ops) {
        uint32_t n = 1;
        if (op.kind == OpKind::kAlu) {
          const size_t before = subroutines_.size();
          n = arithmetic(op);
          if (!hoists) n += double_literals(op);
          const bool is_sequence = subroutines_.size() != before;
          if (is_sequence) {
            const uint32_t subroutine = subroutines_.begin()->second.count;
            subroutines_.clear();
            n = op.op_class == OpClass::kIntDiv64 ? n + subroutine : n - std::min(n, kOnlyForSubroutine);
          }
        } else if (op.kind == OpKind::kAtomic) {
          n = atomic(op);
        }
        const uint32_t slots = n == 0 ? 1 : n - std::min(owed, n - 1);
        owed = owed + slots - n;
        all[b].push_back(slots);
      }
      if (yields(static_cast<uint32_t>(b))) all[b].back() += yield_instructions(program_.machine_capability);
    }
    return all;
  }
  MachineCounts run() {
    blocks();
    add(MachineClass::kInteger, 1);  // the stack pointer
    if (program_.machine_capability >= kDescribesGlobalFrom && reaches_global())
      add(MachineClass::kInteger, 1);
    for (const auto& [key, subroutine] : subroutines_)
      add_mix(subroutine.count, subroutine.mix, subroutine.own);
    branches();
    const PartedInstructions parted = parted_instructions(program_, divergence_.blocks);
    add(MachineClass::kControl, parted.control);
    add(MachineClass::kInteger, parted.integer);
    add(MachineClass::kWarp, parted.exchanges);
    return classes_;
  }

 private:
  /// All that reads it are 64-bit sums, which extend or scale what they add (lea).
  [[nodiscard]] bool only_added(Var v) const {
    return readers_.all[v] != 0 && readers_.all[v] == readers_.wide_sums[v];
  }

  [[nodiscard]] bool reaches_global() const {
    return std::ranges::any_of(program_.blocks, [](const Block& block) {
      return std::ranges::any_of(block.ops, [](const Op& op) {
        const Space s = op.memory.space;
        return op.is_memory() && (s == Space::kGlobal || s == Space::kGeneric);
      });
    });
  }
  [[nodiscard]] bool loads_constants() const { return program_.machine_capability >= kLoadsConstantsFrom; }

  /// Whether the constant of the launch must be loaded in this block, for the warp or for each thread: no
  /// block on the way to it did. Two words that lie side by side are one load.
  bool is_new(const LaunchConstant& c, bool for_threads) {
    const bool pairs = !c.wide && c.source != LaunchConstant::Source::kSpecial;
    std::map<uint32_t, uint32_t>& there =
        loaded_[{c.source, c.wide, for_threads, pairs ? c.from / kConstantsTogether : c.from}];
    const uint32_t enter = dominators_.enter(block_at_);
    auto next = there.upper_bound(enter);
    if (next != there.begin() && dominators_.dominates(std::prev(next)->second, block_at_)) return false;
    while (next != there.end() && dominators_.dominates(block_at_, next->second)) next = there.erase(next);
    there.emplace_hint(next, enter, block_at_);
    return true;
  }

  uint32_t count_block(uint32_t b) {
    block_at_ = b;
    uint32_t n = 0;
    forget();
    for (const Op& op : program_.blocks[b].ops) {
      if (again(op)) continue;
      const uint32_t own = count(op);
      add_op(op, own);
      n += own;
    }
    return n;
  }
  void add(MachineClass c, uint32_t n) { classes_[static_cast<size_t>(c)] += n; }
  void add_mix(uint32_t n, const Mix& mix, MachineClass own) {
    const std::pair<MachineClass, uint32_t> parts[] = {
        {own, mix.own}, {MachineClass::kSpecial, mix.special}, {MachineClass::kControl, mix.control}};
    for (const auto& [part, most] : parts) {
      add(part, std::min(n, most));
      n -= std::min(n, most);
    }
    add(MachineClass::kInteger, n);
  }
  void add_op(const Op& op, uint32_t n) {
    if (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp || is_matrix(op))
      return add(class_of_access(op), n);
    if (widens_half(op)) return add(MachineClass::kHalf, n);
    add_mix(n, mix_of(op, n), class_of_type(op.type));
  }
  /// What is known of a block's values.
  void forget() {
    in_registers_.clear();
    joined_.forget();
    if (doubles_.size() > kMostDoubles) doubles_.clear();
    turns_.clear();
    divisors_.clear();
    stored_.clear();
  }
  /// Of a function that was called before: ptxas inlines none, so its code is there once.
  bool again(const Op& op) { return code_of_.emplace(op.ptx_index, op.scope).first->second != op.scope; }

  uint32_t sequence(uint64_t key, OpClass c, Sequence s) {
    if (s.subroutine != 0)
      subroutines_.emplace(key, Subroutine{s.subroutine, subroutine_mix(c),
                                           class_of_type(static_cast<Type>(key >> 40 & 0xff))});
    return s.inline_count;
  }

  /// Arguments, the return address and the function's own are moved to registers.
  [[nodiscard]] uint32_t system_call(const Op& op) const {
    const bool asserts = op.kind == OpKind::kTrap;
    if (program_.machine_capability >= kCallsShortFrom) return asserts ? 15 : 8;
    return asserts ? 19 : 12;
  }

  /// A sum of floating-point numbers in shared memory is a loop of a load, the sum, a compare-and-swap, a
  /// test, two for 64 bits, and a branch back, with what lanes need to meet behind it.
  [[nodiscard]] uint32_t atomic(const Op& op) const {
    constexpr int kLoopsFrom = 50, kMeetsInTwoFrom = 80;
    const bool sums = op.memory.space == Space::kShared && (op.type == Type::kF32 || op.type == Type::kF64);
    if (!sums || program_.machine_capability < kLoopsFrom) return 1;
    return 5 + (op.type == Type::kF64 ? 1 : 0) + (program_.machine_capability < kMeetsInTwoFrom ? 3 : 2);
  }

  uint32_t count(const Op& op) {
    if (calls_system(op)) return system_call(op);
    switch (op.kind) {
      case OpKind::kAlu:
        return arithmetic(op) + literals(op) + double_literals(op);
      case OpKind::kLoad:
        if (reads_constant_bank(op) || op.memory.space == Space::kParam) return parameter(op);
        return 1;
      case OpKind::kStore:
        return 1 + stored_literals(op);
      case OpKind::kAtomic:
        return atomic(op);
      case OpKind::kBranchTable:
        return 6;  // the table's address, the entry, and the jump
      case OpKind::kCall:
        return 4;  // the return address is two moves
      case OpKind::kNop:
        return 0;
      case OpKind::kBarrier:
        // The barrier of a cluster: ptxas 13 writes 12 for an arrival and a wait, with fences for the order.
        if (op.modifiers == static_cast<uint8_t>(BarrierAction::kClusterArrive))
          return op.imm == kClusterRelaxed ? 4 : 7;
        return op.modifiers == static_cast<uint8_t>(BarrierAction::kClusterWait) ? 5 : 1;
      case OpKind::kFence:
        return op.op_class == OpClass::kFence ? fence_instructions(program_.machine_capability) : 1;
      default:
        return 1;
    }
  }

  uint32_t arithmetic(const Op& op) {
    if (joined_.joins(op, block_at_)) return 0;
    const auto opcode = static_cast<Opcode>(op.opcode());
    const auto type2 = static_cast<Type>((op.key >> 32) & 0xff);
    const auto variant = static_cast<uint32_t>(op.key);
    const bool wide = type_bytes(op.type) == 8 && !is_near_address(program_, op);
    const bool is_float_type = is_float(op.type);
    const bool by_constant = op.num_src > 1 && op.src[1].is_literal() && op.src[1].launch_constant == kNone;
    switch (opcode) {
      case Opcode::kMov:
        if (op.type == Type::kPred) return 1;
        if (op.num_src == 0) return 1;  // a special register
        if (type2 != Type::kNone) return parts(op, type2);
        if (!wide) return 1;
        return op.src[0].is_literal() && op.src[0].bits == 0 ? 1 : 2;
      case Opcode::kAnd:
      case Opcode::kOr:
      case Opcode::kXor:
        return wide ? halves(op) : 1;
      case Opcode::kCvt:
        // Rounding away from zero is integer arithmetic: ptxas 13 writes 96 x 3 instructions for 96 of them.
        if (op.type == Type::kTF32) return (op.modifiers & kModNan) != 0 ? 3 : 1;
        if (is_integer(op.type) && is_integer(type2)) {
          if (type_bytes(type2) == 8) return 0;
          return type_bytes(op.type) == 8 && only_added(op.dst[0]) ? 0 : 1;
        }
        return 1;
      case Opcode::kNot:
        return op.type == Type::kPred ? 0 : wide ? 2 : 1;
      case Opcode::kNeg:
      case Opcode::kAbs:
        if (is_float_type) return readers_.signed_only[op.dst[0]] ? 0 : 1;
        if (!wide) return 1;
        return opcode == Opcode::kAbs ? 5 : 2;
      case Opcode::kDiv:
      case Opcode::kRem:
        return division(op, by_constant);
      case Opcode::kSqrt:
        if ((variant & kVarApprox) != 0) return (variant & kVarFtz) != 0 ? 1 : 4;
        return sequence(op.key, op.op_class, op.type == Type::kF64 ? Sequence{30, 33} : Sequence{16, 16});
      case Opcode::kRcp:
        if ((variant & kVarApprox) != 0) return (variant & kVarFtz) != 0 || op.type == Type::kF64 ? 1 : 7;
        return sequence(op.key, op.op_class, op.type == Type::kF64 ? Sequence{18, 37} : Sequence{16, 47});
      case Opcode::kRsqrt:
        if (op.type == Type::kF64) return sequence(op.key, op.op_class, {17, 34});
        [[fallthrough]];
      case Opcode::kEx2:
      case Opcode::kLg2:
        return op.type == Type::kF32 && (variant & kVarFtz) == 0 ? 4 : 1;
      case Opcode::kSin:
      case Opcode::kCos:  // the argument in turns is computed once for both
        return op.src[0].is_literal() || turns_.insert(op.src[0].var).second ? 2 : 1;
      case Opcode::kMul:
      case Opcode::kMad:
        if (is_float_type || !wide) return 1;
        if ((variant & kVarHi) == 0) return product_of_64_bits(op);
        return is_signed(op.type) ? 16 : 7;
      case Opcode::kMin:
      case Opcode::kMax:
        return op.type == Type::kF64 ? 8 : wide ? 4 : 1;
      case Opcode::kShl:
        if (by_constant && !wide && readers_.shared_bases[op.dst[0]] && op.src[1].bits >= 2 &&
            op.src[1].bits <= 4)
          return 0;
        if (by_constant && wide && op.src[1].bits < 32 && only_added(op.dst[0])) return 0;
        [[fallthrough]];
      case Opcode::kShr:
        if (!wide) return 1;
        if (!by_constant || op.src[1].bits < 32) return 2;
        return (op.src[1].bits > 32 ? 1 : 0) + (opcode == Opcode::kShr && is_signed(op.type) ? 1 : 0);
      case Opcode::kClz:
        return wide ? 6 : 2;
      case Opcode::kBfe:
      case Opcode::kBfi: {
        const size_t position = opcode == Opcode::kBfe ? 1 : 2;
        if (op.src[position].is_literal()) return 2;
        return opcode == Opcode::kBfe ? 5 : 6;
      }
      case Opcode::kPopc:
        return wide ? 3 : 1;
      case Opcode::kSet:
        return wide ? 3 : 2;
      default:
        return wide && !is_float_type ? 2 : 1;
    }
  }

  /// Of 64 bits, of which the upper half is zero, or is nothing that anyone reads.
  [[nodiscard]] bool is_word(Var v) const { return v < program_.narrow.size() && program_.narrow[v]; }
  /// The lower words' product, with 64 bits added to it; each lower word by the other's upper one, unless
  /// that is zero; and their sum (probes of ptxas 13).
  [[nodiscard]] uint32_t product_of_64_bits(const Op& op) const {
    uint32_t crosswise = 0;
    for (int i = 0; i < 2; ++i) {
      const Value& v = op.src[i];
      const bool word = v.is_literal() ? v.launch_constant == kNone && v.bits >> 32 == 0 : is_word(v.var);
      crosswise += word ? 0 : 1;
    }
    return crosswise == 0 ? 1 : 2 + crosswise;
  }

  /// Of a value put together from its parts, or taken apart: the halves of a pair are registers.
  [[nodiscard]] uint32_t parts(const Op& op, Type part) const {
    if (type_bytes(part) == 4) return 0;
    const bool apart = (op.key & kVarHi) != 0;
    const auto halves = [&](Var v) { return v == kNoVar || readers_.all[v] == readers_.halves[v]; };
    return apart && type_bytes(part) == 2 && std::all_of(op.dst.begin(), op.dst.begin() + op.num_dst, halves)
               ? 0
               : 1;
  }

  /// Of a bitwise operation on 64 bits: where a constant leaves or clears a half, nothing is to be done.
  static uint32_t halves(const Op& op) {
    const Value& v = op.src[1];
    if (!v.is_literal() || v.launch_constant != kNone) return 2;
    const bool keeps = static_cast<Opcode>(op.opcode()) == Opcode::kAnd;
    uint32_t n = 0;
    for (const uint32_t half : {static_cast<uint32_t>(v.bits), static_cast<uint32_t>(v.bits >> 32)})
      n += half != 0 && (!keeps || half != ~0u) ? 1 : 0;
    return n;
  }

  uint32_t division(const Op& op, bool by_constant) {
    const bool remainder = static_cast<Opcode>(op.opcode()) == Opcode::kRem;
    const bool is_signed_type = is_signed(op.type);
    if (op.type == Type::kF32) {
      if ((op.key & (kVarApprox | kVarFull)) != 0) return approximate_division(op);
      return sequence(op.key, op.op_class, {16, 96});
    }
    if (op.type == Type::kF64) return sequence(op.key, op.op_class, {25, 82});
    if (type_bytes(op.type) == 8 && by_constant) return 3 + (is_signed_type ? 1 : 0) + (remainder ? 1 : 0);
    if (type_bytes(op.type) == 8) return sequence(op.key, op.op_class, {6, is_signed_type ? 82u : 66u});
    if (prepared(op)) return remainder ? (is_signed_type ? 11 : 9) : is_signed_type ? 14 : 10;
    if (by_constant) return remainder ? (is_signed_type ? 16 : 13) : is_signed_type ? 18 : 14;
    return remainder ? (is_signed_type ? 22 : 17) : is_signed_type ? 24 : 18;
  }
  /// Where the reciprocal is there (known_divisors.cpp), it is a product and its scaling. A reciprocal before
  /// a loop stands in the code, too.
  uint32_t approximate_division(const Op& op) {
    const bool ftz = (op.key & kVarFtz) != 0, full = (op.key & kVarFull) != 0;
    const uint32_t all = full ? 8 : ftz ? 2 : 5, product = full ? 3 : ftz ? 1 : 2;
    const bool again = prepared(op);
    if (op.op_class != OpClass::kFp32Mul) return all;
    return again || only_executed_ ? product : all;
  }
  /// Whether the reciprocal of the divisor is there, from a division before it in its block.
  bool prepared(const Op& op) {
    const Value& d = op.src[1];
    const uint32_t which = d.is_literal() ? d.launch_constant : d.var;
    return !divisors_.emplace(d.is_literal(), which, d.is_literal() ? d.bits : 0, is_signed(op.type)).second;
  }

  /// An instruction takes one constant; what else it reads must be in registers.
  uint32_t literals(const Op& op) {
    const uint32_t loads = constant_loads(op);
    if (static_cast<Opcode>(op.opcode()) == Opcode::kMov || op.op_class == OpClass::kWarp) return loads;
    if (static_cast<Opcode>(op.opcode()) == Opcode::kSetp && op.type == Type::kB32)
      return loads;  // masks of r2p
    uint32_t taken = 0, extra = 0;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (!v.is_literal() || (v.bits == 0 && v.launch_constant == kNone)) continue;
      if (v.launch_constant != kNone && loads_constants()) continue;
      if (taken++ > 0 && in_registers_.insert(v.bits).second) ++extra;
    }
    return extra + loads;
  }
  /// From 9.0 on a number of 64 bits whose lower half is not zero is put into a register of the warp, by two
  /// instructions, where a block first needs it, or the kernel, if there are few.
  uint32_t double_literals(const Op& op) {
    uint32_t n = 0;
    for_each_double(op, [&](uint64_t bits) { n += doubles_.insert(bits).second ? 2 : 0; });
    return n;
  }
  template <class Fn>
  void for_each_double(const Op& op, Fn fn) const {
    const auto opcode = static_cast<Opcode>(op.opcode());
    if (!loads_constants() || op.kind != OpKind::kAlu || op.type != Type::kF64 || opcode == Opcode::kMov ||
        opcode == Opcode::kSelp || opcode == Opcode::kCvt)
      return;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (v.is_literal() && v.launch_constant == kNone && static_cast<uint32_t>(v.bits) != 0) fn(v.bits);
    }
  }
  /// In front of a loop, if they are few.
  [[nodiscard]] bool hoists_doubles(uint32_t block) const {
    if (!loads_constants() || !loops_.in_loop(block)) return false;
    std::set<uint64_t> numbers;
    for (const Op& op : program_.blocks[block].ops)
      for_each_double(op, [&](uint64_t bits) { numbers.insert(bits); });
    return numbers.size() <= kMostDoubles;
  }
  /// Of the constants of the launch that the operation reads, where no operand can be one.
  uint32_t constant_loads(const Op& op) {
    uint32_t n = 0;
    for (int i = 0; loads_constants() && i < op.num_src; ++i) {
      if (op.src[i].launch_constant != kNone &&
          is_new(program_.launch_constants[op.src[i].launch_constant], false))
        ++n;
    }
    return n;
  }
  /// Moved from the constant bank, or loaded where that is an operation.
  uint32_t parameter(const Op& op) {
    const uint32_t bytes = op.memory.element_bytes * op.memory.elements;
    if (!loads_constants() || op.memory.has_base) return bytes > 4 ? 2 : 1;
    const LaunchConstant c{op.memory.space == Space::kParam ? LaunchConstant::Source::kParameter
                                                            : LaunchConstant::Source::kConstantMemory,
                           bytes > 4, static_cast<uint64_t>(op.memory.offset)};
    return is_new(c, true) ? 1 : 0;
  }

  /// What is stored stands in registers, where a block needs it once.
  uint32_t stored_literals(const Op& op) {
    uint32_t n = 0;
    for (int i = op.memory.has_base ? 1 : 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (!v.is_literal() || v.bits == 0) continue;
      const bool is_constant = v.launch_constant == kNone && v.object == kNoObject;
      if (!is_constant || stored_.emplace(v.bits, v.wide).second) n += v.wide ? 2 : 1;
    }
    return n;
  }

  /// Adds what branches need, less what they save where a block is predicated.
  void branches() {
    std::set<uint32_t> joins;
    uint32_t saved = 0, yielding = 0;
    const auto blocks = static_cast<uint32_t>(program_.blocks.size());
    const std::vector<uint32_t> join = immediate_post_dominators(blocks, flow_.edges, flow_.exits);
    for (uint32_t b = 0; b < blocks; ++b) {
      if (program_.blocks[b].ops.empty()) continue;
      const Op& last = program_.blocks[b].ops.back();
      if (last.kind != OpKind::kBranch || last.guard == kNoVar) continue;
      if (yields(b)) yielding += yield_instructions(program_.machine_capability);
      if (last.target == b + 2 && predicable(b + 1)) {
        ++saved;
        continue;
      }
      if (divergence_.variables[last.guard] && join[b] != kNoBlock) joins.insert(join[b]);
    }
    uint32_t& control = classes_[static_cast<size_t>(MachineClass::kControl)];
    control += kReconvergence * static_cast<uint32_t>(joins.size()) + yielding - saved;
  }
  /// The block ends with a branch back that lanes may decide differently, and the loop has an atomic, or a
  /// volatile or ordered load.
  bool yields(uint32_t b) const {
    if (program_.blocks[b].ops.empty()) return false;
    const Op& last = program_.blocks[b].ops.back();
    if (last.kind != OpKind::kBranch || last.guard == kNoVar || last.target > b ||
        !divergence_.variables[last.guard])
      return false;
    return waits_before_[b + 1] != waits_before_[last.target];
  }
  bool predicable(uint32_t b) const {
    if (block_[b] > kMaxPredicated) return false;
    return std::none_of(program_.blocks[b].ops.begin(), program_.blocks[b].ops.end(), [](const Op& op) {
      return op.kind != OpKind::kAlu && op.kind != OpKind::kLoad && op.kind != OpKind::kStore &&
             op.kind != OpKind::kNop;
    });
  }

  const Program& program_;
  const Flow& flow_;
  const Readers readers_;
  std::set<uint64_t> in_registers_;             // constants of a block
  std::set<std::pair<uint64_t, bool>> stored_;  // constants of a block that stores take, of 64 bits or fewer
  std::set<uint64_t> doubles_;                  // constants of a block, see double_literals()
  std::set<Var> turns_;                         // of a block: a sine or cosine of it was taken
  std::set<std::tuple<bool, uint32_t, uint64_t, bool>> divisors_;  // of a block: with sign or without
  bool only_executed_ = false;                                     // of loops, what each iteration executes
  const Divergence divergence_;
  Dominators dominators_;
  LoopNest loops_;
  JoinedOperations joined_;
  uint32_t block_at_ = 0;  // that is counted
  /// The blocks that load a constant of the launch: by what it is.
  std::map<std::tuple<LaunchConstant::Source, bool, bool, uint64_t>, std::map<uint32_t, uint32_t>> loaded_;
  std::vector<uint32_t> block_;                     // instructions
  std::vector<uint32_t> waits_before_{0};           // atomics and volatile loads in the blocks before each
  std::unordered_map<uint32_t, uint32_t> code_of_;  // of each statement, the call that was counted
  struct Subroutine {
    uint32_t count = 0;
    Mix mix;
    MachineClass own = MachineClass::kInteger;
  };
  std::unordered_map<uint64_t, Subroutine> subroutines_;
  MachineCounts classes_{};
};

}  // namespace

std::vector<uint32_t> block_instructions(const Program& program, const Flow& flow) {
  return Counter(program, flow).blocks();
}

void count_issue_slots(Program& program, const Flow& flow) {
  const std::vector<std::vector<uint32_t>> executed = Counter(program, flow).executed();
  for (size_t b = 0; b < executed.size(); ++b) {
    for (size_t i = 0; i < executed[b].size(); ++i)
      program.blocks[b].ops[i].issue_slots = static_cast<uint8_t>(std::clamp(executed[b][i], 1u, 255u));
  }
}

MachineCounts machine_instructions(const Program& program, const Flow& flow) {
  return Counter(program, flow).run();
}

}  // namespace gpusim::isa::lir
