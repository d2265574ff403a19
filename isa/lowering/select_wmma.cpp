// Selection of wmma.load, wmma.store and wmma.mma. A matrix moves register by register, each as one access of
// the warp; a wmma.mma becomes one or two micro-ops of 16 x 8 results (f64: one of 8 x 8), as the hardware
// has them. isa/ptx/wmma.h says which register holds what.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/exec/matrix_move.h"
#include "isa/lowering/select.h"
#include "isa/ptx/wmma.h"

namespace gpusim::isa::lir {
namespace {

constexpr Value kAllLanes{kNoVar, false, ~0u};

/// How the registers of a matrix lie in tiles.
struct Arrangement {
  Type element = Type::kNone;
  int small_bits = 0;  ///< of an element that is smaller than a byte
  bool multiplicand = false;
  bool wide_tiles = false;    ///< of a multiplicand: 16 rows (or columns), else 8
  bool mirrored = false;      ///< of an accumulator: rows are columns
  int inner_tiles = 1;        ///< of a multiplicand: tiles of k
  bool tiles_in_row = false;  ///< of an accumulator: the second half has further columns, not rows
};

/// The two halves of the results are columns, not rows.
bool splits_columns(WmmaShape shape) {
  return shape == WmmaShape::kM16N16K16 || shape == WmmaShape::kM16N16K8;
}

Arrangement arrangement_of(WmmaMatrix matrix, WmmaShape shape, Type element) {
  Arrangement a;
  a.element = element;
  a.multiplicand = matrix == WmmaMatrix::kA || matrix == WmmaMatrix::kB;
  const bool swapped = shape == WmmaShape::kM8N32K16;
  a.small_bits = a.multiplicand ? wmma_small_bits(shape) : 0;
  a.wide_tiles = wmma_size(shape).m * wmma_size(shape).n > 64 && (matrix == WmmaMatrix::kA) != swapped;
  a.mirrored = !a.multiplicand && swapped;
  a.inner_tiles = type_bytes(element) == 2 || element == Type::kTF32 ? 2 : 1;
  a.tiles_in_row = splits_columns(shape);
  return a;
}

/// The elements that register number `r` holds in lane 0.
WmmaTile tile_of(const Arrangement& a, int r) {
  WmmaTile tile;
  const int parts = a.small_bits != 0 ? 32 / a.small_bits : std::max(4 / type_bytes(a.element), 1);
  if (a.multiplicand) {
    const int halves = a.wide_tiles ? 2 : 1, per_tile = halves * a.inner_tiles;
    tile.first = static_cast<uint8_t>(r / per_tile * 8 * halves + r % halves * 8);
    tile.second = static_cast<uint8_t>(r % per_tile / halves * 4 * parts);
    tile.step = static_cast<uint8_t>(parts);
    return tile;
  }
  const int element = r * parts;
  const int half = element / 4, row = element / 2 % 2 * 8;
  tile.first = static_cast<uint8_t>(row + (a.tiles_in_row ? 0 : half * 16));
  tile.second = static_cast<uint8_t>((a.tiles_in_row ? half * 8 : 0) + element % 2);
  tile.step = 2;
  return tile;
}

/// Elements from one row (or column) to the next where the statement does not say it.
int default_stride(WmmaMatrix matrix, WmmaShape shape, WmmaLayout layout) {
  const auto [m, n, k] = wmma_size(shape);
  const int rows = matrix == WmmaMatrix::kB ? k : m, columns = matrix == WmmaMatrix::kA ? k : n;
  return layout == WmmaLayout::kRow ? columns : rows;
}

}  // namespace

/// The arithmetic of the target's tensor cores, see isa/exec/semantics/matrix_sums.h. Of tf32 they sum half
/// as many products at once, which are twice as wide.
WmmaSum mma_sum(const Modifiers& mods, Type multiplicand, int target) {
  WmmaSum sum;
  sum.fraction_bits = target >= 90 ? 25 : target >= 75 ? 24 : 23;
  sum.block = target >= 90 ? 16 : target >= 75 ? 8 : 4;
  if (multiplicand == Type::kTF32) sum.block = target >= 90 ? 8 : 4;
  sum.satfinite = mods.satfinite ? 1 : 0;
  sum.rounding = mods.rounding == Rounding::kRz   ? kModRz
                 : mods.rounding == Rounding::kRm ? kModRm
                 : mods.rounding == Rounding::kRp ? kModRp
                                                  : kModRn;
  return sum;
}

namespace {

/// Does the operand have as many registers as the matrix?
bool holds(const Instruction& inst, size_t operand, const std::optional<WmmaFragment>& fragment) {
  return fragment && operand < inst.operands.size() &&
         inst.operands[operand].elements.size() == static_cast<size_t>(fragment->registers);
}

bool contains(const Op& op, Var v) {
  return std::any_of(op.src.begin(), op.src.begin() + op.num_src, [v](const Value& s) { return s.var == v; });
}

}  // namespace

/// One access of the warp: registers[first] and, if it is there, the next.
Op Selector::wmma_access(const Instruction& inst, const Address& where, const Value& stride, WmmaTile tile,
                         int count) {
  const Modifiers& m = inst.mods;
  const bool store = inst.opcode == Opcode::kWmmaStore;
  const Type word = type_bytes(m.type) == 8 ? Type::kB64 : Type::kB32;
  Op op =
      memory_op(store ? OpKind::kStore : OpKind::kLoad, where.space, word, word == Type::kB64, where, count);
  op.src[op.num_src++] = stride;
  op.key = form_key(inst.opcode, untyped(m.type), word, m.small_bits);
  const SemanticRow* row = find_form(op.key, level_);
  op.mem = row == nullptr ? nullptr : row->mem;
  op.imm = std::bit_cast<uint64_t>(tile);
  op.whole_warp = true;
  return op;
}

std::optional<Op> Selector::matrix_step(uint64_t key, Type result, const WmmaSum& sum) const {
  const SemanticRow* row = find_form(key, level_);
  if (row == nullptr) return std::nullopt;
  Op op;
  op.key = key;
  op.kind = OpKind::kAlu;
  op.exec = row->exec;
  op.op_class = row->op_class;
  op.flops = row->flops;
  op.type = result;
  op.whole_warp = true;
  op.imm = std::bit_cast<uint64_t>(sum);
  return op;
}

/// From 7.5 on multiplicands of 16 bits in shared memory are loaded as ldmatrix does it, up to four registers
/// at once (code of ptxas 13).
bool Selector::as_matrices(const Instruction& inst, const Address& where) const {
  constexpr int kFrom = 75;
  const Modifiers& m = inst.mods;
  const bool multiplicand = m.matrix == WmmaMatrix::kA || m.matrix == WmmaMatrix::kB;
  return inst.opcode == Opcode::kWmmaLoad && multiplicand && type_bytes(m.type) == 2 &&
         where.space == Space::kShared && options_.machine_capability >= kFrom &&
         options_.level != LoweringLevel::kNone;
}

/// One such load: of registers[first] and up to three more.
Op Selector::matrices_access(const Address& where, const Value& stride, std::span<const WmmaTile> tiles) {
  constexpr int kSide = 8, kBits = 4;
  Op op = memory_op(OpKind::kLoad, where.space, Type::kB64, true, where, 2);
  op.op_class = OpClass::kLoadShared;
  op.src[op.num_src++] = stride;
  op.mem = &execute_wmma_matrices;
  op.key = 0;
  WmmaMatrices matrices;
  for (size_t i = 0; i < tiles.size(); ++i)
    matrices.place[i] = static_cast<uint8_t>(tiles[i].first / kSide | tiles[i].second / kSide << kBits);
  matrices.across = tiles.front().across;
  op.imm = std::bit_cast<uint64_t>(matrices);
  op.whole_warp = true;
  return op;
}

void Selector::wmma_transfer(Frame& frame, const Instruction& inst) {
  gather(kAllLanes);
  const Modifiers& m = inst.mods;
  const bool store = inst.opcode == Opcode::kWmmaStore;
  const std::optional<WmmaFragment> found = wmma_fragment(m.matrix, m.shape, m.type);
  if (!holds(inst, store ? 1 : 0, found)) return unsupported(inst, "this form");
  const WmmaFragment& fragment = *found;
  const std::vector<Operand>& parts = inst.operands[store ? 1 : 0].elements;
  const auto where = address(frame, inst.operands[store ? 0 : 1], m.space);
  if (!where) return;
  const Value stride =
      inst.operands.size() > 2
          ? value(frame, inst.operands[2], Type::kU32)
          : Value{kNoVar, false, static_cast<uint64_t>(default_stride(m.matrix, m.shape, m.layouts[0]))};
  std::vector<Var> targets;
  std::vector<Value> sources;
  for (const Operand& p : parts) {
    if (store)
      sources.push_back(value(frame, p, fragment.register_type));
    else
      targets.push_back(destination(frame, p, fragment.register_type));
  }
  // Every access needs address and stride, so none may overwrite them.
  const std::vector<Var> results = targets;
  for (Var& v : targets) {
    if ((where->has_base && v == where->base.var) || v == stride.var)
      v = program_.new_var(class_of(fragment.register_type));
  }
  const Arrangement a = arrangement_of(m.matrix, m.shape, m.type);
  // Elements in memory follow each other along a row of the arrangement, or across the rows.
  const bool along = a.multiplicand ? (m.layouts[0] == WmmaLayout::kRow) == (m.matrix == WmmaMatrix::kA)
                                    : (m.layouts[0] == WmmaLayout::kRow) != a.mirrored;
  const bool pairs = !a.multiplicand && along && type_bytes(m.type) >= 4;
  const auto tile_at = [&](int r) {
    WmmaTile tile = tile_of(a, r);
    tile.across = along ? 0 : 1;
    return tile;
  };
  for (int r = 0; as_matrices(inst, *where) && r < fragment.distinct;) {
    std::array<WmmaTile, 4> tiles;
    const int count = std::min(fragment.distinct - r, 4);
    for (int i = 0; i < count; ++i) tiles[static_cast<size_t>(i)] = tile_at(r + i);
    Op op = matrices_access(*where, stride, std::span(tiles).first(static_cast<size_t>(count)));
    for (int i = 0; i < count; ++i) op.dst[op.num_dst++] = targets[static_cast<size_t>(r++)];
    emit(op);
    if (r == fragment.distinct) return wmma_results(fragment, targets, results);
  }
  for (int r = 0; r < fragment.distinct; r += pairs ? 2 : 1) {
    const WmmaTile tile = tile_at(r);
    Op op = wmma_access(inst, *where, stride, tile, pairs ? 2 : 1);
    if (op.mem == nullptr) return unsupported(inst, "this form");
    for (int i = r; i < r + op.memory.elements; ++i) {
      if (store)
        op.src[op.num_src++] = sources[static_cast<size_t>(i)];
      else
        op.dst[op.num_dst++] = targets[static_cast<size_t>(i)];
    }
    emit(op);
  }
  if (!store) wmma_results(fragment, targets, results);
}

/// Moves what was loaded to where it belongs, and fills the registers that repeat others.
void Selector::wmma_results(const WmmaFragment& fragment, std::span<const Var> loaded,
                            std::span<const Var> results) {
  const bool wide = type_bytes(fragment.register_type) == 8;
  const uint64_t key = form_key(Opcode::kMov, wide ? Type::kB64 : Type::kB32);
  for (size_t i = results.size(); i-- > 0;) {
    const Value v{loaded[i % static_cast<size_t>(fragment.distinct)], wide, 0};
    if (v.var != results[i]) emit_form(key, {results[i]}, {&v, 1});
  }
}

void Selector::wmma_mma(Frame& frame, const Instruction& inst) {
  gather(kAllLanes);
  const Modifiers& m = inst.mods;
  const WmmaTypes types = wmma_types(m);
  const std::array<std::optional<WmmaFragment>, 4> fragments{
      wmma_fragment(WmmaMatrix::kD, m.shape, types.d), wmma_fragment(WmmaMatrix::kA, m.shape, types.a),
      wmma_fragment(WmmaMatrix::kB, m.shape, types.b), wmma_fragment(WmmaMatrix::kC, m.shape, types.c)};
  for (size_t i = 0; i < fragments.size(); ++i) {
    if (!holds(inst, i, fragments[i])) return unsupported(inst, "this form");
  }
  const WmmaFragment& d = *fragments[0];
  const auto values = [&](size_t operand) {
    std::vector<Value> list;
    const WmmaFragment& f = *fragments[operand];
    list.reserve(f.distinct);
    for (int i = 0; i < f.distinct; ++i) {
      list.push_back(value(frame, inst.operands[operand].elements[static_cast<size_t>(i)], f.register_type));
    }
    return list;
  };
  std::vector<Value> rows = values(1), columns = values(2);
  const std::vector<Value> sums = values(3);
  if (m.shape == WmmaShape::kM8N32K16) std::swap(rows, columns);
  std::vector<Var> results;
  for (const Operand& p : inst.operands[0].elements)
    results.push_back(destination(frame, p, d.register_type));
  // The halves of m16n16k16 are columns, those of the other shapes rows.
  if (wmma_small_bits(m.shape) != 0) return wmma_small(m, types.a, rows[0], columns[0], sums, results);
  const size_t halves = m.shape == WmmaShape::kM8N8K4 ? 1 : 2;
  const size_t row_halves = splits_columns(m.shape) ? 1 : halves, column_halves = halves / row_halves;
  std::vector<Op> ops;
  for (size_t h = 0; h < halves; ++h) {
    WmmaSum sum = mma_sum(m, types.a, module_.target_sm);
    // Of tf32 it is two steps of four products, even where mma sums up eight (measured on an H100).
    constexpr uint8_t kTf32Block = 4;
    if (types.a == Type::kTF32) sum.block = kTf32Block;
    std::optional<Op> step = matrix_step(
        form_key(Opcode::kWmmaMma, types.a, types.d, static_cast<uint32_t>(types.c)), types.d, sum);
    if (!step) return unsupported(inst, "this form");
    Op& op = *step;
    const auto add = [&](const std::vector<Value>& from, size_t parts) {
      const size_t count = from.size() / parts;
      for (size_t i = 0; i < count; ++i) op.src[op.num_src++] = from[h % parts * count + i];
    };
    add(rows, row_halves);
    add(columns, column_halves);
    add(sums, halves);
    for (size_t i = 0; i < results.size() / halves; ++i)
      op.dst[op.num_dst++] = results[h * results.size() / halves + i];
    ops.push_back(op);
  }
  wmma_emit(std::move(ops), results, type_bytes(d.register_type) == 8);
}

/// One operation of mma, which takes twice the k.
void Selector::wmma_small(const Modifiers& m, Type multiplicand, const Value& row, const Value& column,
                          std::span<const Value> sums, std::span<const Var> results) {
  constexpr Value kZero{kNoVar, false, 0};
  const uint32_t bits = multiplicand == Type::kB32 ? (m.bool_op == BoolOp::kXor ? kMmaXor : 0) : kMmaFourBits;
  std::optional<Op> op = matrix_step(form_key(Opcode::kMma, multiplicand, Type::kS32, bits), Type::kS32,
                                     mma_sum(m, multiplicand, module_.target_sm));
  for (const Value& v : {row, kZero, column, kZero, sums[0], sums[1]}) op->src[op->num_src++] = v;
  for (const Var v : results) op->dst[op->num_dst++] = v;
  wmma_emit({*op}, results, false);
}

/// A later operation may read registers that an earlier one writes results to: then that one writes others
/// first. What else it writes is for later ones to read.
void Selector::wmma_emit(std::vector<Op> ops, std::span<const Var> results, bool wide) {
  std::vector<std::pair<Var, Var>> moves;
  for (size_t n = 0; n + 1 < ops.size(); ++n) {
    for (int i = 0; i < ops[n].num_dst; ++i) {
      Var& result = ops[n].dst[i];
      const bool is_read = std::any_of(ops.begin() + static_cast<ptrdiff_t>(n) + 1, ops.end(),
                                       [&](const Op& later) { return contains(later, result); });
      if (!is_read || std::ranges::find(results, result) == results.end()) continue;
      const Var t = program_.new_var(wide ? VarClass::kRow64 : VarClass::kRow32);
      moves.emplace_back(result, t);
      result = t;
    }
  }
  for (Op& op : ops) emit(op);
  for (const auto& [to, from] : moves) {
    const Value v{from, wide, 0};
    emit_form(form_key(Opcode::kMov, wide ? Type::kB64 : Type::kB32), {to}, {&v, 1});
  }
}

}  // namespace gpusim::isa::lir
