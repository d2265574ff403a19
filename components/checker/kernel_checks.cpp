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

KernelChecks::KernelChecks(isa::KernelImage& image, bool arithmetic) : image_(image) {
  for (isa::MicroOp& op : image.ops) ops_.push_back(observe(op, image, arithmetic));
  for (isa::MicroOp& op : image.folded_loads) folded_.push_back(observe(op, image, arithmetic));
}

const CheckedOp& KernelChecks::of(const isa::MicroOp& op) const {
  const isa::MicroOp* const first = image_.ops.data();
  if (&op >= first && &op < first + image_.ops.size()) return ops_[static_cast<size_t>(&op - first)];
  return folded_[static_cast<size_t>(&op - image_.folded_loads.data())];
}

}  // namespace gpusim::comp
