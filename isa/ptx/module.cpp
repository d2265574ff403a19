#include "isa/ptx/module.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpusim::isa {
namespace {

bool only_declares(const Function& f) { return f.is_declaration; }
bool only_declares(const Variable& v) { return v.linkage == Linkage::kExtern; }

/// Definitions before declarations of the same name, otherwise in file order.
template <class Symbol>
std::vector<uint32_t> sorted_by_name(const std::vector<Symbol>& symbols) {
  std::vector<uint32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&symbols](uint32_t a, uint32_t b) {
    return std::pair(std::string_view(symbols[a].name), only_declares(symbols[a])) <
           std::pair(std::string_view(symbols[b].name), only_declares(symbols[b]));
  });
  return order;
}

template <class Symbol>
const Symbol* find_symbol(const std::vector<Symbol>& symbols, const std::vector<uint32_t>& order,
                          std::string_view name) {
  if (order.size() == symbols.size()) {
    const auto at = std::ranges::lower_bound(
        order, name, {}, [&symbols](uint32_t i) { return std::string_view(symbols[i].name); });
    return at != order.end() && symbols[*at].name == name ? &symbols[*at] : nullptr;
  }
  const Symbol* declaration = nullptr;
  for (const Symbol& s : symbols) {
    if (s.name != name) continue;
    if (!only_declares(s)) return &s;
    if (declaration == nullptr) declaration = &s;
  }
  return declaration;
}

}  // namespace

const Label* Function::find_label(std::string_view label) const {
  const auto it = std::find_if(labels.begin(), labels.end(), [&](const Label& l) { return l.name == label; });
  return it == labels.end() ? nullptr : &*it;
}

const LabelTable* Function::find_table(std::string_view table) const {
  const auto it =
      std::find_if(tables.begin(), tables.end(), [&](const LabelTable& t) { return t.name == table; });
  return it == tables.end() ? nullptr : &*it;
}

void Module::index_symbols() {
  functions_by_name_ = sorted_by_name(functions);
  variables_by_name_ = sorted_by_name(variables);
}

const Function* Module::find_function(std::string_view name) const {
  return find_symbol(functions, functions_by_name_, name);
}

const Variable* Module::find_variable(std::string_view name) const {
  return find_symbol(variables, variables_by_name_, name);
}

std::vector<const Function*> Module::entries() const {
  std::vector<const Function*> result;
  for (const Function& f : functions) {
    if (f.is_entry && !f.is_declaration) result.push_back(&f);
  }
  return result;
}

}  // namespace gpusim::isa
