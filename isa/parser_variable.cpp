// Variable declarations, initialisers and constant expressions. PTX ISA manual, sections 4.5, 5.4.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "isa/diagnostics.h"
#include "isa/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr size_t kMaxDimensions = 16;
constexpr int kMaxExpressionDepth = 64;
constexpr uint64_t kMaxAlign = uint64_t{1} << 20;

std::string hint_for_type(std::string_view name) {
  NearestName nearest(name);
  for (int t = 1; !type_name(static_cast<Type>(t)).empty(); ++t)
    nearest.consider(type_name(static_cast<Type>(t)));
  return nearest.best().empty() ? "" : fmt::format("did you mean '.{}'?", nearest.best());
}

}  // namespace

Space ModuleParser::space_from_name(std::string_view name) {
  for (const Space s : {Space::kReg, Space::kSreg, Space::kConst, Space::kGlobal, Space::kLocal,
                        Space::kParam, Space::kShared, Space::kTex}) {
    if (space_name(s) == name) return s;
  }
  return Space::kNone;
}

/// What stands between the state space and the name: .align and .attribute, .v2 or .v4, the type, and of a
/// kernel's parameter .ptr.
ModuleParser::Declarator ModuleParser::parse_declarator(Space space, Linkage linkage, Place place) {
  Declarator d;
  d.place = place;
  d.space = space;
  d.linkage = linkage;
  while (at_name("align") || at_name("attribute")) {
    if (at_name("align"))
      parse_alignment(d);
    else
      parse_attribute(d);
  }
  if (at_name("v2") || at_name("v4")) d.vector = static_cast<uint8_t>(take().name()[1] - '0');
  parse_element_type(d);
  if (place == Place::kKernelParameter) parse_pointer_attribute(d);
  return d;
}

void ModuleParser::parse_alignment(Declarator& d) {
  take();
  const SourceLoc loc = token_.loc;
  d.align = expect_integer("an alignment in bytes");
  if (!std::has_single_bit(d.align) || d.align > kMaxAlign)
    fail(loc, fmt::format("alignment {} is not a power of two up to {}", d.align, kMaxAlign));
  constexpr uint64_t kMaxArgumentAlign = 128;
  const bool argument = d.space == Space::kParam && d.place != Place::kKernelParameter;
  if (argument && d.align > kMaxArgumentAlign)
    fail(loc, fmt::format("alignment {} of a function's argument is above {}", d.align, kMaxArgumentAlign));
}

/// .attribute(.managed), .attribute(.unified(1, 2)).
void ModuleParser::parse_attribute(Declarator& d) {
  const SourceLoc loc = take().loc;
  if (!at("(")) fail_here("'(' after .attribute");
  skip_parenthesised();
  if (d.space != Space::kGlobal)
    fail(loc, fmt::format("a .{} variable has no attributes", space_name(d.space)), ".global variables have");
}

void ModuleParser::parse_element_type(Declarator& d) {
  const Token t = token_;
  if (t.kind != Token::Kind::kDotName)
    fail(t.loc, fmt::format("a .{} declaration needs a type such as .u32", space_name(d.space)));
  take();
  d.type = type_from_name(t.name());
  if (d.type == Type::kNone) {
    const bool misplaced = t.name() == "ptr" || t.name() == "align" || t.name() == "attribute" ||
                           t.name() == "v2" || t.name() == "v4";
    if (misplaced)
      fail(t.loc, fmt::format("'{}' cannot stand here", t.text), "such as .global .align 8 .v2 .u32");
    fail(t.loc, fmt::format("unknown type '.{}'", t.name().substr(0, 80)), hint_for_type(t.name()));
  }
  if (token_.kind == Token::Kind::kDotName && type_from_name(token_.name()) != Type::kNone)
    fail(token_.loc, fmt::format("a second type '{}' in one declaration", token_.text));
  check_element_type(d, t.loc);
}

/// Types that only instructions have, and those that only some state spaces have.
void ModuleParser::check_element_type(const Declarator& d, SourceLoc loc) const {
  constexpr int kMaxVectorBytes = 16;
  const bool reference = d.type >= Type::kTexRef && d.type <= Type::kSurfRef;
  if (is_bfloat(d.type) || d.type == Type::kU16x2 || d.type == Type::kS16x2 || d.type == Type::kF32x2)
    fail(loc, fmt::format("type .{} is for instructions, not for variables", type_name(d.type)),
         fmt::format("declare .b{}", 8 * type_bytes(d.type)));
  if (d.type == Type::kB128 && version() < 803) fail(loc, "type .b128 came with PTX 8.3");
  if (d.type == Type::kPred && (d.space != Space::kReg || d.vector > 1))
    fail(loc, "a predicate is a single register");
  if (type_bytes(d.type) * d.vector > kMaxVectorBytes)
    fail(loc, fmt::format(".v{} .{} is larger than {} bytes", d.vector, type_name(d.type), kMaxVectorBytes));
  const bool module_reference = d.place == Place::kModule && d.space == Space::kGlobal;
  if (reference && !module_reference && d.place != Place::kKernelParameter)
    fail(loc,
         fmt::format("a .{} is a .global variable of the module or a kernel's parameter", type_name(d.type)));
  if (d.space == Space::kTex && d.type != Type::kU32 && d.type != Type::kU64)
    fail(loc, "a .tex variable is declared .u32 or .u64");
  if (d.space == Space::kParam && (d.vector > 1 || d.type == Type::kF16x2))
    fail(loc,
         fmt::format("a .param variable cannot be {}.{}", d.vector > 1 ? fmt::format(".v{} ", d.vector) : "",
                     type_name(d.type)),
         "declare an array of bytes with .align");
  if (d.space == Space::kTex && d.vector > 1) fail(loc, "a .tex variable is no vector");
}

/// .ptr .global .align 16: the alignment is that of what the pointer points to. Without .ptr too.
void ModuleParser::parse_pointer_attribute(Declarator& d) {
  const SourceLoc loc = token_.loc;
  d.is_pointer = accept_name("ptr");
  if (d.is_pointer && version() < 202) fail(loc, "'.ptr' came with PTX 2.2");
  if (d.is_pointer && token_.kind == Token::Kind::kDotName && space_from_name(token_.name()) != Space::kNone)
    take();
  if (!at_name("align")) return;
  Declarator pointed = d;
  parse_alignment(pointed);
}

Variable ModuleParser::parse_variable(const Declarator& d) {
  const Token name = expect_identifier("a variable name");
  Variable v;
  v.name = name.text;
  v.loc = name.loc;
  v.space = d.space;
  v.type = d.type;
  v.vector = d.vector;
  v.linkage = d.linkage;
  v.is_pointer = d.is_pointer;
  v.align = d.align != 0 ? d.align : static_cast<uint64_t>(type_bytes(d.type)) * d.vector;
  parse_dimensions(v);
  check_dimensions(v, d.place);
  compute_size(v, name.loc);
  return v;
}

void ModuleParser::check_dimensions(const Variable& v, Place place) const {
  const bool parameter = place == Place::kKernelParameter || place == Place::kFunctionParameter;
  if (parameter && v.dims.size() > 1)
    fail(v.loc, fmt::format("parameter '{}' has {} dimensions, an array has 1", v.name.substr(0, 80),
                            v.dims.size()));
  if (place == Place::kKernelParameter && !v.dims.empty() && v.dims[0] == 0)
    fail(v.loc, fmt::format("kernel parameter '{}' has no size", v.name.substr(0, 80)));
}

void ModuleParser::parse_dimensions(Variable& v) {
  while (at("[")) {
    const SourceLoc loc = take().loc;
    if (v.dims.size() == kMaxDimensions)
      fail(loc, fmt::format("more than {} array dimensions", kMaxDimensions));
    if (accept("]")) {
      if (!v.dims.empty()) fail(loc, "only the first array dimension may be left out");
      v.dims.push_back(0);
      continue;
    }
    if (token_.kind != Token::Kind::kInteger && token_.text != "WARP_SZ")
      fail_here("the size of an array, an integer");
    const Constant size = parse_constant_primary(0);
    if (size.bits == 0 && !v.dims.empty()) fail(loc, "an array dimension of 0");
    v.dims.push_back(size.bits);
    expect("]", "after the array dimension");
  }
}

void ModuleParser::compute_size(Variable& v, SourceLoc loc) {
  uint64_t bytes = static_cast<uint64_t>(type_bytes(v.type)) * v.vector;
  for (const uint64_t n : v.dims) {
    if (n != 0 && bytes > kMaxVariableBytes / n) {
      fail(loc, fmt::format("'{}' is larger than {} bytes", v.name.substr(0, 80), kMaxVariableBytes));
    }
    bytes *= n;
  }
  v.bytes = bytes;
}

/// Only a variable that another file defines may lack its first dimension.
void ModuleParser::require_size(const Variable& v) const {
  if (v.dims.empty() || v.dims[0] != 0 || v.linkage == Linkage::kExtern) return;
  fail(v.loc, fmt::format("the array '{}' has no size", v.name.substr(0, 80)),
       "only .extern arrays may lack it");
}

void ModuleParser::parse_module_variables(Space space, Linkage linkage, uint64_t align) {
  Declarator d = parse_declarator(space, linkage, Place::kModule);
  d.align = std::max(d.align, align);
  do {
    const Token name = token_;
    Variable v = parse_variable(d);
    if (accept("="))
      parse_initialiser(v);
    else
      require_size(v);
    module_names_.insert(name.text);
    module_.variables.push_back(std::move(v));
  } while (accept(","));
  expect_semicolon();
}

// --- initialisers ---

void ModuleParser::parse_initialiser(Variable& v) {
  const SourceLoc loc = token_.loc;
  if (v.space != Space::kGlobal && v.space != Space::kConst) {
    fail(loc, fmt::format("a .{} variable cannot have an initial value", space_name(v.space)),
         "only .global and .const can");
  }
  if (v.type >= Type::kTexRef &&
      v.type <= Type::kSurfRef) {  // { addr_mode_0 = wrap, ... }: textures are not simulated yet
    if (at("{")) skip_braces();
    return;
  }
  uint64_t end = 0;
  if (v.dims.empty() && v.vector == 1) {
    const bool braces = accept("{");
    parse_initial_value(v, 0);
    if (braces) expect("}", "after the initial value");
    return;
  }
  if (!at("{")) fail_here("'{' before the initial values of an array");
  parse_initial_level(v, 0, 0, end);
  if (!v.dims.empty() && v.dims[0] == 0) {  // the size comes from the initialiser
    uint64_t row = static_cast<uint64_t>(type_bytes(v.type)) * v.vector;
    for (size_t i = 1; i < v.dims.size(); ++i) row *= v.dims[i];
    v.dims[0] = (end + row - 1) / row;
    compute_size(v, v.loc);
  }
}

/// `{ ... }` of array level `level` (behind the last dimension: of one vector), at byte `offset`. `end`:
/// first byte behind.
void ModuleParser::parse_initial_level(Variable& v, size_t level, uint64_t offset, uint64_t& end) {
  const auto element = static_cast<uint64_t>(type_bytes(v.type));
  uint64_t step = element * v.vector;
  for (size_t i = level + 1; i < v.dims.size(); ++i) step *= v.dims[i];
  if (level >= v.dims.size()) step = element;
  const bool open_ended = level == 0 && !v.dims.empty() && v.dims[0] == 0;
  const uint64_t count = level < v.dims.size() ? v.dims[level] : v.vector;
  const uint64_t limit = open_ended ? kMaxVariableBytes : offset + step * count;
  expect("{", "before initial values");
  end = offset;
  while (!at("}")) {
    if (end >= limit) fail(token_.loc, fmt::format("too many initial values for '{}'", v.name.substr(0, 80)));
    if (at("{")) {
      if (step == element || end >= limit) fail(token_.loc, "too many nested braces in the initial value");
      uint64_t inner = 0;
      parse_initial_level(v, level + 1, end, inner);
      end += step;
    } else {
      if (step != element)
        fail(token_.loc, "a row or vector of initial values needs braces", "such as {{1, 2}, {3, 4}}");
      parse_initial_value(v, end);
      end += element;
    }
    if (!accept(",")) break;
  }
  expect("}", "after the initial values");
}

void ModuleParser::parse_initial_value(Variable& v, uint64_t offset) {
  if (token_.kind == Token::Kind::kIdentifier && token_.text != "WARP_SZ" && parse_relocation(v, offset))
    return;
  const SourceLoc loc = token_.loc;
  const Constant value = parse_constant();
  if (at("(")) return parse_address_bytes(v, offset, value, loc);
  if (v.type == Type::kF16 || v.type == Type::kF16x2)
    fail(loc, fmt::format("a .{} variable has no initial value", type_name(v.type)),
         fmt::format("declare .b{} and write the bits", 8 * type_bytes(v.type)));
  if (is_float(v.type) && value.kind == Operand::ImmKind::kInt)
    fail(loc, fmt::format("an integer cannot initialise a .{} variable", type_name(v.type)), "such as 1.0");
  store_initial(v, offset, value, loc);
}

/// `0xFF00(symbol)`, `0xFF(generic(symbol)+4)`: bytes of an address. PTX ISA, "Initializers", mask operator.
void ModuleParser::parse_address_bytes(Variable& v, uint64_t offset, const Constant& mask, SourceLoc loc) {
  const int low = std::countr_zero(mask.bits);
  const uint64_t bits = mask.bits == 0 ? 0 : mask.bits >> low;
  if (mask.kind != Operand::ImmKind::kInt || bits == 0 || low % 8 != 0 || (bits & (bits + 1)) != 0 ||
      type_bytes(v.type) > 8 || std::popcount(bits) % 8 != 0 ||
      std::popcount(bits) > 8 * type_bytes(v.type)) {
    fail(loc,
         fmt::format("the mask of an address must be whole bytes that fit a .{} element", type_name(v.type)),
         "such as 0xFF or 0xFF00");
  }
  take();
  if (token_.kind != Token::Kind::kIdentifier) fail_here("a variable or function name");
  Relocation r = parse_symbol_reference();
  expect(")", "after the masked address");
  r.offset = offset;
  r.bytes = static_cast<uint8_t>(type_bytes(v.type));
  r.mask = mask.bits;
  store_initial(v, offset, Constant{}, loc);
  v.relocations.push_back(std::move(r));
}

/// `symbol`, `symbol+4`, `generic(symbol)`, `generic(symbol)+4`.
Relocation ModuleParser::parse_symbol_reference() {
  const Token first = take();
  Relocation r;
  r.generic = first.text == "generic" && accept("(");
  r.symbol = r.generic ? expect_identifier("a variable or function name").text : first.text;
  if (r.generic) {
    if (at("+") || at("-")) r.addend = parse_offset();
    expect(")", "after generic(symbol");
  }
  if (at("+") || at("-")) r.addend += parse_offset();
  return r;
}

/// An address as initial value.
bool ModuleParser::parse_relocation(Variable& v, uint64_t offset) {
  const Token first = token_;
  Relocation r = parse_symbol_reference();
  const int bytes = type_bytes(v.type);
  if (bytes != 4 && bytes != 8) {
    fail(first.loc, fmt::format("an address does not fit a .{} element", type_name(v.type)));
  }
  r.offset = offset;
  r.bytes = static_cast<uint8_t>(bytes);
  store_initial(v, offset, Constant{}, first.loc);
  v.relocations.push_back(std::move(r));
  return true;
}

void ModuleParser::store_initial(Variable& v, uint64_t offset, const Constant& value, SourceLoc loc) {
  const auto bytes = static_cast<uint64_t>(type_bytes(v.type));
  const uint64_t end = offset + bytes;
  if (v.init.size() < end) {
    initial_bytes_ += end - v.init.size();
    if (initial_bytes_ > kMaxInitialBytes)
      fail(loc, fmt::format("more than {} bytes of initial values", kMaxInitialBytes));
    v.init.resize(end);
  }
  uint64_t bits = value.bits;
  const double number = value.kind == Operand::ImmKind::kF64 ? std::bit_cast<double>(bits)
                        : value.kind == Operand::ImmKind::kF32
                            ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                        : value.is_unsigned ? static_cast<double>(bits)
                                            : static_cast<double>(static_cast<int64_t>(bits));
  if (v.type == Type::kF32) {
    if (value.kind != Operand::ImmKind::kF32) bits = std::bit_cast<uint32_t>(static_cast<float>(number));
  } else if (v.type == Type::kF64) {
    bits = std::bit_cast<uint64_t>(number);
  } else if (value.kind != Operand::ImmKind::kInt && !(is_untyped(v.type) && bytes >= 4)) {
    fail(loc, fmt::format("a floating-point value cannot initialise a .{} variable", type_name(v.type)));
  }
  for (uint64_t i = 0; i < std::min<uint64_t>(bytes, 8); ++i)
    v.init[offset + i] = static_cast<std::byte>(bits >> (8 * i));
}

// --- constant expressions ---

namespace {

int precedence(std::string_view op) {
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "|") return 3;
  if (op == "^") return 4;
  if (op == "&") return 5;
  if (op == "==" || op == "!=") return 6;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return 7;
  if (op == "<<" || op == ">>") return 8;
  if (op == "+" || op == "-") return 9;
  if (op == "*" || op == "/" || op == "%") return 10;
  return 0;
}

double as_double(const Constant& c) {
  switch (c.kind) {
    case Operand::ImmKind::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(c.bits));
    case Operand::ImmKind::kF64:
      return std::bit_cast<double>(c.bits);
    case Operand::ImmKind::kInt:
      break;
  }
  return c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<int64_t>(c.bits));
}

uint64_t shift(uint64_t a, uint64_t n, bool left, bool is_unsigned) {
  if (left) return n >= 64 ? 0 : a << n;
  if (is_unsigned) return n >= 64 ? 0 : a >> n;
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> std::min<uint64_t>(n, 63));
}

/// Division and remainder; the divisor is not 0. INT64_MIN / -1 wraps.
uint64_t divide(uint64_t a, uint64_t b, bool remainder, bool is_unsigned) {
  if (is_unsigned) return remainder ? a % b : a / b;
  if (b == ~uint64_t{0}) return remainder ? 0 : 0 - a;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return static_cast<uint64_t>(remainder ? x % y : x / y);
}

bool compare(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  const bool less = is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return less;
  if (op == ">=") return !less;
  return op == "<=" ? less || a == b : !(less || a == b);
}

}  // namespace

Constant ModuleParser::apply_binary(std::string_view op, const Constant& a, const Constant& b,
                                    SourceLoc loc) const {
  Constant r;
  if (a.kind != Operand::ImmKind::kInt || b.kind != Operand::ImmKind::kInt) {
    const double x = as_double(a), y = as_double(b);
    double value = 0;
    if (op == "+")
      value = x + y;
    else if (op == "-")
      value = x - y;
    else if (op == "*")
      value = x * y;
    else if (op == "/")
      value = x / y;
    else
      fail(loc, fmt::format("operator '{}' needs integers", op));
    r.kind = Operand::ImmKind::kF64;
    r.bits = std::bit_cast<uint64_t>(value);
    return r;
  }
  r.is_unsigned = a.is_unsigned || b.is_unsigned;
  const uint64_t x = a.bits, y = b.bits;
  if (op == "+")
    r.bits = x + y;
  else if (op == "-")
    r.bits = x - y;
  else if (op == "*")
    r.bits = x * y;
  else if (op == "&")
    r.bits = x & y;
  else if (op == "|")
    r.bits = x | y;
  else if (op == "^")
    r.bits = x ^ y;
  else if (op == "&&")
    r.bits = x != 0 && y != 0;
  else if (op == "||")
    r.bits = x != 0 || y != 0;
  else if (op == "<<" || op == ">>") {
    r.is_unsigned = a.is_unsigned;
    r.bits = shift(x, y, op == "<<", a.is_unsigned);
  } else if (op == "/" || op == "%") {
    if (y == 0) fail(loc, "division by zero in a constant expression");
    r.bits = divide(x, y, op == "%", r.is_unsigned);
  } else {
    r.bits = compare(op, x, y, r.is_unsigned);
    r.is_unsigned = false;
  }
  return r;
}

Constant ModuleParser::parse_constant(int min_precedence, int depth) {
  if (depth > kMaxExpressionDepth) fail(token_.loc, "constant expression is nested too deeply");
  Constant left = parse_constant_unary(depth);
  for (;;) {
    const int p = token_.kind == Token::Kind::kPunctuation ? precedence(token_.text) : 0;
    if (p == 0 || p <= min_precedence) break;
    const Token op = take();
    left = apply_binary(op.text, left, parse_constant(p, depth + 1), op.loc);
  }
  if (min_precedence > 0 || !at("?")) return left;
  const SourceLoc loc = take().loc;
  if (left.kind != Operand::ImmKind::kInt) fail(loc, "the condition of '?' must be an integer");
  const Constant yes = parse_constant(0, depth + 1);
  expect(":", "in a conditional expression");
  const Constant no = parse_constant(0, depth + 1);
  return left.bits != 0 ? yes : no;
}

Constant ModuleParser::parse_constant_unary(int depth) {
  if (depth > kMaxExpressionDepth) fail(token_.loc, "constant expression is nested too deeply");
  if (!at("-") && !at("+") && !at("~") && !at("!")) return parse_constant_primary(depth);
  const Token op = take();
  Constant c = parse_constant_unary(depth + 1);
  if (op.text == "+") return c;
  if (op.text == "-") {
    switch (c.kind) {
      case Operand::ImmKind::kInt:
        c.bits = 0 - c.bits;
        break;
      case Operand::ImmKind::kF32:
        c.bits ^= uint64_t{1} << 31;
        break;
      case Operand::ImmKind::kF64:
        c.bits ^= uint64_t{1} << 63;
        break;
    }
    return c;
  }
  if (c.kind != Operand::ImmKind::kInt) fail(op.loc, fmt::format("operator '{}' needs an integer", op.text));
  c.bits = op.text == "~" ? ~c.bits : static_cast<uint64_t>(c.bits == 0);
  return c;
}

Constant ModuleParser::parse_constant_primary(int depth) {
  switch (token_.kind) {
    case Token::Kind::kInteger: {
      check_size(token_);
      const Token t = take();
      // A literal that needs the 64th bit is unsigned (PTX ISA, table of constant expression types).
      return {Operand::ImmKind::kInt, t.value, t.is_unsigned || (t.value >> 63) != 0};
    }
    case Token::Kind::kFloat32:
      return {Operand::ImmKind::kF32, take().value, false};
    case Token::Kind::kFloat64:
      return {Operand::ImmKind::kF64, take().value, false};
    case Token::Kind::kIdentifier:
      if (token_.text == "WARP_SZ") {
        take();
        return {Operand::ImmKind::kInt, kWarpSize, false};
      }
      break;
    case Token::Kind::kPunctuation:
      if (!accept("(")) break;
      if (at_name("s64") || at_name("u64")) {  // cast
        const bool is_unsigned = take().name() == "u64";
        expect(")", "after the type of a cast");
        Constant c = parse_constant_unary(depth + 1);
        if (c.kind != Operand::ImmKind::kInt)
          fail(token_.loc, "a cast in a constant expression needs an integer");
        c.is_unsigned = is_unsigned;
        return c;
      } else {
        const Constant c = parse_constant(0, depth + 1);
        expect(")", "in a constant expression");
        return c;
      }
    default:
      break;
  }
  fail_here("a constant");
}

/// `+ expression` or `- expression` behind an address; also `+-4`.
int64_t ModuleParser::parse_offset() {
  int64_t offset = 0;
  if (in_instruction_ && at("-")) fail(token_.loc, "an offset begins with '+'", "such as [%r1+-4]");
  while (at("+") || at("-")) {
    const Token sign = take();
    if (token_.kind == Token::Kind::kIdentifier && token_.text != "WARP_SZ") {
      fail(token_.loc, "an address has one register or variable and a constant offset");
    }
    const Constant c = parse_constant(9, 0);
    if (c.kind != Operand::ImmKind::kInt) fail(sign.loc, "an address offset must be an integer");
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) + (sign.text == "-" ? 0 - c.bits : c.bits));
  }
  return offset;
}

}  // namespace gpusim::isa
