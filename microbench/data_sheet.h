// What the microbenchmarks found: figures with unit, method and kernel, and beside each the value that the
// machine's configuration has for it, if it has one.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpusim::microbench {

/// A number with a unit, or words.
struct Value {
  double number = 0;
  std::string words;  ///< empty: it is the number
  static Value of(double v) { return {v, {}}; }
  static Value of_words(std::string w) { return {0, std::move(w)}; }
  [[nodiscard]] bool is_number() const { return words.empty(); }
  friend bool operator==(const Value&, const Value&) = default;
};

struct Figure {
  std::string name;            ///< "l1.size"; as the configuration's key where there is one
  std::optional<Value> found;  ///< nothing: the method gave no answer, `method` says why
  std::string unit;
  std::string kernel;  ///< file and entry that measured it
  std::string method;
  std::optional<Value> configured;

  /// found - configured, in units; nothing if one of them is missing or no number.
  [[nodiscard]] std::optional<double> difference() const;
  /// 1: equal as far as the method promises; found and configured are both there.
  [[nodiscard]] bool agrees() const;
  double tolerance = 0;  ///< relative, of `agrees`
};

struct DataSheet {
  std::string machine;
  std::vector<Figure> figures;
  [[nodiscard]] const Figure* find(const std::string& name) const;
};

/// Runs `measure`. If a kernel of it cannot run on the machine, the figure `name` is added without a value
/// and with the reason.
void attempt(DataSheet& sheet, const std::string& name, const std::function<void()>& measure);

/// A table, a line per figure.
[[nodiscard]] std::string sheet_text(const DataSheet& sheet);
/// One object: {"machine", "figures": [{"name", "found", "unit", "configured", "difference", "kernel",
/// "method"}]}; numbers or strings, null for what is not there.
[[nodiscard]] std::string sheet_json(const DataSheet& sheet);

}  // namespace gpusim::microbench
