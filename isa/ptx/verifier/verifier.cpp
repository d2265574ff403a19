#include "isa/ptx/verifier/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/unsupported_spellings.h"
#include "isa/ptx/verifier/verifier_impl.h"
#include "isa/ptx/wmma.h"

namespace gpusim::isa {

std::string opcode_text(const Instruction& instruction) {
  std::string_view text = instruction.text;
  if (!text.empty() && text[0] == '@') {
    size_t begin = text.find_first_not_of("@! ");
    begin = text.find(' ', begin == std::string_view::npos ? 0 : begin);
    text = begin == std::string_view::npos ? std::string_view() : text.substr(begin + 1);
  }
  text = text.substr(0, text.find_first_of(" \t{[(;"));
  return text.empty() ? std::string(opcode_info(instruction.opcode).name) : std::string(text.substr(0, 80));
}

bool mixes_precision(const Instruction& i) {
  const Type second = i.mods.type2;
  return (i.opcode == Opcode::kAdd || i.opcode == Opcode::kSub || i.opcode == Opcode::kFma) &&
         i.mods.type == Type::kF32 && (second == Type::kF16 || second == Type::kBF16);
}

namespace {

/// Samplers of their own, depth comparison, results in half precision.
bool unsupported_texture_form(const Instruction& i) {
  if (i.opcode != Opcode::kTex) return false;
  return compares_depth(i) || i.mods.type == Type::kF16 || i.mods.type == Type::kF16x2 ||
         (i.operands.size() >= 2 && i.operands[1].elements.size() > 1);
}

}  // namespace

std::string unsupported_reason(const Instruction& instruction) {
  if (is_spelled(instruction.opcode)) {
    std::string form = unsupported_form(instruction);
    if (!form.empty()) form += " is not supported yet";
    return form;
  }
  const bool whole_form = !instruction.mods.unknown.empty() || unsupported_texture_form(instruction);
  if (opcode_info(instruction.opcode).supported && !whole_form) return {};
  const std::string text = opcode_text(instruction);
  if (whole_form) return fmt::format("'{}' is not supported yet", text);
  const size_t first = text.find('.');
  const size_t second = first == std::string::npos ? first : text.find('.', first + 1);
  return fmt::format("'{}' is not supported yet", text.substr(0, second));
}

namespace {

void add_error(Diagnostics& out, SourceLoc loc, std::string message, std::string hint = {}) {
  out.push_back({Diagnostic::Severity::kError, loc, std::move(message), std::move(hint)});
}

bool is_definition(const Variable& v) { return v.linkage != Linkage::kExtern; }

bool same_dimensions(const Variable& a, const Variable& b) {
  const bool open_ended = !a.dims.empty() && !b.dims.empty() && (a.dims[0] == 0 || b.dims[0] == 0);
  return a.dims.size() == b.dims.size() && std::equal(a.dims.begin() + (open_ended ? 1 : 0), a.dims.end(),
                                                      b.dims.begin() + (open_ended ? 1 : 0));
}

void collect_variables(const Module& module, ModuleSymbols& symbols, Diagnostics& out) {
  for (const Variable& v : module.variables) {
    const auto [it, is_new] = symbols.variables.emplace(v.name, &v);
    if (is_new) continue;
    const Variable& other = *it->second;
    const std::string first = fmt::format("the first one is in line {}", other.loc.line);
    if (is_definition(other) && is_definition(v)) {
      add_error(out, v.loc, fmt::format("variable '{}' is defined twice", v.name.substr(0, 80)), first);
    } else if (v.space == other.space &&
               (v.type != other.type || v.vector != other.vector || !same_dimensions(v, other))) {
      add_error(out, v.loc, fmt::format("variable '{}' is declared in two ways", v.name.substr(0, 80)),
                first);
    } else if (!is_definition(other) && v.linkage == Linkage::kInternal) {
      add_error(out, v.loc, fmt::format("variable '{}' is declared .extern before", v.name.substr(0, 80)),
                "define it .visible");
    }
    if (is_definition(v)) it->second = &v;
  }
}

bool same_parameters(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& x, const Variable& y) {
    return x.space == y.space && x.type == y.type && x.vector == y.vector && x.dims == y.dims &&
           x.align == y.align;
  });
}

/// What a second declaration of a function has against the first.
std::string conflict(const Function& first, const Function& f) {
  const std::string name = f.name.substr(0, 80);
  if (!first.is_declaration)
    return f.is_declaration ? fmt::format("a prototype of '{}' stands behind its body", name)
                            : fmt::format("function '{}' is defined twice", name);
  if (first.params.size() != f.params.size() || first.returns.size() != f.returns.size())
    return fmt::format("function '{}' has {} parameters and {} return values here, but {} and {} before",
                       name, f.params.size(), f.returns.size(), first.params.size(), first.returns.size());
  if (!same_parameters(first.params, f.params) || !same_parameters(first.returns, f.returns))
    return fmt::format("the parameters of function '{}' have other types here", name);
  const bool internal_later = (first.linkage == Linkage::kVisible || first.linkage == Linkage::kWeak) &&
                              f.linkage == Linkage::kInternal;
  if (first.linkage != f.linkage && !internal_later)
    return fmt::format("function '{}' has another linkage here", name);
  return {};
}

void collect_functions(const Module& module, ModuleSymbols& symbols, Diagnostics& out) {
  for (const Function& f : module.functions) {
    if (const auto v = symbols.variables.find(f.name); v != symbols.variables.end()) {
      add_error(out, f.loc, fmt::format("'{}' is a variable and a function", f.name.substr(0, 80)),
                fmt::format("the variable is in line {}", v->second->loc.line));
    }
    if (f.linkage == Linkage::kExtern && !f.is_declaration)
      add_error(out, f.loc, fmt::format("'{}' is .extern and has a body", f.name.substr(0, 80)),
                "make it .visible");
    const auto [it, is_new] = symbols.functions.emplace(f.name, &f);
    if (is_new) continue;
    if (std::string what = conflict(*it->second, f); !what.empty())
      add_error(out, f.loc, std::move(what),
                fmt::format("the first one is in line {}", it->second->loc.line));
    if (!f.is_declaration) it->second = &f;
  }
  for (const auto& [name, f] : symbols.functions) {
    const bool is_alias = std::ranges::any_of(
        module.aliases, [&, function = f](const auto& a) { return a.name == function->name; });
    if (f->is_declaration && f->linkage != Linkage::kExtern && !is_alias)
      add_error(out, f->loc, fmt::format("'{}' is declared and has no body in this file", name.substr(0, 80)),
                "what another file defines is .extern");
  }
}

void check_relocations(const Variable& v, const ModuleSymbols& symbols, Diagnostics& out) {
  for (const Relocation& r : v.relocations) {
    const bool of_function = symbols.functions.count(r.symbol) != 0;
    if (of_function && (r.addend != 0 || r.generic))
      add_error(out, v.loc,
                fmt::format("the address of function '{}' takes no offset and no generic() in the initial "
                            "value of '{}'",
                            r.symbol.substr(0, 80), v.name.substr(0, 80)));
    if (of_function || symbols.variables.count(r.symbol) != 0) continue;
    NearestName nearest(r.symbol);
    for (const auto& [name, variable] : symbols.variables) nearest.consider(name);
    for (const auto& [name, function] : symbols.functions) nearest.consider(name);
    add_error(out, v.loc,
              fmt::format("the initial value of '{}' names '{}', which is not defined", v.name.substr(0, 80),
                          r.symbol.substr(0, 80)),
              nearest.hint());
  }
}

// PTX ISA, "Constant State Space": the variables of a file share 64 KiB.
void check_constant_size(const Module& module, Diagnostics& out) {
  constexpr uint64_t kRegionBytes = 64ul * 1024;
  uint64_t total = 0;
  std::vector<const Variable*> variables;
  for (const Variable& v : module.variables) variables.push_back(&v);
  for (const Function& f : module.functions) {
    for (const Variable& v : f.variables) variables.push_back(&v);
  }
  for (const Variable* variable : variables) {
    const Variable& v = *variable;
    if (v.space != Space::kConst || v.linkage == Linkage::kExtern) continue;
    if (v.bytes > kRegionBytes)
      return add_error(
          out, v.loc,
          fmt::format("constant variable '{}' is larger than {} bytes", v.name.substr(0, 80), kRegionBytes));
    total += v.bytes;
    if (total > kRegionBytes)
      return add_error(out, v.loc,
                       fmt::format("with '{}' the constant variables of the file are larger than {} bytes",
                                   v.name.substr(0, 80), kRegionBytes));
  }
}

// PTX ISA, "Kernel Function Parameters".
void check_parameter_size(const Module& module, const Function& f, Diagnostics& out) {
  if (!f.is_entry) return;
  const bool has_large =
      module.target_sm >= 70 && std::pair(module.version_major, module.version_minor) >= std::pair(8, 1);
  const uint64_t limit = has_large ? 32764 : module.version_major >= 2 ? 4352 : 256;
  uint64_t bytes = 0;
  for (const Variable& v : f.params) {
    const uint64_t align = std::max<uint64_t>(v.align, 1);  // 0: a .texref
    bytes = (bytes + align - 1) / align * align + v.bytes;
  }
  if (bytes <= limit) return;
  add_error(out, f.loc,
            fmt::format("the parameters of kernel '{}' take {} bytes; {} are allowed", f.name.substr(0, 80),
                        bytes, limit));
}

/// Values of fewer than 32 bits are passed as bits, as halves, in arrays or in vectors; predicates are not.
/// Several results, which are in registers, may be of any type.
void check_narrow_arguments(const Module& module, const Function& f, Diagnostics& out) {
  constexpr int kFirst = 301;
  if (f.is_entry || f.is_declaration || ptx_version(module) < kFirst) return;
  for (const auto* list : {&f.params, &f.returns}) {
    if (list == &f.returns && list->size() > 1) continue;
    for (const Variable& v : *list) {
      if (v.is_array() || v.vector > 1 ||
          !(v.type == Type::kPred || (is_integer(v.type) && type_bytes(v.type) < 4)))
        continue;
      add_error(out, v.loc,
                fmt::format("'{}' cannot be passed as .{}", v.name.substr(0, 80), type_name(v.type)),
                v.type == Type::kPred ? "pass a .b32" : fmt::format("declare .b{}", 8 * type_bytes(v.type)));
    }
  }
}

/// Arguments of functions are copied word by word, so their size is the size of the code of a call.
void check_argument_size(SourceLoc loc, const std::string& name, const std::vector<Variable>& list,
                         Diagnostics& out) {
  constexpr uint64_t kLimit = 65536;
  uint64_t bytes = 0;
  for (const Variable& v : list) bytes += std::min(v.bytes, kLimit + 1);
  if (bytes <= kLimit) return;
  add_error(out, loc, fmt::format("'{}' passes more than {} bytes", name.substr(0, 80), kLimit),
            "pass the address of the data");
}

void check_argument_sizes(const Function& f, Diagnostics& out) {
  for (const LabelTable& t : f.tables) {
    check_argument_size(f.loc, t.name, t.params, out);
    check_argument_size(f.loc, t.name, t.returns, out);
  }
  if (f.is_entry) return;
  check_argument_size(f.loc, f.name, f.params, out);
  check_argument_size(f.loc, f.name, f.returns, out);
}

}  // namespace

Diagnostics verify_module(const Module& module) {
  Diagnostics out;
  if (module.target_sm == 0) {
    add_error(out, {1, 1}, "the file has no .target directive",
              "add for example '.target sm_70' after .version");
  }
  ModuleSymbols symbols;
  collect_variables(module, symbols, out);
  collect_functions(module, symbols, out);
  for (const Variable& v : module.variables) check_relocations(v, symbols, out);
  check_constant_size(module, out);
  for (const Function& f : module.functions) {
    if (out.size() >= kMaxDiagnostics) break;
    check_parameter_size(module, f, out);
    check_argument_sizes(f, out);
    check_narrow_arguments(module, f, out);
    FunctionVerifier(module, symbols, f, out).verify();
  }
  sort_by_location(out);
  if (out.size() > kMaxDiagnostics) out.resize(kMaxDiagnostics);
  return out;
}

FunctionVerifier::FunctionVerifier(const Module& module, const ModuleSymbols& symbols,
                                   const Function& function, Diagnostics& out)
    : module_(module), symbols_(symbols), function_(function), out_(out) {
  for (const auto* list : {&function.params, &function.returns}) {
    for (const Variable& v : *list) {
      if (v.space == Space::kReg) continue;
      locals_.emplace(v.name, &v);
      if (list == &function.params) params_.insert(v.name);
    }
  }
  for (const Variable& v : function.variables) locals_.emplace(v.name, &v);
  for (const Label& l : function.labels) labels_.insert(l.name);
  for (const LabelTable& t : function.tables) tables_.emplace(t.name, &t);
}

void FunctionVerifier::error(SourceLoc loc, std::string message, std::string hint) {
  add_error(out_, loc, std::move(message), std::move(hint));
}

void FunctionVerifier::verify() {
  for (const Instruction& i : function_.body) {
    if (out_.size() >= kMaxDiagnostics) return;
    current_ = &i;
    verify_instruction(i);
  }
}

void FunctionVerifier::verify_instruction(const Instruction& i) {
  if (i.guard != kNoRegister && function_.registers[i.guard].type != Type::kPred) {
    const Register& r = function_.registers[i.guard];
    error(fmt::format("guard '{}' is a .{} register, not a predicate", r.name, type_name(r.type)),
          "a guard is declared as .reg .pred");
  }
  if (std::string reason = unsupported_reason(i); !reason.empty()) {
    if (std::string wrong = spelling_error(module_, i); !wrong.empty() && !i.mods.otherwise_good)
      return error(std::move(wrong));
    if (i.opcode == Opcode::kTex && i.mods.unknown.empty() && !check_types(i)) return;
    out_.push_back(
        {Diagnostic::Severity::kWarning, i.loc, std::move(reason), "kernels that execute it cannot run"});
    if (!i.mods.otherwise_good || !opcode_info(i.opcode).supported) return;
  }
  if (is_spelled(i.opcode)) {
    if (std::string wrong = spelling_error(module_, i); !wrong.empty()) return error(std::move(wrong));
    return check_spelled(i);
  }
  if (i.opcode == Opcode::kCvt && i.mods.type == Type::kTF32) return check_cvt_tf32(i);
  if (i.opcode == Opcode::kCvt && (is_float8(i.mods.type) || is_float8(i.mods.type2)))
    return check_cvt_float8(i);
  if (is_wmma(i.opcode)) return check_wmma(i);
  if (!check_types(i) || !check_operand_count(i)) return;
  check_modifiers(i);
  check_target(i);
  check_operands(i);
}

FunctionVerifier::Found FunctionVerifier::find_symbol(std::string_view name) const {
  if (const auto it = locals_.find(name); it != locals_.end())
    return {it->second, nullptr, params_.count(name) != 0};
  if (const auto it = symbols_.variables.find(name); it != symbols_.variables.end())
    return {it->second, nullptr, false};
  if (const auto it = symbols_.functions.find(name); it != symbols_.functions.end())
    return {nullptr, it->second, false};
  return {};
}

void FunctionVerifier::undefined_symbol(const Operand& o) {
  NearestName nearest(o.symbol);
  for (const auto& [name, variable] : locals_) nearest.consider(name);
  for (const auto& [name, variable] : symbols_.variables) nearest.consider(name);
  for (const auto& [name, function] : symbols_.functions) nearest.consider(name);
  constexpr size_t kFewRegisters = 4096;
  if (function_.registers.size() <= kFewRegisters) {
    for (const Register& r : function_.registers) nearest.consider(r.name);
  }
  error(o.loc, fmt::format("undefined variable or function '{}'", o.symbol.substr(0, 80)), nearest.hint());
}

}  // namespace gpusim::isa
