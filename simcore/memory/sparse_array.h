// Tables of a fixed size of which a run mostly uses a small part. Their memory comes from the operating
// system, which clears a page when it is first written: a machine with thousands of large tables is built in
// the time of what is used of them.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace gpusim::core {

/// That many bytes of zeros, aligned for any type. Small pieces share a larger one, which is given back after
/// the last of them.
[[nodiscard]] std::shared_ptr<std::byte> zeroed_bytes(size_t bytes);

/// `size` elements whose bytes are zeros, whatever T{} may be.
template <class T>
class SparseArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= alignof(std::max_align_t));

 public:
  explicit SparseArray(size_t size = 0) : size_(size) {
    if (size == 0) return;
    memory_ = zeroed_bytes(size * sizeof(T));
    elements_ = reinterpret_cast<T*>(memory_.get());
  }
  SparseArray(SparseArray&& other) noexcept { *this = std::move(other); }
  SparseArray& operator=(SparseArray&& other) noexcept {
    memory_ = std::move(other.memory_);
    elements_ = std::exchange(other.elements_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] T& operator[](size_t i) { return elements_[i]; }
  [[nodiscard]] const T& operator[](size_t i) const { return elements_[i]; }

 private:
  std::shared_ptr<std::byte> memory_;
  T* elements_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gpusim::core
