// Memory and events of other processes (cudaIpc...).
#include "runtime/cudart/ipc.h"

namespace gpusim::runtime::cudart {

GPUSIM_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  return call([&](Device& device) {
    require(handle != nullptr);
    put_handle(handle, device.sharing().share_memory(memory));
  });
}
GPUSIM_EXPORT cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&](Device& device) {
    require(memory != nullptr);
    *memory = open_memory(device, handle_in(handle), flags);
  });
}
GPUSIM_EXPORT cudaError_t cudaIpcCloseMemHandle(void* memory) {
  return call([&](Device& device) { device.sharing().close_memory(memory); });
}
GPUSIM_EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call([&](Device& device) {
    require(handle != nullptr);
    put_handle(handle, device.sharing().share_event(event_of(device, event)));
  });
}
GPUSIM_EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return call([&](Device& device) {
    require(event != nullptr);
    *event = reinterpret_cast<cudaEvent_t>(&device.sharing().open_event(handle_in(handle)));
  });
}

}  // namespace gpusim::runtime::cudart
