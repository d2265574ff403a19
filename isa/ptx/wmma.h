// Matrix fragments of wmma (PTX ISA, "Matrix Fragments for WMMA"): how many registers hold a matrix, and
// which element lies where. The manual leaves the places open; these are the ones of the hardware from sm_75
// on, the same for .row and .col: mma.m16n8k16 and its relatives define them (PTX ISA, "Matrix Fragments for
// mma.m16n8k16 with floating point type"), and for m16n16k16 github.com/wmmae/wmma_extension measured them.
//
// Lane l is in group g = l / 4 at place t = l % 4. A register holds P elements: two of 16 bits, four of 8,
// one of 32 or 64. Multiplicands lie in tiles of 8 rows (of B: columns) x 4 P elements of the inner dimension
// k: row g, k = P t + e. Accumulators lie in tiles of 8 x 8: row g, column 2 t + e. In m16n16k16 the
// registers of a matrix follow each other as
//   A  (row, k) + (0, 0), (8, 0), (0, 4 P), (8, 4 P)     8-bit types: without the last two
//   B  (k, column) + (0, 0), (4 P, 0), (0, 8), (4 P, 8)  8-bit types: (0, 0), (0, 8)
//   C  (row, column) + (0, 0), (8, 0), (0, 8), (8, 8)    each with the elements e = 0 and 1
// m32n8k16 has the rows 16 to 31 of A and C behind the first 16 and one group of columns. m8n32k16 is its
// mirror image: B lies as A does there, A as B, and C with rows and columns exchanged. m8n8k4 has one tile of
// each, m16n16k8 of tf32 is m16n16k16 with half the k. m8n8k32 of 4 bits and m8n8k128 of one have one tile of
// each, too, with P = 8 and 32 elements in a register, of which the first are in its lowest bits. f16
// multiplicands always take eight registers: where fewer hold the matrix, the others repeat them.
#pragma once
#include <cstdint>
#include <optional>

#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

struct WmmaSize {
  int m = 0, n = 0, k = 0;
};
[[nodiscard]] WmmaSize wmma_size(WmmaShape shape);
/// Bits of a multiplicand's element in the shapes of elements that are smaller than a byte; else 0.
[[nodiscard]] int wmma_small_bits(WmmaShape shape);

/// One matrix as a vector of registers.
struct WmmaFragment {
  int registers = 0;  ///< of the vector
  int distinct = 0;   ///< that many hold the matrix; the others repeat them
  Type register_type = Type::kNone;
};
/// nullopt if `matrix` of that shape cannot have elements of type `element`. In m8n8k32 kU8 and kS8 are of 4
/// bits, in m8n8k128 kB32 is of one.
[[nodiscard]] std::optional<WmmaFragment> wmma_fragment(WmmaMatrix matrix, WmmaShape shape, Type element);

/// Types of the four matrices of a wmma.mma; its shorter form, .dtype.ctype, has multiplicands of type f16.
struct WmmaTypes {
  Type d = Type::kNone, a = Type::kNone, b = Type::kNone, c = Type::kNone;
};
[[nodiscard]] WmmaTypes wmma_types(const Modifiers& mods);
[[nodiscard]] constexpr bool is_wmma(Opcode op) { return op >= Opcode::kWmma && op <= Opcode::kWmmaMma; }

/// MicroOp::imm of a micro-op of wmma.load and wmma.store: one or two words in each lane, of one tile.
struct WmmaTile {
  uint8_t first = 0;   ///< row (of a multiplicand: index outside of k) of the tile's first element
  uint8_t second = 0;  ///< its column, or k
  uint8_t step = 1;    ///< columns from one lane of a group to the next
  uint8_t across = 0;  ///< neighbours in memory have different rows, not columns
  uint8_t unused[4] = {};
};
static_assert(sizeof(WmmaTile) == sizeof(uint64_t));

enum WmmaLayoutBit : uint8_t { kAByColumns = 1, kBByRows = 2 };
/// MicroOp::imm of a micro-op of wmma.mma: 16 x 8 results (f64: 8 x 8), as the arithmetic of the target gives
/// them (isa/exec/semantics/matrix_sums.h).
struct WmmaSum {
  uint8_t fraction_bits = 0;  ///< behind the point of the largest term: what lies below is cut off
  uint8_t block = 16;         ///< products that are summed before the sum is rounded
  uint8_t satfinite = 0;
  uint8_t rounding = 0;  ///< of f64: kModRn ...
  uint8_t negated = 0;   ///< of wgmma: products are subtracted
  // Of operations on 8 of 16 rows (isa/exec/semantics/mma.inc).
  uint8_t lower = 0;    ///< the lower 8 rows; m8n8k4: the columns 4 to 7
  uint8_t lane = 0;     ///< sparse: the first of four that has where elements lie
  uint8_t layouts = 0;  ///< m8n8k4: WmmaLayoutBit
};
static_assert(sizeof(WmmaSum) == sizeof(uint64_t));

}  // namespace gpusim::isa
