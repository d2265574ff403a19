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

[[nodiscard]] inline std::byte* pointer(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }
/// Of a module that is unloaded: its texture references.
void forget_references(const Module& module);
/// Throw Failure (kInvalidResourceHandle) for what is no handle.
[[nodiscard]] Module& module_of(CUmodule handle);
// CUarray_format with its channels.
[[nodiscard]] ChannelFormat format_of(int number, unsigned channels);
[[nodiscard]] int number_of(const ChannelFormat& format);
[[nodiscard]] unsigned channels_of(const ChannelFormat& format);
[[nodiscard]] inline Kernel& kernel_of(CUfunction handle) {
  require(handle != nullptr, Code::kInvalidResourceHandle);
  return *handle;
}

}  // namespace gpusim::runtime::driver

#define GPUSIM_DRIVER GPUSIM_EXPORT CUresult
