// Statistics bound by reference: a component counts in plain members, and says once, at construction, under
// which name, unit and description each is reported. Counting costs one increment; reading happens at the end
// (or at a sample).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/record/recorder.h"

namespace gpusim::core {

/// A group of statistics with a name; groups nest ("sm0.l1.hits"). Members must outlive the group.
class Stats {
 public:
  explicit Stats(std::string name = "") : name_(std::move(name)) {}
  Stats(const Stats&) = delete;
  Stats& operator=(const Stats&) = delete;

  void add(std::string name, std::string unit, std::string description, const uint64_t& value);
  void add(std::string name, std::string unit, std::string description, const double& value);
  /// A value derived from others when it is read: a rate, a ratio.
  void add_derived(std::string name, std::string unit, std::string description,
                   std::function<double()> value);
  /// A group within this one; the reference stays valid. A name that exists gives that group.
  Stats& group(std::string_view name);

  /// All values of this group and those within, in order of registration, names joined by dots.
  [[nodiscard]] std::vector<Counter> read() const;
  /// Values of equal names below the first level added up: "sm0.l1.hits" + "sm1.l1.hits" -> "l1.hits".
  /// Derived values are left out: a sum of ratios means nothing.
  [[nodiscard]] std::vector<Counter> totals() const;

 private:
  struct Entry {
    std::string name, unit, description;
    const uint64_t* count = nullptr;
    const double* real = nullptr;
    std::function<double()> derived;
    [[nodiscard]] double value() const {
      return count != nullptr ? static_cast<double>(*count) : real != nullptr ? *real : derived();
    }
  };
  void collect(const std::string& prefix, bool with_derived, std::vector<Counter>& out) const;

  std::string name_;
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Stats>> groups_;
};

}  // namespace gpusim::core
