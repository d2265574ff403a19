// Operands of memory accesses: addresses and what is loaded or stored. PTX ISA manual, sections 6.4
// and 9.7.9.
#include <fmt/format.h>

#include <algorithm>

#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;
using enum Opcode;

}  // namespace

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

/// A .param variable of the body, which belongs to a call.
bool FunctionVerifier::is_call_argument(const Found& f) const {
  return f.variable->space == Space::kParam && !f.is_param &&
         std::none_of(function_.returns.begin(), function_.returns.end(),
                      [&](const Variable& v) { return &v == f.variable; });
}

/// The variables of a call are written and read with it, so not under a predicate of their own.
void FunctionVerifier::check_argument_guard(const Instruction& i, const Operand& o, const Found& f) {
  const bool access = i.opcode == kLd || i.opcode == kSt;
  if (access && is_call_argument(f) && i.guard != kNoRegister)
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

}  // namespace gpusim::isa
