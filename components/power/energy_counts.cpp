#include "components/power/energy_counts.h"

#include <algorithm>
#include <set>

#include "components/simulation/gpu.h"

namespace gpusim::comp {

namespace {

using isa::OpClass;

/// The term of a class, and the class that its coefficient is for.
struct Group {
  EnergyTerm term;
  OpClass base;
};

Group group_of(OpClass c) {
  switch (c) {
    case OpClass::kIntMul24:
    case OpClass::kIntMul:
    case OpClass::kIntMul64:
      return {EnergyTerm::kIntMul, OpClass::kIntMul};
    case OpClass::kIntMulWide:  // the same multiplier, which only writes more
      return {EnergyTerm::kIntMul, c};
    case OpClass::kFp32:
    case OpClass::kFp32Mul:
    case OpClass::kFp32Div:
    case OpClass::kFp32DivRn:
    case OpClass::kFp32SqrtRn:
    case OpClass::kFp32RcpRn:
    case OpClass::kSharedOperand:
      return {EnergyTerm::kFp32, OpClass::kFp32};
    case OpClass::kHalf:
      return {EnergyTerm::kHalf, c};
    case OpClass::kFp64:
    case OpClass::kFp64Div:
    case OpClass::kFp64Sqrt:
      return {EnergyTerm::kFp64, OpClass::kFp64};
    case OpClass::kSfuRcp:
    case OpClass::kSfuRsqrt:
    case OpClass::kSfuSqrt:
    case OpClass::kSfuSin:
      return {EnergyTerm::kSfu, OpClass::kSfuRcp};
    case OpClass::kMmaHalf:
    case OpClass::kWgmmaHalf:
      return {EnergyTerm::kMmaHalf, c};
    case OpClass::kMmaInt8:
    case OpClass::kWgmmaInt8:
      return {EnergyTerm::kMmaInt8, c};
    case OpClass::kMmaFp64:
      return {EnergyTerm::kMmaFp64, c};
    case OpClass::kLoadGlobal:
    case OpClass::kStoreGlobal:
    case OpClass::kAtomGlobal:
    case OpClass::kLoadLocal:
    case OpClass::kStoreLocal:
    case OpClass::kLoadShared:
    case OpClass::kWgmmaLoad:
    case OpClass::kStoreShared:
    case OpClass::kAtomShared:
    case OpClass::kLoadConst:
    case OpClass::kLoadParam:
    case OpClass::kTexture:
      return {EnergyTerm::kLaneAccess, c};
    case OpClass::kBranch:
    case OpClass::kCall:
    case OpClass::kBarrier:
    case OpClass::kFence:
    case OpClass::kExit:
    case OpClass::kNop:
    case OpClass::kReconverge:
    case OpClass::kFenceBlock:
    case OpClass::kCount:
      return {EnergyTerm::kCount, c};
    default:
      return {EnergyTerm::kInt, OpClass::kInt};
  }
}

double interval_of(const core::MachineConfig& machine, OpClass c) {
  const std::string name(isa::op_class_name(c));
  for (const core::MachineConfig::Pipe& pipe : machine.pipes)
    if (const auto found = pipe.interval.find(name); found != pipe.interval.end())
      return static_cast<double>(found->second);
  return 1;
}

}  // namespace

std::array<ClassEnergy, kNumOpClasses> class_energies(const core::MachineConfig& machine) {
  std::array<ClassEnergy, kNumOpClasses> table;
  for (size_t i = 0; i < kNumOpClasses; ++i) {
    const auto c = static_cast<OpClass>(i);
    const Group group = group_of(c);
    table[i] = {group.term, interval_of(machine, c) / interval_of(machine, group.base)};
  }
  return table;
}

uint32_t register_words(const isa::MicroOp& op) {
  const bool memory =
      op.kind == isa::OpKind::kLoad || op.kind == isa::OpKind::kStore || op.kind == isa::OpKind::kAtomic;
  const uint32_t of_value = (memory ? op.memory.element_bytes : isa::type_bytes(op.type)) > 4 ? 2 : 1;
  uint32_t words = op.num_dst * of_value;
  for (uint32_t i = 0; i < op.num_src; ++i) {
    if (op.src[i].bank != isa::Bank::kRegister) continue;
    const bool base = memory && op.memory.has_base && i == 0;
    words += base ? (op.memory.base_is_64 ? 2 : 1) : of_value;
  }
  return words;
}

namespace {

/// Of each operation, whether it reads a word of constant memory as an operand. Parameters and sizes, which
/// stand in another bank, have always been part of what issuing costs.
std::vector<bool> constant_operands(const isa::KernelImage& image) {
  std::set<uint32_t> rows;
  for (const isa::LaunchConstant& c : image.launch_constants)
    if (c.source == isa::LaunchConstant::Source::kConstantMemory) rows.insert(c.row);
  std::vector<bool> reads(image.ops.size(), false);
  for (size_t i = 0; i < image.ops.size() && !rows.empty(); ++i) {
    const isa::MicroOp& op = image.ops[i];
    for (uint32_t k = 0; k < op.num_src; ++k)
      reads[i] = reads[i] || (op.src[k].bank == isa::Bank::kConstant && rows.contains(op.src[k].offset));
  }
  return reads;
}

}  // namespace

EnergyCounts::EnergyCounts(const Gpu& gpu, const core::MachineConfig& machine)
    : gpu_(gpu), classes_(class_energies(machine)) {
  const auto& net = machine.interconnect;
  reply_flit_ = net.reply_flit_bytes == 0
                    ? 1
                    : static_cast<double>(net.reply_flit_bytes) / static_cast<double>(net.flit_bytes);
}

void EnergyCounts::begin_kernel(const KernelLaunch& run) {
  Kernel kernel{&run, {}, constant_operands(*run.image)};
  for (const isa::MicroOp& op : run.image->ops) {
    uint32_t words = register_words(op);
    if (op.folded_load != isa::kNoTarget) words += register_words(run.image->folded_loads[op.folded_load]);
    kernel.words.push_back(words);
  }
  open_.push_back(std::move(kernel));
}

void EnergyCounts::end_kernel(const KernelLaunch& run) {
  open_.erase(std::ranges::find(open_, &run, &Kernel::run));
}

EnergyCounts::Own EnergyCounts::own(const Kernel& kernel, uint64_t now) {
  const KernelLaunch& run = *kernel.run;
  Own sum;
  for (size_t i = 0; i < run.pc.size(); ++i) {
    const PcStats& at = run.pc[i];
    const OpClass c = run.image->ops[i].op_class;
    sum.lanes[static_cast<size_t>(c)] += at.active_lanes;
    sum.words += at.active_lanes * kernel.words[i];
    if (run.image->ops[i].memory.space == isa::Space::kConst) sum.constant_lines += at.transactions;
    if (kernel.reads_constants[i]) sum.constant_lines += at.executed;
  }
  for (size_t i = 0; i < run.sm.size(); ++i) {
    const SmStats& s = run.sm[i];
    sum.active_cycles += s.active_cycles;
    // The SM counts them when a warp comes or goes.
    const Residence& here = run.residence[i];
    if (here.warps != 0 && now > here.counted_until) sum.active_cycles += now - here.counted_until;
    sum.issued += s.inst_issued;
    sum.shared_steps += s.shared_steps;
    sum.l1_lines += s.l1.load_hits + s.l1.load_misses + s.l1.local_load_hits + s.l1.local_load_misses +
                    s.l1.local_store_hits + s.l1.local_store_misses;
  }
  return sum;
}

EnergyAmounts EnergyCounts::events(const KernelLaunch& run) const {
  const Own mine = own(*std::ranges::find(open_, &run, &Kernel::run), gpu_.core_domain().now().count());
  EnergyAmounts amounts{};
  const auto of = [&amounts](EnergyTerm term) -> double& { return amounts[static_cast<size_t>(term)]; };
  const auto real = [](uint64_t n) { return static_cast<double>(n); };
  for (size_t i = 0; i < kNumOpClasses; ++i)
    if (classes_[i].term != EnergyTerm::kCount)
      of(classes_[i].term) += real(mine.lanes[i]) * classes_[i].weight;
  of(EnergyTerm::kIssue) = real(mine.issued);
  of(EnergyTerm::kRegister) = real(mine.words);
  of(EnergyTerm::kShared) = real(mine.shared_steps);
  of(EnergyTerm::kL1) = real(mine.l1_lines);
  of(EnergyTerm::kCoreActive) = real(mine.active_cycles);
  of(EnergyTerm::kConstant) = real(mine.constant_lines + gpu_.cluster_constant_lines());
  const MachineStats shared = gpu_.stats();
  const TextureStats& textures = shared.texture;
  of(EnergyTerm::kTexture) = real(textures.hits + textures.misses);
  const L2Stats& l2 = shared.l2;
  of(EnergyTerm::kL2) =
      real(l2.reads + l2.writes + l2.atomics + l2.constants + l2.textures + l2.fills + l2.writebacks +
           textures.l2_hits + textures.l2_misses + gpu_.partition_constant_lines());
  of(EnergyTerm::kFlit) = real(shared.noc.request_flits) + reply_flit_ * real(shared.noc.reply_flits);
  const DramStats& dram = shared.dram;
  of(EnergyTerm::kDramActivate) = real(dram.activates);
  of(EnergyTerm::kDramRead) = real(dram.read_bytes) / 32;
  of(EnergyTerm::kDramWrite) = real(dram.write_bytes) / 32;
  return amounts;
}

}  // namespace gpusim::comp
