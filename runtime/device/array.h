// Arrays (cudaArray_t, CUarray): texels lie row by row in device memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gpusim::runtime {

/// Bits of each channel, and what they are; as cudaChannelFormatDesc.
struct ChannelFormat {
  enum class Kind : uint8_t { kSigned, kUnsigned, kFloat, kNone };
  int x = 0, y = 0, z = 0, w = 0;
  Kind kind = Kind::kNone;
  [[nodiscard]] int bits() const { return x + y + z + w; }
};

struct ArrayShape {
  ChannelFormat format;
  struct Extent {
    uint64_t width = 0, height = 0, depth = 0;  ///< 0 where it has no such dimension
  } extent;
  unsigned flags = 0;
  static constexpr unsigned kLayered = 1, kSurface = 2, kCubemap = 4;
};

struct Array : ArrayShape {
  std::byte* data = nullptr;
  uint64_t pitch = 0;
  [[nodiscard]] uint64_t texel_bytes() const { return static_cast<uint64_t>(format.bits()) / 8; }
  [[nodiscard]] uint64_t row_bytes() const { return extent.width * texel_bytes(); }
  [[nodiscard]] uint64_t height() const { return extent.height == 0 ? 1 : extent.height; }
  [[nodiscard]] uint64_t depth() const { return extent.depth == 0 ? 1 : extent.depth; }
  [[nodiscard]] uint64_t slice() const { return pitch * height(); }
};

}  // namespace gpusim::runtime
