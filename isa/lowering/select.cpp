// Selection, top level: blocks and labels, functions and inlined calls, shared-memory layout, emission.
#include "isa/lowering/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace gpusim::isa::lir {
namespace {

/// Inlining may multiply code; beyond this many micro-ops, variables or blocks the kernel is refused instead
/// of filling memory.
constexpr size_t kMaxOps = 4'000'000;
constexpr size_t kMaxVars = 16'000'000;
constexpr size_t kMaxBlocks = 1'000'000;
/// Inlining recurses once per level.
constexpr size_t kMaxCallDepth = 256;

uint64_t align_up(uint64_t v, uint64_t align) { return align < 2 ? v : (v + align - 1) / align * align; }

}  // namespace

Selector::Selector(const Module& module, const Function& entry, const LoweringOptions& options,
                   Diagnostics& errors)
    : module_(module),
      entry_(entry),
      options_(options),
      errors_(errors),
      level_(options.simd.value_or(best_simd_level())),
      legacy_(module.target_sm > 0 && module.target_sm < 20),
      f64_as_f32_(module.map_f64_to_f32 && module.target_sm < 13) {}

Program select(const Module& module, const Function& entry, const LoweringOptions& options,
               Diagnostics& errors) {
  return Selector(module, entry, options, errors).run();
}

Program Selector::run() {
  layout_shared();
  place(new_block());
  Frame frame;
  open_frame(frame, entry_);
  uint32_t offset = 0;
  for (const Variable& p : entry_.params) {
    offset = static_cast<uint32_t>(align_up(offset, p.align));
    frame.slots[p.name] = ParamSlot{kNoVar, Type::kNone, offset, static_cast<uint32_t>(p.bytes)};
    offset += static_cast<uint32_t>(p.bytes);
  }
  stack_.push_back(&entry_);
  emit_function(frame);
  inst_ = nullptr;
  guard_ = kNoVar;
  counted_ = true;
  if (reachable_) emit_control(OpKind::kExit, OpClass::kExit);
  finish_blocks();
  return std::move(program_);
}

// --- blocks ---

uint32_t Selector::new_block() {
  program_.blocks.emplace_back();
  return static_cast<uint32_t>(program_.blocks.size() - 1);
}
void Selector::place(uint32_t block) {
  layout_.push_back(block);
  current_ = block;
}

/// Blocks were created in order of discovery; number them in layout order.
void Selector::finish_blocks() {
  std::vector<uint32_t> position(program_.blocks.size(), kNone);
  for (uint32_t i = 0; i < layout_.size(); ++i) position[layout_[i]] = i;
  std::vector<Block> ordered(layout_.size());
  for (uint32_t i = 0; i < layout_.size(); ++i) {
    ordered[i] = std::move(program_.blocks[layout_[i]]);
    for (Op& op : ordered[i].ops) {
      if (op.target != kNone) op.target = position[op.target];
    }
  }
  program_.blocks = std::move(ordered);
}

// --- shared memory ---

std::vector<const Variable*> Selector::shared_variables() const {
  std::vector<const Variable*> found;
  const auto note = [&](const Variable* v) {
    if (v != nullptr && v->space == Space::kShared &&
        std::find(found.begin(), found.end(), v) == found.end()) {
      found.push_back(v);
    }
  };
  std::unordered_set<std::string_view> names;
  std::vector<const Function*> reached{&entry_};
  const auto visit = [&](const std::string& symbol) {
    if (symbol.empty() || !names.insert(symbol).second) return;
    note(module_.find_variable(symbol));
    const Function* f = module_.find_function(symbol);
    if (f != nullptr && !f->is_declaration && f != &entry_) reached.push_back(f);
  };
  for (size_t i = 0; i < reached.size(); ++i) {
    const Function& function = *reached[i];
    for (const Variable& v : function.variables) note(&v);
    for (const Instruction& inst : function.body) {
      for (const Operand& o : inst.operands) {
        visit(o.symbol);
        for (const Operand& e : o.elements) visit(e.symbol);
      }
    }
  }
  return found;
}

/// Static variables of the entry and of all it calls come first, dynamic (.extern, unsized) ones share what
/// follows.
void Selector::layout_shared() {
  uint64_t top = 0, dynamic_align = 8;
  for (const Variable* v : shared_variables()) {
    if (v->bytes == 0) {
      dynamic_align = std::max(dynamic_align, v->align);
      continue;
    }
    top = align_up(top, v->align);
    shared_[v] = static_cast<uint32_t>(top);
    top += v->bytes;
    if (top >= kWindowBytes) {
      error(v->loc,
            fmt::format("shared variable '{}' does not fit: more than {} bytes", v->name, kWindowBytes));
      return;
    }
  }
  program_.static_shared_bytes = static_cast<uint32_t>(top);
  program_.dynamic_shared_offset = static_cast<uint32_t>(align_up(top, dynamic_align));
}

// --- functions and calls ---

void Selector::add_local(Frame& frame, const Variable& variable) {
  const uint64_t offset = align_up(local_top_, variable.align);
  if (offset + variable.bytes >= kWindowBytes) {
    error(variable.loc,
          fmt::format("local variable '{}' does not fit: more than {} bytes", variable.name, kWindowBytes));
    return;
  }
  frame.locals[&variable] = static_cast<uint32_t>(offset);
  local_top_ = static_cast<uint32_t>(offset + variable.bytes);
  program_.local_bytes = std::max(program_.local_bytes, local_top_);
}

void Selector::open_frame(Frame& frame, const Function& function) {
  frame.function = &function;
  frame.registers.reserve(function.registers.size());
  for (const Register& r : function.registers) {
    frame.registers.push_back(static_cast<Var>(program_.vars.size()));
    if (type_bytes(r.type) == 16)
      program_.vars.insert(program_.vars.end(), 2, VarClass::kRow64);  // lower and upper half
    else
      program_.vars.insert(program_.vars.end(), std::max<size_t>(r.vector, 1), class_of(mapped(r.type)));
  }
  frame.carry = program_.new_var(VarClass::kPredicate);
  for (const auto* list : {&function.params, &function.returns, &function.variables}) {
    for (const Variable& v : *list) frame.names[v.name] = &v;
  }
  for (const Variable& v : function.variables) {
    if (v.space == Space::kLocal) add_local(frame, v);
    if (v.space != Space::kParam) continue;
    if (!v.is_array() && v.vector == 1 && v.type != Type::kPred) {
      frame.slots[v.name] =
          ParamSlot{program_.new_var(class_of(mapped(v.type))), v.type, 0, static_cast<uint32_t>(v.bytes)};
    } else {
      add_local(frame, v);
      frame.slots[v.name] = ParamSlot{kNoVar, Type::kB8, frame.locals[&v], static_cast<uint32_t>(v.bytes)};
    }
  }
  for (const Label& label : function.labels) frame.labels[label.name] = new_block();
}

void Selector::emit_function(Frame& frame) {
  const Function& f = *frame.function;
  std::vector<std::pair<uint32_t, uint32_t>> labels;  // statement, block
  for (const Label& label : f.labels) labels.emplace_back(label.statement, frame.labels[label.name]);
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t next = 0;
  for (uint32_t s = 0; s <= f.body.size(); ++s) {
    for (; next < labels.size() && labels[next].first == s; ++next) {
      place(labels[next].second);
      reachable_ = true;
    }
    if (s == f.body.size() || too_large_ || errors_.size() > 100) continue;
    statement(frame, f.body[s]);
  }
}

uint32_t Selector::statement_index(const Instruction& inst) {
  const auto [it, added] = statement_ids_.try_emplace(&inst, static_cast<uint32_t>(program_.ptx.size()));
  if (added) program_.ptx.push_back({inst.text, inst.loc, inst.source_line});
  return it->second;
}

void Selector::call(Frame& frame, const Instruction& inst) {
  const auto is_list = [](const Operand& o) { return o.kind == Operand::Kind::kList; };
  size_t at = 0;
  const Operand empty;
  const Operand* returns = &empty;
  const Operand* arguments = &empty;
  if (at < inst.operands.size() && is_list(inst.operands[at])) returns = &inst.operands[at++];
  if (at >= inst.operands.size() || inst.operands[at].kind == Operand::Kind::kRegister) {
    return unsupported(inst, "an indirect call");
  }
  const std::string& name = inst.operands[at++].symbol;
  if (at < inst.operands.size() && is_list(inst.operands[at])) arguments = &inst.operands[at];
  const Function* callee = module_.find_function(name);
  if (callee == nullptr || callee->is_declaration) {
    return error(inst.loc,
                 fmt::format("call of '{}', which has no body in this file, is not supported yet", name));
  }
  if (std::find(stack_.begin(), stack_.end(), callee) != stack_.end()) {
    return error(inst.loc, fmt::format("recursive call of '{}' is not supported yet", name));
  }
  if (stack_.size() == kMaxCallDepth) {
    return error(inst.loc, fmt::format("calls are nested deeper than {}", kMaxCallDepth));
  }
  if (returns->elements.size() != callee->returns.size() ||
      arguments->elements.size() != callee->params.size()) {
    return error(inst.loc,
                 fmt::format("'{}' takes {} arguments and returns {} values, the call has {} and {}", name,
                             callee->params.size(), callee->returns.size(), arguments->elements.size(),
                             returns->elements.size()));
  }
  if (program_.vars.size() + callee->registers.size() + callee->variables.size() > kMaxVars ||
      program_.blocks.size() + callee->labels.size() > kMaxBlocks) {
    return refuse_size();
  }
  const uint32_t after = new_block();
  const Var guard = guard_;
  if (guard != kNoVar) {  // the call's body is jumped over by lanes that do not call
    guard_negated_ = !guard_negated_;
    emit_control(OpKind::kBranch, OpClass::kBranch, after);
    place(new_block());
    guard_ = kNoVar;
  } else {
    emit_control(OpKind::kNop, OpClass::kNop);
  }
  const uint32_t local_mark = local_top_;
  Frame inner;
  open_frame(inner, *callee);
  inner.return_block = after;
  const auto reg_of = [](const std::vector<RegisterId>& ids, const Frame& f, size_t i) {
    return i < ids.size() && ids[i] != kNoRegister ? f.registers[ids[i]] : kNoVar;
  };
  for (size_t i = 0; i < callee->params.size(); ++i) {
    bind(frame, inner, arguments->elements[i], callee->params[i], reg_of(callee->param_registers, inner, i),
         true);
  }
  for (size_t i = 0; i < callee->returns.size(); ++i) {
    bind(frame, inner, returns->elements[i], callee->returns[i], reg_of(callee->return_registers, inner, i),
         false);
  }
  stack_.push_back(callee);
  emit_function(inner);
  stack_.pop_back();
  local_top_ = local_mark;
  place(after);
  reachable_ = true;
  inst_ = &inst;
  guard_ = kNoVar;
  counted_ = true;
  for (size_t i = 0; i < callee->returns.size(); ++i) {
    const Var from = reg_of(callee->return_registers, inner, i);
    if (from != kNoVar) copy_result(frame, returns->elements[i], callee->returns[i], from);
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

// --- emission ---

void Selector::refuse_size() {
  if (!too_large_) error(entry_.loc, "the kernel is too large after inlining its calls");
  too_large_ = true;
}

Op* Selector::emit(Op op) {
  if (++emitted_ == kMaxOps) refuse_size();
  if (too_large_) return nullptr;
  op.guard = guard_;
  op.guard_negated = guard_negated_;
  op.ptx_index = inst_ != nullptr ? statement_index(*inst_) : last_index_;
  last_index_ = op.ptx_index;
  op.ptx_count = counted_ ? 0 : 1;
  counted_ = true;
  std::vector<Op>& ops = program_.blocks[current_].ops;
  ops.push_back(std::move(op));
  return &ops.back();
}

Op* Selector::emit_form(uint64_t key, std::initializer_list<Var> dst, std::span<const Value> src) {
  const SemanticRow* row = find_form(key, level_);
  if (row == nullptr) {
    if (inst_ != nullptr) unsupported(*inst_, "this form");
    return nullptr;
  }
  Op op;
  op.key = key;
  op.kind = OpKind::kAlu;
  op.exec = row->exec;
  op.op_class = row->op_class;
  op.flops = row->flops;
  op.type = static_cast<Type>((key >> 40) & 0xff);
  for (const Var v : dst) op.dst[op.num_dst++] = v;
  for (const Value& v : src) op.src[op.num_src++] = v;
  return emit(std::move(op));
}

void Selector::emit_control(OpKind kind, OpClass op_class, uint32_t target) {
  Op op;
  op.kind = kind;
  op.op_class = op_class;
  op.target = target;
  emit(std::move(op));
}

void Selector::error(const SourceLoc& loc, std::string message, std::string hint) {
  errors_.push_back({Diagnostic::Severity::kError, loc, std::move(message), std::move(hint)});
}
void Selector::unsupported(const Instruction& inst, const char* what) {
  error(inst.loc, fmt::format("{} is not supported yet: '{}'", what, inst.text));
}

}  // namespace gpusim::isa::lir
