// Variable declarations. PTX ISA manual, section 5.4.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr size_t kMaxDimensions = 16;
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
  const SourceLoc loc = token_.loc;
  parse_attribute_list(&d);
  if (d.space != Space::kGlobal)
    fail(loc, fmt::format("a .{} variable has no attributes", space_name(d.space)), ".global variables have");
}

/// .managed is for variables only; .unified has the halves of a UUID. `variable` is null for a function.
void ModuleParser::parse_attribute_list(Declarator* variable) {
  take();
  expect("(", "after .attribute");
  do {
    const Token t = token_;
    constexpr int kFirstUnified = 90;
    if (variable != nullptr && accept_name("managed")) {
      variable->is_managed = true;
      continue;
    }
    if (!accept_name("unified"))
      fail_here(variable != nullptr ? "the attribute .managed or .unified" : "the attribute .unified");
    if (module_.target_sm < kFirstUnified)
      fail(t.loc, fmt::format("'.unified' needs .target sm_{} or higher", kFirstUnified));
    expect("(", "after .unified");
    expect_integer("the first half of a UUID");
    expect(",", "between the halves of a UUID");
    expect_integer("the second half of a UUID");
    expect(")", "after the UUID");
  } while (accept(","));
  expect(")", "after the attributes");
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
  constexpr int kFirstWithPairs = 53;
  if (d.type == Type::kF16x2 && module_.target_sm != 0 && module_.target_sm < kFirstWithPairs)
    fail(loc, fmt::format("type .f16x2 needs .target sm_{} or higher", kFirstWithPairs));
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
  v.is_managed = d.is_managed;
  v.align = d.align != 0 ? d.align : static_cast<uint64_t>(type_bytes(d.type)) * d.vector;
  if (!at("<")) parse_dimensions(v);
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
    const std::string_view name = token_.text;
    for (Variable& v : parse_variables(d)) {
      module_names_.insert(kept_name(v, name));
      module_.variables.push_back(std::move(v));
    }
  } while (accept(","));
  expect_semicolon();
}

/// The name of a variable that stands behind `written`, or is of its range, for as long as the parser lasts.
std::string_view ModuleParser::kept_name(const Variable& v, std::string_view written) {
  return v.name == written ? written : std::string_view(range_names_.emplace_back(v.name));
}

/// name, with an initialiser or dimensions, or name<n> for name0 to name(n-1), which have neither (PTX ISA,
/// "Parameterized Variable Names").
std::vector<Variable> ModuleParser::parse_variables(const Declarator& d) {
  constexpr uint64_t kMost = 65536;
  std::vector<Variable> variables{parse_variable(d)};
  Variable& v = variables.front();
  if (!accept("<")) {
    if (accept("="))
      parse_initialiser(v);
    else
      require_size(v);
    return variables;
  }
  const SourceLoc loc = token_.loc;
  const uint64_t count = expect_integer("a number of variables");
  expect(">", "after the number of variables");
  if (count == 0 || count > kMost) fail(loc, fmt::format("a number of variables from 1 to {}", kMost));
  const std::string prefix = v.name;
  variables.resize(count, v);
  for (size_t i = 0; i < count; ++i) variables[i].name = fmt::format("{}{}", prefix, i);
  return variables;
}

}  // namespace gpusim::isa
