// Which constants of a program take instructions of their own in ptxas' code: an instruction has room for one
// operand that is a number, and from 9.0 on for none of the constant bank.
#include <algorithm>
#include <iterator>

#include "isa/lowering/machine_counter.h"

namespace gpusim::isa::lir {

bool MachineCounter::is_new(const LaunchConstant& c, bool for_threads) {
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

bool MachineCounter::is_new(uint64_t number) {
  constexpr size_t kLookedAt = 64;  // of the blocks before, for the time that it takes
  std::vector<uint32_t>& there = in_registers_[number];
  const size_t looked_at = std::min(kLookedAt, there.size());
  if (std::any_of(there.end() - static_cast<ptrdiff_t>(looked_at), there.end(), [this](uint32_t block) {
        return dominators_.dominates(block, block_at_) && !loops_.enters(block, block_at_);
      }))
    return false;
  there.push_back(block_at_);
  return true;
}

uint32_t MachineCounter::literals(const Op& op) {
  const uint32_t loads = constant_loads(op);
  if (static_cast<Opcode>(op.opcode()) == Opcode::kMov || op.op_class == OpClass::kWarp) return loads;
  if (static_cast<Opcode>(op.opcode()) == Opcode::kSetp && op.type == Type::kB32)
    return loads;  // masks of r2p
  uint32_t taken = 0, extra = 0;
  for (int i = 0; i < op.num_src; ++i) {
    const Value& v = op.src[i];
    if (!v.is_literal() || (v.bits == 0 && v.launch_constant == kNone)) continue;
    if (v.launch_constant != kNone && loads_constants()) continue;
    if (taken++ > 0 && is_new(v.bits)) ++extra;
  }
  return extra + loads;
}

template <class Fn>
void MachineCounter::for_each_double(const Op& op, Fn fn) const {
  const auto opcode = static_cast<Opcode>(op.opcode());
  if (!loads_constants() || op.kind != OpKind::kAlu || op.type != Type::kF64 || opcode == Opcode::kMov ||
      opcode == Opcode::kSelp || opcode == Opcode::kCvt)
    return;
  for (int i = 0; i < op.num_src; ++i) {
    const Value& v = op.src[i];
    if (v.is_literal() && v.launch_constant == kNone && static_cast<uint32_t>(v.bits) != 0) fn(v.bits);
  }
}

uint32_t MachineCounter::double_literals(const Op& op) {
  uint32_t n = 0;
  for_each_double(op, [&](uint64_t bits) { n += doubles_.insert(bits).second ? 2 : 0; });
  return n;
}

bool MachineCounter::hoists_doubles(uint32_t block) const {
  if (!loads_constants() || !loops_.in_loop(block)) return false;
  std::set<uint64_t> numbers;
  for (const Op& op : program_.blocks[block].ops)
    for_each_double(op, [&](uint64_t bits) { numbers.insert(bits); });
  return numbers.size() <= kMostDoubles;
}

uint32_t MachineCounter::constant_loads(const Op& op) {
  uint32_t n = 0;
  for (int i = 0; loads_constants() && i < op.num_src; ++i) {
    if (op.src[i].launch_constant != kNone &&
        is_new(program_.launch_constants[op.src[i].launch_constant], false))
      ++n;
  }
  return n;
}

uint32_t MachineCounter::parameter(const Op& op) {
  const uint32_t bytes = op.memory.element_bytes * op.memory.elements;
  if (!loads_constants() || op.memory.has_base) return bytes > 4 ? 2 : 1;
  const LaunchConstant c{op.memory.space == Space::kParam ? LaunchConstant::Source::kParameter
                                                          : LaunchConstant::Source::kConstantMemory,
                         bytes > 4, static_cast<uint64_t>(op.memory.offset)};
  return is_new(c, true) ? 1 : 0;
}

uint32_t MachineCounter::stored_literals(const Op& op) {
  uint32_t n = 0;
  for (int i = op.memory.has_base ? 1 : 0; i < op.num_src; ++i) {
    const Value& v = op.src[i];
    if (!v.is_literal() || v.bits == 0) continue;
    const bool is_constant = v.launch_constant == kNone && v.object == kNoObject;
    if (!is_constant || stored_.emplace(v.bits, v.wide).second) n += v.wide ? 2 : 1;
  }
  return n;
}

}  // namespace gpusim::isa::lir
