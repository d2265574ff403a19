// Host memory for state that is visited in no order, such as the registers of all SMs: a GPU's worth of 4 KB
// pages is more than a TLB covers, so it lies close together, on huge pages where the system has them to
// give.
#pragma once
#include <cstddef>
#include <vector>

namespace gpusim::core {

class PageArena {
 public:
  PageArena() = default;
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena();

  /// Zeros, aligned to 128 bytes, that take host memory when they are touched; they stay until the arena
  /// ends. Throws std::bad_alloc.
  [[nodiscard]] std::byte* allocate(size_t bytes);

 private:
  struct Mapping {
    void* pointer;
    size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// For containers that live in an arena and seldom grow: what they leave is not used again.
template <class T>
struct PageAllocator {
  using value_type = T;
  explicit PageAllocator(PageArena& from) : arena(&from) {}
  template <class U>
  PageAllocator(const PageAllocator<U>& other) : arena(other.arena) {}
  [[nodiscard]] T* allocate(size_t count) { return reinterpret_cast<T*>(arena->allocate(count * sizeof(T))); }
  void deallocate(T*, size_t) noexcept {}
  friend bool operator==(const PageAllocator&, const PageAllocator&) = default;
  PageArena* arena;
};

/// A place in an arena that is enlarged as needed.
class PageStore {
 public:
  /// At least `bytes`, with any content.
  [[nodiscard]] std::byte* reserve(PageArena& arena, size_t bytes) {
    if (bytes > capacity_) {
      data_ = arena.allocate(bytes);
      capacity_ = bytes;
    }
    return data_;
  }

 private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

/// Asks for huge pages where [data, data + bytes) has whole ones; a refusal changes nothing but speed.
void prefer_huge_pages(void* data, size_t bytes);

}  // namespace gpusim::core
