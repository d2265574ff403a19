#include "isa/exec/device_runtime.h"

#include <algorithm>
#include <iterator>

namespace gpusim::isa {

namespace {

using F = RuntimeFunction;
constexpr uint8_t kPointer = 8, kInt = 4, kDim3 = 12, kPitchedPtr = 32, kExtent = 24;

/// In the order of RuntimeFunction.
constexpr RuntimeSignature kSignatures[] = {
    {"DeviceGetAttribute", F::kDeviceGetAttribute, {kPointer, kInt, kInt}},
    {"DeviceGetLimit", F::kDeviceGetLimit, {kPointer, kInt}},
    {"DeviceGetCacheConfig", F::kDeviceGetCacheConfig, {kPointer}},
    {"DeviceGetSharedMemConfig", F::kDeviceGetSharedMemConfig, {kPointer}},
    {"GetLastError", F::kGetLastError, {}},
    {"PeekAtLastError", F::kPeekAtLastError, {}},
    {"GetErrorString", F::kGetErrorString, {kInt}, kPointer},
    {"GetErrorName", F::kGetErrorName, {kInt}, kPointer},
    {"GetDeviceCount", F::kGetDeviceCount, {kPointer}},
    {"GetDevice", F::kGetDevice, {kPointer}},
    {"StreamCreateWithFlags", F::kStreamCreateWithFlags, {kPointer, kInt}},
    {"StreamDestroy", F::kStreamDestroy, {kPointer}},
    {"StreamWaitEvent", F::kStreamWaitEvent, {kPointer, kPointer, kInt}},
    {"EventCreateWithFlags", F::kEventCreateWithFlags, {kPointer, kInt}},
    {"EventRecord", F::kEventRecord, {kPointer, kPointer}},
    {"EventRecordWithFlags", F::kEventRecordWithFlags, {kPointer, kPointer, kInt}},
    {"EventDestroy", F::kEventDestroy, {kPointer}},
    {"FuncGetAttributes", F::kFuncGetAttributes, {kPointer, kPointer}},
    {"Free", F::kFree, {kPointer}},
    {"Malloc", F::kMalloc, {kPointer, kPointer}},
    {"MemcpyAsync", F::kMemcpyAsync, {kPointer, kPointer, kPointer, kInt, kPointer}},
    {"Memcpy2DAsync",
     F::kMemcpy2DAsync,
     {kPointer, kPointer, kPointer, kPointer, kPointer, kPointer, kInt, kPointer}},
    {"Memcpy3DAsync", F::kMemcpy3DAsync, {kPointer, kPointer}},
    {"MemsetAsync", F::kMemsetAsync, {kPointer, kInt, kPointer, kPointer}},
    {"Memset2DAsync", F::kMemset2DAsync, {kPointer, kPointer, kInt, kPointer, kPointer, kPointer}},
    {"Memset3DAsync", F::kMemset3DAsync, {kPitchedPtr, kInt, kExtent, kPointer}},
    {"RuntimeGetVersion", F::kRuntimeGetVersion, {kPointer}},
    {"GetParameterBuffer", F::kGetParameterBuffer, {kPointer, kPointer}, kPointer},
    {"GetParameterBufferV2", F::kGetParameterBufferV2, {kPointer, kDim3, kDim3, kInt}, kPointer},
    {"LaunchDevice", F::kLaunchDevice, {kPointer, kPointer, kDim3, kDim3, kInt, kPointer}},
    {"LaunchDeviceV2", F::kLaunchDeviceV2, {kPointer, kPointer}},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", F::kOccupancyBlocks, {kPointer, kPointer, kInt, kPointer}},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
     F::kOccupancyBlocksWithFlags,
     {kPointer, kPointer, kInt, kPointer, kInt}},
};

constexpr bool are_in_order() {
  for (size_t i = 0; i < std::size(kSignatures); ++i)
    if (static_cast<size_t>(kSignatures[i].function) != i) return false;
  return std::size(kSignatures) == static_cast<size_t>(F::kOccupancyBlocksWithFlags) + 1;
}
static_assert(are_in_order());

}  // namespace

const RuntimeSignature& signature_of(RuntimeFunction function) {
  return kSignatures[static_cast<size_t>(function)];
}

std::optional<RuntimeCall> runtime_call(std::string_view symbol) {
  constexpr std::string_view kSince12 = "__cudaCDP2", kBefore = "cuda", kOwnStream = "_ptsz";
  if (symbol.starts_with(kSince12))
    symbol.remove_prefix(kSince12.size());
  else if (symbol.starts_with(kBefore))
    symbol.remove_prefix(kBefore.size());
  else
    return std::nullopt;
  const bool own = symbol.ends_with(kOwnStream);
  if (own) symbol.remove_suffix(kOwnStream.size());
  const auto* const found = std::ranges::find(kSignatures, symbol, &RuntimeSignature::name);
  if (found == std::end(kSignatures)) return std::nullopt;
  return RuntimeCall{found->function, own};
}

}  // namespace gpusim::isa
