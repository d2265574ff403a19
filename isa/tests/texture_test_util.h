// Shared by the texture tests.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "isa/exec/texture.h"

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

}  // namespace gpusim::isa::test
