#include "isa/lowering/machine_count.h"

#include <algorithm>

#include "isa/lowering/machine_counter.h"
#include "isa/lowering/parted_exchanges.h"

namespace gpusim::isa::lir {
namespace {

/// A short block is executed under a predicate instead of being jumped over.
constexpr uint32_t kMaxPredicated = 10;
/// What a warp needs to meet again behind a branch: bmov, bssy, bsync.
constexpr uint32_t kReconvergence = 3;
/// Compute capability of the first machine whose accesses to global memory take a descriptor, which a kernel
/// loads once. Found with probes.
constexpr int kDescribesGlobalFrom = 80;

}  // namespace

MachineCounter::MachineCounter(const Program& program, const Flow& flow)
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

const std::vector<uint32_t>& MachineCounter::blocks() {
  for (uint32_t b = 0; b < program_.blocks.size(); ++b) block_.push_back(count_block(b));
  return block_;
}

MachineCounts MachineCounter::run() {
  blocks();
  add(MachineClass::kInteger, preamble());
  for (uint32_t b = 0; b < program_.blocks.size(); ++b) add(MachineClass::kInteger, shared_addresses(b));
  for (const auto& [key, subroutine] : subroutines_)
    add_mix(subroutine.count, subroutine.mix, subroutine.own);
  branches();
  const PartedInstructions parted = parted_instructions(program_, divergence_.blocks);
  add(MachineClass::kControl, parted.control);
  add(MachineClass::kInteger, parted.integer);
  add(MachineClass::kWarp, parted.exchanges);
  return classes_;
}

bool MachineCounter::reaches_global() const {
  return std::ranges::any_of(program_.blocks, [](const Block& block) {
    return std::ranges::any_of(block.ops, [](const Op& op) {
      const Space s = op.memory.space;
      return op.is_memory() && (s == Space::kGlobal || s == Space::kGeneric);
    });
  });
}

uint32_t MachineCounter::preamble() const {
  return program_.machine_capability >= kDescribesGlobalFrom && reaches_global() ? 2 : 1;
}

uint32_t MachineCounter::count_block(uint32_t b) {
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

void MachineCounter::add_mix(uint32_t n, const Mix& mix, MachineClass own) {
  const std::pair<MachineClass, uint32_t> parts[] = {
      {own, mix.own}, {MachineClass::kSpecial, mix.special}, {MachineClass::kControl, mix.control}};
  for (const auto& [part, most] : parts) {
    add(part, std::min(n, most));
    n -= std::min(n, most);
  }
  add(MachineClass::kInteger, n);
}

void MachineCounter::add_op(const Op& op, uint32_t n) {
  if (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp || is_matrix(op))
    return add(class_of_access(op), n);
  if (widens_half(op)) return add(MachineClass::kHalf, n);
  add_mix(n, mix_of(op, n), class_of_type(op.type));
}

void MachineCounter::forget() {
  if (!numbers_stay_) in_registers_.clear();
  joined_.forget();
  if (doubles_.size() > kMostDoubles) doubles_.clear();
  turns_.clear();
  divisors_.clear();
  stored_.clear();
}

void MachineCounter::branches() {
  std::set<uint32_t> joins;
  uint32_t saved = 0, yielding = 0;
  const auto blocks = static_cast<uint32_t>(program_.blocks.size());
  const std::vector<uint32_t> join = immediate_post_dominators(blocks, flow_.edges, flow_.exits);
  for (uint32_t b = 0; b < blocks; ++b) {
    if (program_.blocks[b].ops.empty()) continue;
    const Op& last = program_.blocks[b].ops.back();
    if (last.kind != OpKind::kBranch || last.guard == kNoVar) continue;
    if (yields(b)) yielding += yield_instructions();
    if (last.target == b + 2 && predicable(b + 1)) {
      ++saved;
      continue;
    }
    if (divergence_.variables[last.guard] && join[b] != kNoBlock) joins.insert(join[b]);
  }
  uint32_t& control = classes_[static_cast<size_t>(MachineClass::kControl)];
  control += kReconvergence * static_cast<uint32_t>(joins.size()) + yielding - saved;
}

bool MachineCounter::yields(uint32_t b) const {
  if (program_.blocks[b].ops.empty()) return false;
  const Op& last = program_.blocks[b].ops.back();
  if (last.kind != OpKind::kBranch || last.guard == kNoVar || last.target > b ||
      !divergence_.variables[last.guard])
    return false;
  return waits_before_[b + 1] != waits_before_[last.target];
}

bool MachineCounter::predicable(uint32_t b) const {
  if (block_[b] > kMaxPredicated) return false;
  return std::none_of(program_.blocks[b].ops.begin(), program_.blocks[b].ops.end(), [](const Op& op) {
    return op.kind != OpKind::kAlu && op.kind != OpKind::kLoad && op.kind != OpKind::kStore &&
           op.kind != OpKind::kNop;
  });
}

std::vector<uint32_t> block_instructions(const Program& program, const Flow& flow) {
  MachineCounter counter(program, flow);
  counter.numbers_stay();
  return counter.blocks();
}

void count_executed(Program& program, const Flow& flow) {
  const std::vector<std::vector<uint32_t>> slots = MachineCounter(program, flow).executed();
  const std::vector<std::vector<uint32_t>> instructions =
      MachineCounter(program, flow).instructions(program.executed_once);
  for (size_t b = 0; b < slots.size(); ++b) {
    for (size_t i = 0; i < slots[b].size(); ++i) {
      Op& op = program.blocks[b].ops[i];
      op.issue_slots = static_cast<uint8_t>(std::clamp(slots[b][i], 1u, 255u));
      op.instructions = static_cast<uint16_t>(std::min(instructions[b][i], 65535u));
    }
  }
}

MachineCounts machine_instructions(const Program& program, const Flow& flow) {
  return MachineCounter(program, flow).run();
}

}  // namespace gpusim::isa::lir
