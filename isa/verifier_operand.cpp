// Operands against the statement: each opcode has a signature string, one role letter per operand. Type
// compatibility follows the PTX ISA manual, section 9.2 (operand size and type) and 9.4.1 (relaxed rules of
// ld, st, cvt).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "isa/diagnostics.h"
#include "isa/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;
using enum Opcode;

/// Roles: d destination of the first type, D of twice its width, U of 32 bits, P predicate destination, k of
/// the first type or wider; s source of the first type, S of the second, W of twice the first's width, K of
/// the second or wider, u 32 bits, p predicate, i integer constant; v value of ld, V value of st, a address,
/// A symbol or address register, n address register, l label, t label table, h 64-bit cache policy.
std::string_view signature(const Instruction& i) {
  const bool wide = i.mods.part == MulPart::kWide;
  if (mixes_precision(i)) return i.opcode == kFma ? "dSSs" : "dSs";
  switch (i.opcode) {
    case kMul:
      return wide ? "Dss" : "dss";
    case kMad:
      return wide ? "DssW" : "dsss";
    case kPopc:
    case kClz:
    case kBfind:
      return "Us";
    case kFns:
    case kPrmt:
    case kShf:
    case kShfl:
    case kDp4a:
    case kDp2a:
      return "Uuuuu";
    case kCvtPack:
      return "Uuuu";
    case kLop3:
      return "Uuuuip";
    case kBfe:
      return "dsuu";
    case kBfi:
      return "dssuu";
    case kBmsk:
      return "Uuu";
    case kSzext:
    case kShl:
    case kShr:
      return "dsu";
    case kTestp:
      return "Ps";
    case kSet:
      return "dSSp";
    case kSetp:
      return "Pssp";
    case kSelp:
      return "dssp";
    case kSlct:
      return "dssS";
    case kLd:
    case kLdu:
      return "vah";
    case kSt:
      return "aVh";
    case kCvta:
      return "dA";
    case kCvt:
      return i.operands.size() > 2 ? "dSSu" : "kK";
    case kIsspacep:
      return "Pn";
    case kBra:
      return "l";
    case kBrx:
      return "ut";
    case kAtom:
      return i.operands.size() == 5 || (i.operands.size() == 4 && i.mods.atom != AtomOp::kCas) ? "dassh"
                                                                                               : "dass";
    case kRed:
      return "ash";
    case kVote:
      return "dpu";
    case kMatch:
      return "Usu";
    case kActivemask:
      return "U";
    case kRedux:
      return "dsu";
    case kElect:
      return "Uu";
    case kNanosleep:
      return "u";
    case kPmevent:
    case kSetmaxnreg:
      return "i";
    case kPrefetch:
    case kPrefetchu:
      return "a";
    case kDiscard:
    case kApplypriority:
      return "ai";
    default:
      return "dssss";
  }
}

/// Opcodes whose destination may be a pair `%a|%p`.
bool writes_pair(Opcode op) {
  return op == kSetp || op == kShfl || op == kLop3 || op == kMatch || op == kElect;
}

bool counts_bits(Opcode op) { return op == kPopc || op == kClz || op == kBfind; }

/// May a register of type `reg` stand for an operand of type `type`?
bool compatible(Type reg, Type type, bool may_be_wider) {
  if ((reg == Type::kPred) != (type == Type::kPred)) return false;
  const int have = type_bytes(reg), want = type_bytes(type);
  const bool bits = !is_float(reg) || reg == Type::kF16x2 || is_untyped(type);
  if (have != want && !(may_be_wider && have > want && bits)) return false;
  if (is_bfloat(type) && have != want) return false;
  if (is_untyped(reg) || is_untyped(type) || reg == Type::kPred) return true;
  if (reg == Type::kF16x2 && is_integer(type)) return true;
  // Half precision is kept in registers of bits.
  if (is_half(type) || is_half(reg)) return reg == type;
  if (is_packed16(type) || type == Type::kF32x2) return false;
  return is_float(reg) == is_float(type);
}

Type unsigned_of(int bytes) {
  switch (bytes) {
    case 1:
      return Type::kB8;
    case 2:
      return Type::kB16;
    case 8:
      return Type::kB64;
    case 16:
      return Type::kB128;
    default:
      return Type::kB32;
  }
}

Type widened(Type t) {
  switch (t) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return t;
  }
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "nothing";
    case Kind::kRegister:
      return "a register";
    case Kind::kImmediate:
      return "a constant";
    case Kind::kSpecial:
      return "a special register";
    case Kind::kSymbol:
      return "a variable's name";
    case Kind::kAddress:
      return "an address";
    case Kind::kVector:
      return "a vector";
    case Kind::kSink:
      return "'_'";
    case Kind::kLabel:
      return "a label";
    case Kind::kList:
      return "a list";
  }
  return "";
}

void FunctionVerifier::check_operands(const Instruction& i) {
  switch (i.opcode) {
    case kCall:
      return check_call(i);
    case kMov:
      return check_mov(i);
    case kBar:
    case kBarrier:
      return check_bar_operands(i);
    case kTex:
      return check_tex(i);
    case kTxq:
      return check_txq(i);
    case kFence:
    case kMembar:
      return;
    default:
      break;
  }
  const std::string_view roles = signature(i);
  for (size_t k = 0; k < i.operands.size() && k < roles.size(); ++k)
    check_role(i, i.operands[k], roles[k], k);
}

void FunctionVerifier::check_role(const Instruction& i, const Operand& o, char role, size_t index) {
  const Modifiers& m = i.mods;
  if (o.negated && role != 'p' && !(m.type == Type::kPred && role == 's')) {
    error(o.loc, fmt::format("operand {} of '{}' cannot be negated with '!'", index + 1, name()));
  }
  switch (role) {
    case 'd':
      return check_destination(i, o, m.type, false);
    case 'k':
      return check_destination(i, o, m.type, true);
    case 'D':
      return check_destination(i, o, widened(m.type), false);
    case 'U':
      return check_destination(i, o, counts_bits(i.opcode) ? Type::kU32 : Type::kB32, false);
    case 'P':
      return check_destination(i, o, Type::kPred, false);
    case 's':
      return check_source(i, o, m.type, false);
    case 'S':
      return check_source(i, o, m.type2, false);
    case 'K':
      return check_source(i, o, m.type2, true);
    case 'W':
      return check_source(i, o, widened(m.type), false);
    case 'u':
      return check_source(i, o, i.opcode == kShl || i.opcode == kShr ? Type::kU32 : Type::kB32, false);
    case 'p':
      return check_source(i, o, Type::kPred, false);
    case 'h':
      return check_source(i, o, Type::kB64, false);
    case 'i':
      if (o.kind != Kind::kImmediate)
        error(o.loc, fmt::format("operand {} of '{}' must be an integer constant", index + 1, name()));
      return;
    case 'v':
      return check_memory_value(i, o, true);
    case 'V':
      return check_memory_value(i, o, false);
    case 'a':
      check_address(i, o);
      if (i.opcode == kSt || i.opcode == kAtom || i.opcode == kRed) check_store_space(i, o);
      return;
    case 'A':
      if (o.kind == Kind::kSymbol) return check_symbol_value(i, o);
      return check_source(i, o, m.type, false);
    case 'n':
      return check_source(i, o,
                          module_.address_size == 64 && o.kind == Kind::kRegister &&
                                  type_bytes(function_.registers[o.reg == kNoRegister ? 0 : o.reg].type) == 8
                              ? Type::kB64
                              : Type::kB32,
                          false);
    case 'l':
      return check_label(o);
    case 't':
      return check_table(o);
    default:
      return;
  }
}

void FunctionVerifier::check_destination(const Instruction& i, const Operand& o, Type type,
                                         bool may_be_wider) {
  if (o.kind == Kind::kSink && i.opcode != kShfl && (i.opcode == kAtom || writes_pair(i.opcode))) return;
  if (o.kind == Kind::kSpecial) {
    return error(o.loc,
                 fmt::format("the destination of '{}' is a special register, which is read-only", name()));
  }
  if (o.kind == Kind::kVector && i.opcode == kAtom) return check_memory_value(i, o, true);
  if (o.kind != Kind::kRegister) {
    return error(o.loc, fmt::format("the destination of '{}' must be a register, found {}", name(),
                                    kind_name(o.kind)));
  }
  if (o.is_sum) return error(o.loc, fmt::format("the destination of '{}' must be a register", name()));
  if (o.reg2 != kNoRegister) {
    const Register& second = function_.registers[o.reg2];
    if (!writes_pair(i.opcode)) {
      error(o.loc, fmt::format("'{}' has one destination, found two joined by '|'", name()));
    } else if (second.type != Type::kPred) {
      error(o.loc, fmt::format("'{}' behind '|' is a .{} register, not a predicate", second.name,
                               type_name(second.type)));
    }
  }
  if (o.reg != kNoRegister) check_register(i, o, type, may_be_wider);
}

void FunctionVerifier::check_source(const Instruction& i, const Operand& o, Type type, bool may_be_wider) {
  switch (o.kind) {
    case Kind::kRegister:
      if (o.reg == kNoRegister || o.reg2 != kNoRegister) {
        return error(o.loc, fmt::format("'|' joins destinations only, in '{}'", name()));
      }
      return check_register(i, o, type, may_be_wider);
    case Kind::kImmediate:
      return check_immediate(o, type);
    case Kind::kSpecial:
      return check_special(o, type);
    case Kind::kSymbol:
      if (const Found f = find_symbol(o.symbol); f.variable == nullptr && f.function == nullptr)
        return undefined_symbol(o);
      if (o.is_sum && (is_integer(type) || is_untyped(type))) return;
      return error(o.loc,
                   fmt::format("the name '{}' cannot be an operand of '{}'", o.symbol.substr(0, 80), name()),
                   "load its address into a register with mov first");
    case Kind::kVector:
      if (i.opcode == kAtom || i.opcode == kRed) return check_memory_value(i, o, false);
      [[fallthrough]];
    default:
      return error(o.loc, fmt::format("a source of '{}' must be a register or a constant, found {}", name(),
                                      kind_name(o.kind)));
  }
}

void FunctionVerifier::check_register(const Instruction&, const Operand& o, Type type, bool may_be_wider) {
  const Register& r = function_.registers[o.reg];
  if (r.vector > 1 && o.component < 0) {
    return error(o.loc, fmt::format("'{}' is a vector register, '{}' needs one component", r.name, name()),
                 "such as .x");
  }
  if (compatible(r.type, type, may_be_wider)) return;
  const bool predicate = type == Type::kPred;
  error(o.loc,
        fmt::format("'{}' is a .{} register, '{}' needs {}", r.name, type_name(r.type), name(),
                    predicate ? std::string("a predicate")
                              : fmt::format(".{}{}", type_name(type), may_be_wider ? " or wider" : "")));
}

void FunctionVerifier::check_immediate(const Operand& o, Type type) {
  if (is_half(type) || is_packed16(type) || type == Type::kF32x2) {
    return error(
        o.loc,
        fmt::format("'{}' takes .{} values from registers only, found a constant", name(), type_name(type)),
        fmt::format("mov.b{} %register, bits first", type_bytes(type) * 8));
  }
  const bool is_float_constant = o.imm_kind != Operand::ImmKind::kInt;
  const bool same_bits = (o.imm_kind == Operand::ImmKind::kF32 && type == Type::kB32) ||
                         (o.imm_kind == Operand::ImmKind::kF64 && type == Type::kB64);
  if (is_float_constant && !same_bits && !is_float(type)) {
    return error(o.loc, fmt::format("'{}' needs an integer constant, found a floating-point one", name()));
  }
  if (!is_float_constant && (type == Type::kF32 || type == Type::kF64)) {
    return error(o.loc, fmt::format("'{}' needs a floating-point constant, found an integer", name()),
                 "such as 1.0 or 0f3F800000");
  }
}

void FunctionVerifier::check_special(const Operand& o, Type type) {
  const Opcode op = current_->opcode;
  if (op != kMov && (op != kCvt || is_float(current_->mods.type))) {
    return error(o.loc, fmt::format("a special register cannot be an operand of '{}'", name()),
                 "move it into a register with mov first");
  }
  if (is_float(type) || type_bytes(type) == 16) {
    return error(o.loc,
                 fmt::format("a special register cannot be a .{} operand of '{}'", type_name(type), name()));
  }
  const SpecialRegister s = o.special;
  const bool any_size = s == SpecialRegister::kGridid || s == SpecialRegister::kPm ||
                        s == SpecialRegister::kZero || s == SpecialRegister::kWarpSz;
  const bool is_64 = s == SpecialRegister::kClock64 || s == SpecialRegister::kGlobaltimer;
  const bool has_16 = any_size || s <= SpecialRegister::kNctaidZ;
  if (type_bytes(type) < 4 && !has_16)
    return error(
        o.loc, fmt::format("this special register has 32 bits, '{}' needs {}", name(), type_bytes(type) * 8));
  if (!any_size && is_64 != (type_bytes(type) == 8)) {
    error(o.loc, fmt::format("this special register has {} bits, '{}' needs {}", is_64 ? 64 : 32, name(),
                             type_bytes(type) * 8));
  }
}

/// mov and cvta: the address of a variable or function.
void FunctionVerifier::check_symbol_value(const Instruction& i, const Operand& o) {
  const Found f = find_symbol(o.symbol);
  if (f.variable == nullptr && f.function == nullptr) return undefined_symbol(o);
  if (f.variable != nullptr && f.variable->space == Space::kGlobal && type_bytes(i.mods.type) == 4 &&
      module_.address_size == 64)
    return error(o.loc, fmt::format("'{}' cannot hold the address of '{}', which has 64 bits", name(),
                                    o.symbol.substr(0, 80)));
  if (is_float(i.mods.type) || type_bytes(i.mods.type) < 4) {
    error(o.loc, fmt::format("'{}' cannot hold the address of '{}'", name(), o.symbol.substr(0, 80)),
          "use .u32 or .u64");
  }
}

void FunctionVerifier::check_address(const Instruction& i, const Operand& o) {
  if (o.kind != Kind::kAddress) {
    return error(o.loc, fmt::format("'{}' needs an address in brackets, found {}", name(), kind_name(o.kind)),
                 o.kind == Kind::kRegister ? "write [%register]" : "");
  }
  if (o.reg != kNoRegister) {
    const Register& r = function_.registers[o.reg];
    const int bytes = type_bytes(r.type);
    if (r.vector > 1 || is_float(r.type) || r.type == Type::kPred || (bytes != 4 && bytes != 8)) {
      error(o.loc,
            fmt::format("'{}' is a .{} register and cannot hold an address", r.name, type_name(r.type)));
    } else if (bytes == 4 && module_.address_size == 64 &&
               (i.mods.space == Space::kGlobal || i.mods.space == Space::kGeneric)) {
      error(o.loc, fmt::format("'{}' has 32 bits, addresses of this file have 64", r.name),
            "as .address_size says");
    }
    return;
  }
  if (o.symbol.empty()) {
    if (i.mods.space != Space::kLocal && i.mods.space != Space::kNone)
      error(o.loc, fmt::format("'{}': a constant address is for .local memory", name()),
            "put it into a register");
    return;
  }
  const Found f = find_symbol(o.symbol);
  if (f.variable == nullptr) {
    if (f.function == nullptr) return undefined_symbol(o);
    return error(o.loc, fmt::format("'{}' is a function, not a variable", o.symbol.substr(0, 80)));
  }
  const Space space = i.mods.space, where = f.variable->space;
  if (f.variable->type >= Type::kTexRef && f.variable->type <= Type::kSurfRef)
    return error(o.loc, fmt::format("'{}' is a .{} and cannot be accessed", o.symbol.substr(0, 80),
                                    type_name(f.variable->type)));
  if (space == Space::kGeneric && (where == Space::kConst || where == Space::kParam)) {
    return error(o.loc, fmt::format("'{}' is in .{}, which '{}' does not name", o.symbol.substr(0, 80),
                                    space_name(where), name()));
  }
  check_argument_guard(i, o, f);
  if (space != Space::kGeneric && space != Space::kNone && f.variable->space != space) {
    error(o.loc, fmt::format("'{}' is in .{}, but '{}' accesses .{}", o.symbol.substr(0, 80),
                             space_name(f.variable->space), name(), space_name(space)));
  }
}

/// The variables of a call are written and read with it, so not under a predicate of their own.
void FunctionVerifier::check_argument_guard(const Instruction& i, const Operand& o, const Found& f) {
  const bool argument =
      f.variable->space == Space::kParam && !f.is_param && (i.opcode == kLd || i.opcode == kSt);
  const bool returned = std::any_of(function_.returns.begin(), function_.returns.end(),
                                    [&](const Variable& v) { return &v == f.variable; });
  if (argument && !returned && i.guard != kNoRegister)
    error(o.loc,
          fmt::format("'{}' cannot be predicated: '{}' belongs to a call", name(), o.symbol.substr(0, 80)));
}

void FunctionVerifier::check_store_space(const Instruction& i, const Operand& o) {
  if (i.mods.space == Space::kConst) error(fmt::format("'{}': .const memory is read-only", name()));
  if (i.mods.space != Space::kParam || o.symbol.empty()) return;
  if (function_.is_entry && find_symbol(o.symbol).is_param) {
    error(o.loc, fmt::format("'{}': the kernel parameter '{}' is read-only", name(), o.symbol.substr(0, 80)));
  }
}

/// The registers of one vector have one size, and are of floating point or not.
void FunctionVerifier::check_elements_alike(const Operand& vector) {
  const Register* typed = nullptr;
  const Register* first = nullptr;
  for (const Operand& e : vector.elements) {
    if (e.kind != Kind::kRegister || e.reg == kNoRegister) continue;
    const Register& r = function_.registers[e.reg];
    if (first != nullptr && type_bytes(r.type) != type_bytes(first->type))
      return error(e.loc, fmt::format("'{}' has {} bits, '{}' of the same vector has {}", r.name,
                                      8 * type_bytes(r.type), first->name, 8 * type_bytes(first->type)));
    first = &r;
    if (is_untyped(r.type)) continue;
    const bool alike = typed == nullptr || (is_float(r.type) == is_float(typed->type) &&
                                            (!is_float(r.type) || r.type == typed->type));
    if (!alike)
      return error(e.loc, fmt::format("'{}' is .{}, '{}' of the same vector is .{}", r.name,
                                      type_name(r.type), typed->name, type_name(typed->type)));
    typed = &r;
  }
}

/// What ld writes and st reads: a register, a vector of them, or (st) a constant.
void FunctionVerifier::check_memory_value(const Instruction& i, const Operand& o, bool destination) {
  const Modifiers& m = i.mods;
  const int limit = module_.target_sm >= 100 ? 32 : 16;
  if (type_bytes(m.type) * m.vector > limit) {
    error(fmt::format("'{}' moves {} bytes, at most {} are possible", name(), type_bytes(m.type) * m.vector,
                      limit));
  }
  check_wide_access(i);
  const auto is_sink = [](const Operand& e) { return e.kind == Kind::kSink; };
  if (destination && i.opcode != kAtom && o.kind == Kind::kVector &&
      std::all_of(o.elements.begin(), o.elements.end(), is_sink))
    return error(o.loc, fmt::format("'{}' uses nothing of what it reads", name()));
  if (destination && i.opcode != kAtom && is_sink(o))
    return error(o.loc, fmt::format("'{}' needs a destination", name()));
  const auto check_one = [&](const Operand& e) {
    if (e.kind == Kind::kSink && destination) return;
    if (destination) return check_destination(i, e, m.type, true);
    check_source(i, e, m.type, true);
  };
  if (o.kind == Kind::kVector) {
    if (o.elements.size() != m.vector) {
      return error(o.loc, fmt::format("'{}' needs {} element{}, found {}", name(), m.vector,
                                      m.vector == 1 ? "" : "s", o.elements.size()));
    }
    for (const Operand& e : o.elements) check_one(e);
    return check_elements_alike(o);
  }
  if (m.vector == 1) return check_one(o);
  const bool is_vector_register = o.kind == Kind::kRegister && o.reg != kNoRegister && o.component < 0 &&
                                  function_.registers[o.reg].vector == m.vector;
  if (!is_vector_register) {
    return error(
        o.loc,
        fmt::format("'{}' needs a vector of {} elements, found {}", name(), m.vector, kind_name(o.kind)),
        "such as {%r1, %r2}");
  }
  if (const Register& r = function_.registers[o.reg]; !compatible(r.type, m.type, true)) {
    error(o.loc, fmt::format("'{}' has .{} elements, '{}' needs .{}", r.name, type_name(r.type), name(),
                             type_name(m.type)));
  }
}

// --- mov ---

/// Elements of a vector operand; 1 of a single one.
size_t FunctionVerifier::vector_size(const Operand& o) const {
  if (o.kind == Kind::kVector) return o.elements.size();
  const bool whole = o.kind == Kind::kRegister && o.reg != kNoRegister && o.component < 0;
  return whole ? function_.registers[o.reg].vector : 1;
}

/// mov.v2 and mov.v4, element by element.
void FunctionVerifier::check_mov_elements(const Instruction& i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  for (const Operand* o : {&to, &from}) {
    if (vector_size(*o) != i.mods.vector)
      return error(o->loc, fmt::format("'{}' needs a vector of {} elements", name(), i.mods.vector));
    if (o->kind == Kind::kVector) {
      for (const Operand& e : o->elements) {
        if (o == &to)
          check_destination(i, e, i.mods.type, false);
        else
          check_source(i, e, i.mods.type, false);
      }
    } else if (const Register& r = function_.registers[o->reg];
               !compatible(r.type, i.mods.type, false) && type_bytes(r.type) != type_bytes(i.mods.type)) {
      error(o->loc, fmt::format("'{}' has .{} elements, '{}' needs .{}", r.name, type_name(r.type), name(),
                                type_name(i.mods.type)));
    }
  }
}

void FunctionVerifier::check_mov(const Instruction& i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  if (i.mods.vector > 1) return check_mov_elements(i);
  const bool vector_register = to.kind == Kind::kRegister && to.reg != kNoRegister && to.component < 0 &&
                               function_.registers[to.reg].vector > 1;
  if (to.kind == Kind::kVector && from.kind == Kind::kVector) {
    return error(fmt::format("'{}' cannot move a vector to a vector", name()));
  }
  if (to.kind == Kind::kVector) return check_mov_vector(i, to, from, true);
  if (from.kind == Kind::kVector && !vector_register) return check_mov_vector(i, from, to, false);
  if (vector_register) return check_vector_register(i, to, from);
  check_destination(i, to, i.mods.type, false);
  if (from.kind == Kind::kSymbol) return check_symbol_value(i, from);
  if (from.negated) error(from.loc, "'mov' cannot negate its source", "use 'not.pred'");
  check_source(i, from, i.mods.type, false);
}

/// mov.b64 of a value into the elements of a vector register; copies of vectors are mov.v2 and mov.v4.
void FunctionVerifier::check_vector_register(const Instruction& i, const Operand& to, const Operand& from) {
  const Register& r = function_.registers[to.reg];
  if (vector_size(from) > 1)
    return error(fmt::format("'{}' cannot move a vector to a vector", name()),
                 fmt::format("write 'mov.v{}'", r.vector));
  if (!is_untyped(i.mods.type) || type_bytes(i.mods.type) != type_bytes(r.type) * r.vector)
    return error(to.loc, fmt::format("'{}' has {} elements of .{}, which '{}' does not fill", r.name,
                                     r.vector, type_name(r.type), name()));
  check_source(i, from, i.mods.type, false);
}

/// Packing {a, b} -> d and unpacking d -> {a, b}: the elements have equal size and fill the type.
void FunctionVerifier::check_mov_vector(const Instruction& i, const Operand& vector, const Operand& other,
                                        bool unpack) {
  const int total = type_bytes(i.mods.type), n = static_cast<int>(vector.elements.size());
  if (!is_untyped(i.mods.type)) {
    return error(fmt::format("'{}': packing needs a type .b16, .b32, .b64 or .b128", name()));
  }
  if (n < 2 || n > 8 || total % n != 0) {
    return error(vector.loc, fmt::format("{} elements do not fill a .{} value", n, type_name(i.mods.type)));
  }
  const Type element = unsigned_of(total / n);
  check_elements_alike(vector);
  for (const Operand& e : vector.elements) {
    if (unpack && e.kind == Kind::kSink) continue;
    if (unpack)
      check_destination(i, e, element, false);
    else
      check_source(i, e, element, false);
  }
  if (unpack)
    check_source(i, other, i.mods.type, false);
  else
    check_destination(i, other, i.mods.type, false);
}

}  // namespace gpusim::isa
