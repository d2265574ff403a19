// Modifiers of memory accesses: which state spaces, memory orders, scopes, cache operators and cache hints go
// together. PTX ISA manual, 9.7.9 (ld, st, prefetch, discard) and 9.7.13 (atom, red, fence).
#include <fmt/format.h>

#include "isa/ptx/modifier_groups.h"
#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;

bool is_global(Space s) { return s == Space::kGlobal || s == Space::kGeneric; }

/// Memory orders of each instruction.
bool has_order(Opcode op, Semantics s) {
  switch (s) {
    case Semantics::kNone:
      return true;
    case Semantics::kWeak:
    case Semantics::kVolatile:
      return op == Opcode::kLd || op == Opcode::kSt;
    case Semantics::kRelaxed:
      return op != Opcode::kFence;
    case Semantics::kAcquire:
      return op == Opcode::kLd || op == Opcode::kAtom || op == Opcode::kFence;
    case Semantics::kRelease:
      return op != Opcode::kLd;
    case Semantics::kAcqRel:
      return op == Opcode::kAtom || op == Opcode::kFence;
    case Semantics::kSc:
      return op == Opcode::kFence;
    case Semantics::kMmio:
      return op == Opcode::kLd || op == Opcode::kSt;
  }
  return false;
}

}  // namespace

void FunctionVerifier::check_memory_modifiers(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (!has_order(i.opcode, m.semantics))
    return error(fmt::format("'{}' does not have this memory order", name()));
  switch (i.opcode) {
    case Opcode::kLd:
    case Opcode::kSt:
      if (i.opcode == Opcode::kSt && (m.seen & kWindow) != 0 && m.space == Space::kParam)
        return error(fmt::format("'{}': parameters of kernels are read-only", name()), "use .param::func");
      check_order(i);
      return check_cache_modifiers(i);
    case Opcode::kAtom:
    case Opcode::kRed:
      return check_cache_hint(i, i.opcode == Opcode::kAtom ? 3 : 2);
    case Opcode::kLdu:
      if (!is_global(m.space)) error(fmt::format("'{}' reads .global memory only", name()));
      return;
    case Opcode::kFence:
      if (m.scope == Scope::kNone) error(fmt::format("'{}' needs a scope such as .gpu", name()));
      return;
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
    case Opcode::kDiscard:
    case Opcode::kApplypriority:
      return check_cache_control(i);
    default:
      return;
  }
}

/// Orders and scopes of ld and st.
void FunctionVerifier::check_order(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool ordered = is_ordered(m);
  const bool shareable = is_global(m.space) || m.space == Space::kShared;
  if (!shareable && (ordered || m.semantics == Semantics::kVolatile))
    return error(fmt::format("'{}': a memory order is for .global and .shared memory", name()));
  if (ordered != (m.scope != Scope::kNone))
    return error(ordered ? fmt::format("'{}' needs a scope such as .gpu", name())
                         : fmt::format("'{}': a scope goes with a memory order such as .relaxed", name()));
  if ((m.seen & kMmio) == 0) return;
  const bool relaxed =
      (m.seen & kSemantics) != 0 &&
      has_order(Opcode::kRed, m.semantics == Semantics::kMmio ? Semantics::kRelaxed : m.semantics);
  if (!relaxed || m.scope != Scope::kSys || m.vector > 1 || !is_global(m.space))
    error(fmt::format("'{}': .mmio goes with .relaxed.sys, .global memory and single elements", name()));
}

/// Cache operators, eviction priorities, prefetch sizes and .nc of ld and st.
void FunctionVerifier::check_cache_modifiers(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool is_volatile = m.semantics == Semantics::kVolatile;
  const bool has_priority = (m.seen & kEvictL1) != 0;
  if (m.cache != CacheOp::kNone && (is_ordered(m) || is_volatile || has_priority))
    error(fmt::format("'{}': a cache operator excludes memory orders, .volatile and L1 priorities", name()));
  if (m.nc && (m.semantics != Semantics::kNone || m.space != Space::kGlobal))
    error(fmt::format("'{}': .nc goes with .global, and with no memory order", name()));
  if (has_priority && (is_volatile || !is_global(m.space)))
    error(fmt::format("'{}': an L1 priority is for .global memory that is not .volatile", name()));
  if ((m.seen & kPrefetchSize) != 0 && !is_global(m.space))
    error(fmt::format("'{}': a prefetch size is for .global memory", name()));
  if ((m.seen & kEvictL2) != 0 && type_bytes(m.type) * m.vector != 32)
    error(fmt::format("'{}': an L2 priority is for accesses of 32 bytes", name()), "such as .v8.b32");
  if ((m.seen & kCacheHint) != 0 && (is_volatile || !is_global(m.space)))
    error(fmt::format("'{}': .L2::cache_hint is for .global memory that is not .volatile", name()));
  check_cache_hint(i, 2);
}

/// The cache policy is an operand of its own behind the others.
void FunctionVerifier::check_cache_hint(const Instruction& i, size_t operands) {
  if (i.mods.atom == AtomOp::kCas) ++operands;
  const bool hint = (i.mods.seen & kCacheHint) != 0;
  if (i.operands.size() == operands + (hint ? 1 : 0) || i.operands.size() < operands) return;
  error(fmt::format("'{}' takes {} operands, found {}", name(), operands + (hint ? 1 : 0), i.operands.size()),
        hint ? "the last one is the cache policy" : "a cache policy goes with .L2::cache_hint");
}

void FunctionVerifier::check_cache_control(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool level = (m.seen & kLevel) != 0, priority = (m.seen & kEvictL2) != 0;
  const bool prefetch = i.opcode == Opcode::kPrefetch;
  if (!is_global(m.space) && m.space != Space::kNone && !(prefetch && m.space == Space::kLocal && !priority))
    error(fmt::format("'{}' is for .global memory", name()));
  const std::string_view written = name_of_level(i);
  if (level == priority || (i.opcode == Opcode::kPrefetchu && written != "L1") ||
      (i.opcode == Opcode::kDiscard && written != "L2") ||
      (i.opcode == Opcode::kApplypriority && written != "L2::evict_normal") ||
      (prefetch && priority && written == "L2::evict_first"))
    error(fmt::format("'{}' does not name a cache level that it has", name()));
  if (i.opcode != Opcode::kDiscard && i.opcode != Opcode::kApplypriority) return;
  const Operand& size = i.operands[1];
  constexpr uint64_t kLine = 128;
  if (size.kind == Kind::kImmediate && size.imm != kLine)
    error(size.loc, fmt::format("'{}' takes {} bytes", name(), kLine));
}

/// The cache level or priority as written; empty if there is none.
std::string_view FunctionVerifier::name_of_level(const Instruction& i) {
  for (const std::string_view n : {"L2::evict_normal", "L2::evict_last", "L2::evict_first", "L1", "L2"}) {
    if (i.text.find(fmt::format(".{}", n)) != std::string::npos) return n;
  }
  return {};
}

}  // namespace gpusim::isa
