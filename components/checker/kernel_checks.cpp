#include "components/checker/kernel_checks.h"

#include <algorithm>
#include <string_view>

#include "isa/exec/device_services.h"
#include "isa/exec/stack.h"

namespace gpusim::comp {

namespace {

using isa::OpKind;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The instruction of a statement: without its guard and operands.
std::string_view instruction_of(std::string_view text) {
  if (text.starts_with("@")) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  return text.substr(0, text.find(' '));
}

bool is_access(const isa::MicroOp& op) {
  return (op.kind == OpKind::kLoad || op.kind == OpKind::kStore || op.kind == OpKind::kAtomic) &&
         !op.memory.is_spill;
}

/// Calls, loads and stores are moves where parameters of a function are passed in registers.
bool is_copy(std::string_view name) {
  constexpr std::string_view kCopies[] = {"mov", "selp", "call", "ld", "st"};
  return std::ranges::any_of(kCopies,
                             [&](std::string_view c) { return name.substr(0, name.find('.')) == c; });
}

void describe_memory(CheckedOp& checked, const isa::MicroOp& op, std::string_view name) {
  checked.mem = op.mem;
  // The texels of a tex and the fragments of a wmma lie in several places.
  checked.system_call = isa::is_system_call(op.mem) || isa::is_stack_function(op.mem);
  checked.writes_shared = name.starts_with("cp.async");
  checked.plain = !checked.system_call && op.op_class != isa::OpClass::kTexture &&
                  !name.starts_with("wmma") && !checked.writes_shared && !has(name, "matrix.") &&
                  !name.starts_with("sust");
  checked.reads =
      op.kind == OpKind::kLoad ||
      (op.kind == OpKind::kAtomic && (op.num_dst > 0 || !has(name, ".exch")) && !has(name, "mbarrier.init"));
  checked.is_volatile = !op.memory.is_spill && has(name, ".volatile");
  checked.strong =
      op.kind == OpKind::kAtomic || (op.memory.is_volatile && !op.memory.is_spill && !checked.is_volatile);
}

CheckedOp observe(isa::MicroOp& op, const isa::KernelImage& image, bool arithmetic) {
  CheckedOp checked;
  const std::string_view name = instruction_of(image.ptx[op.ptx_index].text);
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kAtomic:
      describe_memory(checked, op, name);
      op.mem = &isa::observed_memory;
      break;
    case OpKind::kBarrier:
      checked.aligned = name.starts_with("bar.") || has(name, ".aligned");
      break;
    default:
      checked.warp_sync = op.op_class == isa::OpClass::kWarp && has(name, ".sync");
      if (checked.warp_sync) {
        constexpr int kShuffleSources = 3;
        checked.members = op.num_src > (name.starts_with("shfl") ? kShuffleSources : 0);
        checked.exchanges = !name.starts_with("bar");
      } else if (!arithmetic || op.exec == nullptr) {
        break;
      }
      checked.copies = !checked.warp_sync && is_copy(name);
      checked.exec = op.exec;
      op.exec = &isa::observed_exec;
      break;
  }
  return checked;
}

}  // namespace

KernelChecks::KernelChecks(isa::KernelImage& image, bool arithmetic, bool past) : image_(image) {
  for (isa::MicroOp& op : image.ops) ops_.push_back(observe(op, image, arithmetic));
  for (isa::MicroOp& op : image.folded_loads) folded_.push_back(observe(op, image, arithmetic));
  for (uint32_t i = 0; past && i < ops_.size(); ++i) {
    if (!ops_[i].warp_sync) continue;
    ops_[i].behind = accesses_behind(i);
    knows_past_ |= !ops_[i].behind.empty();
  }
}

std::vector<uint32_t> KernelChecks::accesses_behind(uint32_t sync) const {
  const std::vector<isa::MicroOp>& ops = image_.ops;
  // From where lanes can come to it. Functions may be called again, and tables lead anywhere.
  std::vector<bool> leads(ops.size() + 1);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t at = static_cast<uint32_t>(ops.size()); at-- > 0;) {
      if (leads[at]) continue;
      const isa::MicroOp& op = ops[at];
      const bool guarded = op.guard != isa::kNoPredicate;
      const bool goes_on = guarded || (op.kind != OpKind::kExit && op.kind != OpKind::kBranch);
      leads[at] = at == sync || op.kind == OpKind::kReturn || op.kind == OpKind::kCall ||
                  op.kind == OpKind::kBranchTable || (goes_on && leads[at + 1]) ||
                  (op.kind == OpKind::kBranch && leads[op.target]);
      more |= leads[at];
    }
  }
  // Behind a branch all lanes come to where its two ways meet.
  std::vector<uint32_t> behind;
  std::vector<bool> seen(ops.size());
  for (uint32_t at = sync + 1; at < ops.size() && !seen[at];) {
    seen[at] = true;
    const isa::MicroOp& op = ops[at];
    const bool guarded = op.guard != isa::kNoPredicate;
    if (op.kind == OpKind::kReturn || op.kind == OpKind::kBranchTable ||
        (op.kind == OpKind::kExit && !guarded))
      break;
    if (is_access(op) && !leads[at]) behind.push_back(at);
    at = op.kind != OpKind::kBranch ? at + 1 : guarded ? op.reconverge : op.target;
  }
  return behind;
}

const CheckedOp& KernelChecks::of(const isa::MicroOp& op) const {
  const uint32_t index = index_of(op);
  return index != isa::kNoTarget ? ops_[index]
                                 : folded_[static_cast<size_t>(&op - image_.folded_loads.data())];
}

uint32_t KernelChecks::index_of(const isa::MicroOp& op) const {
  const isa::MicroOp* const first = image_.ops.data();
  return &op >= first && &op < first + image_.ops.size() ? static_cast<uint32_t>(&op - first)
                                                         : isa::kNoTarget;
}

}  // namespace gpusim::comp
