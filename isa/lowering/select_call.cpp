// Selection of calls. A direct call emits the callee's body in place, with variables, labels and local memory
// of its own. Recursive functions and those called through their address have code of their own: the caller
// stores the arguments to the frame behind its own, and loads the results from it.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "isa/exec/device_services.h"
#include "isa/lowering/select.h"

namespace gpusim::isa::lir {
namespace {

/// Inlining may multiply code; beyond this many variables or blocks the kernel is refused instead of filling
/// memory.
constexpr size_t kMaxVars = 16'000'000;
constexpr size_t kMaxBlocks = 1'000'000;
/// Inlining recurses once per level.
constexpr size_t kMaxCallDepth = 256;

/// First variable of parameter or result `i` of an old function that has it in a register.
Var register_of(const std::vector<RegisterId>& ids, const std::vector<Var>& registers, size_t i) {
  return i < ids.size() && ids[i] != kNoRegister ? registers[ids[i]] : kNoVar;
}

Type unsigned_of_size(uint32_t bytes) {
  return bytes == 8 ? Type::kU64 : bytes == 4 ? Type::kU32 : bytes == 2 ? Type::kU16 : Type::kU8;
}

}  // namespace

/// Lanes that do not call jump over it, to `after`; false if all call.
bool Selector::jump_over_call(uint32_t after) {
  if (guard_ == kNoVar) return false;
  guard_negated_ = !guard_negated_;
  emit_control(OpKind::kBranch, OpClass::kBranch, after);
  place(new_block());
  guard_ = kNoVar;
  return true;
}

void Selector::call(Frame& frame, const Instruction& inst) {
  const auto is_list = [](const Operand& o) { return o.kind == Operand::Kind::kList; };
  CallSite site{inst, {}, {}, nullptr};
  size_t at = 0;
  if (at < inst.operands.size() && is_list(inst.operands[at])) site.returns = inst.operands[at++].elements;
  if (at >= inst.operands.size()) return unsupported(inst, "this call");
  const Operand& callee = inst.operands[at++];
  if (at < inst.operands.size() && is_list(inst.operands[at])) site.arguments = inst.operands[at].elements;
  if (callee.kind == Operand::Kind::kRegister) return call_indirect(frame, site, callee);
  site.callee = plan_.find_function(callee.symbol);
  if (site.callee == nullptr || site.callee->is_declaration) {
    if (callee.symbol == "__assertfail") return assertion_failed(frame, site);
    if (const auto call = runtime_call(callee.symbol)) return call_runtime(frame, site, *call);
    if (const auto call = system_call(callee.symbol)) return call_system(frame, site, *call);
    if (waits_for_children(callee.symbol))
      return error(inst.loc,
                   fmt::format("the kernel calls '{}' to wait for the kernels that it has launched, which is "
                               "not supported",
                               callee.symbol),
                   "CUDA 12 has removed it: launch what comes after them into cudaStreamTailLaunch");
    return error(inst.loc, fmt::format("call of '{}', which is only declared in this file", callee.symbol),
                 "link the file with its body: --link, or 'link' in the launch file");
  }
  if (!agrees(site, callee.symbol, site.callee->params, site.callee->returns)) return;
  if (plan_.called.contains(site.callee))
    call_through_stack(frame, site, {}, site.callee->params, site.callee->returns);
  else
    call_inline(frame, site);
}

bool Selector::agrees(const CallSite& site, const std::string& name, const std::vector<Variable>& params,
                      const std::vector<Variable>& returns) {
  if (site.returns.size() == returns.size() && site.arguments.size() == params.size()) return true;
  error(site.inst.loc,
        fmt::format("'{}' takes {} arguments and returns {} values, the call has {} and {}", name,
                    params.size(), returns.size(), site.arguments.size(), site.returns.size()));
  return false;
}

/// __assertfail(message, file, line, function, size of a character): the system call behind assert() (PTX
/// Interoperability, "System Calls"). A trap that says what failed.
void Selector::assertion_failed(Frame& frame, const CallSite& site) {
  Op op;
  op.kind = OpKind::kTrap;
  op.op_class = OpClass::kExit;
  for (const Operand& argument : site.arguments) {
    const auto slot = frame.slots.find(argument.symbol);
    if (op.num_src == kAssertSources || slot == frame.slots.end() || slot->second.var == kNoVar) break;
    const bool wide = program_.vars[slot->second.var] == VarClass::kRow64;
    if (wide == (op.num_src == kAssertLine)) break;
    op.src[op.num_src++] = {slot->second.var, wide, 0};
  }
  if (op.num_src != kAssertSources)
    return error(site.inst.loc,
                 "'__assertfail' takes (.b64 message, .b64 file, .b32 line, .b64 function, .b64)");
  emit(op);
}

/// See isa/exec/device_services.h. The call may touch any memory: it reads strings and arguments.
void Selector::call_system(Frame& frame, const CallSite& site, SystemCall call) {
  const size_t arguments = call == SystemCall::kPrint ? 2 : 1;
  const size_t returns = call == SystemCall::kRelease ? 0 : 1;
  const std::string& name = site.inst.operands[returns != 0 && !site.returns.empty() ? 1 : 0].symbol;
  const auto wrong = [&] {
    error(site.inst.loc, fmt::format("the system call takes {} .b64 argument{} and returns {}: '{}'",
                                     arguments, arguments == 1 ? "" : "s",
                                     returns == 0                 ? "nothing"
                                     : call == SystemCall::kPrint ? "a .b32 value"
                                                                  : "a .b64 value",
                                     name));
  };
  if (site.arguments.size() != arguments || site.returns.size() > returns) return wrong();
  Op op;
  op.kind = OpKind::kAtomic;
  op.op_class = OpClass::kAtomGlobal;
  op.mem = system_call_function(call);
  op.type = Type::kB64;
  op.memory.space = Space::kGeneric;
  op.memory.type = Type::kB64;
  op.memory.element_bytes = 8;
  for (const Operand& argument : site.arguments) {
    const auto slot = frame.slots.find(argument.symbol);
    if (slot == frame.slots.end() || slot->second.var == kNoVar) return wrong();
    const bool wide = program_.vars[slot->second.var] == VarClass::kRow64;
    op.src[op.num_src++] = resized(Value{slot->second.var, wide, 0}, true);
  }
  Var narrow = kNoVar;
  if (!site.returns.empty()) {
    const auto slot = frame.slots.find(site.returns[0].symbol);
    if (slot == frame.slots.end() || slot->second.var == kNoVar) return wrong();
    const Var to = slot->second.var;
    const bool wide = program_.vars[to] == VarClass::kRow64;
    if (wide && call == SystemCall::kPrint) return wrong();
    if (!wide && call == SystemCall::kAllocate) narrow = to;
    op.dst[op.num_dst++] = narrow == kNoVar ? to : program_.new_var(VarClass::kRow64);
  }
  const Var result = op.dst[0];
  emit(op);
  if (narrow != kNoVar)  // 32-bit pointers
    emit_form(form_key(Opcode::kMov, Type::kB32), {narrow}, {{resized(Value{result, true, 0}, false)}});
}

/// See isa/exec/device_runtime.h. The block of arguments lies in the frame, as those of printf() do.
void Selector::call_runtime(Frame& frame, const CallSite& site, RuntimeCall call) {
  const RuntimeSignature& signature = signature_of(call.function);
  const size_t count = signature.count();
  const auto wrong = [&] {
    error(site.inst.loc, fmt::format("a call of cuda{} takes {} argument{} and returns {} bytes",
                                     signature.name, count, count == 1 ? "" : "s", signature.result));
  };
  if (site.arguments.size() != count || site.returns.size() > 1) return wrong();
  constexpr uint32_t kAlign = 16;
  const uint32_t mark = local_top_, block = (local_top_ + kAlign - 1) / kAlign * kAlign;
  local_top_ = block + std::max(signature.offset(count), 8u);
  program_.local_align = std::max(program_.local_align, kAlign);
  program_.local_bytes = std::max(program_.local_bytes, local_top_);
  for (size_t i = 0; i < count; ++i) {
    const auto slot = frame.slots.find(site.arguments[i].symbol);
    if (slot == frame.slots.end()) return wrong();
    const uint32_t to = block + signature.offset(i);
    const uint32_t bytes = signature.arguments[i];
    if (slot->second.var != kNoVar) {
      const Value from = resized(
          Value{slot->second.var, program_.vars[slot->second.var] == VarClass::kRow64, 0}, bytes == 8);
      move_argument(OpKind::kStore, from.var, unsigned_of_size(bytes), to, false);
      continue;
    }
    if (slot->second.type == Type::kNone || slot->second.bytes != bytes) return wrong();
    for (uint32_t at = 0; at < bytes; at += 4) {
      const Var word = program_.new_var(VarClass::kRow32);
      move_argument(OpKind::kLoad, word, Type::kU32, slot->second.local_offset + at, false);
      move_argument(OpKind::kStore, word, Type::kU32, to + at, false);
    }
  }
  local_top_ = mark;
  Op op;
  op.kind = OpKind::kAtomic;
  op.op_class = OpClass::kAtomGlobal;
  op.mem = system_call_function(SystemCall::kRuntime);
  op.type = Type::kB64;
  op.imm = packed(call);
  op.memory.space = Space::kGeneric;
  op.memory.type = Type::kB64;
  op.memory.element_bytes = 8;
  const Address place = frame_address(block);
  const Value offset{kNoVar, true, kLocalWindowBase + static_cast<uint64_t>(place.offset)};
  Value where = offset;
  if (place.has_base) {
    where = Value{program_.new_var(VarClass::kRow64), true, 0};
    const Value parts[2] = {resized(place.base, true), offset};
    emit_form(form_key(Opcode::kAdd, Type::kU64), {where.var}, parts);
  }
  op.src[op.num_src++] = where;
  if (!site.returns.empty()) {
    const auto slot = frame.slots.find(site.returns[0].symbol);
    if (slot == frame.slots.end() || slot->second.var == kNoVar) return wrong();
    const bool wide = program_.vars[slot->second.var] == VarClass::kRow64;
    if (wide != (signature.result == 8)) return wrong();
    op.dst[op.num_dst++] = slot->second.var;
  }
  emit(op);
}

/// What a function takes by alloca is free when it returns.
void Selector::open_stack(Frame& frame) {
  const auto& body = frame.function->body;
  if (std::ranges::none_of(body, [](const Instruction& i) { return i.opcode == Opcode::kAlloca; })) return;
  frame.stack = program_.new_var(VarClass::kRow64);
  emit_stack(StackOp::kSave, std::nullopt, frame.stack);
}

void Selector::close_stack(const Frame& frame) {
  if (frame.stack != kNoVar) emit_stack(StackOp::kRestore, Value{frame.stack, true, 0}, kNoVar);
}

// --- inlined ---

void Selector::call_inline(Frame& frame, const CallSite& site) {
  const Instruction& inst = site.inst;
  const Function* callee = site.callee;
  if (stack_.size() == kMaxCallDepth) {
    return error(inst.loc, fmt::format("calls are nested deeper than {}", kMaxCallDepth));
  }
  if (program_.vars.size() + callee->registers.size() + callee->variables.size() > kMaxVars ||
      program_.blocks.size() + callee->labels.size() > kMaxBlocks) {
    return refuse_size();
  }
  const uint32_t after = new_block();
  if (!jump_over_call(after)) emit_control(OpKind::kNop, OpClass::kNop);
  const uint32_t local_mark = local_top_;
  Frame inner;
  open_frame(inner, *callee);
  inner.return_block = after;
  for (size_t i = 0; i < callee->params.size(); ++i) {
    bind(frame, inner, site.arguments[i], callee->params[i],
         register_of(callee->param_registers, inner.registers, i), true);
  }
  for (size_t i = 0; i < callee->returns.size(); ++i) {
    bind(frame, inner, site.returns[i], callee->returns[i],
         register_of(callee->return_registers, inner.registers, i), false);
  }
  inner.scope = scope_ = new_scope(frame.scope);
  open_stack(inner);
  stack_.push_back(callee);
  emit_function(inner);
  stack_.pop_back();
  scope_ = frame.scope;
  local_top_ = local_mark;
  place(after);
  reachable_ = true;
  begin_helpers(&inst);
  close_stack(inner);
  for (size_t i = 0; i < callee->returns.size(); ++i) {
    const Var from = register_of(callee->return_registers, inner.registers, i);
    if (from != kNoVar) copy_result(frame, site.returns[i], callee->returns[i], from);
  }
}

/// .param formals use the caller's variable itself (a callee cannot change an argument, nor read a result
/// before it writes it); .reg formals get a copy.
void Selector::bind(Frame& caller, Frame& callee, const Operand& actual, const Variable& formal,
                    Var formal_register, bool is_argument) {
  if (const auto it = caller.slots.find(actual.symbol); !actual.symbol.empty() && it != caller.slots.end()) {
    if (formal_register == kNoVar) {
      callee.slots[formal.name] = it->second;
      return;
    }
  }
  const Type type = mapped(formal.type);
  if (formal_register == kNoVar) {
    ParamSlot slot{program_.new_var(class_of(type)), formal.type, 0, static_cast<uint32_t>(formal.bytes)};
    callee.slots[formal.name] = slot;
    if (!is_argument) return error(actual.loc, "the result of this call must be a .param variable");
    formal_register = slot.var;
  }
  if (!is_argument) return;
  if (type == Type::kPred) {
    const Var source = predicate(caller, actual);
    Op* op = emit_form(form_key(Opcode::kMov, Type::kPred), {}, {});
    if (op == nullptr) return;
    op->pred_dst[0] = formal_register;
    op->pred_src[0] = source;
    return;
  }
  const std::vector<Operand> parts = elements(caller, actual);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Value v = value(caller, parts[i], type);
    emit_form(form_key(Opcode::kMov, untyped(type)), {formal_register + static_cast<Var>(i)}, {{v}});
  }
}

void Selector::copy_result(Frame& caller, const Operand& actual, const Variable& formal, Var from) {
  const Type type = mapped(formal.type);
  const std::vector<Operand> parts = elements(caller, actual);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Var source = from + static_cast<Var>(i);
    if (type == Type::kPred) {
      Op* op = emit_form(form_key(Opcode::kMov, Type::kPred), {}, {});
      if (op == nullptr) continue;
      op->pred_dst[0] = register_var(caller, parts[i]);
      op->pred_src[0] = source;
      continue;
    }
    const Var to = destination(caller, parts[i], type);
    emit_form(form_key(Opcode::kMov, untyped(type)), {to}, {{Value{source, type_bytes(type) == 8, 0}}});
    write_back(caller, parts[i], type, to);
  }
}

// --- through the call stack ---

/// The address decides at run time; the table of the call says how arguments lie.
void Selector::call_indirect(Frame& frame, const CallSite& site, const Operand& address) {
  const Operand& last = site.inst.operands.back();
  const LabelTable* table =
      last.kind == Operand::Kind::kSymbol ? frame.function->find_table(last.symbol) : nullptr;
  if (table == nullptr || table->kind == LabelTable::Kind::kBranchTargets) {
    return error(site.inst.loc, "an indirect call needs the label of a .callprototype or .calltargets");
  }
  const bool prototype = table->kind == LabelTable::Kind::kCallPrototype;
  const Function* first = prototype ? nullptr : plan_.find_function(table->targets.front());
  if (!prototype && first == nullptr)
    return error(site.inst.loc,
                 fmt::format("'{}' names the undefined function '{}'", table->name, table->targets.front()));
  const std::vector<Variable>& params = prototype ? table->params : first->params;
  const std::vector<Variable>& returns = prototype ? table->returns : first->returns;
  if (!agrees(site, table->name, params, returns)) return;
  const Var v = register_var(frame, address);
  if (v == kNoVar || program_.vars[v] == VarClass::kPredicate)
    return error(address.loc, "the address of a function must be in a 32- or 64-bit register");
  const Value target = resized(Value{v, program_.vars[v] == VarClass::kRow64, 0}, true);
  call_through_stack(frame, site, target, params, returns);
}

/// `address`: of an indirect call.
void Selector::call_through_stack(Frame& frame, const CallSite& site, std::optional<Value> address,
                                  const std::vector<Variable>& params, const std::vector<Variable>& returns) {
  const uint32_t after = guard_ == kNoVar ? kNone : new_block();
  if (after != kNone) jump_over_call(after);
  const ArgumentLayout layout = layout_arguments(params, returns);
  program_.outgoing_bytes = std::max(program_.outgoing_bytes, layout.bytes);
  for (size_t i = 0; i < params.size(); ++i)
    pass(frame, site.arguments[i], params[i], layout.params[i], Direction::kToCallee);
  Op op;
  op.kind = OpKind::kCall;
  op.op_class = OpClass::kCall;
  op.imm = layout.signature;
  if (address)
    op.src[op.num_src++] = *address;
  else
    op.target = module_.number_of(*site.callee);
  emit(op);
  for (size_t i = 0; i < returns.size(); ++i)
    pass(frame, site.returns[i], returns[i], layout.returns[i], Direction::kFromCallee);
  if (after != kNone) place(after);
}

/// One argument to the callee's frame, or one result from there.
void Selector::pass(Frame& frame, const Operand& actual, const Variable& formal, uint32_t offset,
                    Direction direction) {
  const bool out = direction == Direction::kToCallee;
  const OpKind kind = out ? OpKind::kStore : OpKind::kLoad;
  const auto bytes = static_cast<uint32_t>(formal.bytes);
  if (const auto it = frame.slots.find(actual.symbol); !actual.symbol.empty() && it != frame.slots.end()) {
    const ParamSlot& slot = it->second;
    if (slot.var != kNoVar) return move_argument(kind, slot.var, unsigned_of_size(bytes), offset, true);
    if (slot.type == Type::kNone) return error(actual.loc, "a kernel parameter cannot be passed as it is");
    for (uint32_t at = 0; at < bytes;) {  // a structure: word by word
      uint32_t step = 8;
      while ((offset + at) % step != 0 || (slot.local_offset + at) % step != 0 || at + step > bytes)
        step /= 2;
      const Var word = program_.new_var(step == 8 ? VarClass::kRow64 : VarClass::kRow32);
      const Type type = unsigned_of_size(step);
      move_argument(OpKind::kLoad, word, type, out ? slot.local_offset + at : offset + at, !out);
      move_argument(OpKind::kStore, word, type, out ? offset + at : slot.local_offset + at, out);
      at += step;
    }
    return;
  }
  const Type type = mapped(formal.type);
  if (type == Type::kPred) return error(actual.loc, "a predicate cannot be passed through the call stack");
  const std::vector<Operand> parts = elements(frame, actual);
  const Type word = unsigned_of_size(static_cast<uint32_t>(type_bytes(type)));
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint32_t at = offset + static_cast<uint32_t>(i) * static_cast<uint32_t>(type_bytes(type));
    if (out) {
      const Value v = value(frame, parts[i], type);
      Var from = v.var;
      if (v.is_literal()) {
        from = program_.new_var(class_of(type));
        emit_form(form_key(Opcode::kMov, v.wide ? Type::kB64 : Type::kB32), {from}, {{v}});
      }
      move_argument(kind, from, word, at, true);
    } else {
      const Var to = destination(frame, parts[i], type);
      move_argument(kind, to, word, at, true);
      write_back(frame, parts[i], type, to);
    }
  }
}

/// A load or store of `v` as `type` at `offset` of the own frame, or of the callee's.
void Selector::move_argument(OpKind kind, Var v, Type type, uint32_t offset, bool outgoing) {
  const bool wide = program_.vars[v] == VarClass::kRow64;
  Op op = memory_op(kind, Space::kLocal, type, wide, frame_address(offset), 1);
  op.outgoing = outgoing;
  op.memory.is_spill = true;
  if (kind == OpKind::kLoad)
    op.dst[op.num_dst++] = v;
  else
    op.src[op.num_src++] = Value{v, wide, 0};
  emit(op);
}

Selector::Address Selector::frame_address(uint32_t offset) const {
  Address a;
  a.space = Space::kLocal;
  a.offset = offset;
  if (program_.is_function) {
    a.has_base = true;
    a.base = Value{program_.stack_pointer, false, 0};
  }
  return a;
}

/// A function with a frame: its .param variables are at the frame's start, all ways out lead to one return.
void Selector::called_function(Frame& frame) {
  const ArgumentLayout layout = layout_arguments(root_.params, root_.returns);
  program_.local_bytes = local_top_ = layout.bytes;
  program_.local_align = std::max(program_.local_align, layout.align);
  open_frame(frame, root_);
  begin_helpers(root_.body.empty() ? nullptr : &root_.body.front());
  const auto place_list = [&](const std::vector<Variable>& list, const std::vector<uint32_t>& offsets) {
    for (size_t i = 0; i < list.size(); ++i)
      frame.slots[list[i].name] =
          ParamSlot{kNoVar, Type::kB8, offsets[i], static_cast<uint32_t>(list[i].bytes)};
  };
  place_list(root_.params, layout.params);
  place_list(root_.returns, layout.returns);
  for (size_t i = 0; i < root_.params.size(); ++i)
    move_register(frame, OpKind::kLoad, root_.params[i], root_.param_registers, i, layout.params[i]);
  frame.return_block = new_block();
  open_stack(frame);
  emit_function(frame);
  place(frame.return_block);
  begin_helpers(nullptr);
  close_stack(frame);
  for (size_t i = 0; i < root_.returns.size(); ++i)
    move_register(frame, OpKind::kStore, root_.returns[i], root_.return_registers, i, layout.returns[i]);
  emit_control(OpKind::kReturn, OpClass::kCall);
}

/// An old function's parameter or result in registers: from or to its place in the frame.
void Selector::move_register(const Frame& frame, OpKind kind, const Variable& formal,
                             const std::vector<RegisterId>& ids, size_t index, uint32_t offset) {
  const Var first = register_of(ids, frame.registers, index);
  if (first == kNoVar) return;
  const auto bytes = static_cast<uint32_t>(type_bytes(mapped(formal.type)));
  for (uint32_t i = 0; i < std::max<uint32_t>(formal.vector, 1); ++i)
    move_argument(kind, first + i, unsigned_of_size(bytes), offset + i * bytes, false);
}

}  // namespace gpusim::isa::lir
