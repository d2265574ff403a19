// Surfaces as suld, sust, sured and suq see them (PTX ISA, "Surface Instructions"; CUDA C++ Programming
// Guide, "Surface Memory"): the textures of a run whose bytes may be written. The first coordinate counts
// bytes, or texels where the instruction goes by the surface's format.
#pragma once
#include <cstdint>

#include "isa/exec/texture.h"

namespace gpusim::isa {

/// What happens outside of the surface.
enum class SurfaceEdge : uint8_t { kTrap, kClamp, kZero };

/// What sured does with the number in the surface and that of the lane.
enum class SurfaceReduction : uint8_t { kAdd, kMin, kMax, kAnd, kOr };

/// MicroOp::imm of suld, sust and sured.
struct SurfaceForm {
  TextureShape shape = TextureShape::k1d;
  SurfaceEdge edge = SurfaceEdge::kTrap;
  uint8_t element_bytes = 4;  ///< 1, 2, 4, 8
  uint8_t elements = 1;       ///< 1, 2, 4
  bool formatted = false;     ///< sust.p, sured.p: texels by the surface's format
  SurfaceReduction reduction = SurfaceReduction::kAdd;
  bool is_signed = false;  ///< sured.b

  [[nodiscard]] uint64_t packed() const {
    return static_cast<uint64_t>(shape) | static_cast<uint64_t>(edge) << 8 | uint64_t{element_bytes} << 16 |
           uint64_t{elements} << 24 | uint64_t{formatted} << 32 | static_cast<uint64_t>(reduction) << 33 |
           uint64_t{is_signed} << 36;
  }
  [[nodiscard]] static SurfaceForm unpacked(uint64_t bits) {
    return {static_cast<TextureShape>(bits & 0xff),
            static_cast<SurfaceEdge>(bits >> 8 & 0xff),
            static_cast<uint8_t>(bits >> 16),
            static_cast<uint8_t>(bits >> 24),
            (bits >> 32 & 1) != 0,
            static_cast<SurfaceReduction>(bits >> 33 & 7),
            (bits >> 36 & 1) != 0};
  }
};

/// src[0] is the handle, then the coordinates, the layer, and (sust, sured) the values; `access` as of tex.
/// Bit i of MicroOp::modifiers: value i is in a row of 64 bits.
void execute_suld(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
void execute_sust(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
/// Lanes take their turns.
void execute_sured(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

}  // namespace gpusim::isa
