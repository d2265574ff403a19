// PTX vocabulary shared by the parser, the lowering passes and the executor: types, state spaces, source
// locations, diagnostics and the 32-lane mask of a warp. Follows the PTX ISA manual, chapters 4-5 (syntax,
// state spaces, types).
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::isa {

inline constexpr int kWarpSize = 32;

/// Position in a PTX text; line and column count from 1, 0 means unknown.
struct SourceLoc {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t file = 0;  ///< of linked modules: index into Module::files
  friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};

/// One message about a PTX text. `hint` may be empty (e.g. "did you mean 'add'?").
struct Diagnostic {
  enum class Severity : uint8_t { kError, kWarning };
  Severity severity = Severity::kError;
  SourceLoc loc;
  std::string message;
  std::string hint;
};
using Diagnostics = std::vector<Diagnostic>;

/// PTX fundamental and packed types.
enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64,
  kU16x2,
  kS16x2,
  kF32x2,
  kTexRef,
  kSamplerRef,
  kSurfRef,
  kTF32,    ///< of multiplicands: single precision with a shorter fraction, in registers of 32 bits
  kE4M3x2,  ///< two values of 8 bits in registers of 16
  kE5M2x2,
};

/// Size of one value in bytes (a predicate counts as 1; opaque references as 8; kNone as 0).
[[nodiscard]] constexpr int type_bytes(Type t) {
  switch (t) {
    case Type::kNone:
      return 0;
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16:
    case Type::kE4M3x2:
    case Type::kE5M2x2:
      return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kU16x2:
    case Type::kS16x2:
    case Type::kF32:
    case Type::kTF32:
      return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
    case Type::kF32x2:
    case Type::kTexRef:
    case Type::kSamplerRef:
    case Type::kSurfRef:
      return 8;
    case Type::kB128:
      return 16;
  }
  return 0;
}
[[nodiscard]] constexpr bool is_signed(Type t) { return t >= Type::kS8 && t <= Type::kS64; }
[[nodiscard]] constexpr bool is_unsigned(Type t) { return t >= Type::kU8 && t <= Type::kU64; }
[[nodiscard]] constexpr bool is_untyped(Type t) { return t >= Type::kB8 && t <= Type::kB128; }
[[nodiscard]] constexpr bool is_float(Type t) { return t >= Type::kF16 && t <= Type::kF64; }
[[nodiscard]] constexpr bool is_integer(Type t) { return is_signed(t) || is_unsigned(t); }
[[nodiscard]] constexpr bool is_half(Type t) { return t >= Type::kF16 && t <= Type::kBF16x2; }
[[nodiscard]] constexpr bool is_bfloat(Type t) { return t == Type::kBF16 || t == Type::kBF16x2; }
/// Two floating-point values of 8 bits.
[[nodiscard]] constexpr bool is_float8(Type t) { return t == Type::kE4M3x2 || t == Type::kE5M2x2; }
/// Two 16-bit values in 32 bits.
[[nodiscard]] constexpr bool is_packed16(Type t) {
  return t == Type::kF16x2 || t == Type::kBF16x2 || t == Type::kU16x2 || t == Type::kS16x2;
}

/// PTX spelling without the dot ("f32"), "" for kNone.
[[nodiscard]] std::string_view type_name(Type t);
/// Type of a PTX spelling without the dot, kNone if it is none.
[[nodiscard]] Type type_from_name(std::string_view name);

/// PTX state spaces; kGeneric is "no space given" on a memory instruction.
enum class Space : uint8_t { kNone, kReg, kSreg, kConst, kGlobal, kLocal, kParam, kShared, kTex, kGeneric };
[[nodiscard]] std::string_view space_name(Space s);

/// Set of lanes of one warp, lane 0 in bit 0.
class LaneMask {
 public:
  constexpr LaneMask() = default;
  constexpr explicit LaneMask(uint32_t bits) : bits_(bits) {}
  static constexpr LaneMask all() { return LaneMask(0xffffffffu); }
  /// Lanes 0 .. count-1; count in 0..32.
  static constexpr LaneMask first(int count) { return LaneMask(count >= 32 ? ~0u : (1u << count) - 1u); }
  [[nodiscard]] constexpr uint32_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool any() const { return bits_ != 0; }
  [[nodiscard]] constexpr bool none() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool full() const { return bits_ == ~0u; }
  [[nodiscard]] constexpr uint32_t count() const { return static_cast<uint32_t>(std::popcount(bits_)); }
  [[nodiscard]] constexpr bool test(int lane) const { return (bits_ >> lane) & 1u; }
  /// Lowest lane in the set; 32 if empty.
  [[nodiscard]] constexpr int lowest() const { return std::countr_zero(bits_); }
  friend constexpr LaneMask operator&(LaneMask a, LaneMask b) { return LaneMask(a.bits_ & b.bits_); }
  friend constexpr LaneMask operator|(LaneMask a, LaneMask b) { return LaneMask(a.bits_ | b.bits_); }
  friend constexpr LaneMask operator^(LaneMask a, LaneMask b) { return LaneMask(a.bits_ ^ b.bits_); }
  friend constexpr LaneMask operator~(LaneMask a) { return LaneMask(~a.bits_); }
  LaneMask& operator&=(LaneMask b) {
    bits_ &= b.bits_;
    return *this;
  }
  LaneMask& operator|=(LaneMask b) {
    bits_ |= b.bits_;
    return *this;
  }
  friend constexpr bool operator==(LaneMask, LaneMask) = default;

 private:
  uint32_t bits_ = 0;
};

}  // namespace gpusim::isa
