// Row allocation and assembly of the image. Linear scan over the order of the program: every variable gets
// one interval that covers all its live segments, and the lowest free row (an even pair for 64 bits) that
// never held the other width. Literals become rows of their own. All folded shared loads deliver into one
// more row, which no scoreboard knows: the value exists only inside its operation.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "isa/lowering/liveness.h"
#include "isa/lowering/uniformity.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

struct Interval {
  Var var = kNoVar;
  uint32_t begin = ~0u;
  uint32_t end = 0;
};

std::vector<Interval> intervals(const Program& program, const Flow& flow) {
  const Liveness live = compute_liveness(program, flow);
  std::vector<Interval> of_var(program.vars.size());
  const auto cover = [&](const Segment& s) {
    if (s.var == program.stack_pointer) return;
    Interval& i = of_var[s.var];
    i.var = s.var;
    i.begin = std::min(i.begin, s.begin);
    i.end = std::max(i.end, s.end);
  };
  for (const std::vector<Segment>& block : live.segments) std::ranges::for_each(block, cover);
  for_each_through(program, live, cover);
  std::erase_if(of_var, [](const Interval& i) { return i.var == kNoVar; });
  std::stable_sort(of_var.begin(), of_var.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return of_var;
}

/// The lowest free index first; 64-bit values take two from an even one. A row that ever held one width never
/// holds the other: lane l of a 64-bit value lies over the lanes 2l and 2l + 1 of 32-bit values, so lanes
/// that wait elsewhere (at the exit of a loop that others still run, or in a caller) would lose their value.
class FreeRows {
 public:
  /// `widths`: of the rows so far, 0 where not known yet; kept for the next program of the kernel.
  explicit FreeRows(std::vector<uint8_t>& widths) : widths_(widths), used_(widths.size(), false) {}
  uint32_t take(uint32_t width) {
    uint32_t i = lowest_[width - 1];
    while (!fits(i, width)) i += width;
    if (widths_.size() < i + width) {
      widths_.resize(i + width, 0);
      used_.resize(i + width, false);
    }
    for (uint32_t k = 0; k < width; ++k) {
      widths_[i + k] = static_cast<uint8_t>(width);
      used_[i + k] = true;
    }
    lowest_[width - 1] = i + width;
    return i;
  }
  void give(uint32_t i, uint32_t width) {
    for (uint32_t k = 0; k < width; ++k) used_[i + k] = false;
    lowest_[width - 1] = std::min(lowest_[width - 1], i);
  }
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(used_.size()); }

 private:
  [[nodiscard]] bool fits(uint32_t i, uint32_t width) const {
    for (uint32_t row = i; row < i + width && row < used_.size(); ++row) {
      if (used_[row] || (widths_[row] != 0 && widths_[row] != width)) return false;
    }
    return true;
  }
  std::vector<uint8_t>& widths_;
  std::vector<bool> used_;
  std::array<uint32_t, 2> lowest_{0, 0};  // by width - 1: no row below can be taken
};

struct Rows {
  std::vector<uint32_t> of_var;
  uint32_t rows = 0;
  uint32_t predicates = 0;
};

Rows assign_rows(const Program& program, const Flow& flow, std::vector<uint8_t>& widths) {
  Rows result;
  result.of_var.assign(program.vars.size(), 0);
  std::vector<uint8_t> predicate_widths;
  FreeRows rows(widths), predicates(predicate_widths);
  if (program.stack_pointer != kNoVar)
    result.of_var[program.stack_pointer] = rows.take(1);  // 0 in all programs
  using Active = std::pair<uint32_t, Var>;
  std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
  for (const Interval& i : intervals(program, flow)) {
    while (!active.empty() && active.top().first < i.begin) {
      const Var v = active.top().second;
      const uint32_t width = row_width(program.vars[v]);
      if (width == 0)
        predicates.give(result.of_var[v], 1);
      else
        rows.give(result.of_var[v], width);
      active.pop();
    }
    const uint32_t width = row_width(program.vars[i.var]);
    result.of_var[i.var] = width == 0 ? predicates.take(1) : rows.take(width);
    active.emplace(i.end, i.var);
  }
  result.rows = rows.count();
  if (!program.folded.empty()) {
    for (const Op& load : program.folded) result.of_var[load.dst[0]] = result.rows;
    widths.push_back(1);
    ++result.rows;
  }
  result.predicates = predicates.count();
  return result;
}

class Assembler {
 public:
  Assembler(const Program& program, const Rows& rows, KernelImage& image)
      : program_(program), rows_(rows), image_(image), is_read_(read_variables(program)) {}

  MicroOp assemble(const Op& op) {
    MicroOp m;
    m.exec = op.exec;
    m.mem = op.mem;
    m.imm = op.imm;
    m.memory = op.memory;
    m.others_access = op.others_access;
    m.kind = op.kind;
    m.op_class = op.op_class;
    m.type = op.type;
    m.flops = op.flops;
    m.modifiers = op.modifiers;
    m.num_dst = op.num_dst;
    m.num_src = op.num_src;
    m.guard_negated = op.guard_negated;
    m.counts_guarded = op.counts_guarded;
    m.further_slots = static_cast<uint8_t>(op.issue_slots - 1);
    m.whole_warp = op.whole_warp;
    m.has_subroutine = program_.special_operands && op.op_class != OpClass::kIntDiv64 && branches_inside(op);
    m.pred_negated = op.pred_negated;
    m.ptx_index = op.ptx_index;
    m.ptx_count = op.ptx_count;
    for (int i = 0; i < op.num_dst; ++i) m.dst[i] = row(op.dst[i]);
    for (int i = 0; i < op.num_src; ++i)
      m.src[i] = op.src[i].is_literal() ? literal(op.src[i]) : row(op.src[i].var);
    if (op.guard != kNoVar) m.guard = predicate(op.guard);
    for (size_t i = 0; i < m.pred_dst.size(); ++i) m.pred_dst[i] = predicate(op.pred_dst[i]);
    for (size_t i = 0; i < op.pred_src.size(); ++i) m.pred_src[i] = predicate(op.pred_src[i]);
    if (op.folded == kNone) {
      scoreboard(op, m, kNoVar);
    } else {
      const Op& load = program_.folded[op.folded];
      m.folded_load = static_cast<uint32_t>(image_.folded_loads.size());
      image_.folded_loads.push_back(assemble(load));
      scoreboard(op, m, load.dst[0]);
      scoreboard(load, m, load.dst[0]);
    }
    return m;
  }

  [[nodiscard]] std::array<uint8_t, 4> source_registers(const Op& op) const {
    std::array<uint8_t, 4> registers;
    registers.fill(kInNoRegister);
    for (size_t i = 0; i < std::min<size_t>(op.num_src, registers.size()); ++i) {
      if (op.src[i].is_literal()) continue;
      const uint32_t place = program_.places[op.src[i].var];
      if (place < kInNoRegister) registers[i] = static_cast<uint8_t>(place);
    }
    return registers;
  }

 private:
  RowRef row(Var v) const { return {Bank::kRegister, rows_.of_var[v] * kRowBytes}; }
  uint16_t predicate(Var v) const {
    return v == kNoVar ? kNoPredicate : static_cast<uint16_t>(rows_.of_var[v]);
  }
  uint16_t scoreboard_id(Var v) const {
    const uint32_t base = program_.vars[v] == VarClass::kPredicate ? image_.num_rows : 0;
    return static_cast<uint16_t>(base + rows_.of_var[v]);
  }
  RowRef literal(const Value& v) {
    const auto [it, added] = literals_.try_emplace({v.bits, v.wide, v.launch_constant, v.object},
                                                   static_cast<uint32_t>(image_.literals.size()));
    if (added) {
      if (v.launch_constant != kNone) {
        image_.launch_constants.push_back(program_.launch_constants[v.launch_constant]);
        image_.launch_constants.back().row = it->second;
      }
      const size_t lane = v.wide ? 8 : 4;
      const size_t at = image_.literals.size();
      image_.literals.resize(at + lane * kWarpSize);
      image_.literal_objects.resize(image_.literals.size() / kRowBytes, v.object);
      for (size_t l = 0; l < kWarpSize; ++l) {
        for (size_t k = 0; k < lane; ++k) {
          image_.literals[at + l * lane + k] = static_cast<std::byte>(v.bits >> (8 * k));
        }
      }
    }
    return {Bank::kConstant, it->second};
  }
  /// Notes what `op` reads and writes, but for the variable `hidden` and for elements of a loaded vector that
  /// nobody reads: the next load may have the same rows, and must not wait for this one.
  void scoreboard(const Op& op, MicroOp& m, Var hidden) const {
    const auto add = [](auto& list, uint8_t& count, uint16_t id) {
      if (std::find(list.begin(), list.begin() + count, id) == list.begin() + count && count < list.size())
        list[count++] = id;
    };
    for_each_use(op, [&](Var v) {
      if (v != hidden) add(m.sb_reads, m.num_sb_reads, scoreboard_id(v));
    });
    const bool some_read = std::any_of(op.dst.begin(), op.dst.begin() + op.num_dst,
                                       [&](Var v) { return v != kNoVar && is_read_[v]; });
    const bool loads_some = op.kind == OpKind::kLoad && some_read;
    for_each_def(op, [&](Var v) {
      if (v != hidden && (is_read_[v] || !loads_some)) add(m.sb_writes, m.num_sb_writes, scoreboard_id(v));
    });
  }

  const Program& program_;
  const Rows& rows_;
  KernelImage& image_;
  std::vector<bool> is_read_;  ///< by variable
  std::map<std::tuple<uint64_t, bool, uint32_t, ObjectId>, uint32_t> literals_;
};

/// Blocks at whose beginning lanes meet that a branch on a value of their own may have parted.
std::vector<bool> meeting_blocks(const Program& program, const Flow& flow,
                                 const std::vector<uint32_t>& join) {
  std::vector<bool> meets(program.blocks.size(), false);
  if (!program.reconverge_operations) return meets;
  const std::vector<bool> divergent = find_divergence(program, flow).variables;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (join[b] == kNoBlock || program.blocks[b].ops.empty()) continue;
    const Op& last = program.blocks[b].ops.back();
    bool parts = last.kind == OpKind::kBranch && last.guard != kNoVar && divergent[last.guard];
    if (last.kind == OpKind::kBranchTable) for_each_use(last, [&](Var v) { parts = parts || divergent[v]; });
    if (parts) meets[join[b]] = true;
  }
  return meets;
}

/// Stands for no statement, and at the first one behind it.
void add_reconvergence(const Program& program, size_t block, KernelImage& image) {
  size_t b = block;
  while (b < program.blocks.size() && program.blocks[b].ops.empty()) ++b;
  MicroOp m;
  m.kind = OpKind::kNop;
  m.op_class = OpClass::kReconverge;
  m.ptx_count = 0;
  m.ptx_index =
      b == program.blocks.size() ? image.ops.back().ptx_index : program.blocks[b].ops.front().ptx_index;
  image.scopes.push_back(b == program.blocks.size() ? image.scopes.back()
                                                    : program.blocks[b].ops.front().scope);
  image.ops.push_back(m);
  image.instructions.push_back(1);
  if (!program.places.empty()) {
    image.source_registers.emplace_back();
    image.source_registers.back().fill(kInNoRegister);
  }
}

}  // namespace

bool allocate(const Program& program, const Flow& flow, std::vector<uint8_t>& row_widths, KernelImage& image,
              Diagnostics& errors) {
  const Rows rows = assign_rows(program, flow, row_widths);
  if (rows.rows + rows.predicates >= kNoPredicate) {
    errors.push_back({Diagnostic::Severity::kError,
                      {},
                      fmt::format("kernel '{}' needs {} register rows at once, more than {}", image.name,
                                  rows.rows + rows.predicates, kNoPredicate - 1),
                      {}});
    return false;
  }
  image.num_rows = rows.rows;
  image.num_predicates = rows.predicates;
  const std::vector<uint32_t> join =
      immediate_post_dominators(static_cast<uint32_t>(program.blocks.size()), flow.edges, flow.exits);
  const std::vector<bool> meets = meeting_blocks(program, flow, join);
  std::vector<uint32_t> first(program.blocks.size() + 1, 0);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    first[b + 1] = first[b] + static_cast<uint32_t>(program.blocks[b].ops.size()) + (meets[b] ? 1 : 0);
  }
  Assembler assembler(program, rows, image);
  image.ops.reserve(first.back());
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (meets[b]) add_reconvergence(program, b, image);
    for (const Op& op : program.blocks[b].ops) {
      MicroOp m = assembler.assemble(op);
      const bool table = op.kind == OpKind::kBranchTable;
      if (op.kind == OpKind::kBranch) m.target = first[op.target];
      if (table) {
        m.target = static_cast<uint32_t>(image.branch_targets.size());
        m.imm = program.tables[op.target].size();
        for (const uint32_t block : program.tables[op.target]) image.branch_targets.push_back(first[block]);
      }
      if (op.kind == OpKind::kCall) m.target = op.target;
      if ((table || (op.kind == OpKind::kBranch && op.guard != kNoVar)) && join[b] != kNoBlock)
        m.reconverge = first[join[b]] + (meets[join[b]] ? 1 : 0);
      image.ops.push_back(m);
      image.instructions.push_back(op.instructions);
      if (!program.places.empty()) image.source_registers.push_back(assembler.source_registers(op));
      image.scopes.push_back(op.scope);
    }
  }
  return true;
}

}  // namespace gpusim::isa::lir
