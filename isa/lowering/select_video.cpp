// Selection of the video instructions (isa/ptx/video.h).
#include "isa/exec/video.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

void Selector::video(Frame& frame, const Instruction& inst) {
  const std::optional<VideoForm> form = video_form(inst);
  if (!form) return unsupported(inst, "this form");
  Op op;
  op.kind = OpKind::kAlu;
  op.op_class = OpClass::kInt;
  op.exec = &execute_video;
  op.type = Type::kU32;
  op.imm = form->packed();
  if (form->op == VideoOp::kSet) op.modifiers = static_cast<uint8_t>(inst.mods.compare);
  if (form->op == VideoOp::kMad)
    op.modifiers = static_cast<uint8_t>((has_word(inst, "po") ? kVideoPlusOne : 0) |
                                        (has_word(inst, "shr7") ? kVideoShift7 : 0) |
                                        (has_word(inst, "shr15") ? kVideoShift15 : 0));
  for (size_t k = 1; k < 4; ++k)
    op.src[op.num_src++] =
        k < inst.operands.size() ? value(frame, inst.operands[k], Type::kB32) : Value{kNoVar, false, 0};
  op.dst[op.num_dst++] = destination(frame, inst.operands[0], Type::kB32);
  const Var result = op.dst[0];
  emit(op);
  write_back(frame, inst.operands[0], Type::kB32, result);
}

}  // namespace gpusim::isa::lir
