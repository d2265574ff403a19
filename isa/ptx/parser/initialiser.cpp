// Initial values of variables. PTX ISA manual, section 5.4.4.
#include <fmt/format.h>

#include <bit>

#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {

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
  } else if (value.kind != Operand::ImmKind::kInt && !is_untyped(v.type)) {
    fail(loc, fmt::format("a floating-point value cannot initialise a .{} variable", type_name(v.type)));
  }
  for (uint64_t i = 0; i < std::min<uint64_t>(bytes, 8); ++i)
    v.init[offset + i] = static_cast<std::byte>(bits >> (8 * i));
}

}  // namespace gpusim::isa
