#include "simcore/stats/stats.h"

#include <unordered_map>

namespace gpusim::core {

void Stats::add(std::string name, std::string unit, std::string description, const uint64_t& value) {
  entries_.push_back({std::move(name), std::move(unit), std::move(description), &value, nullptr, nullptr});
}

void Stats::add(std::string name, std::string unit, std::string description, const double& value) {
  entries_.push_back({std::move(name), std::move(unit), std::move(description), nullptr, &value, nullptr});
}

void Stats::add_derived(std::string name, std::string unit, std::string description,
                        std::function<double()> value) {
  entries_.push_back(
      {std::move(name), std::move(unit), std::move(description), nullptr, nullptr, std::move(value)});
}

Stats& Stats::group(std::string_view name) {
  for (const auto& known : groups_) {
    if (known->name_ == name) return *known;
  }
  groups_.push_back(std::make_unique<Stats>(std::string(name)));
  return *groups_.back();
}

void Stats::collect(const std::string& prefix, bool with_derived, std::vector<Counter>& out) const {
  for (const Entry& entry : entries_) {
    if (entry.derived && !with_derived) continue;
    out.push_back({prefix + entry.name, entry.value(), entry.unit, entry.description});
  }
  for (const auto& inner : groups_) inner->collect(prefix + inner->name_ + ".", with_derived, out);
}

std::vector<Counter> Stats::read() const {
  std::vector<Counter> all;
  collect(name_.empty() ? "" : name_ + ".", true, all);
  return all;
}

std::vector<Counter> Stats::totals() const {
  std::vector<Counter> sums;
  std::unordered_map<std::string, size_t> index;
  for (const auto& inner : groups_) {
    std::vector<Counter> values;
    inner->collect("", false, values);
    for (Counter& counter : values) {
      const auto [known, is_new] = index.emplace(counter.name, sums.size());
      if (is_new) {
        sums.push_back(std::move(counter));
      } else {
        sums[known->second].value += counter.value;
      }
    }
  }
  return sums;
}

}  // namespace gpusim::core
