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
    op.modifiers = static_cast<uint8_t>(
        (has_word(inst, "po") ? kVideoPlusOne : 0) | (has_word(inst, "shr7") ? kVideoShift7 : 0) |
        (has_word(inst, "shr15") ? kVideoShift15 : 0) |
        (inst.operands[1].negated != inst.operands[2].negated ? kVideoMinusProduct : 0) |
        (inst.operands[3].negated ? kVideoMinusC : 0));
  for (size_t k = 1; k < 4; ++k)
    op.src[op.num_src++] =
        k < inst.operands.size() ? value(frame, inst.operands[k], Type::kB32) : Value{kNoVar, false, 0};
  const std::array<Value, 2> sources{op.src[0], op.src[1]};
  for (size_t k = 0; k < sources.size(); ++k) {
    const std::optional<uint32_t> selector = video_selector(inst, k + 1);
    if (!selector) continue;
    const Var gathered = program_.new_var(VarClass::kRow32);
    emit_form(form_key(Opcode::kPrmt, Type::kB32), {gathered},
              std::array{sources[0], sources[1], Value{kNoVar, false, *selector}});
    op.src[k] = Value{gathered, false, 0};
  }
  op.dst[op.num_dst++] = destination(frame, inst.operands[0], Type::kB32);
  const Var result = op.dst[0];
  emit(op);
  write_back(frame, inst.operands[0], Type::kB32, result);
}

}  // namespace gpusim::isa::lir
