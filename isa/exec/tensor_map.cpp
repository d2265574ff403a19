#include "isa/exec/tensor_map.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace gpusim::isa {

namespace {

constexpr uint32_t kMagic = 0x50414d54;      // "TMAP"
constexpr uint64_t kPiece = 16, kRow = 128;  // of shared memory: what moves, and among what

/// The 128 bytes.
struct Packed {
  uint32_t magic, sum;
  uint64_t address;
  uint64_t stride[TensorMap::kMostRank - 1];
  uint32_t last[TensorMap::kMostRank];  ///< sizes less one
  uint16_t box[TensorMap::kMostRank];
  uint8_t step[TensorMap::kMostRank];
  uint8_t rank, element, swizzle, fills_with_nan, interleave;
  int16_t lower[TensorMap::kMostSpatial], upper[TensorMap::kMostSpatial];
  uint16_t pixels;
  uint8_t im2col;
  uint8_t rest[25];
};
static_assert(sizeof(Packed) == TensorMap::kBytes);

/// FNV-1a of all bytes but the sum's own.
uint32_t sum_of(const Packed& p) {
  Packed copy = p;
  copy.sum = 0;
  uint32_t sum = 2166136261u;
  for (const std::byte b : std::bit_cast<std::array<std::byte, TensorMap::kBytes>>(copy))
    sum = (sum ^ static_cast<uint32_t>(b)) * 16777619u;
  return sum;
}

uint64_t span_of(TensorMap::Swizzle s) {
  return s == TensorMap::Swizzle::kNone ? 0 : kPiece << static_cast<unsigned>(s);
}

}  // namespace

Type TensorMap::type() const {
  constexpr Type kTypes[kElements] = {Type::kU8,  Type::kU16, Type::kU32, Type::kS32, Type::kU64,
                                      Type::kS64, Type::kF16, Type::kF32, Type::kF64, Type::kBF16,
                                      Type::kF32, Type::kF32, Type::kF32};
  return kTypes[static_cast<size_t>(element)];
}

uint32_t TensorMap::row_pitch() const {
  return std::max(row_bytes(), static_cast<uint32_t>(span_of(swizzle)));
}

uint64_t TensorMap::rows() const {
  if (im2col) return pixels;
  uint64_t rows = 1;
  for (size_t d = 1; d < rank; ++d) rows *= count(d);
  return rows;
}

/// The number of the row of 128 bytes is exclusive-ored to that of the piece in it, as far as the span
/// reaches.
uint64_t TensorMap::swizzled(uint64_t shared) const {
  const uint64_t pieces = span_of(swizzle) / kPiece;
  return pieces == 0 ? shared : shared ^ (shared / kRow % pieces * kPiece);
}

std::array<std::byte, TensorMap::kBytes> TensorMap::packed() const {
  Packed p{};
  p.magic = kMagic;
  p.address = address;
  for (size_t d = 0; d < rank; ++d) {
    if (d != 0) p.stride[d - 1] = stride[d];
    p.last[d] = static_cast<uint32_t>(size[d] - 1);
    p.box[d] = static_cast<uint16_t>(box[d]);
    p.step[d] = static_cast<uint8_t>(step[d]);
  }
  p.rank = rank;
  p.element = static_cast<uint8_t>(element);
  p.swizzle = static_cast<uint8_t>(swizzle);
  p.fills_with_nan = fills_with_nan ? 1 : 0;
  p.im2col = im2col ? 1 : 0;
  p.pixels = static_cast<uint16_t>(pixels);
  for (size_t d = 0; d < kMostSpatial; ++d) {
    p.lower[d] = static_cast<int16_t>(lower[d]);
    p.upper[d] = static_cast<int16_t>(upper[d]);
  }
  p.sum = sum_of(p);
  return std::bit_cast<std::array<std::byte, kBytes>>(p);
}

std::optional<TensorMap> TensorMap::unpacked(const std::byte* bytes) {
  Packed p;
  std::memcpy(&p, bytes, sizeof(p));
  if (p.magic != kMagic || p.sum != sum_of(p)) return std::nullopt;
  if (p.rank == 0 || p.rank > kMostRank || p.element >= kElements || p.swizzle >= kSwizzles ||
      p.interleave != 0)
    return std::nullopt;
  TensorMap map;
  map.address = p.address;
  map.rank = p.rank;
  map.element = static_cast<Element>(p.element);
  map.swizzle = static_cast<Swizzle>(p.swizzle);
  map.fills_with_nan = p.fills_with_nan != 0;
  map.im2col = p.im2col != 0;
  map.pixels = p.pixels;
  std::ranges::copy(p.lower, map.lower.begin());
  std::ranges::copy(p.upper, map.upper.begin());
  for (size_t d = 0; d < map.rank; ++d) {
    map.stride[d] = d == 0 ? map.element_bytes() : p.stride[d - 1];
    map.size[d] = uint64_t{p.last[d]} + 1;
    map.box[d] = p.box[d];
    map.step[d] = p.step[d];
  }
  return map.is_valid() ? std::optional(map) : std::nullopt;
}

/// The corners of the box of pixels have fewer bits the more of them there are.
bool TensorMap::walks_pixels() const {
  if (rank < kLeastIm2colRank || pixels == 0 || pixels > kMostPixels) return false;
  constexpr int32_t kMostCorner[] = {0x8000, 0x80, 0x10};
  const int32_t most = kMostCorner[rank - kLeastIm2colRank];
  for (size_t d = 1; d + 1 < rank; ++d) {
    for (const int32_t corner : {lower[d - 1], upper[d - 1]})
      if (corner < -most || corner >= most) return false;
    if (end_of_box(d) <= lower[d - 1]) return false;
  }
  return true;
}

bool TensorMap::is_valid() const {
  constexpr uint64_t kUnit = 16;  // addresses, strides and rows are multiples of it
  if (address % kUnit != 0 || (fills_with_nan && element < Element::kF16)) return false;
  for (size_t d = 0; d < rank; ++d) {
    const bool has_box = d == 0 || !im2col;
    const bool fits = size[d] != 0 && size[d] <= kMostSize && step[d] != 0 && step[d] <= kMostStep &&
                      (!has_box || (box[d] != 0 && box[d] <= kMostBox));
    if (!fits || (d != 0 && (stride[d] % kUnit != 0 || stride[d] >= kMostStride))) return false;
  }
  if (im2col && !walks_pixels()) return false;
  // Rows that are swizzled are not longer than what is swizzled.
  return row_bytes() % kUnit == 0 && (swizzle == Swizzle::kNone || row_bytes() <= span_of(swizzle));
}

bool TensorMap::replace(std::byte* bytes, Field field, uint32_t dimension, uint64_t value) {
  Packed p;
  std::memcpy(&p, bytes, sizeof(p));
  const bool blank = std::all_of(bytes, bytes + kBytes, [](std::byte b) { return b == std::byte{0}; });
  if (!blank && (p.magic != kMagic || p.sum != sum_of(p))) return false;
  // A value that does not fit stays one.
  const auto narrowed = [&value](auto& to) {
    using To = std::remove_reference_t<decltype(to)>;
    to = static_cast<To>(std::min<uint64_t>(value, std::numeric_limits<To>::max()));
  };
  constexpr Element kNumbers[kElements] = {Element::kU8,     Element::kU16, Element::kU32,  Element::kS32,
                                           Element::kU64,    Element::kS64, Element::kF16,  Element::kF32,
                                           Element::kF32Ftz, Element::kF64, Element::kBF16, Element::kTF32,
                                           Element::kTF32Ftz};
  switch (field) {
    case Field::kAddress:
      p.address = value;
      break;
    case Field::kRank:
      value = std::min<uint64_t>(value, kMostRank) + 1;
      narrowed(p.rank);
      break;
    case Field::kBox:
      narrowed(p.box[dimension]);
      break;
    case Field::kSize:
      p.last[dimension] = static_cast<uint32_t>(value - 1);
      break;
    case Field::kStride:
      if (dimension + 1 < kMostRank) p.stride[dimension] = value;
      break;
    case Field::kStep:
      narrowed(p.step[dimension]);
      break;
    case Field::kElement:
      value = value < kElements ? static_cast<uint64_t>(kNumbers[value]) : uint64_t{kElements};
      narrowed(p.element);
      break;
    case Field::kInterleave:
      narrowed(p.interleave);
      break;
    case Field::kSwizzle:
      narrowed(p.swizzle);
      break;
    case Field::kFill:
      p.fills_with_nan = value != 0 ? 1 : 0;
      break;
  }
  p.magic = kMagic;
  p.sum = sum_of(p);
  std::memcpy(bytes, &p, sizeof(p));
  return true;
}

}  // namespace gpusim::isa
