// Loads of vectors of which some elements are never read bring those alone that are, as ptxas 13 has it for
// 7.5, 8.0 and 9.0 (probes of every choice of elements in every space): one element, or an aligned pair, or
// two elements by themselves. Three of four stay one access in global and shared memory, in others they are
// a pair and an element. Elements of 16 bits become one access or stay, bytes stay. Volatile loads bring all.
#include <algorithm>
#include <bit>
#include <vector>

#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

/// Elements of the vector that one access brings.
struct Piece {
  uint8_t first, count;
};
using Pieces = std::vector<Piece>;

bool is_vector_load(const Op& op) {
  return op.kind == OpKind::kLoad && static_cast<Opcode>(op.opcode()) == Opcode::kLd && op.num_dst > 1 &&
         op.num_dst == op.memory.elements && !op.memory.is_volatile && op.memory.element_bytes > 1;
}

/// What ptxas makes of it if the elements of `read` are wanted, a bit each; empty: it stays.
Pieces pieces_of(const Op& op, uint32_t read) {
  const uint32_t elements = op.memory.elements;
  Pieces pieces;
  for (uint8_t e = 0; e < elements; ++e) {
    if ((read >> e & 1) == 0) continue;
    const bool pair = e % 2 == 0 && (read >> (e + 1) & 1) != 0;
    pieces.push_back({e, static_cast<uint8_t>(pair ? 2 : 1)});
    if (pair) ++e;
  }
  const Space space = op.memory.space;
  const bool whole_words = op.memory.element_bytes >= 4;
  const bool three = std::popcount(read) == 3;
  const bool stays =
      pieces.size() > 1 && (!whole_words || (three && (space == Space::kGlobal || space == Space::kShared)));
  if (stays || read == 0 || std::popcount(read) == static_cast<int>(elements)) pieces.clear();
  return pieces;
}

Op part_of(const Op& op, const Piece& piece, bool is_first) {
  Op part = op;
  const uint32_t bytes = op.memory.element_bytes, begin = piece.first * bytes;
  part.memory.elements = piece.count;
  part.memory.offset += begin;
  part.memory.align_mask = static_cast<uint8_t>(bytes * piece.count - 1);
  part.imm = op.imm >> begin & ((uint64_t{1} << bytes * piece.count) - 1);
  part.dst.fill(kNoVar);
  std::copy_n(op.dst.begin() + piece.first, piece.count, part.dst.begin());
  part.num_dst = piece.count;
  if (!is_first) part.ptx_count = 0;
  return part;
}

}  // namespace

void narrow_loads(Program& program) {
  const std::vector<bool> is_read = read_variables(program);
  for (Block& block : program.blocks) {
    std::vector<Op> ops;
    bool changed = false;
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      Pieces pieces;
      // The second of two accesses must not find its base replaced by what the first one has brought.
      const auto is_base = [&](Var v) {
        return op.memory.has_base && !op.src[0].is_literal() && v == op.src[0].var;
      };
      if (is_vector_load(op) && std::none_of(op.dst.begin(), op.dst.begin() + op.num_dst, is_base)) {
        uint32_t read = 0;
        for (uint32_t e = 0; e < op.num_dst; ++e) read |= uint32_t{is_read[op.dst[e]]} << e;
        pieces = pieces_of(op, read);
      }
      if (!pieces.empty() && !changed) {
        changed = true;
        ops.assign(block.ops.begin(), block.ops.begin() + static_cast<ptrdiff_t>(i));
      }
      if (!changed) continue;
      if (pieces.empty()) ops.push_back(op);
      for (size_t p = 0; p < pieces.size(); ++p) ops.push_back(part_of(op, pieces[p], p == 0));
    }
    if (changed) block.ops = std::move(ops);
  }
}

}  // namespace gpusim::isa::lir
