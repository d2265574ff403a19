// Shared by the texture tests.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/exec/texture.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa::test {

inline constexpr AddressMode kAddressModes[] = {AddressMode::kWrap, AddressMode::kMirror, AddressMode::kClamp,
                                                AddressMode::kBorder};

/// Four texels 10, 20, 30, 40.
inline Texture four(Type format = Type::kF32) {
  static const std::array<float, 4> values{10, 20, 30, 40};
  static const std::array<int32_t, 4> integers{10, 20, 30, 40};
  Texture t;
  t.format = format;
  t.data = format == Type::kS32 ? std::as_bytes(std::span(integers)).data()
                                : std::as_bytes(std::span(values)).data();
  t.size = {4, 1, 1};
  t.pitch = 16;
  return t;
}

/// Memory with textures whose handles are numbered.
class TextureMemory : public TestMemory {
 public:
  std::vector<Texture> textures;
  [[nodiscard]] const Texture* texture(uint64_t handle) const override {
    for (size_t i = 0; i < textures.size(); ++i)
      if (handle == texture_handle(i)) return &textures[i];
    return nullptr;
  }
};

}  // namespace gpusim::isa::test
