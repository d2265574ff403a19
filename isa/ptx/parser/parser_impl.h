// The parser's class, private to isa/ptx/parser/parser*.cpp: module level (parser.cpp), variables
// (parser_variable.cpp), initial values (parser_initialiser.cpp), constants (parser_constant.cpp), functions
// (parser_function.cpp), statements and operands (parser_statement.cpp), statements that operands imply
// (parser_implied.cpp). An error inside a statement or declaration is thrown as SyntaxError and caught where
// the parser can go on.
#pragma once
#include <compare>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "isa/ptx/modifiers.h"
#include "isa/ptx/module.h"
#include "isa/ptx/parser/lexer.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/scopes.h"

namespace gpusim::isa {

struct SyntaxError {
  SourceLoc loc;
  std::string message;
  std::string hint;
  bool follows = false;  ///< from an error that is reported already: nothing to tell
};

/// A constant expression's value, as an operand holds it.
struct Constant {
  Operand::ImmKind kind = Operand::ImmKind::kInt;
  uint64_t bits = 0;
  bool is_unsigned = false;
};

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text);
  ParseResult parse();

 private:
  // Tokens
  Token take();
  [[nodiscard]] bool at(std::string_view punctuation) const { return token_.is(punctuation); }
  [[nodiscard]] bool at_name(std::string_view dot_name) const {
    return token_.kind == Token::Kind::kDotName && token_.name() == dot_name;
  }
  bool accept(std::string_view punctuation);
  bool accept_name(std::string_view dot_name);
  void expect(std::string_view punctuation, std::string_view where);
  void expect_semicolon();
  Token expect_identifier(std::string_view what);
  uint64_t expect_integer(std::string_view what);
  [[noreturn]] void fail(SourceLoc loc, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail_here(std::string_view expected) const;
  [[noreturn]] void fail_undefined_register(const Token& name) const;
  void report(const SyntaxError& e);
  [[nodiscard]] bool too_many_errors() const { return diagnostics_.size() >= kMaxDiagnostics; }
  void skip_statement();
  void skip_braces();

  // Module level
  void parse_item();
  void parse_version();
  void parse_target();
  void parse_target_option(const Token& name);
  void parse_address_size();
  void parse_file();
  void parse_section();
  void parse_pragma();
  void note_used_bytes(std::string_view pragma);
  void parse_alias();
  void parse_linked_item();
  [[nodiscard]] Linkage parse_linkage();
  void require_version(SourceLoc loc);

  // Variables
  /// Where a declaration stands.
  enum class Place : uint8_t { kModule, kBody, kKernelParameter, kFunctionParameter };
  struct Declarator {
    Place place = Place::kModule;
    Space space = Space::kNone;
    Type type = Type::kNone;
    uint8_t vector = 1;
    uint64_t align = 0;
    bool is_pointer = false;
    bool is_managed = false;
    Linkage linkage = Linkage::kInternal;
  };
  [[nodiscard]] static Space space_from_name(std::string_view name);
  /// PTX 3.0 brought calls with a stack; before it, registers and local variables may stand outside
  /// functions.
  [[nodiscard]] bool has_abi() const { return module_.version_major >= 3; }
  [[nodiscard]] int version() const { return module_.version_major * 100 + module_.version_minor; }
  Declarator parse_declarator(Space space, Linkage linkage, Place place);
  void parse_alignment(Declarator& d);
  void parse_attribute(Declarator& d);
  void parse_attribute_list(Declarator* variable);
  void parse_element_type(Declarator& d);
  void parse_pointer_attribute(Declarator& d);
  void check_element_type(const Declarator& d, SourceLoc loc) const;
  Variable parse_variable(const Declarator& d);
  std::vector<Variable> parse_variables(const Declarator& d);
  std::string_view kept_name(const Variable& v, std::string_view written);
  void parse_dimensions(Variable& v);
  void check_dimensions(const Variable& v, Place place) const;
  void compute_size(Variable& v, SourceLoc loc);
  void require_size(const Variable& v) const;
  void parse_initialiser(Variable& v);
  void parse_initial_level(Variable& v, size_t level, uint64_t offset, uint64_t& end);
  void parse_initial_value(Variable& v, uint64_t offset);
  void store_initial(Variable& v, uint64_t offset, const Constant& value, SourceLoc loc);
  Relocation parse_symbol_reference();
  void parse_address_bytes(Variable& v, uint64_t offset, const Constant& mask, SourceLoc loc);
  bool parse_relocation(Variable& v, uint64_t offset);
  void parse_module_variables(Space space, Linkage linkage, uint64_t align);

  // Functions
  void parse_function(bool is_entry, Linkage linkage, SourceLoc loc);
  void parse_parameters(Function& f, std::vector<Variable>& list, std::vector<RegisterId>& registers,
                        std::string_view what);
  bool parse_function_directive(Function& f);
  bool parse_launch_directive(Function& f, const Token& t);
  uint32_t expect_count(std::string_view what, bool may_be_zero);
  void check_launch_bounds(const Function& f) const;
  [[nodiscard]] static bool is_module_directive(std::string_view name);
  void parse_body();
  void parse_scope_item();
  void declare_registers();
  void declare_register_name(const Declarator& d);
  void parse_module_registers();
  void declare_module_registers();
  void parse_local_variables(Space space);
  [[nodiscard]] bool declares_parameters(Space space) const;
  void parse_loc();
  /// Where it stands in the source.
  void set_source(Instruction& i) const;
  void parse_label_or_table();
  void parse_call_prototype(LabelTable& table);
  void parse_prototype_list(std::vector<Variable>& list);
  void check_register_budget(uint64_t count, SourceLoc loc);

  // Statements
  void parse_instruction();
  void parse_guard(Instruction& i);
  void parse_opcode_token(Instruction& i);
  void parse_modifier_error(const Instruction& i, const Token& token, ModifierFit fit);
  void parse_operands(Instruction& i);
  void note_label_references(const Instruction& i);
  [[nodiscard]] std::string statement_text(uint32_t begin, uint32_t end) const;

  // Operands
  Operand parse_operand(Opcode op, int depth);
  Operand parse_address(Opcode op, int depth);
  Operand parse_vector(Opcode op, int depth);
  Operand parse_call_list(Opcode op, int depth);
  Operand parse_name_operand(Opcode op);
  Operand parse_register_operand(Opcode op, const Token& name, RegisterId id);
  Operand parse_symbol_operand(const Token& name);
  void parse_component(Opcode op, Operand& o, const Token& name);
  bool parse_special(const Token& name, Operand& o);
  RegisterId parse_register(std::string_view what);
  int64_t parse_offset();
  void check_size(const Token& integer) const;

  // Implied statements
  RegisterId add_implied(const Instruction& i, Instruction made, Type type);
  void parse_register_sum(Operand& o);
  void parse_index(Opcode op, Operand& o);
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
  void add_implied_statements(Instruction& i);
  void add_index(const Instruction& i, Operand& o);
  [[noreturn]] void fail_undeclared_array(const Operand& o) const;
  void check_space_of_element(const Instruction& i, const Operand& o);
  void add_sum(const Instruction& i, Operand& o);
  void widen_address(const Instruction& i, Operand& o);
  void convert_stored(const Instruction& i, Operand& o);

  // Constant expressions
  Constant parse_constant(int min_precedence = 0, int depth = 0);
  Constant parse_constant_unary(int depth);
  Constant parse_constant_primary(int depth);
  Constant apply_binary(std::string_view op, const Constant& a, const Constant& b, SourceLoc loc) const;

  std::string_view text_;
  Diagnostics diagnostics_;
  Lexer lexer_;
  Token token_, ahead_, previous_;
  Module module_;
  std::unordered_set<std::string_view> module_names_;  // variables and functions, names inside the text
  std::deque<std::string> range_names_;                // or here: those of name<n>
  Function* function_ = nullptr;
  FunctionScopes* scopes_ = nullptr;
  /// PTX 1.x has registers outside functions; every function gets its own.
  struct ModuleRegister {
    std::string_view name;
    uint32_t count;  // 0: a single register, not a range
    Type type;
    uint8_t vector;
  };
  std::vector<ModuleRegister> module_registers_;
  uint64_t registers_ = 0;        // declared in the module so far
  uint64_t initial_bytes_ = 0;    // of all initialisers so far
  bool lacks_registers_ = false;  // a .reg of the current function was in error: who knows which it declared
  int brace_depth_ = 0;           // vector braces open in the current statement
  bool has_version_ = false;
  enum class Header : uint8_t { kNone, kVersion, kTarget, kBody };
  Header header_ = Header::kNone;  // what stands before the next directive
  bool reported_version_ = false;
  /// A place in the source, of .loc.
  struct SourcePlace {
    uint32_t file = 0, line = 0, column = 0;
    auto operator<=>(const SourcePlace&) const = default;
  };
  SourcePlace source_;   // of the statements that follow; file 0: none
  SourcePlace inlined_;  // where the outermost function that is inlined there is called; file 0: none
  std::map<SourcePlace, SourcePlace> inlined_at_;  // of places in the function, where they were inlined
  std::string_view texture_mode_;                  // of .target
  SourceLoc debug_{0, 0};                          // of .target debug
  bool has_sections_ = false;
  bool in_instruction_ = false;
  std::string_view unsupported_operand_;  // of the current instruction: well-formed, not executed yet
  uint32_t unused_bytes_ = 0;             // of the next instruction
  bool no_unroll_ = false;                // of the next instruction
};

}  // namespace gpusim::isa
