// Streams and events, whose handles are those of the runtime, and how functions are looked up.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "runtime/cudart/ipc.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

GPUSIM_DRIVER cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call([&](Device& device) {
    require(stream != nullptr && flags <= 1);
    *stream = reinterpret_cast<CUstream>(&device.add_stream(flags == 0, priority, flags));
  });
}
GPUSIM_DRIVER cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
GPUSIM_DRIVER cuStreamDestroy_v2(CUstream stream) {
  return call([&](Device& device) { device.remove_stream(&cudart::stream_of(device, stream)); });
}
GPUSIM_DRIVER cuStreamSynchronize(CUstream stream) {
  return call([&](Device& device) { device.synchronize(cudart::stream_of(device, stream)); });
}
GPUSIM_DRIVER cuStreamQuery(CUstream stream) {
  return call(
      [&](Device& device) { require(device.is_done(cudart::stream_of(device, stream)), Code::kNotReady); });
}
GPUSIM_DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call([&](Device& device) {
    device.wait(cudart::stream_of(device, stream), cudart::event_of(device, event));
  });
}
GPUSIM_DRIVER cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void*), void* data,
                                  unsigned) {
  return call([&](Device& device) {
    require(callback != nullptr);
    device.host_function([stream, callback, data] { callback(stream, 0, data); },
                         cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuLaunchHostFunc(CUstream stream, void (*function)(void*), void* data) {
  return call([&](Device& device) {
    require(function != nullptr);
    device.host_function([function, data] { function(data); }, cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuEventCreate(CUevent* event, unsigned flags) {
  return call([&](Device& device) {
    require(event != nullptr);
    *event = reinterpret_cast<CUevent>(&cudart::new_event(device, flags));
  });
}
GPUSIM_DRIVER cuEventDestroy_v2(CUevent event) {
  return call([&](Device& device) { device.remove_event(&cudart::event_of(device, event)); });
}
GPUSIM_DRIVER cuEventRecord(CUevent event, CUstream stream) {
  return call([&](Device& device) {
    device.record(cudart::event_of(device, event), cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuEventSynchronize(CUevent event) {
  return call([&](Device& device) { device.synchronize(cudart::event_of(device, event)); });
}
GPUSIM_DRIVER cuEventQuery(CUevent event) {
  return call(
      [&](Device& device) { require(device.is_done(cudart::event_of(device, event)), Code::kNotReady); });
}
GPUSIM_DRIVER cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return call([&](Device& device) {
    require(milliseconds != nullptr);
    *milliseconds =
        static_cast<float>(device.milliseconds(cudart::event_of(device, from), cudart::event_of(device, to)));
  });
}
GPUSIM_DRIVER cuProfilerStart() { return 0; }
GPUSIM_DRIVER cuProfilerStop() { return 0; }

/// The newest form of a function, which is what a program of a current toolkit asks for.
GPUSIM_DRIVER cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* status) {
  if (name == nullptr || function == nullptr) return 1;
  static void* const self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  *function = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    // Contexts with parameters are asked for by newer programs only; they take the form without.
    if (std::strcmp(name, "cuCtxCreate") == 0 && (suffix[1] == '3' || suffix[1] == '4')) continue;
    *function = dlsym(self, (std::string(name) + suffix).c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  if (*function == nullptr) std::fprintf(stderr, "gpusim: note: %s is not supported\n", name);
  return *function == nullptr && status == nullptr ? static_cast<int>(Code::kSymbolNotFound) : 0;
}
GPUSIM_DRIVER cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // namespace gpusim::runtime::driver
