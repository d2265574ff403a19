// Tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make on the host and
// cp.async.bulk.tensor reads (PTX ISA, "Tensors"). Programs keep the 128 bytes wherever they like, so they
// say of themselves what they are.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/ptx/types.h"

namespace gpusim::isa {

struct TensorMap {
  static constexpr size_t kBytes = 128, kAlign = 64, kMostRank = 5;
  static constexpr uint64_t kMostSize = uint64_t{1} << 32, kMostStride = uint64_t{1} << 40;
  static constexpr uint32_t kMostBox = 256, kMostStep = 8, kMostPixels = 1024;
  static constexpr size_t kLeastIm2colRank = 3, kMostSpatial = kMostRank - 2;

  /// In the order of CUtensorMapDataType.
  enum class Element : uint8_t {
    kU8,
    kU16,
    kU32,
    kS32,
    kU64,
    kS64,
    kF16,
    kF32,
    kF64,
    kBF16,
    kF32Ftz,
    kTF32,
    kTF32Ftz
  };
  static constexpr unsigned kElements = 13;
  /// In the order of CUtensorMapSwizzle: which 16 bytes of its row a piece of shared memory lies at.
  enum class Swizzle : uint8_t { kNone, k32, k64, k128 };
  static constexpr unsigned kSwizzles = 4;

  uint64_t address = 0;
  /// Elements of each dimension, and bytes from one to the next; those of the first are its element's.
  std::array<uint64_t, kMostRank> size{}, stride{};
  std::array<uint32_t, kMostRank> box{};   ///< that a copy spans
  std::array<uint32_t, kMostRank> step{};  ///< of which it takes every so many
  uint8_t rank = 0;
  Element element = Element::kU8;
  Swizzle swizzle = Swizzle::kNone;
  bool fills_with_nan = false;
  /// A copy takes channels of pixels one after another: dimension 0 is that of the channels, the last one
  /// that of the images. Those between are walked within a box, which each image has and which may be larger
  /// than the image: it begins at `lower`, and ends `upper` behind the last element.
  bool im2col = false;
  std::array<int32_t, kMostSpatial> lower{}, upper{};
  uint32_t pixels = 0;  ///< that a copy takes, of box[0] channels each

  [[nodiscard]] Type type() const;
  [[nodiscard]] uint32_t element_bytes() const { return static_cast<uint32_t>(type_bytes(type())); }
  /// Bytes of a row of the box, and from one row to the next in shared memory: a row that is shorter than
  /// what is swizzled takes up as much.
  [[nodiscard]] uint32_t row_bytes() const { return box[0] * element_bytes(); }
  [[nodiscard]] uint32_t row_pitch() const;
  /// Elements of the box in dimension d.
  [[nodiscard]] uint32_t count(size_t d) const { return d == 0 ? box[0] : (box[d] + step[d] - 1) / step[d]; }
  [[nodiscard]] uint64_t rows() const;
  /// Whether dimension d is one of those that the pixels of an image have.
  [[nodiscard]] bool is_spatial(size_t d) const { return im2col && d != 0 && d + 1 < rank; }
  /// Of such a dimension, where its box ends.
  [[nodiscard]] int64_t end_of_box(size_t d) const { return static_cast<int64_t>(size[d]) + upper[d - 1]; }
  /// Where the byte at this address of shared memory lies.
  [[nodiscard]] uint64_t swizzled(uint64_t shared) const;

  /// The 128 bytes; their layout is our own.
  [[nodiscard]] std::array<std::byte, kBytes> packed() const;
  /// Nothing if these are not bytes of a map that a copy can use: those that packed() or replace() gave.
  [[nodiscard]] static std::optional<TensorMap> unpacked(const std::byte* bytes);
  /// Whether a copy can use it: the rules of cuTensorMapEncodeTiled but for the size of shared memory.
  [[nodiscard]] bool is_valid() const;

  /// What tensormap.replace changes.
  enum class Field : uint8_t {
    kAddress,
    kRank,  ///< less one
    kBox,
    kSize,
    kStride,  ///< dimension 0: bytes from one element of the second dimension to the next
    kStep,
    kElement,  ///< a number of PTX ISA, not of CUtensorMapDataType
    kInterleave,
    kSwizzle,
    kFill
  };
  /// Of the 128 bytes of a map, or of zeros, of which a map can be made so. False if they are neither. The
  /// map may become one that no copy can use.
  [[nodiscard]] static bool replace(std::byte* bytes, Field field, uint32_t dimension, uint64_t value);

 private:
  [[nodiscard]] bool walks_pixels() const;
};

}  // namespace gpusim::isa
