// Operands of branches, calls and barriers: labels, label tables, functions and argument counts.
// PTX ISA manual, sections 9.7.12 (control flow) and 9.7.13 (barriers).
#include <fmt/format.h>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {

using Kind = Operand::Kind;

void FunctionVerifier::check_label(const Operand& o) {
  if (o.kind != Kind::kLabel)
    return error(o.loc, fmt::format("'{}' needs a label, found {}", name(), kind_name(o.kind)));
  if (o.offset != 0) return error(o.loc, fmt::format("'{}' needs a label without an offset", name()));
  if (labels_.count(o.symbol) != 0) return;
  NearestName nearest(o.symbol);
  for (const std::string_view label : labels_) nearest.consider(label);
  error(o.loc, fmt::format("undefined label '{}'", o.symbol.substr(0, 80)), nearest.hint());
}

void FunctionVerifier::check_table(const Operand& o) {
  const auto table = tables_.find(o.symbol);
  if (o.kind != Kind::kLabel || table == tables_.end() ||
      table->second->kind != LabelTable::Kind::kBranchTargets) {
    return error(o.loc, fmt::format("'{}' needs the label of a .branchtargets list", name()));
  }
  for (const std::string& target : table->second->targets) {
    if (labels_.count(target) != 0) continue;
    NearestName nearest(target);
    for (const std::string_view label : labels_) nearest.consider(label);
    error(o.loc, fmt::format("undefined label '{}' in '{}'", target.substr(0, 80), o.symbol.substr(0, 80)),
          nearest.hint());
  }
}

void FunctionVerifier::check_call(const Instruction& i) {
  size_t k = i.operands[0].kind == Kind::kList ? 1 : 0;
  const size_t returns = k == 1 ? i.operands[0].elements.size() : 0;
  if (k >= i.operands.size()) return error("'call' needs the name of a function");
  const Operand& callee = i.operands[k];
  const bool has_arguments = k + 1 < i.operands.size() && i.operands[k + 1].kind == Kind::kList;
  const size_t arguments = has_arguments ? i.operands[k + 1].elements.size() : 0;
  for (const Operand& list : i.operands) {
    for (const Operand& e : list.elements) {
      if (e.kind != Kind::kSymbol) continue;
      if (find_symbol(e.symbol).variable == nullptr) undefined_symbol(e);
    }
  }
  if (callee.kind == Kind::kRegister) return check_indirect_call(i, returns, arguments);
  if (callee.kind != Kind::kSymbol) {
    return error(callee.loc, fmt::format("'call' needs the name of a function or a register, found {}",
                                         kind_name(callee.kind)));
  }
  if (i.operands.size() > k + (has_arguments ? 2 : 1))
    return error(i.operands.back().loc, "a call by name has nothing behind its arguments");
  const Found f = find_symbol(callee.symbol);
  if (f.function == nullptr) {
    NearestName nearest(callee.symbol);
    for (const auto& [candidate, function] : symbols_.functions) nearest.consider(candidate);
    return error(callee.loc, fmt::format("undefined function '{}'", callee.symbol.substr(0, 80)),
                 nearest.hint());
  }
  if (f.function->is_entry)
    error(callee.loc, fmt::format("'{}' is a kernel and cannot be called", callee.symbol.substr(0, 80)));
  if (arguments != f.function->params.size()) {
    error(callee.loc, fmt::format("'{}' takes {} arguments, found {}", callee.symbol.substr(0, 80),
                                  f.function->params.size(), arguments));
  }
  if (returns != f.function->returns.size()) {
    error(callee.loc, fmt::format("'{}' returns {} values, found {}", callee.symbol.substr(0, 80),
                                  f.function->returns.size(), returns));
  }
  if (has_arguments) check_argument_sizes(i.operands[k + 1], f.function->params);
  if (k == 1) check_argument_sizes(i.operands[0], f.function->returns);
}

/// A variable that is passed has the size of the parameter that it becomes, or the callee would reach beyond.
void FunctionVerifier::check_argument_sizes(const Operand& list, const std::vector<Variable>& formals) {
  for (size_t n = 0; n < std::min(list.elements.size(), formals.size()); ++n) {
    const Operand& e = list.elements[n];
    if (e.kind == Kind::kRegister && formals[n].space == Space::kReg) {
      const Register& r = function_.registers[e.reg];
      if (type_bytes(r.type) * r.vector == type_bytes(formals[n].type) * formals[n].vector) continue;
      error(e.loc, fmt::format("register '{}' is .{}, the parameter '{}' is .{}", r.name.substr(0, 80),
                               type_name(r.type), formals[n].name.substr(0, 80), type_name(formals[n].type)));
    }
    if (e.kind != Kind::kSymbol) continue;
    const Variable* actual = find_symbol(e.symbol).variable;
    if (actual == nullptr) continue;
    if (actual->space == Space::kParam && actual->bytes == formals[n].bytes &&
        actual->is_array() != formals[n].is_array())
      error(e.loc, fmt::format("of '{}' and the parameter '{}' only one is an array", e.symbol.substr(0, 80),
                               formals[n].name.substr(0, 80)));
    if (actual->bytes == formals[n].bytes) continue;
    error(e.loc, fmt::format("'{}' has {} bytes, the parameter '{}' has {}", e.symbol.substr(0, 80),
                             actual->bytes, formals[n].name.substr(0, 80), formals[n].bytes));
  }
}

/// call (returns), %register, (arguments), table: a prototype, or a list of functions of one kind.
void FunctionVerifier::check_indirect_call(const Instruction& i, size_t returns, size_t arguments) {
  const Operand& last = i.operands.back();
  const auto found = last.kind == Kind::kSymbol ? tables_.find(last.symbol) : tables_.end();
  if (found == tables_.end() || found->second->kind == LabelTable::Kind::kBranchTargets) {
    return error("an indirect call needs the label of a .callprototype or .calltargets",
                 "call (result), %register, (arguments), label");
  }
  const LabelTable& table = *found->second;
  const Operand& address = i.operands[i.operands[0].kind == Kind::kList ? 1 : 0];
  check_source(i, address, module_.address_size == 64 ? Type::kU64 : Type::kU32, false);
  const auto check_sizes = [&](const std::vector<Variable>& params, const std::vector<Variable>& results) {
    for (size_t n = 0; n + 1 < i.operands.size(); ++n)
      if (i.operands[n].kind == Kind::kList) check_argument_sizes(i.operands[n], n == 0 ? results : params);
  };
  const auto compare = [&](std::string_view callee, size_t params, size_t results) {
    if (arguments != params)
      error(last.loc,
            fmt::format("'{}' takes {} arguments, found {}", callee.substr(0, 80), params, arguments));
    if (returns != results)
      error(last.loc,
            fmt::format("'{}' returns {} values, found {}", callee.substr(0, 80), results, returns));
  };
  if (table.kind == LabelTable::Kind::kCallPrototype) {
    compare(table.name, table.params.size(), table.returns.size());
    return check_sizes(table.params, table.returns);
  }
  for (const std::string& target : table.targets) {
    const auto f = symbols_.functions.find(target);
    if (f == symbols_.functions.end()) {
      error(last.loc, fmt::format("undefined function '{}' in '{}'", target.substr(0, 80), table.name));
    } else {
      compare(target, f->second->params.size(), f->second->returns.size());
      check_sizes(f->second->params, f->second->returns);
    }
  }
}

/// The number of a barrier and its threads, where they are constants.
void FunctionVerifier::check_bar_constants(const Instruction& i, size_t number) {
  constexpr uint64_t kBarriers = 16;
  const size_t last = i.operands.size() - (i.mods.red ? 1 : 0);
  if (number < last && i.operands[number].kind == Kind::kImmediate && i.operands[number].imm >= kBarriers)
    error(i.operands[number].loc, fmt::format("barriers have numbers from 0 to {}", kBarriers - 1));
  if (number + 1 >= last || i.operands[number + 1].kind != Kind::kImmediate) return;
  const Operand& threads = i.operands[number + 1];
  if (threads.imm % kWarpSize != 0)
    error(threads.loc, fmt::format("the number of threads at a barrier is a multiple of {}", kWarpSize));
  if (i.mods.arrive && threads.imm == 0)
    error(threads.loc, fmt::format("'{}' needs a number of threads above 0", name()));
}

void FunctionVerifier::check_bar_operands(const Instruction& i) {
  size_t k = 0;
  const size_t n = i.operands.size();
  if (i.mods.red && n > 0) check_destination(i, i.operands[k++], i.mods.type, false);
  if (!i.mods.warp) check_bar_constants(i, k);
  for (; k < n; ++k) {
    const bool last_of_red = i.mods.red && k + 1 == n;
    check_source(i, i.operands[k], last_of_red ? Type::kPred : Type::kU32, false);
  }
}

}  // namespace gpusim::isa
