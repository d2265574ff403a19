// Selection of multimem.ld_reduce, multimem.st and multimem.red (isa/ptx/multimem.h): the load, the store or
// the reduction of the one copy that a GPU by itself has, which passes the L1 by as what other GPUs write
// does.
#include "isa/lowering/select.h"
#include "isa/ptx/multimem.h"

namespace gpusim::isa::lir {

void Selector::multimem(Frame& frame, const Instruction& inst) {
  using Kind = MultimemForm::Kind;
  const auto form = multimem_form(inst);
  if (!form) return unsupported(inst, "this type");
  Instruction access = inst;
  access.mods = {};
  access.mods.space = form->global ? Space::kGlobal : Space::kGeneric;
  access.mods.vector = form->elements;
  access.mods.semantics = form->order;
  access.mods.scope = form->scope;
  if (form->kind == Kind::kReduce) {
    access.opcode = Opcode::kRed;
    access.mods.type = form->type;
    access.mods.atom = form->operation;
    access.mods.noftz = is_half(form->type);
    if (form->scope == Scope::kNone) access.mods.scope = Scope::kSys;
    return atomic(frame, access);
  }
  access.opcode = form->kind == Kind::kStore ? Opcode::kSt : Opcode::kLd;
  access.mods.type = untyped(form->type);
  access.mods.cache = CacheOp::kCg;
  load_store(frame, access);
}

}  // namespace gpusim::isa::lir
