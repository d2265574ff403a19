#include "board.h"

#include <dlfcn.h>

#include "plan.h"

namespace hardware {

Board::Board(const std::string& bus_id) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr)
    throw Error(std::string("no NVML on this machine, which has the board's energy: ") + dlerror());
  const auto function = [&](const char* name) {
    void* f = dlsym(library, name);
    if (f == nullptr) throw Error(std::string("NVML is too old: it has no ") + name);
    return f;
  };
  const auto init = reinterpret_cast<int (*)()>(function("nvmlInit_v2"));
  const auto find =
      reinterpret_cast<int (*)(const char*, void**)>(function("nvmlDeviceGetHandleByPciBusId_v2"));
  energy_ =
      reinterpret_cast<int (*)(void*, unsigned long long*)>(function("nvmlDeviceGetTotalEnergyConsumption"));
  if (const int error = init(); error != 0) throw Error("starting NVML: error " + std::to_string(error));
  if (const int error = find(bus_id.c_str(), &device_); error != 0)
    throw Error("looking for the board at " + bus_id + ": NVML's error " + std::to_string(error));
}

double Board::joules() const {
  unsigned long long millijoules = 0;
  if (const int error = energy_(device_, &millijoules); error != 0)
    throw Error("reading the board's energy: NVML's error " + std::to_string(error));
  return 1e-3 * static_cast<double>(millijoules);
}

}  // namespace hardware
