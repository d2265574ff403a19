#include "isa/ptx/scopes.h"

#include <fmt/format.h>

#include <charconv>

#include "isa/ptx/diagnostics.h"

namespace gpusim::isa {

FunctionScopes::FunctionScopes(Function& function, const std::unordered_set<std::string_view>& module_names)
    : function_(function), module_names_(module_names) {
  open();
}

void FunctionScopes::open() { levels_.emplace_back(); }

void FunctionScopes::close() {
  Level inner = std::move(levels_.back());
  levels_.pop_back();
  for (LabelReference& ref : inner.references) {
    const auto label = inner.labels.find(ref.name);
    if (label == inner.labels.end()) {
      if (!levels_.empty()) levels_.back().references.push_back(std::move(ref));
      continue;
    }
    if (ref.in_table) {
      function_.tables[ref.owner].targets[ref.index] = label->second;
    } else {
      function_.body[ref.owner].operands[ref.index].symbol = label->second;
    }
  }
}

/// Registers, variables and labels of a scope share their names; parameters and the body are one scope.
bool FunctionScopes::is_taken(std::string_view name) const {
  const auto has = [&](const Level& level) {
    return find_in(level, name) || level.variables.count(name) != 0 || level.labels.count(name) != 0;
  };
  constexpr size_t kBodyDepth = 2;
  return has(levels_.back()) || (levels_.size() == kBodyDepth && has(levels_.front()));
}

RegisterId FunctionScopes::declare_register(std::string_view name, Type type, uint8_t vector) {
  if (is_taken(name)) return kNoRegister;
  const auto id = static_cast<RegisterId>(function_.registers.size());
  function_.registers.push_back({std::string(name), type, vector});
  levels_.back().registers.emplace(name, id);
  return id;
}

bool FunctionScopes::declare_register_range(std::string_view prefix, uint32_t count, Type type,
                                            uint8_t vector, bool sparse) {
  const RegisterId first = sparse ? kNoRegister : static_cast<RegisterId>(function_.registers.size());
  if (!levels_.back().ranges.emplace(prefix, Range{first, count, type, vector}).second) return false;
  if (sparse) return true;
  function_.registers.reserve(first + count);
  for (uint32_t i = 0; i < count; ++i) {
    function_.registers.push_back({fmt::format(FMT_STRING("{}{}"), prefix, i), type, vector});
  }
  return true;
}

std::optional<FunctionScopes::Found> FunctionScopes::find_in(const Level& level, std::string_view name) {
  if (const auto it = level.registers.find(name); it != level.registers.end()) return Found{it->second};
  if (level.ranges.empty()) return std::nullopt;
  constexpr size_t kMaxDigits = 10;  // of a 32-bit number
  // %f12 may be number 12 of `%f<..>` or number 2 of `%f1<..>`; a register's number has no leading zero.
  for (size_t digits = 1; digits < name.size() && digits <= kMaxDigits; ++digits) {
    const char c = name[name.size() - digits];
    if (c < '0' || c > '9') break;
    if (c == '0' && digits > 1) continue;
    const auto it = level.ranges.find(name.substr(0, name.size() - digits));
    if (it == level.ranges.end()) continue;
    uint64_t number = 0;
    std::from_chars(name.data() + name.size() - digits, name.data() + name.size(), number);
    const Range& range = it->second;
    if (number >= range.count) continue;
    if (range.first == kNoRegister) return Found{kNoRegister, &range};
    return Found{range.first + static_cast<RegisterId>(number)};
  }
  return std::nullopt;
}

RegisterId FunctionScopes::find_register(std::string_view name) {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const auto found = find_in(*level, name);
    if (!found) continue;
    if (found->sparse == nullptr) return found->id;
    const auto id = static_cast<RegisterId>(function_.registers.size());
    function_.registers.push_back({std::string(name), found->sparse->type, found->sparse->vector});
    level->registers.emplace(name, id);
    return id;
  }
  return kNoRegister;
}

std::string FunctionScopes::hint_for_register(std::string_view name) const {
  const std::string_view prefix = name.substr(0, name.find_last_not_of("0123456789") + 1);
  NearestName nearest(name), nearest_prefix(prefix);
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (const auto range = level->ranges.find(prefix); range != level->ranges.end()) {
      return range->second.count == 0 ? fmt::format("'{}<0>' declares no register", prefix)
                                      : fmt::format("'{0}<{1}>' declares {0}0 to {0}{2}", prefix,
                                                    range->second.count, range->second.count - 1);
    }
    for (const auto& [candidate, id] : level->registers) nearest.consider(candidate);
    for (const auto& [candidate, range] : level->ranges) nearest_prefix.consider(candidate);
  }
  if (!nearest.best().empty()) return nearest.hint();
  if (nearest_prefix.best().empty() || prefix.size() == name.size()) return "declare it with .reg";
  return fmt::format("did you mean '{}{}'?", nearest_prefix.best(), name.substr(prefix.size()));
}

std::string FunctionScopes::unique(std::string_view name, std::unordered_set<std::string>& used, bool taken) {
  std::string result(name);
  if (!taken && used.insert(result).second) return result;
  uint32_t& suffix = next_suffix_[name];
  do {
    result = fmt::format("{}@{}", name, (suffix == 0 ? suffix = 2 : ++suffix));
  } while (!used.insert(result).second);
  return result;
}

std::optional<std::string> FunctionScopes::declare_variable(std::string_view name) {
  if (is_taken(name)) return std::nullopt;
  std::string name_in_function = unique(name, used_variables_, module_names_.count(name) != 0);
  levels_.back().variables.emplace(name, name_in_function);
  return name_in_function;
}

const std::string* FunctionScopes::find_variable(std::string_view name) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (const auto it = level->variables.find(name); it != level->variables.end()) return &it->second;
  }
  return nullptr;
}

bool FunctionScopes::declare_label(std::string_view name, uint32_t statement, SourceLoc loc) {
  const std::optional<std::string> label = declare_table(name);
  if (!label) return false;
  function_.labels.push_back({*label, statement, loc});
  return true;
}

std::optional<std::string> FunctionScopes::declare_table(std::string_view name) {
  if (is_taken(name)) return std::nullopt;
  // A label of an inner scope never has its plain name, by which a branch outside of it would find it.
  constexpr size_t kBodyDepth = 2;
  std::string name_in_function = unique(name, used_labels_, levels_.size() > kBodyDepth);
  levels_.back().labels.emplace(name, name_in_function);
  return name_in_function;
}

void FunctionScopes::refer_label(std::string_view name, uint32_t statement, uint32_t operand) {
  levels_.back().references.push_back({std::string(name), false, statement, operand});
}

void FunctionScopes::refer_label_in_table(std::string_view name, uint32_t table, uint32_t target) {
  levels_.back().references.push_back({std::string(name), true, table, target});
}

}  // namespace gpusim::isa
