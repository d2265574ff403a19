#include "driver.h"

#include <dlfcn.h>

namespace hardware {

Driver::Driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) throw Error(std::string("no CUDA driver on this machine: ") + dlerror());
#define HARDWARE_TEXT(name) #name
#define HARDWARE_LOAD_AS(member, symbol)                                              \
  member = reinterpret_cast<decltype(member)>(dlsym(library, HARDWARE_TEXT(symbol))); \
  if (member == nullptr) throw Error("the CUDA driver is too old: it has no " HARDWARE_TEXT(symbol));
#define HARDWARE_LOAD(name) HARDWARE_LOAD_AS(this->name##_, name)
  HARDWARE_DRIVER_FUNCTIONS(HARDWARE_LOAD)
#undef HARDWARE_LOAD
#undef HARDWARE_LOAD_AS
#undef HARDWARE_TEXT
  int devices = 0;
  check(cuInit_(0), "starting the driver");
  check(cuDeviceGetCount_(&devices), "counting devices");
  if (devices == 0) throw Error("no GPU on this machine");
}

void Driver::check(CUresult result, const std::string& what) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (cuGetErrorString_ != nullptr) cuGetErrorString_(result, &text);
  throw Error(what + ": " + (text != nullptr ? text : "error " + std::to_string(static_cast<int>(result))));
}

}  // namespace hardware
