// The CUDA driver of a real GPU, loaded when it is needed: programs build, and run whatever needs no GPU,
// without one. Types and numbers are those of the driver's public binary interface (CUDA Driver API), so no
// toolkit is needed. Only the standard library: regress/hardware/measure.cu is compiled where the GPU is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpusim::cuda {

/// A driver that is not there or fails; the text is for people.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct OpaqueContext*;
using CUmodule = struct OpaqueModule*;
using CUfunction = struct OpaqueFunction*;
using CUstream = struct OpaqueStream*;
using CUevent = struct OpaqueEvent*;

inline constexpr CUresult kSuccess = 0;

/// CUdevice_attribute
enum class Attribute : int {
  kThreadsPerBlock = 1,
  kSharedPerBlock = 8,
  kClockKhz = 13,
  kMultiprocessors = 16,
  kMemoryClockKhz = 36,
  kL2Bytes = 38,
  kThreadsPerMultiprocessor = 39,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedPerBlockOnRequest = 97,
};
/// CUfunction_attribute
enum class FunctionAttribute : int { kRegisters = 4, kMostDynamicShared = 8 };
/// CUjit_option
enum class JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };

// Functions that are used: name, the name of its newest meaning in the library, parameters.
// clang-format off
#define GPUSIM_CUDA_FUNCTIONS(X)                                                                                  \
  X(cuInit, cuInit, (unsigned))                                                                                   \
  X(cuDriverGetVersion, cuDriverGetVersion, (int*))                                                               \
  X(cuGetErrorString, cuGetErrorString, (CUresult, const char**))                                                 \
  X(cuDeviceGetCount, cuDeviceGetCount, (int*))                                                                   \
  X(cuDeviceGet, cuDeviceGet, (CUdevice*, int))                                                                   \
  X(cuDeviceGetName, cuDeviceGetName, (char*, int, CUdevice))                                                     \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int*, Attribute, CUdevice))                                      \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t*, CUdevice))                                                   \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char*, int, CUdevice))                                             \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                   \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext))                                                                \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx, (CUmodule*, const void*, unsigned, JitOption*, void**))               \
  X(cuModuleUnload, cuModuleUnload, (CUmodule))                                                                   \
  X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                               \
  X(cuModuleGetGlobal, cuModuleGetGlobal_v2, (CUdeviceptr*, size_t*, CUmodule, const char*))                      \
  X(cuFuncGetAttribute, cuFuncGetAttribute, (int*, FunctionAttribute, CUfunction))                                \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, FunctionAttribute, int))                                 \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t*, size_t*))                                                            \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                            \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr))                                                                       \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr, const void*, size_t))                                            \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void*, CUdeviceptr, size_t))                                                  \
  X(cuMemcpyDtoD, cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t))                                            \
  X(cuMemsetD8, cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t))                                              \
  X(cuLaunchKernel, cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,      \
                                     unsigned, CUstream, void**, void**))                                         \
  X(cuCtxSynchronize, cuCtxSynchronize, ())                                                                       \
  X(cuEventCreate, cuEventCreate, (CUevent*, unsigned))                                                           \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent))                                                                 \
  X(cuEventRecord, cuEventRecord, (CUevent, CUstream))                                                            \
  X(cuEventElapsedTime, cuEventElapsedTime, (float*, CUevent, CUevent))
// clang-format on

class Driver {
 public:
  /// Loads libcuda.so.1 and starts it. Throws Error: there is no driver, or no device.
  Driver();
  /// Throws Error with what was done and what the driver says.
  void check(CUresult result, const std::string& what) const;

#define GPUSIM_CUDA_DECLARE(name, symbol, parameters) CUresult(*name##_) parameters = nullptr;
  GPUSIM_CUDA_FUNCTIONS(GPUSIM_CUDA_DECLARE)
#undef GPUSIM_CUDA_DECLARE
};

/// A device, whose primary context is made the thread's own.
class Gpu {
 public:
  Gpu(const Driver& driver, int ordinal);
  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] int attribute(Attribute which) const;
  [[nodiscard]] std::string name() const;
  /// Its place on the bus, by which other libraries of the driver know it.
  [[nodiscard]] std::string bus_id() const;
  /// Of CUDA, which the driver knows: "13.0".
  [[nodiscard]] std::string driver_version() const;
  /// Compute capability x 10.
  [[nodiscard]] int capability() const;
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  const Driver& driver_;
  CUdevice device_ = 0;
};

/// Device memory.
struct Memory {
  Memory(const Driver& driver, uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  const Driver& driver;
  CUdeviceptr address = 0;
};

/// A module of PTX. Throws Error with what the driver's compiler says if it does not take it.
struct Module {
  Module(const Driver& driver, const std::string& ptx);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Throws Error: there is no such kernel.
  [[nodiscard]] CUfunction function(const std::string& name) const;
  /// A variable's address; throws Error if there is none of that name, or it has not that many bytes.
  [[nodiscard]] CUdeviceptr variable(const std::string& name, uint64_t bytes) const;
  const Driver& driver;
  CUmodule module = nullptr;
};

/// Notes when the GPU has come so far.
class Event {
 public:
  explicit Event(const Driver& driver);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() const;
  /// Both have been recorded and the GPU has finished.
  [[nodiscard]] double seconds_since(const Event& earlier) const;

 private:
  const Driver* driver_;
  CUevent event_ = nullptr;
};

/// Launches `blocks` x `threads` of a kernel; `arguments` are addresses of the values.
struct Shape {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared_bytes = 0;
};
void launch(const Driver& driver, CUfunction function, const Shape& shape, std::vector<void*> arguments,
            const std::string& name);
/// Lets launches of a kernel have that much dynamic shared memory: more than 48 KB has to be asked for.
void allow_shared(const Driver& driver, CUfunction function, unsigned bytes);

}  // namespace gpusim::cuda
