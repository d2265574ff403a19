#include "analysis/source/mixed_numbers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include "analysis/source/register_circles.h"

namespace gpusim::analysis {
namespace {

/// No record of an array is as large, and no digit's weight is as large as the second.
constexpr uint64_t kRecord = uint64_t{1} << 24, kDigit = 255;

std::optional<uint64_t> magnitude_of(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return read.ec == std::errc() && read.ptr != text.data() ? std::optional(value) : std::nullopt;
}

/// The constant by which a statement multiplies a register; 0 if it does nothing of the kind. The upper half
/// of a product, and one that is twice as wide, are how divisions are made.
uint64_t constant_factor(const PtxStatement& s) {
  const bool multiplies = (s.stem == "mul" || s.stem == "mad") && s.arguments.size() >= 2 &&
                          s.opcode.find(".hi") == s.opcode.npos && s.opcode.find(".wide") == s.opcode.npos;
  if (!multiplies || s.opcode.find(".f") != s.opcode.npos) return 0;
  for (size_t i = 0; i < 2; ++i)
    if (s.arguments[1 - i].starts_with('%'))
      if (const std::optional<uint64_t> value = magnitude_of(s.arguments[i])) return *value;
  return 0;
}

class Mixtures {
 public:
  Mixtures(const std::vector<PtxStatement>& statements, const std::set<std::string_view>& of_thread)
      : statements_(statements),
        of_thread_(of_thread),
        circles_(statements, [](const PtxStatement& s) { return !hides_its_source(s); }) {
    for (const PtxStatement& s : statements)
      for (const std::string_view r : s.results) ++definitions_[r];
  }
  /// The first registers that are mixed.
  [[nodiscard]] std::set<std::string_view> first() const {
    std::set<std::string_view> found;
    for (const PtxStatement& s : statements_)
      if (constant_factor(s) > kRecord && differs(s.operands))
        found.insert(s.results.begin(), s.results.end());
    const std::set<size_t> mixing = circles_that_mix();
    for (const auto& [r, definitions] : definitions_)
      if (definitions > 1 && of_thread_.contains(r) && mixing.contains(circles_.part(r))) found.insert(r);
    return found;
  }
  void add_what_follows(std::set<std::string_view>& found) const {
    std::map<std::string_view, std::vector<size_t>> uses;
    for (size_t i = 0; i < statements_.size(); ++i)
      if (!hides_its_source(statements_[i]))
        for (const std::string_view r : statements_[i].operands) uses[r].push_back(i);
    std::vector<std::string_view> left(found.begin(), found.end());
    while (!left.empty()) {
      const auto at = uses.find(left.back());
      left.pop_back();
      if (at == uses.end()) continue;
      for (const size_t i : at->second)
        for (const std::string_view r : statements_[i].results)
          if (found.insert(r).second) left.push_back(r);
    }
  }

 private:
  [[nodiscard]] bool differs(const std::vector<std::string_view>& registers) const {
    return std::ranges::any_of(registers, [&](std::string_view r) { return of_thread_.contains(r); });
  }
  [[nodiscard]] bool mixes(const PtxStatement& s) const {
    if (constant_factor(s) > kDigit) return true;
    return s.stem == "xor" && s.arguments.size() == 2 &&
           std::ranges::all_of(s.arguments, [&](std::string_view a) { return of_thread_.contains(a); });
  }
  /// Parts of the graph in which registers follow from their own last value by a statement that mixes.
  [[nodiscard]] std::set<size_t> circles_that_mix() const {
    std::set<size_t> found;
    for (const PtxStatement& s : statements_) {
      if (hides_its_source(s) || !mixes(s)) continue;
      for (const std::string_view r : s.results)
        if (circles_.closes(s, r)) found.insert(circles_.part(r));
    }
    return found;
  }

  const std::vector<PtxStatement>& statements_;
  const std::set<std::string_view>& of_thread_;
  RegisterCircles circles_;
  std::map<std::string_view, size_t> definitions_;  ///< how many
};

}  // namespace

std::set<std::string_view> mixed_numbers(const std::vector<PtxStatement>& statements,
                                         const std::set<std::string_view>& of_thread) {
  const Mixtures mixtures(statements, of_thread);
  std::set<std::string_view> found = mixtures.first();
  mixtures.add_what_follows(found);
  return found;
}

}  // namespace gpusim::analysis
