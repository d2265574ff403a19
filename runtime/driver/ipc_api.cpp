// Memory and events of other processes (cuIpc...).
#include "runtime/cudart/ipc.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

GPUSIM_DRIVER cuIpcGetMemHandle(cudaIpcMemHandle_t* handle, CUdeviceptr memory) {
  return call([&](Device& device) {
    require(handle != nullptr);
    cudart::put_handle(handle, device.sharing().share_memory(pointer(memory)));
  });
}
GPUSIM_DRIVER cuIpcOpenMemHandle_v2(CUdeviceptr* memory, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&](Device& device) {
    require(memory != nullptr);
    *memory = reinterpret_cast<CUdeviceptr>(cudart::open_memory(device, cudart::handle_in(handle), flags));
  });
}
GPUSIM_DRIVER cuIpcOpenMemHandle(CUdeviceptr* memory, cudaIpcMemHandle_t handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(memory, handle, flags);
}
GPUSIM_DRIVER cuIpcCloseMemHandle(CUdeviceptr memory) {
  return call([&](Device& device) { device.sharing().close_memory(pointer(memory)); });
}
GPUSIM_DRIVER cuIpcGetEventHandle(cudaIpcEventHandle_t* handle, CUevent event) {
  return call([&](Device& device) {
    require(handle != nullptr);
    cudart::put_handle(handle, device.sharing().share_event(cudart::event_of(device, event)));
  });
}
GPUSIM_DRIVER cuIpcOpenEventHandle(CUevent* event, cudaIpcEventHandle_t handle) {
  return call([&](Device& device) {
    require(event != nullptr);
    *event = reinterpret_cast<CUevent>(&device.sharing().open_event(cudart::handle_in(handle)));
  });
}

}  // namespace gpusim::runtime::driver
