// Functions: signature, directives, scopes, declarations inside a body. PTX ISA manual, sections
// 7, 11.2, 11.4.
#include <fmt/format.h>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr std::string_view kBodyDirectives[] = {"reg",     "local",         "shared",        "param",
                                                "global",  "const",         "loc",           "pragma",
                                                "section", "branchtargets", "callprototype", "calltargets"};

constexpr std::string_view kLaunchDirectives[] = {
    "maxntid",        "reqntid",         "reqnctapercluster", "maxnreg", "minnctapersm",
    "maxclusterrank", "explicitcluster", "blocksareclusters", "pragma",  "noreturn"};

}  // namespace

/// Of ranges, and of what each function has of the module's registers. Others are as many as the text has.
void ModuleParser::check_register_budget(uint64_t count, SourceLoc loc) {
  if (count > kMaxRegisters || registers_ + count > kMaxRegisters) {
    fail(loc, fmt::format("more than {} registers in the file", kMaxRegisters));
  }
  registers_ += count;
}

void ModuleParser::parse_function(bool is_entry, Linkage linkage, SourceLoc loc) {
  Function f;
  f.is_entry = is_entry;
  f.linkage = linkage;
  FunctionScopes scopes(f, module_names_);
  scopes_ = &scopes;
  // Whatever way this function is left, no later error handling may touch it.
  struct Reset {
    ModuleParser& parser;
    ~Reset() {
      parser.scopes_ = nullptr;
      parser.function_ = nullptr;
    }
  } reset{*this};
  while (!is_entry && at_name("attribute")) parse_attribute_list(nullptr);
  if (at("(")) {
    if (is_entry) fail(token_.loc, "an .entry has no return value");
    parse_parameters(f, f.returns, f.return_registers, "return value");
  }
  const Token name = expect_identifier(is_entry ? "the kernel's name" : "the function's name");
  f.name = name.text;
  f.loc = name.loc.line != 0 ? name.loc : loc;
  if (at("(")) parse_parameters(f, f.params, f.param_registers, "parameter");
  while (token_.kind == Token::Kind::kDotName && parse_function_directive(f)) {
  }
  module_names_.insert(name.text);
  check_launch_bounds(f);
  // The compilers of PTX 1.x to 3.x wrote prototypes of functions without `;`.
  const bool next_item =
      !is_entry && (token_.kind == Token::Kind::kDotName || token_.kind == Token::Kind::kEnd);
  if (next_item || accept(";")) {
    f.is_declaration = true;
  } else if (at("{")) {
    function_ = &f;
    lacks_registers_ = false;
    declare_module_registers();
    parse_body();
    while (scopes.depth() > 0) scopes.close();
  } else {
    fail_here("'{' or ';' after the function's header");
  }
  function_ = nullptr;
  module_.functions.push_back(std::move(f));
}

void ModuleParser::parse_parameters(Function& f, std::vector<Variable>& list,
                                    std::vector<RegisterId>& registers, std::string_view what) {
  take();
  if (accept(")")) return;
  do {
    if (token_.kind != Token::Kind::kDotName)
      fail_here(fmt::format("a {} such as '.param .u32 x', or ')'", what));
    const Token space_token = take();
    const Space space = space_from_name(space_token.name());
    if (space != Space::kParam && (space != Space::kReg || f.is_entry)) {
      fail(space_token.loc, fmt::format("a {} cannot be in '.{}'", what, space_token.name().substr(0, 80)),
           f.is_entry ? "kernel parameters are .param" : "it is .param or .reg");
    }
    const Declarator d = parse_declarator(space, Linkage::kInternal,
                                          f.is_entry ? Place::kKernelParameter : Place::kFunctionParameter);
    const Token name = token_;
    Variable v = parse_variable(d);
    if (space == Space::kReg) {
      const RegisterId id = scopes_->declare_register(name.text, d.type, d.vector);
      if (id == kNoRegister && name.text != "_")
        fail(name.loc, fmt::format("{} '{}' is declared twice", what, v.name));
      registers.push_back(id);
    } else if (name.text != "_" && !scopes_->declare_variable(name.text)) {
      fail(name.loc, fmt::format("{} '{}' is declared twice", what, v.name));
    } else if (name.text != "_" && module_names_.count(name.text) != 0) {
      v.name = *scopes_->find_variable(name.text);
    }
    if (space == Space::kParam && name.text == "_")
      fail(name.loc, fmt::format("a .param {} needs a name", what));
    const bool is_return = &list == &f.returns;
    if (is_return && !v.dims.empty() && v.dims[0] == 0)
      fail(name.loc, fmt::format("return value '{}' has no size", v.name.substr(0, 80)));
    if (is_return && space == Space::kParam && !list.empty())
      fail(name.loc, "several return values must be .reg");
    list.push_back(std::move(v));
  } while (accept(","));
  expect(")", fmt::format("after the {}s", what));
}

/// False at the next item of the module, behind a prototype without `;`.
bool ModuleParser::parse_function_directive(Function& f) {
  const Token t = token_;
  const std::string_view name = t.name();
  if (name == "loc") {
    parse_loc();
    return true;
  }
  if (!f.is_entry && is_module_directive(name)) return false;
  take();
  if (f.is_entry && parse_launch_directive(f, t)) return true;
  if (!f.is_entry && (name == "abi_preserve" || name == "abi_preserve_control")) {
    expect_integer("a number");
    return true;
  }
  if (!f.is_entry && name == "noreturn") return true;
  NearestName nearest(name);
  for (const std::string_view n : kLaunchDirectives) nearest.consider(n);
  const bool known = nearest.best() == name;
  fail(t.loc,
       known ? fmt::format("'.{}' is not for {}", name, f.is_entry ? "kernels" : "functions")
             : fmt::format("unknown function directive '.{}'", name.substr(0, 80)),
       known || nearest.best().empty() ? "" : fmt::format("did you mean '.{}'?", nearest.best()));
}

/// Directives of kernels; false if it is none.
bool ModuleParser::parse_launch_directive(Function& f, const Token& t) {
  const std::string_view name = t.name();
  const bool cluster = name == "reqnctapercluster" || name == "explicitcluster" || name == "maxclusterrank" ||
                       name == "blocksareclusters";
  constexpr int kFirstWithClusters = 90;
  if (cluster && module_.target_sm < kFirstWithClusters)
    fail(t.loc, fmt::format("'.{}' needs .target sm_{} or higher", name, kFirstWithClusters));
  if (name == "reqntid" && version() < 201) fail(t.loc, "'.reqntid' came with PTX 2.1");
  if (name == "minnctapersm" && version() < 200)
    fail(t.loc, "'.minnctapersm' came with PTX 2.0", "use .maxnctapersm");
  if (name == "maxntid" || name == "reqntid" || name == "reqnctapercluster") {
    uint32_t* sizes = name == "maxntid" ? f.maxntid : name == "reqntid" ? f.reqntid : f.cluster;
    for (int i = 0; i < 3; ++i) sizes[i] = 1;
    for (int i = 0; i == 0 || (i < 3 && accept(",")); ++i)
      sizes[i] = expect_count(name == "reqnctapercluster" ? "a number of blocks" : "a number of threads",
                              name == "reqnctapercluster");
  } else if (name == "maxnreg") {
    f.maxnreg = expect_count("a number of registers", false);
  } else if (name == "minnctapersm") {
    f.minnctapersm = expect_count("a number of blocks", false);
  } else if (name == "maxnctapersm") {
    if (version() > 200) fail(t.loc, "'.maxnctapersm' ended with PTX 2.0", "use .minnctapersm");
    const SourceLoc loc = token_.loc;
    if (expect_integer("a number of blocks") == 0 && version() < 200)
      fail(loc, "expected a number of blocks above 0");
  } else if (name == "maxclusterrank") {
    f.max_cluster = static_cast<uint32_t>(std::min<uint64_t>(expect_integer("a number of blocks"), ~0u));
  } else if (name == "pragma") {
    do {
      if (token_.kind != Token::Kind::kString) fail_here("a string in quotes");
      take();
    } while (accept(","));
    expect_semicolon();
  } else {
    f.explicit_cluster = f.explicit_cluster || name == "explicitcluster";
    f.blocks_are_clusters = f.blocks_are_clusters || name == "blocksareclusters";
    return name == "explicitcluster" || name == "blocksareclusters";
  }
  return true;
}

uint32_t ModuleParser::expect_count(std::string_view what, bool may_be_zero) {
  const SourceLoc loc = token_.loc;
  const uint64_t count = expect_integer(what);
  if (count == 0 && !may_be_zero) fail(loc, fmt::format("expected {} above 0", what));
  return static_cast<uint32_t>(std::min<uint64_t>(count, ~0u));
}

void ModuleParser::check_launch_bounds(const Function& f) const {
  if (f.maxntid[0] != 0 && f.reqntid[0] != 0) fail(f.loc, "a kernel has .maxntid or .reqntid, not both");
}

/// The body with its nested scopes; iterative, so depth costs no stack.
void ModuleParser::parse_body() {
  const SourceLoc open = take().loc;
  const size_t outside = scopes_->depth();
  scopes_->open();
  source_ = inlined_ = {};
  inlined_at_.clear();
  while (scopes_->depth() > outside) {
    if (too_many_errors()) return;
    if (token_.kind == Token::Kind::kEnd) {
      report({open,
              fmt::format("the body of '{}' is not closed, expected '}}'", function_->name.substr(0, 80)),
              {}});
      return;
    }
    if (accept("}")) {
      scopes_->close();
      continue;
    }
    const uint32_t start = token_.begin;
    brace_depth_ = 0;
    const bool declares_registers = at_name("reg");
    try {
      parse_scope_item();
    } catch (const SyntaxError& e) {
      report(e);
      lacks_registers_ |= declares_registers;
      skip_statement();
      if (token_.begin == start && !at("}") && token_.kind != Token::Kind::kEnd) take();
    }
  }
}

void ModuleParser::parse_scope_item() {
  if (at("{")) {
    if (scopes_->depth() > kMaxScopeDepth)
      fail(token_.loc, fmt::format("scopes are nested deeper than {}", kMaxScopeDepth));
    take();
    scopes_->open();
    return;
  }
  if (token_.kind == Token::Kind::kIdentifier && ahead_.is(":")) return parse_label_or_table();
  if (token_.kind != Token::Kind::kDotName) return parse_instruction();
  if (at_name("reg")) return declare_registers();
  if (at_name("loc")) return parse_loc();
  if (at_name("pragma")) return parse_pragma();
  if (at_name("section")) return parse_section();
  if (at_name("target")) return parse_target();
  const Token t = token_;
  if (parse_linkage() != Linkage::kInternal)
    fail(t.loc, fmt::format("'{}' is for what stands outside functions", t.text));
  const Space space = space_from_name(t.name());
  if (space != Space::kNone && space != Space::kSreg && space != Space::kTex && space != Space::kReg) {
    take();
    return parse_local_variables(space);
  }
  NearestName nearest(t.name());
  for (const std::string_view d : kBodyDirectives) nearest.consider(d);
  if (t.name() == "branchtargets" || t.name() == "callprototype" || t.name() == "calltargets")
    fail(t.loc, fmt::format("'.{}' needs a label", t.name()), fmt::format("label: .{} ...", t.name()));
  fail(t.loc, fmt::format("unknown directive '.{}'", t.name().substr(0, 80)),
       nearest.best().empty() ? "" : fmt::format("did you mean '.{}'?", nearest.best()));
}

void ModuleParser::declare_registers() {
  take();
  const Declarator d = parse_declarator(Space::kReg, Linkage::kInternal, Place::kBody);
  do {
    declare_register_name(d);
  } while (accept(","));
  expect_semicolon();
}

void ModuleParser::parse_module_registers() {
  const Token directive = take();
  if (has_abi())
    fail(directive.loc, "registers cannot be declared outside functions", "up to PTX 2.3 they can");
  const Declarator d = parse_declarator(Space::kReg, Linkage::kInternal, Place::kModule);
  do {
    const Token name = expect_identifier("a register name");
    ModuleRegister r{name.text, 0, d.type, d.vector};
    if (accept("<")) {
      const SourceLoc loc = token_.loc;
      const uint64_t count = expect_integer("a number of registers");
      expect(">", "after the number of registers");
      if (count == 0 || count > kMaxRegisters)
        fail(loc, fmt::format("a number of registers from 1 to {}", kMaxRegisters));
      r.count = static_cast<uint32_t>(count);
    }
    module_registers_.push_back(r);
  } while (accept(","));
  expect_semicolon();
}

void ModuleParser::declare_module_registers() {
  for (const ModuleRegister& r : module_registers_) {
    check_register_budget(std::max(1u, r.count), token_.loc);
    if (r.count == 0) {
      scopes_->declare_register(r.name, r.type, r.vector);
    } else {
      scopes_->declare_register_range(r.name, r.count, r.type, r.vector);
    }
  }
}

void ModuleParser::declare_register_name(const Declarator& d) {
  const Token name = expect_identifier("a register name");
  if (accept("<")) {
    const SourceLoc loc = token_.loc;
    const uint64_t count = expect_integer("a number of registers");
    expect(">", "after the number of registers");
    if (count > kMaxRange) fail(loc, fmt::format("more than {} registers in a range", kMaxRange));
    const bool sparse = registers_ + count > kMaxRegisters;
    if (!sparse) check_register_budget(count, loc);
    if (!scopes_->declare_register_range(name.text, static_cast<uint32_t>(count), d.type, d.vector, sparse)) {
      fail(name.loc, fmt::format("registers '{}<..>' are declared twice in this scope", name.text));
    }
    return;
  }
  if (scopes_->declare_register(name.text, d.type, d.vector) == kNoRegister) {
    fail(name.loc, fmt::format("register '{}' is declared twice in this scope", name.text));
  }
}

/// Before PTX 2.0 a kernel without a parameter list may declare its parameters at the top of its body.
bool ModuleParser::declares_parameters(Space space) const {
  constexpr size_t kBodyDepth = 2;  // the scope of the parameters and that of the body
  return space == Space::kParam && function_->is_entry && module_.version_major < 2 &&
         scopes_->depth() == kBodyDepth;
}

void ModuleParser::parse_local_variables(Space space) {
  const Declarator d = parse_declarator(space, Linkage::kInternal, Place::kBody);
  do {
    const std::string_view name = token_.text;
    for (Variable& v : parse_variables(d)) {
      const std::optional<std::string> unique = scopes_->declare_variable(kept_name(v, name));
      if (!unique) fail(v.loc, fmt::format("variable '{}' is declared twice in this scope", v.name));
      v.name = *unique;
      (declares_parameters(space) ? function_->params : function_->variables).push_back(std::move(v));
    }
  } while (accept(","));
  expect_semicolon();
}

/// .loc file line column [, function_name label[+n], inlined_at file line column]; no `;`.
void ModuleParser::parse_loc() {
  take();
  source_ = inlined_ = {};
  source_.file = static_cast<uint32_t>(expect_integer("a file number"));
  source_.line = static_cast<uint32_t>(expect_integer("a line number"));
  if (token_.kind == Token::Kind::kInteger) source_.column = static_cast<uint32_t>(take().value);
  while (accept(",")) {
    const Token keyword = expect_identifier("function_name or inlined_at");
    if (keyword.text == "function_name") {
      expect_identifier("a label");
      if (accept("+")) expect_integer("an offset");
    } else if (keyword.text == "inlined_at") {
      for (uint32_t SourcePlace::*part : {&SourcePlace::file, &SourcePlace::line, &SourcePlace::column})
        inlined_.*part = static_cast<uint32_t>(expect_integer("file, line and column"));
    } else {
      fail(keyword.loc,
           fmt::format("expected function_name or inlined_at, found '{}'", keyword.text.substr(0, 80)));
    }
  }
  if (inlined_.file == 0) return;
  // The call may stand in a function that is inlined itself: a .loc of the call has said where.
  if (const auto outer = inlined_at_.find(inlined_); outer != inlined_at_.end()) inlined_ = outer->second;
  inlined_at_[source_] = inlined_;
}

void ModuleParser::set_source(Instruction& i) const {
  i.source_file = source_.file;
  i.source_line = source_.line;
  i.inlined_file = inlined_.file;
  i.inlined_line = inlined_.line;
}

void ModuleParser::parse_label_or_table() {
  const Token name = take();
  take();  // the colon
  const bool is_targets = at_name("branchtargets") || at_name("calltargets");
  if (!is_targets && !at_name("callprototype")) {
    if (!scopes_->declare_label(name.text, static_cast<uint32_t>(function_->body.size()), name.loc)) {
      fail(name.loc, fmt::format("label '{}' is declared twice in this scope", name.text.substr(0, 80)));
    }
    return;
  }
  const std::string_view directive = take().name();
  const bool branches = directive == "branchtargets";
  const std::optional<std::string> unique = scopes_->declare_table(name.text);
  if (!unique)
    fail(name.loc, fmt::format("label '{}' is declared twice in this scope", name.text.substr(0, 80)));
  LabelTable table;
  table.name = *unique;
  table.kind = branches     ? LabelTable::Kind::kBranchTargets
               : is_targets ? LabelTable::Kind::kCallTargets
                            : LabelTable::Kind::kCallPrototype;
  if (!is_targets) {
    parse_call_prototype(table);
    function_->tables.push_back(std::move(table));
    return;
  }
  const auto index = static_cast<uint32_t>(function_->tables.size());
  std::vector<std::string_view> names;
  do {
    names.push_back(expect_identifier(branches ? "a label" : "a function name").text);
    table.targets.emplace_back(names.back());
  } while (accept(","));
  expect_semicolon();
  function_->tables.push_back(std::move(table));
  for (uint32_t i = 0; branches && i < names.size(); ++i) scopes_->refer_label_in_table(names[i], index, i);
}

/// .callprototype (returns) _ (parameters) [.noreturn]
void ModuleParser::parse_call_prototype(LabelTable& table) {
  if (at("(")) parse_prototype_list(table.returns);
  expect_identifier("'_' in the prototype");
  if (at("(")) parse_prototype_list(table.params);
  while (token_.kind == Token::Kind::kDotName) {
    take();
    if (token_.kind == Token::Kind::kInteger) take();
  }
  expect_semicolon();
}

void ModuleParser::parse_prototype_list(std::vector<Variable>& list) {
  take();
  if (accept(")")) return;
  do {
    const Token space = token_;
    if (space.kind != Token::Kind::kDotName) fail_here("a parameter such as '.param .u32 _', or ')'");
    take();
    const Space where = space_from_name(space.name());
    if (where != Space::kParam && where != Space::kReg) {
      fail(space.loc, fmt::format("a parameter cannot be in '.{}'", space.name().substr(0, 80)),
           "it is .param or .reg");
    }
    list.push_back(parse_variable(parse_declarator(where, Linkage::kInternal, Place::kFunctionParameter)));
  } while (accept(","));
  expect(")", "after the parameters of the prototype");
}

}  // namespace gpusim::isa
