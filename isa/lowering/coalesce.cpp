// Joins variables that are never alive at the same time: the parts that split_local_ranges() made, where no
// pass profited from the split, and source and destination of plain copies (which then vanish). Fewer
// variables need fewer rows, and loops keep no copies at their end that a compiler would not keep either.
#include <algorithm>

#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

/// A variable with more segments than this takes no more, which bounds the cost in huge kernels.
constexpr size_t kMaxSegments = 8192;

bool is_register_copy(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_dst != 1 || op.num_src != 1) return false;
  if (op.src[0].is_literal()) return false;
  return op.key == form_key(Opcode::kMov, Type::kB32) || op.key == form_key(Opcode::kMov, Type::kB64);
}

class Coalescer {
 public:
  Coalescer(Program& program, const Flow& flow)
      : program_(program), ranges_(program.vars.size()), sizes_(program.vars.size(), 0) {
    const Liveness live = compute_liveness(program, flow);
    for (const std::vector<Segment>& block : live.segments) {
      for (const Segment& s : block) ranges_[s.var].push_back(s);
    }
    for (Var v = 0; v < program.vars.size(); ++v) sizes_[v] = ranges_[v].size();
    add_through(live);
    for (std::vector<Segment>& r : ranges_) std::sort(r.begin(), r.end(), before);
    for (Var v = 0; v < program.vars.size(); ++v) root_.push_back(v);
  }

  void run() {
    for (const auto& [part, whole] : program_.splits) join(part, whole);
    for (const Block& block : program_.blocks) {
      for (const Op& op : block.ops) {
        if (is_register_copy(op)) join(op.dst[0], op.src[0].var);
      }
    }
    for (Op& op : program_.folded) rename(op);
    for (Block& block : program_.blocks) {
      for (Op& op : block.ops) {
        rename(op);
        if (is_register_copy(op) && op.dst[0] == op.src[0].var) op.kind = OpKind::kNop;
      }
      drop_nops(block);
    }
  }

 private:
  /// What lives through blocks: each of them is a segment.
  void add_through(const Liveness& live) {
    std::vector<uint32_t> starts;  // of the blocks that are not empty
    for (size_t b = 0; b < program_.blocks.size(); ++b)
      if (!program_.blocks[b].ops.empty()) starts.push_back(2 * live.first_op[b]);
    for_each_through(program_, live, [&](const Segment& s) {
      ranges_[s.var].push_back(s);
      const auto first = std::ranges::lower_bound(starts, s.begin);
      sizes_[s.var] += static_cast<size_t>(std::ranges::upper_bound(starts, s.end) - first);
    });
  }

  static bool before(const Segment& a, const Segment& b) { return a.begin < b.begin; }

  Var find(Var v) {
    while (root_[v] != v) v = root_[v] = root_[root_[v]];
    return v;
  }

  void join(Var a, Var b) {
    a = find(a);
    b = find(b);
    if (a == b || program_.vars[a] != program_.vars[b]) return;
    if (!program_.uniform.empty() && program_.uniform[a] != program_.uniform[b]) return;
    if (sizes_[a] > sizes_[b]) std::swap(a, b);
    std::vector<Segment>& to = ranges_[b];
    if (sizes_[b] + sizes_[a] > kMaxSegments || !disjoint(ranges_[a], to)) return;
    root_[a] = b;
    if (a < program_.narrow.size() || b < program_.narrow.size()) {
      program_.narrow.resize(program_.vars.size(), false);
      program_.narrow[b] = program_.narrow[b] && program_.narrow[a];
    }
    const auto middle = static_cast<std::ptrdiff_t>(to.size());
    to.insert(to.end(), ranges_[a].begin(), ranges_[a].end());
    std::inplace_merge(to.begin(), to.begin() + middle, to.end(), before);
    size_t kept = 0;  // neighbours become one
    for (const Segment& s : to) {
      if (kept > 0 && to[kept - 1].end + 1 >= s.begin)
        to[kept - 1].end = s.end;
      else
        to[kept++] = s;
    }
    to.resize(kept);
    sizes_[b] = kept;
    ranges_[a] = {};
  }

  static bool disjoint(const std::vector<Segment>& few, const std::vector<Segment>& many) {
    return std::all_of(few.begin(), few.end(), [&](const Segment& s) {
      const auto next = std::lower_bound(many.begin(), many.end(), s, before);
      return (next == many.end() || next->begin > s.end) &&
             (next == many.begin() || (next - 1)->end < s.begin);
    });
  }

  void rename(Op& op) {
    const auto apply = [&](Var& v) {
      if (v != kNoVar) v = find(v);
    };
    for (int i = 0; i < op.num_src; ++i) apply(op.src[i].var);
    for (int i = 0; i < op.num_dst; ++i) apply(op.dst[i]);
    for (Var& v : op.pred_src) apply(v);
    for (Var& v : op.pred_dst) apply(v);
    apply(op.guard);
  }

  Program& program_;
  std::vector<std::vector<Segment>> ranges_;  // of each root
  std::vector<size_t> sizes_;  // of these, where those of neighbouring blocks that were not joined yet count
  std::vector<Var> root_;
};

}  // namespace

void coalesce(Program& program, const Flow& flow) { Coalescer(program, flow).run(); }

}  // namespace gpusim::isa::lir
