#include "components/functional/spin_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/ptx/opcodes.h"

namespace gpusim::comp {

using isa::MicroOp;
using isa::OpKind;

namespace {

/// The operand of an atomic operation is the constant 0: programs add nothing to read what others write.
bool operand_is_zero(const MicroOp& op, const isa::WarpContext& context) {
  const isa::RowRef& operand = op.src[op.memory.has_base ? 1 : 0];
  if (operand.bank != isa::Bank::kConstant || op.memory.elements != 1) return false;
  const std::byte* const value = context.bank[static_cast<size_t>(isa::Bank::kConstant)] + operand.offset;
  return std::all_of(value, value + op.memory.element_bytes, [](std::byte b) { return b == std::byte{0}; });
}

uint64_t mix(uint64_t digest, uint64_t word) {
  digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
  return digest ^ digest >> 29;
}

/// Of where the warp stands, its registers and its predicates.
uint64_t digest_of(const isa::KernelImage& image, const isa::WarpContext& context, const SimtStack& stack) {
  uint64_t digest = mix(mix(1, stack.pc()), stack.mask().bits());
  const std::byte* const registers = context.bank[static_cast<size_t>(isa::Bank::kRegister)];
  for (size_t at = 0; at < size_t{image.num_rows} * isa::kRowBytes; at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, registers + at, sizeof word);
    digest = mix(digest, word);
  }
  for (uint32_t p = 0; p < image.num_predicates; ++p) digest = mix(digest, context.predicates[p]);
  return digest;
}

}  // namespace

/// In an iteration that leaves the registers as they were: doing other atomics than these again with the same
/// operands changes nothing.
bool SpinDetector::may_change_memory(const MicroOp& op, const isa::WarpContext& context) {
  if (op.kind != OpKind::kAtomic) return true;
  const auto operation = static_cast<isa::AtomOp>(op.modifiers);
  if (operation == isa::AtomOp::kAdd || operation == isa::AtomOp::kXor) return !operand_is_zero(op, context);
  return operation == isa::AtomOp::kInc || operation == isa::AtomOp::kDec;
}

bool SpinDetector::must_yield(const isa::KernelImage& image, const isa::WarpContext& context, uint32_t last,
                              const SimtStack& current, const DivergentGroups& groups, bool unchanged) {
  if (current.waiting().lanes.none() && groups.empty()) {
    waits_ = false;
    rounds_ = 0;
    return false;
  }
  if (current.waiting().lanes.none() && !groups.any_can_run(image.ops.data(), context)) return false;
  const bool waits = unchanged || image.ops[last].may_wait;
  if (!waits && ++rounds_ < kPlainRounds) return false;
  waits_ = waits_ || waits;
  rounds_ = 0;
  return true;
}

bool SpinDetector::unchanged(const isa::KernelImage& image, uint32_t first, uint32_t last,
                             const isa::WarpContext& context, const SimtStack& current, uint64_t now) {
  if (--to_sample_ != 0) return false;
  const uint64_t digest = digest_of(image, context, current);
  const MicroOp* const ops = image.ops.data();
  const bool same =
      one_loop_ && digest == digest_ && !changed_memory_ &&
      std::none_of(ops + first, ops + last + 1, [](const MicroOp& op) { return op.kind == OpKind::kCall; });
  changed_memory_ = false;
  one_loop_ = true;
  digest_ = digest;
  to_sample_ = same ? 1 : kSampleRounds;
  if (!same) since_ = now;
  until_ = now;
  return same;
}

std::string describe_spin(const KernelLaunch& run, uint32_t pc, uint64_t block, uint32_t warp_in_block,
                          const SimtStack& stack) {
  const std::string where = describe_location(run, pc, block, warp_in_block, stack.mask().lowest() % 32);
  const SimtStack::Waiting waiting = stack.waiting();
  if (waiting.lanes.none())
    return fmt::format("deadlock: {}: the loop that ends here waits for what no other warp will do", where);
  return fmt::format(
      "SIMT deadlock: {}: lanes {:#010x} go round the loop that ends here and wait for lanes {:#010x} of "
      "their warp, which wait for them at the reconvergence point: {}; below compute capability 7.0 lanes "
      "go on only together",
      where, stack.mask().bits(), waiting.lanes.bits(),
      describe_location(run, waiting.pc, block, warp_in_block, waiting.lanes.lowest()));
}

}  // namespace gpusim::comp
