// Statements that the operands of an instruction imply, put before it: sums of a register and a constant,
// addresses in fewer than 32 bits, floating-point registers that are stored in fewer bits. What each computes
// is what the code that ptxas makes of it does.
#include <fmt/format.h>

#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;

Type unsigned_type(int bytes) {
  return bytes == 1 ? Type::kU8 : bytes == 2 ? Type::kU16 : bytes == 4 ? Type::kU32 : Type::kU64;
}

Operand register_operand(RegisterId id, SourceLoc loc) {
  Operand o;
  o.kind = Kind::kRegister;
  o.reg = id;
  o.loc = loc;
  return o;
}

bool is_bits(Type t) { return is_integer(t) || is_untyped(t); }

}  // namespace

/// A register of its own for what `made` computes; `made` goes before `i`, under the same guard.
RegisterId ModuleParser::add_implied(const Instruction& i, Instruction made, Type type) {
  check_register_budget(1, i.loc);
  const auto id = static_cast<RegisterId>(function_->registers.size());
  function_->registers.push_back({fmt::format("%implied{}", id), type, 1});
  made.operands.insert(made.operands.begin(), register_operand(id, i.loc));
  made.guard = i.guard;
  made.guard_negated = i.guard_negated;
  made.loc = i.loc;
  set_source(made);
  function_->body.push_back(std::move(made));
  return id;
}

/// `%r+8` behind a register: noted, and added by add_sums().
void ModuleParser::parse_register_sum(Operand& o) {
  o.offset = parse_offset();
  o.is_sum = true;
  const Register& r = function_->registers[o.reg == kNoRegister ? 0 : o.reg];
  const int bytes = type_bytes(r.type);
  const bool one = o.reg != kNoRegister && o.reg2 == kNoRegister && (r.vector == 1 || o.component >= 0);
  if (!one || !is_bits(r.type) || bytes < 2 || bytes > 8) unsupported_operand_ = "register+constant";
}

/// `name[2]`: the address of an element, counted in the type of the variable without its .v2 or .v4.
void ModuleParser::parse_index(Opcode op, Operand& o) {
  if (op != Opcode::kMov && op != Opcode::kCvta)
    fail(token_.loc, fmt::format("'{}' takes no element of an array", opcode_info(op).name),
         "move its address into a register with mov first");
  take();
  const SourceLoc loc = token_.loc;
  const bool constant = token_.kind != Token::Kind::kIdentifier || token_.text == "WARP_SZ";
  if (!constant) {
    const Register& r = function_->registers[parse_register("a constant or a register as index")];
    if (!is_bits(r.type))
      fail(loc, fmt::format("the index '{}' is a .{} register", r.name, type_name(r.type)),
           "an index is an integer");
  } else {
    const Constant c = parse_constant();
    if (c.kind != Operand::ImmKind::kInt) fail(loc, "an index is an integer");
    const Variable* v = find_variable(o.symbol);
    o.offset += static_cast<int64_t>(c.bits * static_cast<uint64_t>(v == nullptr ? 1 : type_bytes(v->type)));
    o.is_sum = true;
  }
  expect("]", "after the index");
  if (!constant || op != Opcode::kMov) unsupported_operand_ = "index";
}

const Variable* ModuleParser::find_variable(std::string_view name) const {
  for (const auto* list : {&function_->variables, &function_->params}) {
    for (const Variable& v : *list) {
      if (v.name == name) return &v;
    }
  }
  return module_.find_variable(name);
}

void ModuleParser::add_implied_statements(Instruction& i) {
  if (!opcode_info(i.opcode).supported || !i.mods.unknown.empty()) return;
  for (size_t k = opcode_info(i.opcode).destinations; k < i.operands.size(); ++k) {
    Operand& o = i.operands[k];
    if (o.kind == Kind::kRegister && o.is_sum) add_sum(i, o);
    if (o.kind == Kind::kAddress && o.reg != kNoRegister) widen_address(i, o);
  }
  if (i.opcode != Opcode::kSt || i.operands.size() < 2) return;
  convert_stored(i, i.operands[1]);
  for (Operand& e : i.operands[1].elements) convert_stored(i, e);
}

void ModuleParser::add_sum(const Instruction& i, Operand& o) {
  const Register r = function_->registers[o.reg];
  Instruction add;
  add.opcode = Opcode::kAdd;
  add.mods.type = unsigned_type(type_bytes(r.type));
  add.text = fmt::format("add.{} %implied, {}, {}", type_name(add.mods.type), r.name, o.offset);
  Operand constant;
  constant.kind = Kind::kImmediate;
  constant.imm = static_cast<uint64_t>(o.offset);
  constant.loc = o.loc;
  Operand base = o;
  base.is_sum = false;
  base.offset = 0;
  add.operands = {base, constant};
  o = register_operand(add_implied(i, std::move(add), r.type), o.loc);
}

/// Signed registers are extended with their sign.
void ModuleParser::widen_address(const Instruction& i, Operand& o) {
  const Register r = function_->registers[o.reg];
  const int bytes = type_bytes(r.type);
  if (bytes >= 4 || r.vector > 1 || !is_bits(r.type)) return;
  const bool far = i.mods.space == Space::kGlobal || i.mods.space == Space::kGeneric;
  Instruction cvt;
  cvt.opcode = Opcode::kCvt;
  cvt.mods.type = far && module_.address_size != 32 ? Type::kU64 : Type::kU32;
  const Type narrow = bytes == 1 ? Type::kS8 : Type::kS16;
  cvt.mods.type2 = is_signed(r.type) ? narrow : unsigned_type(bytes);
  cvt.text =
      fmt::format("cvt.{}.{} %implied, {}", type_name(cvt.mods.type), type_name(cvt.mods.type2), r.name);
  cvt.operands = {register_operand(o.reg, o.loc)};
  const Type type = cvt.mods.type;
  o.reg = add_implied(i, std::move(cvt), type);
}

/// st.b16 of an .f32 register stores its integer value, without a sign.
void ModuleParser::convert_stored(const Instruction& i, Operand& o) {
  if (o.kind != Kind::kRegister || o.reg == kNoRegister || !is_untyped(i.mods.type)) return;
  const Register r = function_->registers[o.reg];
  const bool single = r.vector == 1 || o.component >= 0;
  if (!single || (r.type != Type::kF32 && r.type != Type::kF64) ||
      type_bytes(r.type) <= type_bytes(i.mods.type))
    return;
  Instruction cvt;
  cvt.opcode = Opcode::kCvt;
  cvt.mods.type = unsigned_type(type_bytes(i.mods.type));
  cvt.mods.type2 = r.type;
  cvt.mods.rounding = Rounding::kRzi;
  cvt.text =
      fmt::format("cvt.rzi.{}.{} %implied, {}", type_name(cvt.mods.type), type_name(cvt.mods.type2), r.name);
  cvt.operands = {o};
  o = register_operand(add_implied(i, std::move(cvt), Type::kB32), o.loc);
}

}  // namespace gpusim::isa
