#include "components/sm/special_operands.h"

#include <array>

namespace gpusim::comp {

namespace {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpClass;
using isa::WarpContext;

/// Which way an operand goes: the usual one, that of results which are known at once (of zeros, infinities
/// and NaN), or the whole subroutine, which scales.
enum class Way : uint8_t { kUsual, kKnown, kScaled };

constexpr uint32_t kSign32 = 0x8000'0000, kInfinity32 = 0x7f80'0000;

bool is_finite_nonzero(uint32_t f32) {
  const uint32_t magnitude = f32 & ~kSign32;
  return magnitude != 0 && magnitude < kInfinity32;
}

/// fchk, as assumed: both operands, their quotient and what is left of the dividend have to be normal
/// numbers.
Way division(uint32_t a, uint32_t b) {
  if (!is_finite_nonzero(a) || !is_finite_nonzero(b)) return Way::kKnown;
  const int dividend = static_cast<int>(a >> 23 & 0xff), divisor = static_cast<int>(b >> 23 & 0xff);
  constexpr int kFraction = 24, kLargestDivisor = 252, kLeast = -125, kMost = 126;
  const int quotient = dividend - divisor;
  const bool usual = dividend > kFraction && divisor > 0 && divisor <= kLargestDivisor && quotient > kLeast &&
                     quotient < kMost;
  return usual ? Way::kUsual : Way::kScaled;
}

Way reciprocal(uint32_t a) {
  const uint32_t exponent = a >> 23 & 0xff;
  if (exponent >= 1 && exponent <= 252) return Way::kUsual;
  return is_finite_nonzero(a) ? Way::kScaled : Way::kKnown;
}

Way root(uint32_t a) {
  constexpr uint32_t kLeast = 0x0d00'0000;
  if (a >= kLeast && a < kInfinity32) return Way::kUsual;
  return a != 0 && a < kLeast ? Way::kScaled : Way::kKnown;
}

// Of 64-bit numbers the upper halves are looked at, as ptxas' code does.

bool is_known(uint64_t f64) {
  const uint64_t magnitude = f64 & ~(uint64_t{1} << 63);
  return magnitude == 0 || magnitude >= uint64_t{0x7ff} << 52;
}

Way division(uint64_t a, uint64_t b) {
  if (is_known(a) || is_known(b)) return Way::kKnown;
  const int dividend = static_cast<int>(a >> 52 & 0x7ff), divisor = static_cast<int>(b >> 52 & 0x7ff);
  constexpr int kLeastDividend = 0x36, kLargestDivisor = 0x7f8, kLeast = -1022, kMost = 1017;
  const int quotient = dividend - divisor;
  const bool usual = dividend >= kLeastDividend && divisor > 0 && divisor < kLargestDivisor &&
                     quotient > kLeast && quotient < kMost;
  return usual ? Way::kUsual : Way::kScaled;
}

Way reciprocal(uint64_t a) {
  const auto magnitude = static_cast<uint32_t>(a >> 32) & ~kSign32;
  constexpr uint32_t kLeast = 0x0010'0000, kEnd = 0x7fcf'fbfe;
  if (magnitude >= kLeast && magnitude < kEnd) return Way::kUsual;
  return is_known(a) ? Way::kKnown : Way::kScaled;
}

Way root(uint64_t a) {
  const auto high = static_cast<uint32_t>(a >> 32);
  constexpr uint32_t kLeast = 0x0350'0000, kEnd = 0x7ff0'0000;
  if (high >= kLeast && high < kEnd) return Way::kUsual;
  return a != 0 && high < kLeast ? Way::kScaled : Way::kKnown;
}

/// What the two ways cost, and what they save where no lane takes the usual one, whose end they jump over.
struct Costs {
  SubroutineCall known, scaled, saved;
};

template <class WayOf>
SubroutineCall call_of(const Costs& costs, LaneMask lanes, WayOf way_of) {
  std::array<bool, 3> taken{};
  for (int lane = 0; lane < isa::kWarpSize; ++lane)
    if (lanes.test(lane)) taken[static_cast<size_t>(way_of(lane))] = true;
  const auto [usual, known, scaled] = taken;
  SubroutineCall call;
  if (!known && !scaled) return call;
  const auto add = [&call](const SubroutineCall& part, int sign) {
    call.instructions = static_cast<uint16_t>(call.instructions + sign * part.instructions);
    call.cycles = static_cast<uint16_t>(call.cycles + sign * part.cycles);
  };
  if (known) add(costs.known, 1);  // lanes that go different ways inside go one after the other
  if (scaled) add(costs.scaled, 1);
  if (!usual) add(costs.saved, -1);
  return call;
}

template <class Value>
SubroutineCall call_of(const MicroOp& op, const WarpContext& context, LaneMask lanes, bool is_root) {
  constexpr bool kWide = sizeof(Value) == 8;
  constexpr Costs kDivision = kWide ? Costs{{63, 272}, {63, 300}, {}} : Costs{{37, 216}, {50, 260}, {}};
  constexpr Costs kReciprocal =
      kWide ? Costs{{18, 106}, {31, 200}, {}} : Costs{{22, 167}, {45, 260}, {4, 37}};
  constexpr Costs kRoot = kWide ? Costs{{14, 114}, {36, 250}, {}} : Costs{{10, 81}, {27, 150}, {4, 15}};
  const auto* const a = reinterpret_cast<const Value*>(context.row(op.src[0]));
  if (is_root) return call_of(kRoot, lanes, [a](int lane) { return root(a[lane]); });
  if (op.num_src == 1) return call_of(kReciprocal, lanes, [a](int lane) { return reciprocal(a[lane]); });
  const auto* const b = reinterpret_cast<const Value*>(context.row(op.src[1]));
  return call_of(kDivision, lanes, [a, b](int lane) { return division(a[lane], b[lane]); });
}

}  // namespace

SubroutineCall subroutine_call(const MicroOp& op, const WarpContext& context, LaneMask lanes) {
  switch (op.op_class) {
    case OpClass::kFp32DivRn:
    case OpClass::kFp32RcpRn:
      return call_of<uint32_t>(op, context, lanes, false);
    case OpClass::kFp32SqrtRn:
      return call_of<uint32_t>(op, context, lanes, true);
    case OpClass::kFp64Div:
      return call_of<uint64_t>(op, context, lanes, false);
    case OpClass::kFp64Sqrt:
      return call_of<uint64_t>(op, context, lanes, true);
    default:
      return {};
  }
}

}  // namespace gpusim::comp
