// First-in first-out queue. Memory for its usual number of elements is taken when it is built, so that
// nothing is allocated afterwards unless it holds more.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpusim::core {

template <class T>
class Ring {
 public:
  /// For `capacity` elements, or more.
  explicit Ring(size_t capacity = 1)
      : slots_(std::bit_ceil(std::clamp<size_t>(capacity, 1, kFirstSlots))), mask_(slots_.size() - 1) {}

  /// That many elements are usual from now on.
  void reserve(size_t capacity) {
    capacity = std::min(capacity, kFirstSlots);
    if (capacity > slots_.size()) resize(std::bit_ceil(capacity));
  }
  [[nodiscard]] uint32_t size() const { return tail_ - head_; }
  /// For how many elements there is memory now.
  [[nodiscard]] size_t slots() const { return slots_.size(); }
  void push(T value) {
    if (tail_ - head_ > mask_) [[unlikely]]
      resize(2 * slots_.size());
    slots_[tail_++ & mask_] = std::move(value);
  }
  /// The oldest element. Requires size() != 0.
  [[nodiscard]] const T& front() const { return slots_[head_ & mask_]; }
  T pop() { return std::move(slots_[head_++ & mask_]); }

 private:
  /// A capacity beyond this is one that a long latency allows for, but which is seldom used.
  static constexpr size_t kFirstSlots = 1024;
  /// `count`, a power of two, of slots; elements keep their running numbers.
  [[gnu::noinline]] void resize(size_t count) {
    std::vector<T> slots(count);
    for (uint32_t i = head_; i != tail_; ++i) slots[i & (count - 1)] = std::move(slots_[i & mask_]);
    slots_ = std::move(slots);
    mask_ = count - 1;
  }
  std::vector<T> slots_;
  size_t mask_;  ///< of a slot's number: their count, a power of two, less one
  uint32_t head_ = 0, tail_ = 0;
};

}  // namespace gpusim::core
