// Events of the reuse-distance model by time. Few are waiting at a time (about one for each warp of an SM)
// and most new ones come last or nearly so: they are a sorted row in which a new one moves up from the end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusim::analysis {

/// `Event` has a member `at`. Of events at the same time the one that was pushed first is first.
template <class Event>
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == row_.size(); }
  [[nodiscard]] size_t size() const { return row_.size() - first_; }
  [[nodiscard]] const Event& top() const { return row_[first_]; }
  void pop() {
    if (++first_ == row_.size()) {
      row_.clear();
      first_ = 0;
    }
  }
  void push(const Event& e) {
    // Room of events that have been taken is used again before the row grows.
    if (row_.size() == row_.capacity() && first_ * 2 >= row_.size()) {
      row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    row_.push_back(e);
    size_t at = row_.size() - 1;
    for (; at != first_ && row_[at - 1].at > e.at; --at) row_[at] = row_[at - 1];
    row_[at] = e;
  }

 private:
  std::vector<Event> row_;
  size_t first_ = 0;
};

}  // namespace gpusim::analysis
