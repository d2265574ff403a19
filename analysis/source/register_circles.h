// Registers that follow from each other in circles, as what a loop counts up does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/source/ptx_statement.h"

namespace gpusim::analysis {

/// The strongly connected parts of the graph whose edges lead from the results of statements to their
/// operands (graph_parts.h), in time that grows as n log n with the statements.
class RegisterCircles {
 public:
  /// Of the statements that `chosen` takes.
  RegisterCircles(const std::vector<PtxStatement>& statements,
                  const std::function<bool(const PtxStatement&)>& chosen);
  /// Whether each of the two follows from the other, or both are one.
  [[nodiscard]] bool together(std::string_view a, std::string_view b) const;
  /// Whether an operand of this statement, which is one of those chosen, follows from its result `r`, or is
  /// it: the result then follows from its own last value by it.
  [[nodiscard]] bool closes(const PtxStatement& s, std::string_view r) const;
  /// A number for each part; kNone of a register that no chosen statement has.
  [[nodiscard]] size_t part(std::string_view r) const;
  static constexpr size_t kNone = ~size_t{0};

 private:
  std::map<std::string_view, uint32_t> numbers_;
  std::vector<uint32_t> parts_;  ///< by a register's number
};

}  // namespace gpusim::analysis
