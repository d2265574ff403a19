#include "isa/ptx/wgmma.h"

#include <charconv>
#include <string_view>

#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {

namespace {

constexpr Type kSingleBits = Type::kB32;  // b1: 32 of them in a register

/// As wgmma names them: e4m3 is not a type of registers.
Type multiplicand(std::string_view name) {
  if (name == "e4m3") return Type::kE4M3x2;
  if (name == "e5m2") return Type::kE5M2x2;
  if (name == "b1") return kSingleBits;
  return type_from_name(name);
}

bool is_small_integer(Type t) { return t == Type::kU8 || t == Type::kS8; }

bool types_fit(const WgmmaForm& f) {
  const bool float_sums = f.d == Type::kF16 || f.d == Type::kF32;
  if (is_float8(f.a)) return is_float8(f.b) && float_sums;
  if (is_small_integer(f.a)) return is_small_integer(f.b) && f.d == Type::kS32;
  if (f.a == kSingleBits) return f.b == kSingleBits && f.d == Type::kS32;
  if (f.a != f.b) return false;
  return f.a == Type::kF16 ? float_sums : (f.a == Type::kBF16 || f.a == Type::kTF32) && f.d == Type::kF32;
}

/// The k of all shapes is 32 bytes; of sparse matrices twice as many.
std::string_view inner(Type a, bool sparse) {
  if (a == kSingleBits) return "k256";
  if (a == Type::kTF32) return sparse ? "k16" : "k8";
  if (is_float8(a) || is_small_integer(a)) return sparse ? "k64" : "k32";
  return sparse ? "k32" : "k16";
}

/// The N of m64nNkK, 0 if `shape` is none.
size_t columns_of(std::string_view shape, Type a, bool sparse) {
  constexpr std::string_view kHead = "m64n";
  const std::string_view tail = inner(a, sparse);
  if (!shape.starts_with(kHead) || !shape.ends_with(tail)) return 0;
  shape.remove_prefix(kHead.size());
  shape.remove_suffix(tail.size());
  size_t n = 0;
  const auto [end, wrong] = std::from_chars(shape.data(), shape.data() + shape.size(), n);
  constexpr size_t kMost = 256, kSmall = 32;
  const bool whole = wrong == std::errc() && end == shape.data() + shape.size();
  const bool fits = n % 8 == 0 && n >= 8 && n <= kMost;
  // Of integers, only the small ones are multiples of 8.
  return whole && fits && (!(is_small_integer(a) || a == kSingleBits) || n % 16 == 0 || n < kSmall) ? n : 0;
}

}  // namespace

std::optional<WgmmaForm> wgmma_form(const Instruction& i) {
  std::vector<std::string_view> words = instruction_words(i);
  // wgmma.mma_async{.sp}.sync.aligned.SHAPE{.satfinite}.D.A.B{.and.popc}
  const bool sparse = words.size() > 2 && words[2] == "sp";
  if (sparse) words.erase(words.begin() + 2);
  const bool counts = words.size() > 2 && words.back() == "popc" && words[words.size() - 2] == "and";
  if (counts) words.resize(words.size() - 2);
  constexpr size_t kShape = 4, kTypes = 3;
  if (words.size() < kShape + 1 + kTypes || words[1] != "mma_async" || words[2] != "sync" ||
      words[3] != "aligned")
    return std::nullopt;
  WgmmaForm f;
  f.sparse = sparse;
  f.satfinite = words[kShape + 1] == "satfinite";
  if (words.size() != kShape + 1 + kTypes + (f.satfinite ? 1 : 0)) return std::nullopt;
  const size_t types = words.size() - kTypes;
  f.d = type_from_name(words[types]);
  f.a = multiplicand(words[types + 1]);
  f.b = multiplicand(words[types + 2]);
  if (!types_fit(f) || counts != (f.a == kSingleBits) || (counts && sparse) ||
      (f.satfinite && !is_small_integer(f.a)))
    return std::nullopt;
  f.columns = columns_of(words[kShape], f.a, sparse);
  if (f.columns == 0 || i.operands.size() < f.signs()) return std::nullopt;
  f.a_in_registers = i.operands[1].kind == Operand::Kind::kVector;
  f.has_signs = !is_small_integer(f.a) && f.a != kSingleBits;
  f.has_order = f.a == Type::kF16 || f.a == Type::kBF16;
  return f;
}

}  // namespace gpusim::isa
