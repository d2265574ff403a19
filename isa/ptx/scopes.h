// Names of one function while it is parsed: nested `{ }` scopes with shadowing. Registers, variables and
// labels of inner scopes get names that are unique in the function ("name@2"), so that the parsed form needs
// no scopes. A range
// `%r<1000>` is one entry here. PTX ISA manual, section 4.4 (identifiers), 5.2 (scoping of .reg and
// variables).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/ptx/module.h"

namespace gpusim::isa {

class FunctionScopes {
 public:
  /// `is_global` tells whether a name is a module-level symbol (an inner variable of that name is renamed).
  FunctionScopes(Function& function, const std::unordered_set<std::string_view>& module_names);

  void open();
  /// Resolves the label references of the innermost scope; what it does not define goes to the scope outside.
  void close();
  [[nodiscard]] size_t depth() const { return levels_.size(); }

  /// kNoRegister if the scope has that name already. `name` must outlive the scopes.
  RegisterId declare_register(std::string_view name, Type type, uint8_t vector);
  /// name0 .. name<count-1>; false if the scope has that range already. The registers of a `sparse` range
  /// come into being when they are named first.
  bool declare_register_range(std::string_view prefix, uint32_t count, Type type, uint8_t vector,
                              bool sparse = false);
  [[nodiscard]] RegisterId find_register(std::string_view name);
  /// Hint for a name that find_register() does not know.
  [[nodiscard]] std::string hint_for_register(std::string_view name) const;

  /// The unique name of a new variable; nothing if the scope has that name already.
  std::optional<std::string> declare_variable(std::string_view name);
  /// Unique name of a visible function-scope variable, null if there is none.
  [[nodiscard]] const std::string* find_variable(std::string_view name) const;

  /// A label before statement `statement`; false if the scope has it already.
  bool declare_label(std::string_view name, uint32_t statement, SourceLoc loc);
  /// A label table (.branchtargets, .callprototype) by its label; the unique name, nothing if it exists
  /// already.
  std::optional<std::string> declare_table(std::string_view name);
  /// Operand `operand` of statement `statement` names a label.
  void refer_label(std::string_view name, uint32_t statement, uint32_t operand);
  /// Target `target` of Function::tables[table] names a label.
  void refer_label_in_table(std::string_view name, uint32_t table, uint32_t target);

 private:
  struct Range {
    RegisterId first;  // kNoRegister of a sparse range
    uint32_t count;
    Type type;
    uint8_t vector;
  };
  struct Found {
    RegisterId id;  // kNoRegister: a register of `sparse` that has not been named yet
    const Range* sparse = nullptr;
  };
  struct LabelReference {
    std::string name;
    bool in_table;
    uint32_t owner;  // statement or table
    uint32_t index;  // operand or target
  };
  struct Level {
    std::unordered_map<std::string_view, RegisterId> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, std::string> variables;
    std::unordered_map<std::string_view, std::string> labels;
    std::vector<LabelReference> references;
  };
  [[nodiscard]] bool is_taken(std::string_view name) const;
  static std::optional<Found> find_in(const Level& level, std::string_view name);
  std::string unique(std::string_view name, std::unordered_set<std::string>& used, bool taken);

  Function& function_;
  const std::unordered_set<std::string_view>& module_names_;
  std::vector<Level> levels_;
  std::unordered_set<std::string> used_variables_, used_labels_;
  std::unordered_map<std::string_view, uint32_t> next_suffix_;
};

}  // namespace gpusim::isa
