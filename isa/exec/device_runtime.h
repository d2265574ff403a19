// Functions of the CUDA device runtime, which kernels call to launch others (CUDA programming guide, "Dynamic
// Parallelism"; cuda_device_runtime_api.h declares them). A toolkit links a library with their bodies, which
// call a driver; here the host carries them out. A call puts its arguments into a block of the thread's local
// memory, each at the next multiple of 8 bytes, and hands over the address.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpusim::isa {

enum class RuntimeFunction : uint8_t {
  kDeviceGetAttribute,
  kDeviceGetLimit,
  kDeviceGetCacheConfig,
  kDeviceGetSharedMemConfig,
  kGetLastError,
  kPeekAtLastError,
  kGetErrorString,
  kGetErrorName,
  kGetDeviceCount,
  kGetDevice,
  kStreamCreateWithFlags,
  kStreamDestroy,
  kStreamWaitEvent,
  kEventCreateWithFlags,
  kEventRecord,
  kEventRecordWithFlags,
  kEventDestroy,
  kFuncGetAttributes,
  kFree,
  kMalloc,
  kMemcpyAsync,
  kMemcpy2DAsync,
  kMemcpy3DAsync,
  kMemsetAsync,
  kMemset2DAsync,
  kMemset3DAsync,
  kRuntimeGetVersion,
  kGetParameterBuffer,
  kGetParameterBufferV2,
  kLaunchDevice,
  kLaunchDeviceV2,
  kOccupancyBlocks,
  kOccupancyBlocksWithFlags,
};

struct RuntimeCall {
  RuntimeFunction function;
  bool per_thread = false;  ///< its null stream is the thread's own (`_ptsz`)
};

inline constexpr size_t kMostRuntimeArguments = 8;

/// What a function takes and gives, in bytes.
struct RuntimeSignature {
  std::string_view name;  ///< behind `cuda`, or `__cudaCDP2` as toolkits since 12.0 call it
  RuntimeFunction function;
  std::array<uint8_t, kMostRuntimeArguments> arguments{};  ///< until the first 0
  uint8_t result = 4;

  [[nodiscard]] constexpr size_t count() const {
    size_t n = 0;
    while (n < arguments.size() && arguments[n] != 0) ++n;
    return n;
  }
  /// Of an argument in the block; for count(), the block's size.
  [[nodiscard]] constexpr uint32_t offset(size_t argument) const {
    uint32_t at = 0;
    for (size_t i = 0; i < argument; ++i) at += (uint32_t{arguments[i]} + 7) / 8 * 8;
    return at;
  }
};
[[nodiscard]] const RuntimeSignature& signature_of(RuntimeFunction function);

/// The function of that name in PTX; nothing if there is none.
[[nodiscard]] std::optional<RuntimeCall> runtime_call(std::string_view symbol);

/// MicroOp::imm of a call.
[[nodiscard]] constexpr uint64_t packed(RuntimeCall call) {
  return static_cast<uint64_t>(call.function) << 1 | (call.per_thread ? 1 : 0);
}
[[nodiscard]] constexpr RuntimeCall unpacked_call(uint64_t imm) {
  return {static_cast<RuntimeFunction>(imm >> 1), (imm & 1) != 0};
}

}  // namespace gpusim::isa
