// Statements that the operands of an instruction imply, put before it: sums of a register and a constant,
// addresses in fewer than 32 bits, floating-point registers that are stored in fewer bits. What each computes
// is what the code that ptxas makes of it does.
#include <fmt/format.h>

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser_impl.h"
#include "isa/ptx/verifier/verifier.h"

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

/// `name[2]`, `name[%r+1]`: an element, counted in the type of the variable without its .v2 or .v4. mov, cvta
/// and mapa take its address, ld and st what lies there. Where a register is the index it is noted, with the
/// size of an element, and add_index() computes the address. Indices have 32 bits and no sign.
void ModuleParser::parse_index(Opcode op, Operand& o) {
  const bool accesses = op == Opcode::kLd || op == Opcode::kLdu || op == Opcode::kSt;
  if (!accesses && op != Opcode::kMov && op != Opcode::kCvta && op != Opcode::kMapa)
    fail(token_.loc, fmt::format("'{}' takes no element of an array", opcode_info(op).name),
         "move its address into a register with mov first");
  if (o.is_sum) fail(token_.loc, "an element of an array has its constant behind the index");
  const Variable* v = find_variable(o.symbol);
  if (v == nullptr) fail_undeclared_array(o);
  if (!v->is_array()) fail(token_.loc, fmt::format("'{}' is no array and has no elements", o.symbol));
  take();
  const SourceLoc loc = token_.loc;
  const bool constant = token_.kind != Token::Kind::kIdentifier || token_.text == "WARP_SZ";
  const auto size = static_cast<uint32_t>(type_bytes(v->type));
  uint64_t index = 0;
  if (!constant) {
    o.reg2 = parse_register("a constant or a register as index");
    const Register& r = function_->registers[o.reg2];
    if (!is_bits(r.type))
      fail(loc, fmt::format("the index '{}' is a .{} register", r.name, type_name(r.type)),
           "an index is an integer");
    if (r.vector > 1) unsupported_operand_ = "index";
    index = static_cast<uint64_t>(parse_offset());
    o.imm = size;
  } else {
    const Constant c = parse_constant();
    if (c.kind != Operand::ImmKind::kInt) fail(loc, "an index is an integer");
    index = c.bits;
    o.is_sum = !accesses && op != Opcode::kCvta;
  }
  o.offset += static_cast<uint32_t>(index * size);
  expect("]", "after the index");
  if (accesses) o.kind = Kind::kAddress;
}

const Variable* ModuleParser::find_variable(std::string_view name) const {
  for (const auto* list : {&function_->variables, &function_->params}) {
    for (const Variable& v : *list) {
      if (v.name == name) return &v;
    }
  }
  return module_.find_variable(name);
}

void ModuleParser::fail_undeclared_array(const Operand& o) const {
  NearestName nearest(o.symbol);
  const Function& f = *function_;
  for (const auto* list : {&f.variables, &f.params, &module_.variables}) {
    for (const Variable& v : *list) {
      if (v.is_array()) nearest.consider(v.name);
    }
  }
  fail(o.loc, fmt::format("no array '{}' is declared before this", o.symbol.substr(0, 80)), nearest.hint());
}

namespace {
/// Registers without a type have no sign.
Type integer_of(const Register& r) {
  const int bytes = type_bytes(r.type);
  if (!is_signed(r.type) || bytes > 2) return unsigned_type(bytes);
  return bytes == 1 ? Type::kS8 : Type::kS16;
}
}  // namespace

/// What the verifier checks of an address with a name, which this one has no more.
void ModuleParser::check_space_of_element(const Instruction& i, const Operand& o) {
  const Space space = i.mods.space, where = find_variable(o.symbol)->space;
  if (space == Space::kGeneric && (where == Space::kConst || where == Space::kParam))
    report({o.loc,
            fmt::format("'{}' is in .{}, which '{}' does not name", o.symbol.substr(0, 80), space_name(where),
                        opcode_text(i)),
            {}});
  else if (space != Space::kGeneric && space != Space::kNone && where != space)
    report({o.loc,
            fmt::format("'{}' is in .{}, but '{}' accesses .{}", o.symbol.substr(0, 80), space_name(where),
                        opcode_text(i), space_name(space)),
            {}});
}

void ModuleParser::add_implied_statements(Instruction& i) {
  if (!opcode_info(i.opcode).supported || !i.mods.unknown.empty()) return;
  for (Operand& o : i.operands) {
    if ((o.kind == Kind::kAddress || o.kind == Kind::kSymbol) && o.reg2 != kNoRegister) add_index(i, o);
  }
  for (size_t k = opcode_info(i.opcode).destinations; k < i.operands.size(); ++k) {
    Operand& o = i.operands[k];
    if (o.kind == Kind::kRegister && o.is_sum) add_sum(i, o);
    if (o.kind == Kind::kAddress && o.reg != kNoRegister) widen_address(i, o);
  }
  if (i.opcode != Opcode::kSt || i.operands.size() < 2) return;
  convert_stored(i, i.operands[1]);
  for (Operand& e : i.operands[1].elements) convert_stored(i, e);
}

/// The address of an element whose number is in a register.
void ModuleParser::add_index(const Instruction& i, Operand& o) {
  const auto emit = [&](Opcode op, Type type, std::vector<Operand> operands, std::string text) {
    Instruction made;
    made.opcode = op;
    made.mods.type = type;
    if (op == Opcode::kCvt) {
      const Register& from = function_->registers[operands[0].reg];
      made.mods.type2 = integer_of(from);
      text += fmt::format(".{} %implied, {}", type_name(made.mods.type2), from.name);
    }
    made.operands = std::move(operands);
    made.text = std::move(text);
    return register_operand(add_implied(i, std::move(made), type), o.loc);
  };
  const auto constant = [&o](uint64_t bits) {
    Operand c;
    c.kind = Kind::kImmediate;
    c.imm = bits;
    c.loc = o.loc;
    return c;
  };
  if (o.kind == Kind::kAddress || (i.opcode == Opcode::kCvta && !i.mods.to)) check_space_of_element(i, o);
  const Register r = function_->registers[o.reg2];
  const bool sized = i.opcode == Opcode::kMov || i.opcode == Opcode::kMapa;
  const bool narrow = sized ? type_bytes(i.mods.type) == 4 : module_.address_size == 32;
  const Type address = narrow ? Type::kU32 : Type::kU64;
  const std::string_view bits = type_name(address);
  Operand base;
  base.kind = Kind::kSymbol;
  base.symbol = o.symbol;
  base.loc = o.loc;
  Operand index = register_operand(o.reg2, o.loc);
  if (type_bytes(r.type) != 4) index = emit(Opcode::kCvt, Type::kU32, {index}, "cvt.u32");
  const int shift = std::countr_zero(o.imm);
  index = emit(Opcode::kShl, Type::kB32, {index, constant(static_cast<uint64_t>(shift))},
               fmt::format("shl.b32 %implied, {}, {}", r.name, shift));
  index = emit(Opcode::kAdd, Type::kU32, {index, constant(static_cast<uint64_t>(o.offset))},
               fmt::format("add.u32 %implied, %implied, {}", o.offset));
  if (address == Type::kU64) index = emit(Opcode::kCvt, address, {index}, "cvt.u64");
  base = emit(Opcode::kMov, address, {base}, fmt::format("mov.{} %implied, {}", bits, o.symbol));
  base = emit(Opcode::kAdd, address, {base, index}, fmt::format("add.{} %implied, %implied, %implied", bits));
  base.kind = o.kind == Kind::kAddress ? Kind::kAddress : Kind::kRegister;
  o = base;
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
  cvt.mods.type2 = integer_of(r);
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
