// Instruction statements and their operands. PTX ISA manual, sections 4.3.2, 6.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/modifiers.h"
#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr int kMaxOperandDepth = 3;   // ([{x}])
constexpr size_t kMaxOperands = 512;  // of one statement or list

using Kind = Operand::Kind;

struct SpecialName {
  std::string_view name;
  SpecialRegister value;
};

/// Special registers with one component.
constexpr SpecialName kScalars[] = {
    {"%laneid", SpecialRegister::kLaneid},
    {"%warpid", SpecialRegister::kWarpid},
    {"%nwarpid", SpecialRegister::kNwarpid},
    {"%smid", SpecialRegister::kSmid},
    {"%nsmid", SpecialRegister::kNsmid},
    {"%gridid", SpecialRegister::kGridid},
    {"%lanemask_eq", SpecialRegister::kLanemaskEq},
    {"%lanemask_le", SpecialRegister::kLanemaskLe},
    {"%lanemask_lt", SpecialRegister::kLanemaskLt},
    {"%lanemask_ge", SpecialRegister::kLanemaskGe},
    {"%lanemask_gt", SpecialRegister::kLanemaskGt},
    {"%clock", SpecialRegister::kClock},
    {"%clock_hi", SpecialRegister::kClockHi},
    {"%clock64", SpecialRegister::kClock64},
    {"%globaltimer", SpecialRegister::kGlobaltimer},
    {"%globaltimer_lo", SpecialRegister::kGlobaltimerLo},
    {"%globaltimer_hi", SpecialRegister::kGlobaltimerHi},
    {"%dynamic_smem_size", SpecialRegister::kDynamicSmemSize},
    {"%total_smem_size", SpecialRegister::kTotalSmemSize},
    {"%aggr_smem_size", SpecialRegister::kTotalSmemSize},
    {"%cluster_ctarank", SpecialRegister::kClusterCtarank},
    {"%cluster_nctarank", SpecialRegister::kClusterNctarank},
    {"%is_explicit_cluster", SpecialRegister::kIsExplicitCluster},
    {"%current_graph_exec", SpecialRegister::kZero},
};

/// Special registers with components .x .y .z (consecutive enumerators from `value`) and .w (zero).
constexpr SpecialName kVectors[] = {
    {"%tid", SpecialRegister::kTidX},
    {"%ntid", SpecialRegister::kNtidX},
    {"%ctaid", SpecialRegister::kCtaidX},
    {"%nctaid", SpecialRegister::kNctaidX},
    {"%clusterid", SpecialRegister::kClusteridX},
    {"%nclusterid", SpecialRegister::kNclusteridX},
    {"%cluster_ctaid", SpecialRegister::kClusterCtaidX},
    {"%cluster_nctaid", SpecialRegister::kClusterNctaidX},
};

constexpr std::pair<std::string_view, ReservedSmem> kReserved[] = {
    {"%reserved_smem_offset_begin", ReservedSmem::kBegin}, {"%reserved_smem_offset_end", ReservedSmem::kEnd},
    {"%reserved_smem_offset_cap", ReservedSmem::kCap},     {"%reserved_smem_offset_0", ReservedSmem::kFirst},
    {"%reserved_smem_offset_1", ReservedSmem::kSecond},
};

int component_index(std::string_view name) {
  if (name == "x" || name == "r") return 0;
  if (name == "y" || name == "g") return 1;
  if (name == "z" || name == "b") return 2;
  if (name == "w" || name == "a") return 3;
  return -1;
}

Operand special_component(const SpecialName& vector, int component, SourceLoc loc) {
  Operand o;
  o.kind = Kind::kSpecial;
  o.loc = loc;
  o.special = component == 3 ? SpecialRegister::kZero
                             : static_cast<SpecialRegister>(static_cast<int>(vector.value) + component);
  return o;
}

Operand immediate(uint64_t value, SourceLoc loc) {
  Operand o;
  o.kind = Kind::kImmediate;
  o.imm = value;
  o.loc = loc;
  return o;
}

}  // namespace

// --- statement ---

void ModuleParser::parse_instruction() {
  const uint32_t begin = token_.begin;
  Instruction i;
  if (at("@")) parse_guard(i);
  if (token_.kind != Token::Kind::kIdentifier) fail_here("an instruction, a label or a directive");
  struct Inside {
    bool& flag;
    ~Inside() { flag = false; }
  } inside{in_instruction_};
  in_instruction_ = true;
  unsupported_operand_ = {};
  parse_opcode_token(i);
  parse_operands(i);
  const bool writes_constant =
      opcode_info(i.opcode).destinations > 0 && !i.operands.empty() && i.operands[0].kind == Kind::kImmediate;
  if (!unsupported_operand_.empty() && !writes_constant && i.mods.unknown.empty()) {
    i.mods.unknown = unsupported_operand_;
    i.mods.otherwise_good = true;
  }
  const uint32_t end = previous_.end;
  expect_semicolon();
  i.text = statement_text(begin, end);
  set_source(i);
  i.unused_bytes = std::exchange(unused_bytes_, 0u);
  i.no_unroll = std::exchange(no_unroll_, false);
  add_implied_statements(i);
  note_label_references(i);
  function_->body.push_back(std::move(i));
}

void ModuleParser::parse_guard(Instruction& i) {
  take();
  i.guard_negated = accept("!");
  i.guard = parse_register("a predicate register after '@'");
}

void ModuleParser::parse_opcode_token(Instruction& i) {
  const Token base = take();
  i.loc = base.loc;
  i.opcode = opcode_from_name(base.text);
  if (i.opcode == Opcode::kInvalid) {
    const std::string_view nearest = nearest_opcode(base.text);
    fail(base.loc, fmt::format("unknown instruction '{}'", base.text.substr(0, 80)),
         nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  }
  while (token_.kind == Token::Kind::kDotName) {
    const Token t = take();
    if (const Opcode joined = joined_opcode(i.opcode, t.name()); joined != Opcode::kInvalid) {
      i.opcode = joined;
    } else if (const ModifierFit fit = apply_modifier(i.opcode, t.name(), i.mods);
               fit != ModifierFit::kGood) {
      parse_modifier_error(i, t, fit);
    }
  }
  finish_modifiers(i.opcode, i.mods);
}

void ModuleParser::parse_modifier_error(const Instruction& i, const Token& token, ModifierFit fit) {
  const std::string_view name = opcode_info(i.opcode).name;
  if (fit == ModifierFit::kSecond)
    fail(token.loc, fmt::format("'{}': '{}' is the second modifier of its kind", name, token.text));
  if (fit == ModifierFit::kMisplaced)
    fail(token.loc, fmt::format("'{}' must stand right behind '{}'", token.text, name),
         fmt::format("write '{}{}'", name, token.text));
  const std::string_view nearest = nearest_modifier(i.opcode, token.name());
  const std::string hint = nearest.empty() ? "" : fmt::format("did you mean '.{}'?", nearest);
  if (is_known_modifier(token.name()))
    fail(token.loc, fmt::format("'{}' does not take '{}'", name, token.text), hint);
  fail(token.loc, fmt::format("unknown modifier '{}' of '{}'", token.text.substr(0, 80), name), hint);
}

void ModuleParser::parse_operands(Instruction& i) {
  if (at(";")) return;
  if (token_.kind == Token::Kind::kEnd || at("}")) fail_here("an operand or ';'");
  i.operands.reserve(4);
  do {
    if (i.operands.size() == kMaxOperands)
      fail(token_.loc, fmt::format("more than {} operands", kMaxOperands));
    i.operands.push_back(parse_operand(i.opcode, 0));
    // `call (ret) f, (args)`: the comma behind the return list may be left out in old files
    if (i.opcode == Opcode::kCall && i.operands.size() == 1 && i.operands[0].kind == Kind::kList &&
        token_.kind == Token::Kind::kIdentifier) {
      i.operands.push_back(parse_operand(i.opcode, 0));
    }
  } while (accept(","));
}

/// Branch targets may be labels of this scope or of one outside, before or behind.
void ModuleParser::note_label_references(const Instruction& i) {
  if (i.opcode != Opcode::kBra && i.opcode != Opcode::kBrx && i.opcode != Opcode::kCall) return;
  for (uint32_t o = 0; o < i.operands.size(); ++o) {
    const Operand& operand = i.operands[o];
    const bool prototype = i.opcode == Opcode::kCall && o > 0 && operand.kind == Kind::kSymbol;
    if (operand.kind != Kind::kLabel && !prototype) continue;
    scopes_->refer_label(operand.symbol, static_cast<uint32_t>(function_->body.size()), o);
  }
}

/// The statement with comments dropped and white space collapsed.
std::string ModuleParser::statement_text(uint32_t begin, uint32_t end) const {
  std::string result;
  result.reserve(end - begin);
  bool space = false;
  for (uint32_t p = begin; p < end; ++p) {
    const char c = text_[p];
    if (c == '/' && p + 1 < end && (text_[p + 1] == '/' || text_[p + 1] == '*')) {
      const bool line = text_[p + 1] == '/';
      const size_t stop = text_.find(line ? "\n" : "*/", p + 2);
      p = stop == std::string_view::npos ? end : static_cast<uint32_t>(stop + (line ? 0 : 1));
      space = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      space = true;
    } else {
      if (space && !result.empty()) result += ' ';
      space = false;
      result += c;
    }
  }
  return result;
}

// --- operands ---

Operand ModuleParser::parse_operand(Opcode op, int depth) {
  if (depth > kMaxOperandDepth) fail(token_.loc, "operands are nested too deeply");
  if (at("[")) return parse_address(op, depth);
  if (at("{")) return parse_vector(op, depth);
  if (at("(") && op == Opcode::kCall) return parse_call_list(op, depth);
  if (token_.kind == Token::Kind::kIdentifier && token_.text != "WARP_SZ") {
    Operand o = parse_name_operand(op);
    if (o.kind == Kind::kSymbol && depth == 0 && at("[")) parse_index(op, o);
    if (o.kind == Kind::kRegister && depth == 0 && at("+")) parse_register_sum(o);
    return o;
  }
  if (at("!") && ahead_.kind == Token::Kind::kIdentifier && ahead_.text != "WARP_SZ") {
    take();
    Operand o = parse_name_operand(op);
    o.negated = true;
    return o;
  }
  if (op == Opcode::kVideo && at("-") && ahead_.kind == Token::Kind::kIdentifier &&
      ahead_.text != "WARP_SZ") {
    take();
    Operand o = parse_name_operand(op);
    o.negated = true;  // of vmad
    return o;
  }
  const SourceLoc loc = token_.loc;
  if (token_.kind == Token::Kind::kEnd || at(";") || at(",")) fail_here("an operand");
  const Constant c = parse_constant();
  Operand o = immediate(c.bits, loc);
  o.imm_kind = c.kind;
  return o;
}

/// [reg], [reg+4], [symbol], [symbol+4], [1234]; textures also [name, {coordinates}].
Operand ModuleParser::parse_address(Opcode op, int depth) {
  Operand o;
  o.loc = take().loc;
  o.kind = Kind::kAddress;
  if (token_.kind == Token::Kind::kIdentifier && token_.text != "WARP_SZ") {
    Operand base = parse_name_operand(op);
    if (base.kind == Kind::kRegister && base.component < 0 && base.reg2 == kNoRegister) {
      o.reg = base.reg;
    } else if (base.kind == Kind::kSymbol || base.kind == Kind::kLabel) {
      o.symbol = std::move(base.symbol);
    } else {
      fail(base.loc, "the base of an address must be a register or a variable");
    }
    o.offset = base.offset + parse_offset();
  } else {
    const Constant c = parse_constant();
    if (c.kind != Operand::ImmKind::kInt) fail(o.loc, "an address must be an integer");
    o.offset = static_cast<int64_t>(c.bits);
  }
  while (accept(",")) {
    if (opcode_info(op).supported && op != Opcode::kTex)
      fail(previous_.loc, "an address has one register or variable and a constant offset");
    if (o.elements.size() == kMaxOperands) fail(previous_.loc, "too many parts in an address");
    o.elements.push_back(parse_operand(op, depth + 1));
  }
  expect("]", "at the end of the address");
  return o;
}

Operand ModuleParser::parse_vector(Opcode op, int depth) {
  Operand o;
  o.loc = take().loc;
  o.kind = Kind::kVector;
  ++brace_depth_;
  do {
    if (o.elements.size() == kMaxOperands) fail(token_.loc, "too many elements in a vector");
    o.elements.push_back(parse_operand(op, depth + 1));
  } while (accept(","));
  expect("}", "at the end of the vector");
  --brace_depth_;
  if (op == Opcode::kTex && depth == 0 && accept("|")) o.reg2 = parse_register("a register after '|'");
  return o;
}

Operand ModuleParser::parse_call_list(Opcode op, int depth) {
  Operand o;
  o.loc = take().loc;
  o.kind = Kind::kList;
  if (accept(")")) return o;
  do {
    if (o.elements.size() == kMaxOperands)
      fail(token_.loc, fmt::format("more than {} arguments", kMaxOperands));
    o.elements.push_back(parse_operand(op, depth + 1));
  } while (accept(","));
  expect(")", "at the end of the list");
  return o;
}

Operand ModuleParser::parse_name_operand(Opcode op) {
  const Token name = take();
  Operand o;
  o.loc = name.loc;
  if (name.text == "_") {
    o.kind = Kind::kSink;
    if (accept("|")) {
      o.kind = Kind::kRegister;
      o.reg2 = parse_register("a register after '|'");
    }
    return o;
  }
  const bool to_label = (op == Opcode::kBra || op == Opcode::kBrx) && name.text[0] != '%';
  const RegisterId id = to_label ? kNoRegister : scopes_->find_register(name.text);
  if (id != kNoRegister) return parse_register_operand(op, name, id);
  if (name.text[0] == '%' && scopes_->find_variable(name.text) == nullptr &&
      module_names_.count(name.text) == 0) {
    if (parse_special(name, o)) return o;
    fail_undefined_register(name);
  }
  o = parse_symbol_operand(name);
  if (to_label) o.kind = Kind::kLabel;
  return o;
}

Operand ModuleParser::parse_register_operand(Opcode op, const Token& name, RegisterId id) {
  Operand o;
  o.kind = Kind::kRegister;
  o.reg = id;
  o.loc = name.loc;
  if (token_.kind == Token::Kind::kDotName) parse_component(op, o, name);
  if (accept("|")) {
    if (token_.kind == Token::Kind::kIdentifier && token_.text == "_") {
      take();
    } else {
      o.reg2 = parse_register("a register after '|'");
    }
  }
  return o;
}

void ModuleParser::parse_component(Opcode op, Operand& o, const Token& name) {
  const Token t = take();
  if (opcode_info(op).supported || function_->registers[o.reg].vector > 1) {
    const int index = component_index(t.name());
    const int size = function_->registers[o.reg].vector;
    if (size == 1)
      fail(t.loc,
           fmt::format("'{}' is not a vector, it has no component '{}'", name.text, t.text.substr(0, 80)));
    if (index >= size && index < 4) {
      unsupported_operand_ = "component";  // of a .v2 register: ptxas takes it
      o.component = 0;
      return;
    }
    if (index < 0) {
      fail(t.loc, fmt::format("'{}' has no component '{}'", name.text, t.text.substr(0, 80)),
           size == 2 ? "components are .x .y" : "components are .x .y .z .w");
    }
    o.component = static_cast<int8_t>(index);
  }
}

/// symbol, symbol+4.
Operand ModuleParser::parse_symbol_operand(const Token& name) {
  Operand o;
  o.kind = Kind::kSymbol;
  o.loc = name.loc;
  const std::string* local = scopes_->find_variable(name.text);
  o.symbol = local != nullptr ? *local : std::string(name.text);
  o.is_sum = at("+");
  o.offset = parse_offset();
  return o;
}

RegisterId ModuleParser::parse_register(std::string_view what) {
  const Token name = expect_identifier(what);
  const RegisterId id = scopes_->find_register(name.text);
  if (id == kNoRegister) fail_undefined_register(name);
  return id;
}

void ModuleParser::fail_undefined_register(const Token& name) const {
  throw SyntaxError{name.loc, fmt::format("undefined register '{}'", name.text.substr(0, 80)),
                    scopes_->hint_for_register(name.text), lacks_registers_};
}

/// Special registers; false if `name` is none.
bool ModuleParser::parse_special(const Token& name, Operand& o) {
  for (const SpecialName& s : kScalars) {
    if (s.name != name.text) continue;
    o.kind = Kind::kSpecial;
    o.special = s.value;
    return true;
  }
  for (const auto& [reserved, which] : kReserved) {
    if (reserved != name.text) continue;
    o.kind = Kind::kSpecial;
    o.special = SpecialRegister::kReservedSmem;
    o.imm = static_cast<uint64_t>(which);
    return true;
  }
  for (const auto& [prefix, special] :
       {std::pair<std::string_view, SpecialRegister>{"%envreg", SpecialRegister::kEnvreg},
        {"%pm", SpecialRegister::kPm}}) {
    if (name.text.substr(0, prefix.size()) != prefix) continue;
    const std::string_view number = name.text.substr(prefix.size());
    const size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
    const std::string_view rest = number.substr(digits);
    const uint64_t limit = special == SpecialRegister::kEnvreg ? 32 : 8;
    std::from_chars(number.data(), number.data() + digits, o.imm);
    if (digits == 0 || digits > 2 || o.imm >= limit || (!rest.empty() && rest != "_64")) continue;
    o.kind = Kind::kSpecial;
    o.special = special;
    return true;
  }
  const bool has_component = token_.kind == Token::Kind::kDotName;
  const int component = has_component ? component_index(token_.name()) : -1;
  for (const SpecialName& s : kVectors) {
    if (s.name != name.text) continue;
    if (has_component && component < 0)
      fail(token_.loc, fmt::format("'{}' has no component '{}'", name.text, token_.text.substr(0, 80)),
           "components are .x .y .z");
    if (has_component) take();
    if (has_component) {
      o = special_component(s, component, name.loc);
    } else {
      o.kind = Kind::kVector;
      for (int c = 0; c < 4; ++c) o.elements.push_back(special_component(s, c, name.loc));
    }
    return true;
  }
  return false;
}

}  // namespace gpusim::isa
