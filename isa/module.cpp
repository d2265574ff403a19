#include "isa/module.h"

#include <algorithm>

namespace gpusim::isa {

const Label* Function::find_label(std::string_view label) const {
  const auto it = std::find_if(labels.begin(), labels.end(), [&](const Label& l) { return l.name == label; });
  return it == labels.end() ? nullptr : &*it;
}

const LabelTable* Function::find_table(std::string_view table) const {
  const auto it =
      std::find_if(tables.begin(), tables.end(), [&](const LabelTable& t) { return t.name == table; });
  return it == tables.end() ? nullptr : &*it;
}

const Function* Module::find_function(std::string_view name) const {
  const Function* declaration = nullptr;
  for (const Function& f : functions) {
    if (f.name != name) continue;
    if (!f.is_declaration) return &f;
    if (declaration == nullptr) declaration = &f;
  }
  return declaration;
}

const Variable* Module::find_variable(std::string_view name) const {
  const Variable* declaration = nullptr;
  for (const Variable& v : variables) {
    if (v.name != name) continue;
    if (v.linkage != Linkage::kExtern) return &v;
    if (declaration == nullptr) declaration = &v;
  }
  return declaration;
}

std::vector<const Function*> Module::entries() const {
  std::vector<const Function*> result;
  for (const Function& f : functions) {
    if (f.is_entry && !f.is_declaration) result.push_back(&f);
  }
  return result;
}

}  // namespace gpusim::isa
