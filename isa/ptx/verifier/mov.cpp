// Operands of mov: scalars, packing and unpacking, vectors element by element. PTX ISA manual, section 9.7.9.
#include <fmt/format.h>

#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;

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

}  // namespace

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
  if (from.kind == Kind::kRegister && vector_size(from) > 1) return check_vector_register(i, from, to);
  check_destination(i, to, i.mods.type, false);
  if (from.kind == Kind::kSymbol) return check_symbol_value(i, from);
  if (from.negated) error(from.loc, "'mov' cannot negate its source", "use 'not.pred'");
  check_source(i, from, i.mods.type, false);
}

/// mov.b64 of a value into the elements of a vector register, or of these into one; copies of vectors are
/// mov.v2 and mov.v4.
void FunctionVerifier::check_vector_register(const Instruction& i, const Operand& vector,
                                             const Operand& other) {
  const Register& r = function_.registers[vector.reg];
  if (vector_size(other) > 1)
    return error(fmt::format("'{}' cannot move a vector to a vector", name()),
                 fmt::format("write 'mov.v{}'", r.vector));
  if (!is_untyped(i.mods.type) || type_bytes(i.mods.type) != type_bytes(r.type) * r.vector)
    return error(vector.loc, fmt::format("'{}' has {} elements of .{}, which '{}' does not fill", r.name,
                                         r.vector, type_name(r.type), name()));
  if (&other == &i.operands[0])
    check_destination(i, other, i.mods.type, false);
  else
    check_source(i, other, i.mods.type, false);
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
