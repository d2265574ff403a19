#include "simcore/launch/element.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gpusim::core {
namespace {

struct TypeRow {
  std::string_view name;
  uint8_t bytes;
  bool is_float;
  bool is_signed;
};
// In the order of ElementType.
constexpr std::array<TypeRow, 16> kTypes{{{"u8", 1, false, false},
                                          {"s8", 1, false, true},
                                          {"b8", 1, false, false},
                                          {"u16", 2, false, false},
                                          {"s16", 2, false, true},
                                          {"b16", 2, false, false},
                                          {"u32", 4, false, false},
                                          {"s32", 4, false, true},
                                          {"b32", 4, false, false},
                                          {"u64", 8, false, false},
                                          {"s64", 8, false, true},
                                          {"b64", 8, false, false},
                                          {"f16", 2, true, true},
                                          {"bf16", 2, true, true},
                                          {"f32", 4, true, true},
                                          {"f64", 8, true, true}}};
const TypeRow& row(ElementType t) { return kTypes[static_cast<size_t>(t)]; }

/// Rounds a double to a 16-bit format with `mantissa` stored bits and an exponent bias.
uint16_t to_small_float(double value, int mantissa, int bias) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 63) << 15);
  const auto infinity = static_cast<uint16_t>(((2 * bias + 1) << mantissa));
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | (1u << (mantissa - 1)));
  const double magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | infinity);
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
  const int lowest = 1 - bias;
  const int unit = std::max(exponent - 1, lowest) - mantissa;  // weight of the last bit
  const double scaled = std::ldexp(magnitude, -unit);          // exact: only the exponent changes
  const double floor = std::floor(scaled);
  auto integer = static_cast<uint64_t>(floor);
  const double rest = scaled - floor;
  if (rest > 0.5 || (rest == 0.5 && (integer & 1) != 0)) ++integer;
  // `integer` has its leading one at bit `mantissa` for normal numbers; carries move into the exponent by
  // themselves.
  const uint64_t encoded =
      (static_cast<uint64_t>(std::max(exponent - 1, lowest) - lowest) << mantissa) + integer;
  return static_cast<uint16_t>(sign | std::min<uint64_t>(encoded, infinity));
}

double from_small_float(uint16_t bits, int mantissa, int bias) {
  const int exponent = (bits & 0x7fff) >> mantissa;
  const int fraction = bits & ((1 << mantissa) - 1);
  double value = 0;
  if (exponent == 2 * bias + 1) {
    value =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - mantissa);
  } else {
    value = std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

std::string_view element_type_name(ElementType t) { return row(t).name; }
uint32_t element_bytes(ElementType t) { return row(t).bytes; }
bool element_is_float(ElementType t) { return row(t).is_float; }
bool element_is_signed(ElementType t) { return row(t).is_signed; }

std::optional<ElementType> element_type_from_name(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

std::vector<std::string_view> element_type_names() {
  std::vector<std::string_view> names;
  names.reserve(kTypes.size());
  for (const auto& type : kTypes) names.push_back(type.name);
  return names;
}

void check_address_type(const BufferSpec& buffer, Messages& messages) {
  if (!element_is_float(buffer.type) && element_bytes(buffer.type) >= 4) return;
  for (const AddressElement& element : buffer.init.addresses)
    messages.error(
        element.where,
        fmt::format("an element of type {} cannot hold an address", element_type_name(buffer.type)),
        "type = \"u64\" can");
}

uint16_t to_half(double value) { return to_small_float(value, 10, 15); }
uint16_t to_bfloat(double value) { return to_small_float(value, 7, 127); }
double from_half(uint16_t bits) { return from_small_float(bits, 10, 15); }
double from_bfloat(uint16_t bits) { return from_small_float(bits, 7, 127); }

void store_real(ElementType type, double value, std::byte* out) {
  if (type == ElementType::kF64) {
    std::memcpy(out, &value, 8);
  } else if (type == ElementType::kF32) {
    const auto single = static_cast<float>(value);
    std::memcpy(out, &single, 4);
  } else {
    const uint16_t bits = type == ElementType::kF16 ? to_half(value) : to_bfloat(value);
    std::memcpy(out, &bits, 2);
  }
}

namespace {

/// Values that an integer type takes, from `low` to below `high`; b types take signed and unsigned ones.
struct IntegerRange {
  __int128 low, high;
};
IntegerRange range_of(ElementType type) {
  const int bits = static_cast<int>(element_bytes(type)) * 8;
  const bool is_bits = type == ElementType::kB8 || type == ElementType::kB16 || type == ElementType::kB32 ||
                       type == ElementType::kB64;
  const __int128 low = element_is_signed(type) || is_bits ? -(static_cast<__int128>(1) << (bits - 1)) : 0;
  return {low, static_cast<__int128>(1) << (element_is_signed(type) ? bits - 1 : bits)};
}

std::string largest_float(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return fmt::format("{}", std::numeric_limits<double>::max());
    case ElementType::kF32:
      return fmt::format("{}", std::numeric_limits<float>::max());
    default:
      return fmt::format(
          "{}", static_cast<float>(type == ElementType::kF16 ? from_half(0x7bff) : from_bfloat(0x7f7f)));
  }
}

}  // namespace

std::string misfit_text(ElementType type, const Number& value) {
  const std::string text =
      value.is_integer ? fmt::format("{}", value.integer) : fmt::format("{}", value.real);
  const std::string begin = fmt::format("{} does not fit into type {}, which holds ", text, row(type).name);
  if (element_is_float(type)) {
    const std::string largest = largest_float(type);
    return fmt::format("{}numbers from -{} to {}", begin, largest, largest);
  }
  const IntegerRange range = range_of(type);
  return fmt::format("{}integers from {} to {}", begin, static_cast<int64_t>(range.low),
                     static_cast<uint64_t>(range.high - 1));
}

bool store_element(ElementType type, const Number& value, std::byte* out) {
  if (element_is_float(type)) {
    store_real(type, value.as_double(), out);
    return !std::isfinite(value.as_double()) || std::isfinite(load_element(type, out).as_double());
  }
  __int128 integer = value.integer;
  if (!value.is_integer) {
    // Whole reals are taken (2^63 and above can only be written so).
    if (!(std::abs(value.real) < 1.9e19) || value.real != std::floor(value.real)) return false;
    integer = static_cast<__int128>(value.real);
  }
  const IntegerRange range = range_of(type);
  if (integer < range.low || integer >= range.high) return false;
  const auto stored = static_cast<uint64_t>(integer);
  std::memcpy(out, &stored, element_bytes(type));
  return true;
}

uint64_t element_bits(ElementType type, const std::byte* in) {
  uint64_t bits = 0;
  std::memcpy(&bits, in, element_bytes(type));
  return bits;
}

Number load_element(ElementType type, const std::byte* in) {
  const uint64_t bits = element_bits(type, in);
  if (type == ElementType::kF64) return Number::of_real(std::bit_cast<double>(bits));
  if (type == ElementType::kF32) return Number::of_real(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (type == ElementType::kF16) return Number::of_real(from_half(static_cast<uint16_t>(bits)));
  if (type == ElementType::kBF16) return Number::of_real(from_bfloat(static_cast<uint16_t>(bits)));
  if (element_is_signed(type)) {
    const int shift = 64 - static_cast<int>(element_bytes(type)) * 8;
    return Number::of(static_cast<int64_t>(bits << shift) >> shift);
  }
  if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return Number::of_real(static_cast<double>(bits));
  return Number::of(static_cast<int64_t>(bits));
}

std::string element_text(ElementType type, const std::byte* in) {
  if (!element_is_float(type) && !element_is_signed(type)) return fmt::format("{}", element_bits(type, in));
  const Number value = load_element(type, in);
  if (value.is_integer) return fmt::format("{}", value.integer);
  return type == ElementType::kF64 ? fmt::format("{}", value.real)
                                   : fmt::format("{}", static_cast<float>(value.real));
}

}  // namespace gpusim::core
