// libcuda.so.1: the CUDA driver API on a simulated GPU, as its public documentation describes it. Functions
// whose meaning changed have a suffix (_v2) in the library; cuda.h gives programs the newest. What its files
// share.
#pragma once
#include "runtime/cudart/api.h"

namespace gpusim::runtime::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = Module*;
using CUfunction = Kernel*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

using cudart::call;
using cudart::require;

/// The primary context of the one device.
inline const CUcontext kPrimary = reinterpret_cast<CUcontext>(uintptr_t{0x10});

/// Of the thread; null if there is none.
[[nodiscard]] CUcontext current_context();
/// Another handle of the device's context, and its end.
[[nodiscard]] CUcontext new_context(unsigned flags);
void end_context(CUcontext context);
[[nodiscard]] bool is_alive(CUcontext context);

/// A context that has a part of the device's multiprocessors.
struct GreenContext;
/// Null if `context` is none that was made from one.
[[nodiscard]] GreenContext* green_context_of(CUcontext context);
/// What its kernels are kept to; null if it is none.
const SmPart* part_of(CUcontext context);

/// Why calls that need a context cannot be: the driver is not initialised, or the thread has no current
/// context, or one that is gone. 0: they can.
[[nodiscard]] CUresult missing_context();
/// The same as call(), in a context.
template <class Body>
CUresult in_context(Body body) noexcept {
  const CUresult missing = missing_context();
  return missing != 0 ? missing : call(std::move(body));
}

/// What a null stream means to programs with a default stream of each thread (functions with _ptds or _ptsz).
inline const CUstream kPerThread = reinterpret_cast<CUstream>(uintptr_t{2});
[[nodiscard]] inline CUstream per_thread(CUstream stream) { return stream == nullptr ? kPerThread : stream; }

[[nodiscard]] inline std::byte* pointer(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }
/// Of a module that is unloaded: its texture references.
void forget_references(const Module& module);
// CUarray_format with its channels.
[[nodiscard]] ChannelFormat format_of(int number, unsigned channels);
[[nodiscard]] int number_of(const ChannelFormat& format);
[[nodiscard]] unsigned channels_of(const ChannelFormat& format);
/// CUDA_MEMCPY3D, and what it asks for; throws for what cannot be.
struct Copy3d;
[[nodiscard]] Copy described_copy(Device& device, const Copy3d& p);
/// As graph nodes keep it, and back.
[[nodiscard]] cudaMemcpy3DParms as_runtime(const Device& device, const Copy3d& p);
[[nodiscard]] Copy3d as_driver(const Device& device, const cudaMemcpy3DParms& p);
[[nodiscard]] inline Kernel& kernel_of(CUfunction handle) {
  require(handle != nullptr, Code::kInvalidResourceHandle);
  return *handle;
}

}  // namespace gpusim::runtime::driver

#define GPUSIM_DRIVER GPUSIM_EXPORT_ALWAYS CUresult

/// A function of the driver that is one of the runtime by another name.
#define GPUSIM_SAME(name, runtime_name, parameters, arguments) \
  GPUSIM_EXPORT cudaError_t runtime_name parameters;           \
  GPUSIM_DRIVER name parameters { return runtime_name arguments; }
/// The same of one that needs a context.
#define GPUSIM_SAME_IN_CONTEXT(name, runtime_name, parameters, arguments) \
  GPUSIM_EXPORT cudaError_t runtime_name parameters;                      \
  GPUSIM_DRIVER name parameters {                                         \
    const CUresult missing = missing_context();                           \
    return missing != 0 ? missing : runtime_name arguments;               \
  }
/// The same of one that takes a stream, with its form for programs with a default stream of each thread.
#define GPUSIM_SAME_STREAM(name, runtime_name, parameters, arguments) \
  GPUSIM_SAME_IN_CONTEXT(name, runtime_name, parameters, arguments)   \
  GPUSIM_SAME_IN_CONTEXT(name##_ptsz, runtime_name##_ptsz, parameters, arguments)
