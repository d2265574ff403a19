#include "isa/ptx/mma.h"

#include <algorithm>
#include <string_view>

#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {

namespace {

/// Registers of A and B by shape and type of the multiplicands.
struct Row {
  std::string_view shape;
  Type multiplicand;
  size_t a, b;
};
constexpr Row kRows[] = {
    {"m16n8k8", Type::kF16, 2, 1},   {"m16n8k16", Type::kF16, 4, 2}, {"m16n8k8", Type::kBF16, 2, 1},
    {"m16n8k16", Type::kBF16, 4, 2}, {"m16n8k4", Type::kTF32, 2, 1}, {"m16n8k8", Type::kTF32, 4, 2},
    {"m16n8k16", Type::kU8, 2, 1},   {"m16n8k16", Type::kS8, 2, 1},  {"m16n8k32", Type::kU8, 4, 2},
    {"m16n8k32", Type::kS8, 4, 2},   {"m8n8k4", Type::kF64, 1, 1},
};

size_t sum_registers(Type t) { return t == Type::kF16 || t == Type::kF64 ? 2 : 4; }

bool sums_fit(Type multiplicand, Type d, Type c) {
  switch (multiplicand) {
    case Type::kF16:
      return (d == Type::kF16 || d == Type::kF32) && (c == Type::kF16 || c == Type::kF32);
    case Type::kU8:
    case Type::kS8:
      return d == Type::kS32 && c == Type::kS32;
    case Type::kF64:
      return d == Type::kF64 && c == Type::kF64;
    default:
      return d == Type::kF32 && c == Type::kF32;
  }
}

}  // namespace

std::optional<MmaForm> mma_form(const Instruction& i) {
  const Modifiers& m = i.mods;
  MmaForm form;
  form.multiplicand = m.type2;
  form.d = m.type;
  form.c = m.type4;
  const auto is_byte = [](Type t) { return t == Type::kU8 || t == Type::kS8; };
  form.other_sign = is_byte(m.type2) && is_byte(m.type3) && m.type2 != m.type3;
  form.satfinite = has_word(i, "satfinite");
  const bool plain = has_word(i, "sync") && has_word(i, "aligned") && has_word(i, "row") &&
                     has_word(i, "col") && !has_word(i, "sp") && (m.type2 == m.type3 || form.other_sign);
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& r) { return r.multiplicand == form.multiplicand && has_word(i, r.shape); });
  if (!plain || row == std::end(kRows) || !sums_fit(form.multiplicand, form.d, form.c)) return std::nullopt;
  form.a_registers = row->a;
  form.b_registers = row->b;
  form.c_registers = sum_registers(form.c);
  form.d_registers = sum_registers(form.d);
  return form;
}

}  // namespace gpusim::isa
