#include "runtime/device/common_state.h"

#include <map>

namespace gpusim::runtime {

void*& common_place(const std::string& name) {
  static auto* const places = new std::map<std::string, void*>;
  return (*places)[name];
}

}  // namespace gpusim::runtime
