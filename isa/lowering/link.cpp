#include "isa/lowering/link.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "isa/exec/executor.h"

namespace gpusim::isa::lir {
namespace {

/// Most bytes that the frames of called functions take at once.
class StackDepth {
 public:
  StackDepth(const std::vector<Unit>& units, const Module& module, const std::vector<CallTarget>& functions) {
    std::unordered_map<uint32_t, size_t> unit_of;  // by number of the function
    std::unordered_multimap<uint64_t, size_t> by_signature;
    for (size_t u = 1; u < units.size(); ++u) {
      const uint32_t number = module.number_of(*units[u].function);
      unit_of.emplace(number, u);
      by_signature.emplace(functions[number].signature, u);
    }
    for (const Unit& unit : units) {
      frames_.push_back(unit.program.local_bytes);
      callees_.emplace_back();
      for (const Block& block : unit.program.blocks) {
        for (const Op& op : block.ops) {
          if (op.kind != OpKind::kCall) continue;
          if (op.target != kNone) {
            callees_.back().push_back(unit_of.at(op.target));
            continue;
          }
          const auto [first, last] = by_signature.equal_range(op.imm);
          for (auto it = first; it != last; ++it) callees_.back().push_back(it->second);
        }
      }
      std::sort(callees_.back().begin(), callees_.back().end());
      callees_.back().erase(std::unique(callees_.back().begin(), callees_.back().end()),
                            callees_.back().end());
    }
  }

  /// Nothing if a call may lead back to its function.
  std::optional<uint64_t> below_kernel() {
    std::vector<uint64_t> need(frames_.size(), 0);
    std::vector<uint8_t> state(frames_.size(), 0);  // 1: on the path, 2: done
    std::vector<std::pair<size_t, size_t>> path{{0, 0}};
    state[0] = 1;
    while (!path.empty()) {
      auto& [unit, next] = path.back();
      if (next < callees_[unit].size()) {
        const size_t callee = callees_[unit][next++];
        if (state[callee] == 1) return std::nullopt;
        if (state[callee] == 0) {
          state[callee] = 1;
          path.emplace_back(callee, 0);
        }
        continue;
      }
      for (const size_t c : callees_[unit]) need[unit] = std::max(need[unit], frames_[c] + need[c]);
      state[unit] = 2;
      path.pop_back();
    }
    return need[0];
  }

 private:
  std::vector<uint64_t> frames_;
  std::vector<std::vector<size_t>> callees_;  // by unit
};

}  // namespace

void lay_out_stack(std::vector<Unit>& units, const Module& module, uint32_t stack_bytes, KernelImage& image) {
  uint32_t align = 16, outgoing = 0;
  for (const Unit& unit : units) {
    align = std::max(align, unit.program.local_align);
    outgoing = std::max(outgoing, unit.program.outgoing_bytes);
  }
  image.functions.resize(module.functions.size());
  for (size_t i = 0; i < module.functions.size(); ++i) {
    image.functions[i].name = module.functions[i].name;
    image.functions[i].signature =
        layout_arguments(module.functions[i].params, module.functions[i].returns).signature;
  }
  for (Unit& unit : units) {
    Program& p = unit.program;
    p.local_bytes = static_cast<uint32_t>(align_up(p.local_bytes, align));
    if (!p.is_function) continue;
    p.local_bytes = std::max(p.local_bytes, align);  // so that the depth of calls is bounded
    image.functions[module.number_of(*unit.function)].frame_bytes = p.local_bytes;
  }
  const std::optional<uint64_t> depth = StackDepth(units, module, image.functions).below_kernel();
  image.stack_bytes =
      static_cast<uint32_t>(depth ? std::min<uint64_t>(*depth, kWindowBytes) : align_up(stack_bytes, align));
  image.stack_end = units.front().program.local_bytes + image.stack_bytes;
  // Arguments are stored before the call looks whether the callee's frame still fits.
  image.local_bytes = static_cast<uint32_t>(align_up(image.stack_end + outgoing, 16));
}

void append_code(KernelImage&& part, const Function& function, const Module& module, KernelImage& image) {
  const auto code = static_cast<uint32_t>(image.ops.size());
  const auto folded = static_cast<uint32_t>(image.folded_loads.size());
  const auto literals = static_cast<uint32_t>(image.literals.size());
  const auto targets = static_cast<uint32_t>(image.branch_targets.size());
  const auto move = [&](MicroOp& op) {
    for (int i = 0; i < op.num_src; ++i) {
      if (op.src[i].bank == Bank::kConstant) op.src[i].offset += literals;
    }
    if (op.kind == OpKind::kBranch) op.target += code;
    if (op.kind == OpKind::kBranchTable) op.target += targets;
    if (op.reconverge != kNoTarget) op.reconverge += code;
    if (op.folded_load != kNoTarget) op.folded_load += folded;
  };
  // A predicate's scoreboard number follows the rows, of which the image has as many as its largest part.
  const auto renumber = [](std::vector<MicroOp>& ops, uint32_t from, uint32_t to) {
    if (from == to) return;
    for (MicroOp& op : ops) {
      for (uint32_t i = 0; i < op.num_sb_reads; ++i) {
        if (op.sb_reads[i] >= from) op.sb_reads[i] = static_cast<uint16_t>(op.sb_reads[i] + to - from);
      }
      for (uint32_t i = 0; i < op.num_sb_writes; ++i) {
        if (op.sb_writes[i] >= from) op.sb_writes[i] = static_cast<uint16_t>(op.sb_writes[i] + to - from);
      }
    }
  };
  for (MicroOp& op : part.ops) move(op);
  for (MicroOp& op : part.folded_loads) move(op);
  const uint32_t rows = std::max(image.num_rows, part.num_rows);
  for (auto* ops : {&image.ops, &image.folded_loads}) renumber(*ops, image.num_rows, rows);
  for (auto* ops : {&part.ops, &part.folded_loads}) renumber(*ops, part.num_rows, rows);
  image.num_rows = rows;
  image.num_predicates = std::max(image.num_predicates, part.num_predicates);
  for (uint32_t& target : part.branch_targets) target += code;
  for (LaunchConstant& c : part.launch_constants) c.row += literals;
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(image.ops, part.ops);
  append(image.instructions, part.instructions);
  append(image.source_registers, part.source_registers);
  append(image.folded_loads, part.folded_loads);
  append(image.literals, part.literals);
  append(image.literal_objects, part.literal_objects);
  append(image.scopes, part.scopes);
  append(image.launch_constants, part.launch_constants);
  append(image.branch_targets, part.branch_targets);
  image.functions[module.number_of(function)].entry = code;
}

void mark_waiting_loops(KernelImage& image) {
  std::vector<MicroOp>& ops = image.ops;
  // Of all operations before each: those that read for others, and calls.
  std::vector<uint32_t> reads(ops.size() + 1, 0), calls(ops.size() + 1, 0);
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool read =
        ops[i].kind == OpKind::kAtomic || (ops[i].kind == OpKind::kLoad && ops[i].memory.is_volatile);
    reads[i + 1] = reads[i] + (read ? 1 : 0);
    calls[i + 1] = calls[i] + (ops[i].kind == OpKind::kCall ? 1 : 0);
  }
  const auto may_wait = [&](uint32_t first, size_t last) {
    return first <= last &&
           (reads[last + 1] != reads[first] || (calls[last + 1] != calls[first] && reads.back() != 0));
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind == OpKind::kBranch) ops[i].may_wait = may_wait(ops[i].target, i);
    if (ops[i].kind != OpKind::kBranchTable) continue;
    for (uint64_t n = 0; n < ops[i].imm; ++n)
      ops[i].may_wait = ops[i].may_wait || may_wait(image.branch_targets[ops[i].target + n], i);
  }
}

}  // namespace gpusim::isa::lir
