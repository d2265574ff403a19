// Functions that a program uses and does not define. What counts as a use is what ptxas and nvlink
// (CUDA 13.0) refuse: initial values of all variables; of functions all bodies, or those that kernels reach;
// a list of call targets alone is no use.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "isa/ptx/linker.h"

namespace gpusim::isa {
namespace {

class Search {
 public:
  Search(const Module& module, const std::function<bool(std::string_view)>& of_system)
      : module_(module), of_system_(of_system) {}

  Diagnostics run(ProgramKind kind) {
    for (const Variable& v : module_.variables) visit_initial_value(v);
    for (const Function& f : module_.functions)
      if (kind == ProgramKind::kWhole || f.is_entry) reach(f);
    for (size_t i = 0; i < reached_.size(); ++i) visit(*reached_[i]);
    return std::move(errors_);
  }

 private:
  void reach(const Function& f) {
    if (!f.is_declaration && seen_.insert(f.name).second) reached_.push_back(&f);
  }

  void visit_initial_value(const Variable& v) {
    for (const Relocation& r : v.relocations) use(r.symbol, v.loc);
  }

  void visit(const Function& f) {
    const auto is_own = [&f](const std::string& name) {
      const auto declares = [&name](const std::vector<Variable>& list) {
        return std::ranges::find(list, name, &Variable::name) != list.end();
      };
      return declares(f.params) || declares(f.returns) || declares(f.variables);
    };
    const auto use_operand = [&](const Operand& o, const SourceLoc& loc) {
      if (o.kind != Operand::Kind::kLabel && !o.symbol.empty() && !is_own(o.symbol)) use(o.symbol, loc);
    };
    for (const Variable& v : f.variables) visit_initial_value(v);
    for (const Instruction& i : f.body) {
      for (const Operand& o : i.operands) {
        use_operand(o, i.loc);
        for (const Operand& e : o.elements) use_operand(e, i.loc);
      }
    }
  }

  void use(const std::string& name, const SourceLoc& loc) {
    const Function* const f = module_.find_function(name);
    if (f == nullptr) return;
    if (!f->is_declaration) return reach(*f);
    if (of_system_(name) || !seen_.insert(name).second) return;
    errors_.push_back({Diagnostic::Severity::kError, loc,
                       fmt::format("function '{}' is used here and defined nowhere", name),
                       "link the module with the one that defines it"});
  }

  const Module& module_;
  const std::function<bool(std::string_view)>& of_system_;
  std::vector<const Function*> reached_;
  std::unordered_set<std::string_view> seen_;
  Diagnostics errors_;
};

}  // namespace

Diagnostics unresolved_functions(const Module& module, ProgramKind kind,
                                 const std::function<bool(std::string_view)>& of_system) {
  return Search(module, of_system).run(kind);
}

}  // namespace gpusim::isa
