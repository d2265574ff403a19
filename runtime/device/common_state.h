// What the CUDA libraries of a process have in common. Each of them is built with its own copy of the code
// for streams, graphs and pools; a stream that one library captures takes what the other submits.
#pragma once
#include <string>

namespace gpusim::runtime {

/// A place for a pointer by that name, null at first. Callers hold Device::mutex().
[[nodiscard]] void*& common_place(const std::string& name);

/// Made at the first use and never destroyed: programs call until the very end. `T` has one layout in all
/// libraries.
template <class T>
[[nodiscard]] T& common_state(const char* name) {
  void*& place = common_place(name);
  if (place == nullptr) place = new T;
  return *static_cast<T*>(place);
}

}  // namespace gpusim::runtime
