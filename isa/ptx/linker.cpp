#include "isa/ptx/linker.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace gpusim::isa {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

/// How strong a definition is; of two the stronger stays.
int strength(const Function& f) { return f.is_declaration ? 0 : f.linkage == Linkage::kWeak ? 2 : 3; }
int strength(const Variable& v) {
  switch (v.linkage) {
    case Linkage::kExtern:
      return 0;
    case Linkage::kCommon:
      return 1;
    case Linkage::kWeak:
      return 2;
    default:
      return 3;
  }
}

void place(SourceLoc& loc, uint32_t file) { loc.file = file; }

/// Every position and source file number of a module, for messages.
void mark(Module& module, uint32_t file, uint32_t first_source) {
  for (Variable& v : module.variables) place(v.loc, file);
  for (Module::Alias& a : module.aliases) place(a.loc, file);
  for (Function& f : module.functions) {
    place(f.loc, file);
    for (auto* list : {&f.params, &f.returns, &f.variables}) {
      for (Variable& v : *list) place(v.loc, file);
    }
    for (Instruction& i : f.body) {
      place(i.loc, file);
      if (i.source_file != 0) i.source_file += first_source;
      if (i.inlined_file != 0) i.inlined_file += first_source;
      for (Operand& o : i.operands) {
        place(o.loc, file);
        for (Operand& e : o.elements) place(e.loc, file);
      }
    }
  }
}

void rename(std::string& name, const Renames& renames) {
  if (const auto it = renames.find(name); it != renames.end()) name = it->second;
}

void rename_function(Function& f, const Renames& all) {
  Renames renames = all;  // a function's own names hide the module's
  for (const auto* list : {&f.params, &f.returns, &f.variables}) {
    for (const Variable& v : *list) renames.erase(v.name);
  }
  rename(f.name, all);
  for (Variable& v : f.variables) {
    for (Relocation& r : v.relocations) rename(r.symbol, renames);
  }
  for (LabelTable& t : f.tables) {
    if (t.kind != LabelTable::Kind::kCallTargets) continue;
    for (std::string& target : t.targets) rename(target, renames);
  }
  for (Instruction& i : f.body) {
    for (Operand& o : i.operands) {
      if (o.kind == Operand::Kind::kLabel) continue;
      if (!o.symbol.empty()) rename(o.symbol, renames);
      for (Operand& e : o.elements) {
        if (!e.symbol.empty()) rename(e.symbol, renames);
      }
    }
  }
}

void rename_all(Module& module, const Renames& renames) {
  if (renames.empty()) return;
  for (Variable& v : module.variables) {
    rename(v.name, renames);
    for (Relocation& r : v.relocations) rename(r.symbol, renames);
  }
  for (Module::Alias& a : module.aliases) rename(a.target, renames);
  for (Function& f : module.functions) rename_function(f, renames);
}

class ModuleLinker {
 public:
  ModuleLinker(std::vector<Module> modules, std::vector<std::string> files) : modules_(std::move(modules)) {
    result_.module.files = std::move(files);
  }

  LinkResult run() {
    uint32_t sources = 0;
    for (uint32_t m = 0; m < modules_.size(); ++m) {
      mark(modules_[m], m, sources);
      sources += static_cast<uint32_t>(modules_[m].source_files.size());
    }
    join_headers();
    keep_private_names_apart();
    resolve_aliases();
    for (Module& m : modules_) {
      for (Variable& v : m.variables) add(std::move(v), result_.module.variables, variables_);
      for (Function& f : m.functions) add(std::move(f), result_.module.functions, functions_);
    }
    result_.module.index_symbols();
    return std::move(result_);
  }

 private:
  void error(const SourceLoc& loc, std::string message) {
    result_.diagnostics.push_back({Diagnostic::Severity::kError, loc, std::move(message), {}});
  }
  [[nodiscard]] const std::string& file(const SourceLoc& loc) const { return result_.module.files[loc.file]; }

  void join_headers() {
    Module& all = result_.module;
    const Module& first = modules_.front();
    all.map_f64_to_f32 = first.map_f64_to_f32;
    const auto with_size = std::ranges::find(modules_, false, &Module::has_any_address_size);
    const Module& sized = with_size == modules_.end() ? first : *with_size;
    all.address_size = sized.address_size;
    all.target_text = first.target_text;
    for (uint32_t m = 0; m < modules_.size(); ++m) {
      const Module& other = modules_[m];
      if (std::pair(other.version_major, other.version_minor) >
          std::pair(all.version_major, all.version_minor)) {
        all.version_major = other.version_major;
        all.version_minor = other.version_minor;
      }
      if (other.target_sm >= all.target_sm) all.target_letter = other.target_letter;
      all.target_sm = std::max(all.target_sm, other.target_sm);
      all.source_files.insert(all.source_files.end(), other.source_files.begin(), other.source_files.end());
      const SourceLoc loc{1, 1, m};
      if (other.address_size != sized.address_size && !other.has_any_address_size) {
        error(loc, fmt::format("addresses have {} bits here and {} in {}", other.address_size,
                               sized.address_size, all.files[static_cast<size_t>(&sized - modules_.data())]));
      }
      // What f32 and f64 instructions compute is a property of the whole program here.
      if ((other.target_sm < 20) != (first.target_sm < 20) || other.map_f64_to_f32 != first.map_f64_to_f32) {
        error(loc, fmt::format("floating-point rules differ: .target is '{}' here and '{}' in {}",
                               other.target_text, first.target_text, all.files.front()));
      }
    }
  }

  /// A name without .visible, .extern, .weak or .common that occurs in another module too gets a suffix
  /// (of its own kind: FunctionScopes appends @2 and so on).
  /// Kernels keep theirs: launches name them.
  void keep_private_names_apart() {
    std::unordered_map<std::string, uint32_t> modules_with;
    const auto for_each_name = [](const Module& m, const auto& fn) {
      std::unordered_set<std::string_view> seen;
      for (const Variable& v : m.variables) {
        if (seen.insert(v.name).second) fn(v.name, v.linkage == Linkage::kInternal);
      }
      for (const Function& f : m.functions) {
        if (seen.insert(f.name).second) fn(f.name, f.linkage == Linkage::kInternal && !f.is_entry);
      }
    };
    for (const Module& m : modules_)
      for_each_name(m, [&](const std::string& name, bool) { ++modules_with[name]; });
    for (size_t m = 0; m < modules_.size(); ++m) {
      Renames renames;
      for_each_name(modules_[m], [&](const std::string& name, bool is_private) {
        if (is_private && modules_with.at(name) > 1)
          renames.emplace(name, fmt::format("{}@@{}", name, m + 1));
      });
      rename_all(modules_[m], renames);
    }
  }

  void resolve_aliases() {
    Renames renames;
    for (const Module& m : modules_) {
      for (const Module::Alias& a : m.aliases) {
        const Function* target = m.find_function(a.target);
        if (target == nullptr || target->is_declaration || target->is_entry)
          error(a.loc, fmt::format("'{}' cannot be an alias of '{}', which is no function with a body here",
                                   a.name, a.target));
        else if (const Function* own = m.find_function(a.name); own != nullptr && !own->is_declaration)
          error(a.loc, fmt::format("'{}' is an alias and a function with a body", a.name));
        else
          renames.emplace(a.name, a.target);
      }
    }
    for (Module& m : modules_) rename_all(m, renames);
  }

  template <class Symbol>
  void add(Symbol next, std::vector<Symbol>& list, std::unordered_map<std::string, size_t>& index) {
    const auto [it, is_new] = index.emplace(next.name, list.size());
    if (is_new) {
      list.push_back(std::move(next));
      return;
    }
    Symbol& have = list[it->second];
    check_agreement(have, next);
    const int old_strength = strength(have), new_strength = strength(next);
    if (old_strength == 3 && new_strength == 3) {
      error(next.loc,
            fmt::format("'{}' is defined in {} and in {}", next.name, file(have.loc), file(next.loc)));
    } else if (new_strength > old_strength || (new_strength == 1 && size_of(next) > size_of(have))) {
      have = std::move(next);
    }
  }
  static uint64_t size_of(const Variable& v) { return v.bytes; }
  static uint64_t size_of(const Function&) { return 0; }

  void check_agreement(const Function& a, const Function& b) {
    if (a.params.size() == b.params.size() && a.returns.size() == b.returns.size()) {
      check_sizes(a, b, a.params, b.params);
      check_sizes(a, b, a.returns, b.returns);
      return;
    }
    error(b.loc, fmt::format("function '{}' has {} parameters and {} return values here, but {} and {} in {}",
                             b.name, b.params.size(), b.returns.size(), a.params.size(), a.returns.size(),
                             file(a.loc)));
  }
  /// Calls are checked against the declaration that they see.
  void check_sizes(const Function& a, const Function& b, const std::vector<Variable>& of_a,
                   const std::vector<Variable>& of_b) {
    for (size_t i = 0; i < of_a.size(); ++i) {
      if (of_a[i].bytes == of_b[i].bytes) continue;
      return error(b.loc, fmt::format("'{}' of function '{}' has {} bytes here, but {} in {}", of_b[i].name,
                                      b.name, of_b[i].bytes, of_a[i].bytes, file(a.loc)));
    }
  }
  void check_agreement(const Variable& a, const Variable& b) {
    if (a.space == b.space) return;
    error(b.loc, fmt::format("'{}' is in .{} here and in .{} in {}", b.name, space_name(b.space),
                             space_name(a.space), file(a.loc)));
  }

  std::vector<Module> modules_;
  LinkResult result_;
  std::unordered_map<std::string, size_t> variables_, functions_;  // by name, index in the result
};

}  // namespace

LinkResult link_modules(std::vector<Module> modules, std::vector<std::string> files) {
  return ModuleLinker(std::move(modules), std::move(files)).run();
}

}  // namespace gpusim::isa
