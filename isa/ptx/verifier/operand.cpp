// Operands against the statement: each opcode has a signature string, one role letter per operand. Type
// compatibility follows the PTX ISA manual, section 9.2 (operand size and type) and 9.4.1 (relaxed rules of
// ld, st, cvt).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;
using enum Opcode;

/// Roles: d destination of the first type, D of twice its width, U of 32 bits, P predicate destination, k of
/// the first type or wider; s source of the first type, S of the second, W of twice the first's width, K of
/// the second or wider, u 32 bits, p predicate, x the same and a constant of 8 bits, i integer
/// constant; v value of ld, V value of st, a address,
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
      return "dsxx";
    case kBfi:
      return "dssxx";
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
      return i.mods.atom == AtomOp::kCas ? "dassh" : "dash";
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
    case 'x':
      if (constexpr uint64_t kMost = 255; o.kind == Kind::kImmediate && o.imm > kMost)
        return error(o.loc, fmt::format("operand {} of '{}' is at most {}", index + 1, name(), kMost));
      return check_source(i, o, Type::kB32, false);
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
      if (find_symbol(o.symbol).function != nullptr) return check_function_operand(i, o, type);
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
  if ((s == SpecialRegister::kIsExplicitCluster) != (type == Type::kPred))
    return error(o.loc, fmt::format("this special register {} a predicate, '{}' needs .{}",
                                    type == Type::kPred ? "is not" : "is", name(), type_name(type)));
  if (type == Type::kPred) return;
  const bool any_size = s == SpecialRegister::kGridid || s == SpecialRegister::kPm ||
                        s == SpecialRegister::kZero || s == SpecialRegister::kReservedSmem ||
                        s == SpecialRegister::kWarpSz;
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

bool FunctionVerifier::check_function_value(const Instruction& i, const Operand& o,
                                            const Function& function) {
  // ptxas knows these by their names.
  constexpr std::string_view kOfSystem[] = {"vprintf", "malloc", "free", "__assertfail"};
  const std::string shown(o.symbol.substr(0, 80));
  if (o.is_sum || o.offset != 0)
    error(o.loc, fmt::format("the address of function '{}' takes no offset", shown));
  else if (i.opcode == Opcode::kCvta && !i.mods.to)
    error(o.loc, fmt::format("'{}' is a function, '{}' converts addresses of variables", shown, name()));
  else if (function.is_declaration && std::ranges::find(kOfSystem, o.symbol) != std::end(kOfSystem))
    error(o.loc, fmt::format("'{}' is the system's function and has no address", shown));
  else
    return true;
  return false;
}

/// The address of a function as any source, where ptxas takes it: of integers of 32 or 64 bits.
void FunctionVerifier::check_function_operand(const Instruction& i, const Operand& o, Type type) {
  const bool is_element = &o < i.operands.data() || &o >= i.operands.data() + i.operands.size();
  if (is_element || i.opcode == Opcode::kCvt || is_float(type) || type_bytes(type) < 4)
    return error(o.loc,
                 fmt::format("the name '{}' cannot be an operand of '{}'", o.symbol.substr(0, 80), name()),
                 "load its address into a register with mov first");
  static_cast<void>(check_function_value(i, o, *find_symbol(o.symbol).function));
}

/// mov and cvta: the address of a variable or function.
void FunctionVerifier::check_symbol_value(const Instruction& i, const Operand& o) {
  const Found f = find_symbol(o.symbol);
  if (f.variable == nullptr && f.function == nullptr) return undefined_symbol(o);
  if (f.function != nullptr && !check_function_value(i, o, *f.function)) return;
  if (f.variable != nullptr && i.opcode == Opcode::kCvta && i.mods.to && !o.is_sum)
    return error(o.loc, fmt::format("'{}' needs an address in a register", name()));
  if (f.variable != nullptr && f.variable->space == Space::kGlobal && type_bytes(i.mods.type) == 4 &&
      module_.address_size == 64)
    return error(o.loc, fmt::format("'{}' cannot hold the address of '{}', which has 64 bits", name(),
                                    o.symbol.substr(0, 80)));
  if (f.variable != nullptr && i.opcode == Opcode::kCvta && !i.mods.to && i.mods.space != Space::kNone &&
      f.variable->space != i.mods.space)
    return error(o.loc,
                 fmt::format("'{}' is in .{}, but '{}' converts addresses of .{}", o.symbol.substr(0, 80),
                             space_name(f.variable->space), name(), space_name(i.mods.space)));
  if (f.variable != nullptr && is_call_argument(f))
    return error(o.loc,
                 fmt::format("'{}' is a parameter of a call and has no address", o.symbol.substr(0, 80)));
  if (is_float(i.mods.type) || type_bytes(i.mods.type) < 4) {
    error(o.loc, fmt::format("'{}' cannot hold the address of '{}'", name(), o.symbol.substr(0, 80)),
          "use .u32 or .u64");
  }
}

}  // namespace gpusim::isa
