#include "isa/ptx/wmma.h"

namespace gpusim::isa {

WmmaSize wmma_size(WmmaShape shape) {
  switch (shape) {
    case WmmaShape::kM16N16K16:
      return {16, 16, 16};
    case WmmaShape::kM8N32K16:
      return {8, 32, 16};
    case WmmaShape::kM32N8K16:
      return {32, 8, 16};
    case WmmaShape::kM8N8K4:
      return {8, 8, 4};
    case WmmaShape::kM16N16K8:
      return {16, 16, 8};
    case WmmaShape::kM8N8K32:
      return {8, 8, 32};
    case WmmaShape::kM8N8K128:
      return {8, 8, 128};
    case WmmaShape::kNone:
      break;
  }
  return {};
}

int wmma_small_bits(WmmaShape shape) {
  return shape == WmmaShape::kM8N8K32 ? 4 : shape == WmmaShape::kM8N8K128 ? 1 : 0;
}

namespace {

/// Type of the registers that hold elements of this type; kNone if the matrix cannot have them.
Type register_type(bool multiplicand, bool is_double, Type element) {
  switch (element) {
    case Type::kF64:
      return is_double ? Type::kF64 : Type::kNone;
    case Type::kF16:
      return is_double ? Type::kNone : Type::kF16x2;
    case Type::kBF16:
      return multiplicand && !is_double ? Type::kBF16x2 : Type::kNone;
    case Type::kTF32:
      return multiplicand ? Type::kB32 : Type::kNone;
    case Type::kU8:
    case Type::kS8:
    case Type::kB32:
      return multiplicand && !is_double ? Type::kU32 : Type::kNone;
    case Type::kF32:
    case Type::kS32:
      return !multiplicand && !is_double ? element : Type::kNone;
    default:
      return Type::kNone;
  }
}

/// The shapes of small elements have them alone, and sums of type s32.
bool small_fits(int bits, bool multiplicand, Type element) {
  if (!multiplicand) return bits == 0 || element == Type::kS32;
  if (bits == 4) return element == Type::kU8 || element == Type::kS8;
  return (bits == 1) == (element == Type::kB32);
}

}  // namespace

std::optional<WmmaFragment> wmma_fragment(WmmaMatrix matrix, WmmaShape shape, Type element) {
  const auto [m, n, k] = wmma_size(shape);
  const bool multiplicand = matrix == WmmaMatrix::kA || matrix == WmmaMatrix::kB;
  // tf32 has a shape of its own, whose accumulators are f32.
  const bool tf32 = shape == WmmaShape::kM16N16K8;
  if (tf32 ? element != (multiplicand ? Type::kTF32 : Type::kF32) : element == Type::kTF32)
    return std::nullopt;
  const int small = wmma_small_bits(shape);
  if (!small_fits(small, multiplicand, element)) return std::nullopt;
  WmmaFragment f;
  f.register_type = register_type(multiplicand, shape == WmmaShape::kM8N8K4, element);
  if (f.register_type == Type::kNone) return std::nullopt;
  const int elements = matrix == WmmaMatrix::kA ? m * k : matrix == WmmaMatrix::kB ? k * n : m * n;
  const int bits = multiplicand && small != 0 ? small : 8 * type_bytes(element);
  f.distinct = elements * bits / 8 / type_bytes(f.register_type) / kWarpSize;
  f.registers = multiplicand && element == Type::kF16 ? 8 : f.distinct;
  return f;
}

WmmaTypes wmma_types(const Modifiers& mods) {
  if (mods.type3 == Type::kNone) return {mods.type, Type::kF16, Type::kF16, mods.type2};
  return {mods.type, mods.type2, mods.type3, mods.type4};
}

}  // namespace gpusim::isa
