// Surfaces as suld, sust and suq see them (PTX ISA, "Surface Instructions"; CUDA C++ Programming Guide,
// "Surface Memory"): the textures of a run whose bytes may be written. The first coordinate counts bytes.
#pragma once
#include <cstdint>

#include "isa/exec/texture.h"

namespace gpusim::isa {

/// What happens outside of the surface.
enum class SurfaceEdge : uint8_t { kTrap, kClamp, kZero };

/// MicroOp::imm of suld and sust.
struct SurfaceForm {
  TextureShape shape = TextureShape::k1d;
  SurfaceEdge edge = SurfaceEdge::kTrap;
  uint8_t element_bytes = 4;  ///< 1, 2, 4, 8
  uint8_t elements = 1;       ///< 1, 2, 4

  [[nodiscard]] uint64_t packed() const {
    return static_cast<uint64_t>(shape) | static_cast<uint64_t>(edge) << 8 | uint64_t{element_bytes} << 16 |
           uint64_t{elements} << 24;
  }
  [[nodiscard]] static SurfaceForm unpacked(uint64_t bits) {
    return {static_cast<TextureShape>(bits & 0xff), static_cast<SurfaceEdge>(bits >> 8 & 0xff),
            static_cast<uint8_t>(bits >> 16), static_cast<uint8_t>(bits >> 24)};
  }
};

/// src[0] is the handle, then the coordinates, the layer, and (sust) the values; `access` as of tex. Bit i of
/// MicroOp::modifiers: value i is in a row of 64 bits.
void execute_suld(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
void execute_sust(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

}  // namespace gpusim::isa
