#include "isa/exec/tensor_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
  uint8_t last_of_box[TensorMap::kMostRank], step[TensorMap::kMostRank];
  uint8_t rank, element, swizzle, fills_with_nan;
  uint8_t rest[46];
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
    p.last_of_box[d] = static_cast<uint8_t>(box[d] - 1);
    p.step[d] = static_cast<uint8_t>(step[d]);
  }
  p.rank = rank;
  p.element = static_cast<uint8_t>(element);
  p.swizzle = static_cast<uint8_t>(swizzle);
  p.fills_with_nan = fills_with_nan ? 1 : 0;
  p.sum = sum_of(p);
  return std::bit_cast<std::array<std::byte, kBytes>>(p);
}

std::optional<TensorMap> TensorMap::unpacked(const std::byte* bytes) {
  Packed p;
  std::memcpy(&p, bytes, sizeof(p));
  if (p.magic != kMagic || p.sum != sum_of(p)) return std::nullopt;
  TensorMap map;
  map.address = p.address;
  map.rank = p.rank;
  map.element = static_cast<Element>(p.element);
  map.swizzle = static_cast<Swizzle>(p.swizzle);
  map.fills_with_nan = p.fills_with_nan != 0;
  for (size_t d = 0; d < map.rank; ++d) {
    map.stride[d] = d == 0 ? map.element_bytes() : p.stride[d - 1];
    map.size[d] = uint64_t{p.last[d]} + 1;
    map.box[d] = p.last_of_box[d] + 1u;
    map.step[d] = p.step[d];
  }
  return map;
}

}  // namespace gpusim::isa
