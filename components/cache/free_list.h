// Entries of a table that are not in use, by number: taken and given back like plates of a pile, the lowest
// on top at first.
#pragma once
#include <cstddef>
#include <vector>

namespace gpusim::comp {

/// `Number` is wide enough for all of them.
template <class Number>
class FreeList {
 public:
  /// All of `entries` are free.
  explicit FreeList(size_t entries = 0) {
    free_.reserve(entries);
    for (size_t i = entries; i-- > 0;) free_.push_back(static_cast<Number>(i));
  }
  [[nodiscard]] bool empty() const { return free_.empty(); }
  [[nodiscard]] size_t size() const { return free_.size(); }
  /// Requires one that is free.
  Number take() {
    const Number entry = free_.back();
    free_.pop_back();
    return entry;
  }
  void give_back(Number entry) { free_.push_back(entry); }

 private:
  std::vector<Number> free_;
};

}  // namespace gpusim::comp
