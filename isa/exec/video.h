// The video instructions (PTX ISA, "Video Instructions"): scalar ones, which take a byte, a half or all of
// each operand, and SIMD ones on two halves or four bytes.
#pragma once
#include "isa/exec/executor.h"
#include "isa/ptx/video.h"

namespace gpusim::isa {

/// MicroOp::imm is the VideoForm, modifiers of vset the CompareOp, of vmad kVideoPlusOne and so on; src[0..2]
/// are a, b and c, dst[0] is d; 32 bits each.
void execute_video(const MicroOp& op, WarpContext& ctx, LaneMask mask);

}  // namespace gpusim::isa
