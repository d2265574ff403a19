#include "isa/ptx/mma.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {

namespace {

struct Multiplicand {
  std::string_view name;
  Type type;
  uint8_t bits;
};
constexpr Multiplicand kMultiplicands[] = {
    {"f16", Type::kF16, 16}, {"bf16", Type::kBF16, 16},  {"tf32", Type::kTF32, 32},
    {"f64", Type::kF64, 64}, {"e4m3", Type::kE4M3x2, 8}, {"e5m2", Type::kE5M2x2, 8},
    {"u8", Type::kU8, 8},    {"s8", Type::kS8, 8},       {"u4", Type::kU8, 4},
    {"s4", Type::kS8, 4},    {"b1", Type::kB32, 1},
};
const Multiplicand* multiplicand_named(std::string_view name) {
  const auto* found = std::ranges::find(kMultiplicands, name, &Multiplicand::name);
  return found == std::end(kMultiplicands) ? nullptr : found;
}

/// Registers of A and B by shape and bits of a multiplicand. Sparse: half of A.
struct Row {
  std::string_view shape;
  uint8_t bits;
  size_t a, b;
  bool sparse = false;
  size_t place_lanes = 0;
};
constexpr Row kRows[] = {
    {"m8n8k4", 16, 2, 2},
    {"m16n8k8", 16, 2, 1},
    {"m16n8k16", 16, 4, 2},
    {"m16n8k4", 32, 2, 1},
    {"m16n8k8", 32, 4, 2},
    {"m8n8k16", 8, 1, 1},
    {"m16n8k16", 8, 2, 1},
    {"m16n8k32", 8, 4, 2},
    {"m8n8k32", 4, 1, 1},
    {"m16n8k32", 4, 2, 1},
    {"m16n8k64", 4, 4, 2},
    {"m8n8k128", 1, 1, 1},
    {"m16n8k128", 1, 2, 1},
    {"m16n8k256", 1, 4, 2},
    {"m8n8k4", 64, 1, 1},
    {"m16n8k4", 64, 2, 1},
    {"m16n8k8", 64, 4, 2},
    {"m16n8k16", 64, 8, 4},
    {"m16n8k16", 16, 2, 2, true, 1},
    {"m16n8k32", 16, 4, 4, true, 2},
    {"m16n8k8", 32, 2, 2, true, 1},
    {"m16n8k16", 32, 4, 4, true, 2},
    {"m16n8k32", 8, 2, 2, true, 2},
    {"m16n8k64", 8, 4, 4, true, 4},
    {"m16n8k64", 4, 2, 2, true, 2},
    {"m16n8k128", 4, 4, 4, true, 4},
};

bool is_half_or_single(Type t) { return t == Type::kF16 || t == Type::kF32; }

/// Do multiplicands and sums go together, in this shape?
bool types_fit(const MmaForm& f, const Multiplicand& a, const Multiplicand& b) {
  const bool same = a.type == b.type && a.bits == b.bits;
  switch (a.type) {
    case Type::kF16:
      // Halves become f32 in m8n8k4 alone, and f32 becomes halves nowhere but in the other shapes.
      return same && is_half_or_single(f.d) && is_half_or_single(f.c) &&
             (f.quads ? f.d == Type::kF32 || f.c == Type::kF16 : !f.sparse || f.d == f.c);
    case Type::kE4M3x2:
    case Type::kE5M2x2:
      return is_float8(b.type) && is_half_or_single(f.d) && f.d == f.c;
    case Type::kU8:
    case Type::kS8:
      return (b.type == Type::kU8 || b.type == Type::kS8) && a.bits == b.bits && f.d == Type::kS32 &&
             f.c == Type::kS32;
    case Type::kB32:
      return same && f.d == Type::kS32 && f.c == Type::kS32;
    case Type::kF64:
      return same && f.d == Type::kF64 && f.c == Type::kF64;
    default:
      return same && f.d == Type::kF32 && f.c == Type::kF32;
  }
}

size_t sum_registers(const MmaForm& f, Type sum) {
  if (f.quads) return sum == Type::kF16 ? 4 : 8;
  return f.rows / (sum == Type::kF16 ? 8 : 4);
}

}  // namespace

std::optional<MmaForm> mma_form(const Instruction& i) {
  // mma{.sp{::ordered_metadata}}.sync.aligned.SHAPE.LAYOUT.LAYOUT{.ROUNDING}{.satfinite}.D.A.B.C{.OP.popc}
  std::vector<std::string_view> words = instruction_words(i);
  MmaForm form;
  const auto drop = [&words](std::string_view word) { return std::erase(words, word) != 0; };
  form.sparse = drop("sp") || drop("sp::ordered_metadata");
  form.satfinite = drop("satfinite");
  for (const char* rounding : {"rn", "rz", "rm", "rp"}) drop(rounding);
  const bool counts = drop("popc");
  form.differ = drop("xor");
  const bool both = drop("and");
  // mma.sync.aligned.SHAPE.LAYOUT.LAYOUT.D.A.B.C
  constexpr size_t kShape = 3, kLayouts = 4, kTypes = 6, kWords = 10;
  if (words.size() != kWords || words[1] != "sync" || words[2] != "aligned") return std::nullopt;
  const Multiplicand *a = multiplicand_named(words[kTypes + 1]), *b = multiplicand_named(words[kTypes + 2]);
  if (a == nullptr || b == nullptr || (a->bits == 1) != counts || counts != (form.differ || both))
    return std::nullopt;
  const auto* const row = std::ranges::find_if(kRows, [&](const Row& r) {
    return r.bits == a->bits && r.shape == words[kShape] && r.sparse == form.sparse;
  });
  const auto is_layout = [](std::string_view word) { return word == "row" || word == "col"; };
  if (row == std::end(kRows) || !is_layout(words[kLayouts]) || !is_layout(words[kLayouts + 1]))
    return std::nullopt;
  form.bits = a->bits;
  form.multiplicand = a->type;
  form.d = type_from_name(words[kTypes]);
  form.c = type_from_name(words[kTypes + 3]);
  form.rows = row->shape.starts_with("m8") ? 8 : 16;
  form.quads = form.rows == 8 && a->bits == 16;
  form.a_by_columns = words[kLayouts] == "col";
  form.b_by_rows = words[kLayouts + 1] == "row";
  form.other_sign = a->type != b->type;
  form.place_lanes = row->place_lanes;
  const bool integers = a->type == Type::kU8 || a->type == Type::kS8;
  const bool shape_fits = (is_float8(a->type) ? form.rows == 16 && (!form.sparse || row->place_lanes == 4)
                           : form.quads       ? a->type == Type::kF16
                                              : true) &&
                          (form.quads || (!form.a_by_columns && !form.b_by_rows)) &&
                          (integers || !form.satfinite);
  if (!shape_fits || !types_fit(form, *a, *b)) return std::nullopt;
  form.a_registers = row->a;
  form.b_registers = row->b;
  form.c_registers = sum_registers(form, form.c);
  form.d_registers = sum_registers(form, form.d);
  return form;
}

}  // namespace gpusim::isa
