// Selection, top level: blocks and labels, functions, emission.
#include "isa/lowering/select.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::isa::lir {

Selector::Selector(const Module& module, const Function& root, const CallPlan& plan,
                   const LoweringOptions& options, Statements& statements, Diagnostics& errors)
    : module_(module),
      root_(root),
      plan_(plan),
      options_(options),
      statements_(statements),
      errors_(errors),
      level_(options.simd.value_or(best_simd_level())),
      legacy_(module.target_sm > 0 && module.target_sm < 20),
      f64_as_f32_(module.map_f64_to_f32 && module.target_sm < 13) {}

Program select(const Module& module, const Function& root, const CallPlan& plan,
               const LoweringOptions& options, Statements& statements, Diagnostics& errors) {
  return Selector(module, root, plan, options, statements, errors).run();
}

Program Selector::run() {
  program_.is_function = !root_.is_entry;
  if (plan_.uses_stack) program_.stack_pointer = program_.new_var(VarClass::kRow32);
  place(new_block());
  Frame frame;
  frame.scope = scope_ = new_scope(kNoTarget);
  stack_.push_back(&root_);
  if (program_.is_function)
    called_function(frame);
  else
    kernel(frame);
  finish_blocks();
  return std::move(program_);
}

void Selector::kernel(Frame& frame) {
  program_.local_bytes = local_top_ = plan_.local_bytes;
  for (const auto& [variable, place] : plan_.local)
    program_.local_align = std::max(program_.local_align, static_cast<uint32_t>(variable->align));
  open_frame(frame, root_);
  uint32_t offset = 0;
  for (const Variable& p : root_.params) {
    offset = static_cast<uint32_t>(align_up(offset, p.align));
    frame.slots[p.name] = ParamSlot{kNoVar, Type::kNone, offset, static_cast<uint32_t>(p.bytes)};
    offset += static_cast<uint32_t>(p.bytes);
  }
  if (plan_.uses_alloca) {
    begin_helpers(root_.body.empty() ? nullptr : &root_.body.front());
    emit_stack(StackOp::kEmpty, std::nullopt, kNoVar);
  }
  emit_function(frame);
  begin_helpers(nullptr);
  if (reachable_) emit_control(OpKind::kExit, OpClass::kExit);
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
      if (op.kind == OpKind::kBranch) op.target = position[op.target];
    }
  }
  for (std::vector<uint32_t>& table : program_.tables) {
    for (uint32_t& block : table) block = position[block];
  }
  program_.blocks = std::move(ordered);
}

// --- functions ---

void Selector::add_local(Frame& frame, const Variable& variable) {
  const uint64_t offset = align_up(local_top_, variable.align);
  if (offset + variable.bytes >= kWindowBytes) {
    error(variable.loc, fmt::format("more than {} bytes of local variables are not supported yet: '{}'",
                                    kWindowBytes, variable.name));
    frame.locals[&variable] = {0, kNoObject};  // what follows is not wrong
    return;
  }
  frame.locals[&variable] = {static_cast<uint32_t>(offset), kNoObject};
  program_.local_align = std::max(program_.local_align, static_cast<uint32_t>(variable.align));
  local_top_ = static_cast<uint32_t>(offset + variable.bytes);
  program_.local_bytes = std::max(program_.local_bytes, local_top_);
}

uint32_t Selector::new_scope(uint32_t outer) {
  statements_.outer_scopes.push_back(outer);
  return static_cast<uint32_t>(statements_.outer_scopes.size() - 1);
}

/// Number of a .shared variable, of a .local one of the module or of `frame`.
ObjectId Selector::object_of(Frame& frame, const Variable& variable) {
  const auto bytes = static_cast<uint32_t>(variable.bytes);
  if (const auto place = plan_.local.find(&variable); place != plan_.local.end()) {
    constexpr uint32_t kKernelScope = 0;
    const auto [it, added] = statements_.module_objects.try_emplace(&variable, kNoObject);
    if (added)
      it->second =
          statements_.add_object({variable.name, Space::kLocal, place->second, bytes, false, kKernelScope});
    return it->second;
  }
  if (variable.space == Space::kShared) {
    const auto [it, added] = statements_.module_objects.try_emplace(&variable, kNoObject);
    const auto place = plan_.shared.find(&variable);
    const bool is_static = place != plan_.shared.end();
    if (added)
      it->second = statements_.add_object({variable.name, Space::kShared,
                                           is_static ? place->second : plan_.dynamic_shared_offset,
                                           is_static ? bytes : 0, false, frame.scope});
    return it->second;
  }
  Frame::Local& local = frame.locals.at(&variable);
  if (local.object == kNoObject)
    local.object = statements_.add_object(
        {variable.name, Space::kLocal, local.offset, bytes, program_.is_function, frame.scope});
  return local.object;
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
      frame.slots[v.name] =
          ParamSlot{kNoVar, Type::kB8, frame.locals[&v].offset, static_cast<uint32_t>(v.bytes)};
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
  std::vector<PtxStatement>& list = statements_.list;
  const auto [it, added] = statements_.numbers.try_emplace(&inst, static_cast<uint32_t>(list.size()));
  if (added)
    list.push_back(
        {inst.text, inst.loc, inst.source_line, inst.source_file, inst.inlined_line, inst.inlined_file});
  return it->second;
}

// --- emission ---

/// What follows belongs to `inst` but is not counted, and runs in all lanes.
void Selector::begin_helpers(const Instruction* inst) {
  inst_ = inst;
  guard_ = kNoVar;
  counted_ = true;
}

void Selector::refuse_size() {
  if (!too_large_) error(root_.loc, "the kernel is too large after inlining its calls");
  too_large_ = true;
}

Op* Selector::emit(Op op) {
  if (++emitted_ == kMaxOps) refuse_size();
  if (too_large_) return nullptr;
  op.guard = guard_;
  op.guard_negated = guard_negated_;
  op.ptx_index = inst_ != nullptr ? statement_index(*inst_) : last_index_;
  last_index_ = op.ptx_index;
  op.scope = scope_;
  op.ptx_count = counted_ ? 0 : 1;
  counted_ = true;
  std::vector<Op>& ops = program_.blocks[current_].ops;
  ops.push_back(op);
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
  return emit(op);
}

void Selector::emit_control(OpKind kind, OpClass op_class, uint32_t target) {
  Op op;
  op.kind = kind;
  op.op_class = op_class;
  op.target = target;
  emit(op);
}

void Selector::error(const SourceLoc& loc, std::string message, std::string hint) {
  errors_.push_back({Diagnostic::Severity::kError, loc, std::move(message), std::move(hint)});
}
void Selector::unsupported(const Instruction& inst, const char* what) {
  error(inst.loc, fmt::format("{} is not supported yet: '{}'", what, inst.text));
}

}  // namespace gpusim::isa::lir
