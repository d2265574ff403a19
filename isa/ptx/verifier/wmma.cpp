// wmma.load, wmma.store and wmma.mma (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"): what
// must be written, which types and shapes go together, and the sizes of the vectors.
#include "isa/ptx/wmma.h"

#include <fmt/format.h>

#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;

std::string_view matrix_name(WmmaMatrix matrix) {
  constexpr std::string_view kNames[] = {"", "A", "B", "C", "D"};
  return kNames[static_cast<size_t>(matrix)];
}

/// Do these types go together in a wmma.mma?
bool combine(const WmmaTypes& t) {
  const auto accumulates_half = [](Type c) { return c == Type::kF16 || c == Type::kF32; };
  if (t.a != t.b) return false;
  switch (t.a) {
    case Type::kF16:
      return accumulates_half(t.d) && accumulates_half(t.c);
    case Type::kBF16:
    case Type::kTF32:
      return t.d == Type::kF32 && t.c == Type::kF32;
    case Type::kU8:
    case Type::kS8:
    case Type::kB32:
      return t.d == Type::kS32 && t.c == Type::kS32;
    case Type::kF64:
      return t.d == Type::kF64 && t.c == Type::kF64;
    default:
      return false;
  }
}

int first_target(Type multiplicand, WmmaShape shape) {
  if (wmma_small_bits(shape) != 0) return 75;
  if (shape == WmmaShape::kM8N8K4 || multiplicand == Type::kBF16 || shape == WmmaShape::kM16N16K8) return 80;
  return type_bytes(multiplicand) == 1 || multiplicand == Type::kS32 ? 72 : 70;
}

}  // namespace

void FunctionVerifier::check_wmma(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (i.opcode == Opcode::kWmma) return error("'wmma' needs .load, .store or .mma");
  const bool mma = i.opcode == Opcode::kWmmaMma;
  if (!m.sync || !m.aligned) return error(fmt::format("'{}' needs .sync.aligned", name()));
  if (!mma && m.matrix == WmmaMatrix::kNone) {
    return error(fmt::format("'{}' needs {}", name(),
                             i.opcode == Opcode::kWmmaLoad ? "the matrix: .a, .b or .c" : "the matrix .d"));
  }
  if (m.num_layouts != (mma ? 2 : 1)) {
    return error(fmt::format("'{}' needs {}", name(),
                             mma ? "two layouts, .row or .col, of A and of B" : "one layout, .row or .col"));
  }
  if (m.shape == WmmaShape::kNone) {
    return error(fmt::format("'{}' needs a shape: .m16n16k16, .m8n32k16 or .m32n8k16", name()));
  }
  const bool a_by_columns = (mma || m.matrix == WmmaMatrix::kA) && m.layouts[0] == WmmaLayout::kCol;
  const bool b_by_rows = (mma || m.matrix == WmmaMatrix::kB) && m.layouts[mma ? 1 : 0] == WmmaLayout::kRow;
  if (wmma_small_bits(m.shape) != 0 && (a_by_columns || b_by_rows))
    return error(fmt::format("'{}': of this shape A is .row and B is .col", name()));
  if (mma)
    check_wmma_mma(i);
  else
    check_wmma_transfer(i);
}

void FunctionVerifier::check_wmma_target(Type type, WmmaShape shape) {
  const int needed = first_target(type, shape);
  if (module_.target_sm != 0 && module_.target_sm < needed) {
    error(fmt::format("'{}' needs .target sm_{} or higher, the file has sm_{}", name(), needed,
                      module_.target_sm));
  }
}

/// wmma.load r, [p] {, stride}; wmma.store [p], r {, stride}.
void FunctionVerifier::check_wmma_transfer(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool store = i.opcode == Opcode::kWmmaStore;
  if (written_types(m) != 1)
    return error(fmt::format("'{}' has {} types, expected 1", name(), written_types(m)));
  const bool multiplicand = m.matrix == WmmaMatrix::kA || m.matrix == WmmaMatrix::kB;
  if (!wmma_fragment(m.matrix, m.shape, m.type) ||
      m.small_bits != (multiplicand ? wmma_small_bits(m.shape) : 0)) {
    const std::string type = m.small_bits == 0   ? std::string(type_name(m.type))
                             : m.small_bits == 1 ? "b1"
                                                 : fmt::format("{}4", type_name(m.type)[0]);
    return error(fmt::format("'{}': matrix {} of this shape cannot have elements of type .{}", name(),
                             matrix_name(m.matrix), type));
  }
  check_wmma_target(m.type, m.shape);
  if (!check_operand_count(i)) return;
  if (m.space != Space::kGlobal && m.space != Space::kShared && m.space != Space::kGeneric)
    return error(fmt::format("'{}': matrices lie in .global or .shared memory", name()));
  check_address(i, i.operands[store ? 0 : 1]);
  check_wmma_vector(i, i.operands[store ? 1 : 0], m.matrix, m.type);
  if (i.operands.size() > 2) check_source(i, i.operands[2], Type::kU32, false);
}

/// wmma.mma d, a, b, c.
void FunctionVerifier::check_wmma_mma(const Instruction& i) {
  const Modifiers& m = i.mods;
  const int written = written_types(m);
  if (written != 2 && written != 4)
    return error(
        fmt::format("'{}' has {} types, expected those of D and C, or of D, A, B and C", name(), written));
  const WmmaTypes types = wmma_types(m);
  const bool is_double = m.shape == WmmaShape::kM8N8K4;
  // Multiplicands of type f16 are not written.
  const bool is_tf32 = m.shape == WmmaShape::kM16N16K8;
  const int small = wmma_small_bits(m.shape);
  if (!combine(types) || m.small_bits != small || m.small_types != (small == 0 ? 0 : 2) ||
      !wmma_fragment(WmmaMatrix::kA, m.shape, types.a) || (types.a == Type::kF64) != is_double ||
      (types.a == Type::kTF32) != is_tf32 || (types.a == Type::kF16) != (written == 2)) {
    return error(fmt::format("'{}': these types and this shape do not go together", name()),
                 "such as .m16n16k16.f32.f32 or .m16n16k16.s32.u8.u8.s32");
  }
  check_wmma_target(types.a, m.shape);
  check_wmma_bits(i);
  if (m.rounding != Rounding::kNone && !is_double)
    error(fmt::format("'{}': a rounding is for type .f64", name()));
  if (m.satfinite && is_float(types.a) && (types.a != Type::kF16 || ptx_version(module_) >= 605))
    error(fmt::format("'{}': .satfinite is for integers", name()), "of type .f16 up to PTX 6.4");
  if (!check_operand_count(i)) return;
  check_wmma_vector(i, i.operands[0], WmmaMatrix::kD, types.d);
  check_wmma_vector(i, i.operands[1], WmmaMatrix::kA, types.a);
  check_wmma_vector(i, i.operands[2], WmmaMatrix::kB, types.b);
  check_wmma_vector(i, i.operands[3], WmmaMatrix::kC, types.c);
}

/// Of single bits: which of them count, those that are the same 1 or those that differ.
void FunctionVerifier::check_wmma_bits(const Instruction& i) {
  constexpr int kAndTarget = 80, kAndVersion = 701;
  const Modifiers& m = i.mods;
  const bool counts = m.bool_op != BoolOp::kNone && m.popc;
  if (wmma_small_bits(m.shape) != 1) {
    if (m.bool_op != BoolOp::kNone || m.popc)
      error(fmt::format("'{}': .and, .xor and .popc are for elements of type .b1", name()));
    return;
  }
  if (!counts) error(fmt::format("'{}' of type .b1 needs .xor.popc or .and.popc", name()));
  if (m.satfinite) error(fmt::format("'{}': .satfinite is not for type .b1", name()));
  if (m.bool_op == BoolOp::kAnd && module_.target_sm != 0 && module_.target_sm < kAndTarget) {
    error(fmt::format("'{}' with .and needs .target sm_{} or higher, the file has sm_{}", name(), kAndTarget,
                      module_.target_sm));
  }
  if (m.bool_op == BoolOp::kAnd && ptx_version(module_) < kAndVersion)
    error(fmt::format("'{}' with .and needs PTX 7.1 or later", name()));
}

void FunctionVerifier::check_wmma_vector(const Instruction& i, const Operand& o, WmmaMatrix matrix,
                                         Type element) {
  const WmmaFragment f = *wmma_fragment(matrix, i.mods.shape, element);
  const bool written =
      matrix == WmmaMatrix::kD ? i.opcode == Opcode::kWmmaMma : i.opcode == Opcode::kWmmaLoad;
  const auto count = static_cast<size_t>(f.registers);
  if (o.kind != Kind::kVector || o.elements.size() != count) {
    const std::string found =
        o.kind == Kind::kVector ? fmt::format("{}", o.elements.size()) : std::string(kind_name(o.kind));
    return error(o.loc, fmt::format("matrix {} of '{}' takes {} register{} in braces, found {}",
                                    matrix_name(matrix), name(), count, count == 1 ? "" : "s", found));
  }
  for (const Operand& e : o.elements) {
    if (!written)
      check_source(i, e, f.register_type, false);
    else if (e.kind != Kind::kSink)
      check_destination(i, e, f.register_type, false);
  }
}

}  // namespace gpusim::isa
