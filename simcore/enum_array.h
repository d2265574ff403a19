// An array that is indexed by an enumeration: a value for each enumerator before kCount.
#pragma once
#include <array>
#include <cstddef>

namespace gpusim::core {

/// Place of an enumerator in arrays that have one for each.
template <class Enum>
[[nodiscard]] constexpr size_t index_of(Enum e) {
  return static_cast<size_t>(e);
}

template <class T, class Enum, size_t kSize = index_of(Enum::kCount)>
struct EnumArray : std::array<T, kSize> {
  using std::array<T, kSize>::operator[];
  constexpr T& operator[](Enum e) { return (*this)[index_of(e)]; }
  constexpr const T& operator[](Enum e) const { return (*this)[index_of(e)]; }
};

}  // namespace gpusim::core
