// First-in first-out queue of a capacity that is known when it is built, or changed seldom: no allocation
// otherwise.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpusim::core {

template <class T>
class Ring {
 public:
  explicit Ring(size_t capacity = 1) : slots_(std::bit_ceil(capacity)) {}

  /// Room for at least that many elements from now on.
  void reserve(size_t capacity) {
    if (capacity <= slots_.size()) return;
    std::vector<T> slots(std::bit_ceil(capacity));
    for (uint32_t i = head_; i != tail_; ++i) slots[i & (slots.size() - 1)] = std::move(slots_[i & mask()]);
    slots_ = std::move(slots);
  }
  [[nodiscard]] uint32_t size() const { return tail_ - head_; }
  /// Requires size() < capacity.
  void push(T value) { slots_[tail_++ & mask()] = std::move(value); }
  /// The oldest element. Requires size() != 0.
  [[nodiscard]] const T& front() const { return slots_[head_ & mask()]; }
  T pop() { return std::move(slots_[head_++ & mask()]); }

 private:
  [[nodiscard]] size_t mask() const { return slots_.size() - 1; }
  std::vector<T> slots_;
  uint32_t head_ = 0, tail_ = 0;
};

}  // namespace gpusim::core
