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
  explicit FreeList(size_t entries = 0) : entries_(entries) { given_back_.reserve(entries); }
  [[nodiscard]] bool empty() const { return given_back_.empty() && fresh_ == entries_; }
  [[nodiscard]] size_t size() const { return given_back_.size() + (entries_ - fresh_); }
  /// Requires one that is free.
  Number take() {
    if (given_back_.empty()) return static_cast<Number>(fresh_++);
    const Number entry = given_back_.back();
    given_back_.pop_back();
    return entry;
  }
  void give_back(Number entry) { given_back_.push_back(entry); }

 private:
  size_t entries_, fresh_ = 0;      ///< those from `fresh_` on have never been taken
  std::vector<Number> given_back_;  ///< they lie on top of these
};

}  // namespace gpusim::comp
