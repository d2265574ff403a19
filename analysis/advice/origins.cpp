#include "analysis/advice/origins.h"

#include <utility>

#include "analysis/advice/ptx_text.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {

std::vector<AddressOrigin> origins_of(const KernelRecord& kernel, std::string_view ptx) {
  std::vector<std::string> operations;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc)
    operations.push_back(text_cell(kernel.per_pc, "ptx", pc));
  // An operation can stand for several statements, of which it names the last: the program has them all.
  std::vector<std::string> statements = statements_of(ptx, kernel.name);
  if (statements.empty()) statements = operations;
  return address_origins(std::move(statements), operations);
}

std::set<std::string> registers_of(std::string_view ptx) {
  std::set<std::string> found;
  for (size_t at = ptx.find('%'); at != std::string_view::npos; at = ptx.find('%', at + 1))
    found.emplace(ptx.substr(at, ptx.find_first_of(" ,;}])+", at) - at));
  return found;
}

std::map<std::string, std::set<std::string>> unnamed_results(const KernelRecord& kernel,
                                                             std::string_view ptx) {
  std::set<std::string_view> named;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) named.insert(text_cell(kernel.per_pc, "ptx", pc));
  std::map<std::string, std::set<std::string>> results;
  for (const std::string& statement : statements_of(ptx, kernel.name)) {
    const size_t behind = statement.find(',');
    if (named.contains(statement) || behind == std::string::npos) continue;
    const std::set<std::string> operands = registers_of(std::string_view(statement).substr(behind));
    for (const std::string& result : registers_of(std::string_view(statement).substr(0, behind)))
      results[result].insert(operands.begin(), operands.end());
  }
  return results;
}

void add_unnamed(const std::map<std::string, std::set<std::string>>& unnamed,
                 std::set<std::string>& registers) {
  std::vector<std::string> left(registers.begin(), registers.end());
  while (!left.empty()) {
    const auto at = unnamed.find(left.back());
    left.pop_back();
    if (at == unnamed.end()) continue;
    for (const std::string& operand : at->second)
      if (registers.insert(operand).second) left.push_back(operand);
  }
}

}  // namespace gpusim::analysis::advice
