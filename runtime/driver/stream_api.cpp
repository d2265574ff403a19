// Streams and events, whose handles are those of the runtime, and how functions are looked up.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/cudart/graph.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

GPUSIM_SAME_IN_CONTEXT(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
                       (CUstream * stream, unsigned flags, int priority), (stream, flags, priority))
GPUSIM_SAME_IN_CONTEXT(cuStreamCreate, cudaStreamCreateWithFlags, (CUstream * stream, unsigned flags),
                       (stream, flags))
GPUSIM_SAME(cuStreamDestroy_v2, cudaStreamDestroy, (CUstream stream), (stream))
GPUSIM_SAME_STREAM(cuStreamSynchronize, cudaStreamSynchronize, (CUstream stream), (stream))
GPUSIM_SAME_STREAM(cuStreamQuery, cudaStreamQuery, (CUstream stream), (stream))
GPUSIM_SAME_STREAM(cuStreamWaitEvent, cudaStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
                   (stream, event, flags))
GPUSIM_SAME_STREAM(cuStreamAddCallback, cudaStreamAddCallback,
                   (CUstream stream, cudaStreamCallback_t callback, void* data, unsigned flags),
                   (stream, callback, data, flags))
GPUSIM_SAME_STREAM(cuLaunchHostFunc, cudaLaunchHostFunc, (CUstream stream, cudaHostFn_t function, void* data),
                   (stream, function, data))
GPUSIM_SAME_STREAM(cuStreamGetPriority, cudaStreamGetPriority, (CUstream stream, int* value), (stream, value))
GPUSIM_SAME_STREAM(cuStreamGetFlags, cudaStreamGetFlags, (CUstream stream, unsigned* value), (stream, value))
GPUSIM_SAME_STREAM(cuStreamGetId, cudaStreamGetId, (CUstream stream, unsigned long long* value),
                   (stream, value))
GPUSIM_SAME_STREAM(cuStreamGetDevice, cudaStreamGetDevice, (CUstream stream, int* value), (stream, value))

GPUSIM_SAME_STREAM(cuStreamGetAttribute, cudaStreamGetAttribute,
                   (CUstream stream, int attribute, void* value), (stream, attribute, value))
GPUSIM_SAME_STREAM(cuStreamSetAttribute, cudaStreamSetAttribute,
                   (CUstream stream, int attribute, const void* value), (stream, attribute, value))
GPUSIM_SAME_STREAM(cuStreamCopyAttributes, cudaStreamCopyAttributes, (CUstream to, CUstream from), (to, from))

GPUSIM_SAME_IN_CONTEXT(cuEventCreate, cudaEventCreateWithFlags, (CUevent * event, unsigned flags),
                       (event, flags))
GPUSIM_SAME(cuEventDestroy_v2, cudaEventDestroy, (CUevent event), (event))
GPUSIM_SAME_STREAM(cuEventRecord, cudaEventRecord, (CUevent event, CUstream stream), (event, stream))
GPUSIM_SAME_STREAM(cuEventRecordWithFlags, cudaEventRecordWithFlags,
                   (CUevent event, CUstream stream, unsigned flags), (event, stream, flags))
GPUSIM_SAME(cuEventSynchronize, cudaEventSynchronize, (CUevent event), (event))
GPUSIM_SAME(cuEventQuery, cudaEventQuery, (CUevent event), (event))
GPUSIM_SAME(cuEventElapsedTime, cudaEventElapsedTime, (float* milliseconds, CUevent from, CUevent to),
            (milliseconds, from, to))
GPUSIM_DRIVER cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to) {
  return cuEventElapsedTime(milliseconds, from, to);
}

// Values in memory that a stream writes and waits for
namespace {

enum class Comparison : uint8_t { kNotLess, kEqual, kAnd, kNor };
constexpr unsigned kFlush = 1u << 30;  // all writes have reached the device

template <class T>
bool holds(const void* address, T value, Comparison comparison) {
  T present;
  std::memcpy(&present, address, sizeof present);
  switch (comparison) {
    case Comparison::kNotLess:
      return static_cast<std::make_signed_t<T>>(present - value) >= 0;
    case Comparison::kEqual:
      return present == value;
    case Comparison::kAnd:
      return (present & value) != 0;
    default:
      return static_cast<T>(~(present | value)) != 0;
  }
}

template <class T>
void write_value(Device& device, Stream& stream, CUdeviceptr address, T value, unsigned flags) {
  require(flags <= 1 && address % sizeof value == 0);
  cudart::check_reach(device, pointer(address), sizeof value, true);
  Copy c;
  c.to = pointer(address);
  c.width = c.to_pitch = c.from_pitch = c.to_slice = c.from_slice = sizeof value;
  c.staged.resize(sizeof value);
  std::memcpy(c.staged.data(), &value, sizeof value);
  device.copy(std::move(c), stream, false);
}

template <class T>
void wait_value(Device& device, Stream& stream, CUdeviceptr address, T value, unsigned flags) {
  const unsigned comparison = flags & ~kFlush;
  require(comparison <= static_cast<unsigned>(Comparison::kNor) && address % sizeof value == 0);
  cudart::check_reach(device, pointer(address), sizeof value, true);
  device.wait_until([from = pointer(address), value,
                     comparison] { return holds(from, value, static_cast<Comparison>(comparison)); },
                    stream);
}

/// Does something in a stream that is not captured.
template <class Action>
CUresult in_stream(CUstream stream, cudart::Default null, Action action) {
  return call([&](Device& device) {
    Stream& s = cudart::stream_of(device, stream, null);
    cudart::refuse_while_capturing(device, s);
    action(device, s);
  });
}

}  // namespace
#define GPUSIM_VALUE_IN(name, type, function, null)                                                         \
  GPUSIM_DRIVER name(CUstream stream, CUdeviceptr address, type value, unsigned flags) {                    \
    return in_stream(stream, null,                                                                          \
                     [&](Device& device, Stream& s) { function<type>(device, s, address, value, flags); }); \
  }
#define GPUSIM_VALUE(name, type, function)                               \
  GPUSIM_VALUE_IN(name, type, function, cudart::Default::kLegacy)        \
  GPUSIM_VALUE_IN(name##_ptsz, type, function, cudart::Default::kThread) \
  GPUSIM_VALUE_IN(name##_v2, type, function, cudart::Default::kLegacy)   \
  GPUSIM_VALUE_IN(name##_v2_ptsz, type, function, cudart::Default::kThread)
GPUSIM_VALUE(cuStreamWriteValue32, uint32_t, write_value)
GPUSIM_VALUE(cuStreamWriteValue64, uint64_t, write_value)
GPUSIM_VALUE(cuStreamWaitValue32, uint32_t, wait_value)
GPUSIM_VALUE(cuStreamWaitValue64, uint64_t, wait_value)

namespace {

/// CUstreamBatchMemOpParams: all kinds begin with their number.
struct MemoryOperation {
  enum Kind : int { kWait32 = 1, kWrite32 = 2, kFlush = 3, kWait64 = 4, kWrite64 = 5, kBarrier = 6 };
  int kind;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  CUdeviceptr alias;
  uint64_t rest[1];
};
static_assert(sizeof(MemoryOperation) == 48);

std::vector<MemoryOperation> checked_batch(unsigned count, const MemoryOperation* operations,
                                           unsigned flags) {
  constexpr unsigned kMost = 256;
  require(flags == 0 && count <= kMost && (operations != nullptr || count == 0));
  std::vector<MemoryOperation> all(operations, operations + count);
  require(std::ranges::all_of(all, [](const MemoryOperation& o) {
    return o.kind >= MemoryOperation::kWait32 && o.kind <= MemoryOperation::kBarrier;
  }));
  return all;
}

void run_batch(Device& device, Stream& stream, const std::vector<MemoryOperation>& operations) {
  for (const MemoryOperation& o : operations) {
    const auto value = static_cast<uint32_t>(o.value);
    // A flush and a barrier: what is written is there, and in order.
    if (o.kind == MemoryOperation::kWait32) wait_value(device, stream, o.address, value, o.flags);
    if (o.kind == MemoryOperation::kWait64) wait_value(device, stream, o.address, o.value, o.flags);
    if (o.kind == MemoryOperation::kWrite32) write_value(device, stream, o.address, value, o.flags);
    if (o.kind == MemoryOperation::kWrite64) write_value(device, stream, o.address, o.value, o.flags);
  }
}

}  // namespace
#define GPUSIM_MEMORY_BATCH(name, null)                                                              \
  GPUSIM_DRIVER name(CUstream stream, unsigned count, MemoryOperation* operations, unsigned flags) { \
    return in_stream(stream, null, [&](Device& device, Stream& s) {                                  \
      run_batch(device, s, checked_batch(count, operations, flags));                                 \
    });                                                                                              \
  }
GPUSIM_MEMORY_BATCH(cuStreamBatchMemOp, cudart::Default::kLegacy)
GPUSIM_MEMORY_BATCH(cuStreamBatchMemOp_ptsz, cudart::Default::kThread)
GPUSIM_MEMORY_BATCH(cuStreamBatchMemOp_v2, cudart::Default::kLegacy)
GPUSIM_MEMORY_BATCH(cuStreamBatchMemOp_v2_ptsz, cudart::Default::kThread)

namespace {

using cudart::Node;

/// CUDA_BATCH_MEM_OP_NODE_PARAMS
struct BatchParameters {
  CUcontext context;
  unsigned count;
  MemoryOperation* operations;
  unsigned flags;
};

void set_batch(Node& node, const BatchParameters* p) {
  require(p != nullptr);
  std::vector<MemoryOperation> all = checked_batch(p->count, p->operations, p->flags);
  const auto bytes = std::as_bytes(std::span(all));
  node.operations.assign(bytes.begin(), bytes.end());
  node.run_operations = [all = std::move(all)](Device& device, Stream& s) { run_batch(device, s, all); };
}

}  // namespace

GPUSIM_DRIVER cuGraphAddBatchMemOpNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, const BatchParameters* p) {
  return cudart::add_node(node, graph, after, count, Node::Type::kBatch,
                          [&](Device&, cudart::Graph&, Node& n) { set_batch(n, p); });
}
/// The operations are the node's own, as long as they are not set again.
GPUSIM_DRIVER cuGraphBatchMemOpNodeGetParams(cudaGraphNode_t node, BatchParameters* p) {
  return call([&](Device&) {
    require(p != nullptr);
    Node& n = cudart::of_type(cudart::node_of(node), Node::Type::kBatch);
    *p = {kPrimary, static_cast<unsigned>(n.operations.size() / sizeof(MemoryOperation)),
          reinterpret_cast<MemoryOperation*>(n.operations.data()), 0};
  });
}
GPUSIM_DRIVER cuGraphBatchMemOpNodeSetParams(cudaGraphNode_t node, const BatchParameters* p) {
  return call([&](Device&) { set_batch(cudart::of_type(cudart::node_of(node), Node::Type::kBatch), p); });
}
GPUSIM_DRIVER cuGraphExecBatchMemOpNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 const BatchParameters* p) {
  return call([&](Device& device) {
    device.synchronize();
    Node& n = cudart::node_in(cudart::executable_of(executable), node);
    set_batch(cudart::of_type(n, Node::Type::kBatch), p);
  });
}

GPUSIM_DRIVER cuProfilerInitialize(const char*, const char*, int) { return 0; }
GPUSIM_DRIVER cuProfilerStart() { return 0; }
GPUSIM_DRIVER cuProfilerStop() { return 0; }

namespace {
constexpr unsigned long long kFunctionsPerThread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

/// Forms with other parameters that came with CUDA 11.3 or later: a program of an older toolkit knows the one
/// before.
struct Form {
  std::string_view name;
  int since;
};
constexpr Form kForms[] = {{"cuStreamGetCaptureInfo_v2", 11030},
                           {"cuGetProcAddress_v2", 12000},
                           {"cuGraphAddKernelNode_v2", 12000},
                           {"cuGraphKernelNodeGetParams_v2", 12000},
                           {"cuGraphKernelNodeSetParams_v2", 12000},
                           {"cuGraphExecKernelNodeSetParams_v2", 12000},
                           {"cuGraphExecUpdate_v2", 12000},
                           {"cuMemAdvise_v2", 12020},
                           {"cuMemPrefetchAsync_v2", 12020},
                           {"cuGraphAddNode_v2", 12030},
                           {"cuGraphAddDependencies_v2", 12030},
                           {"cuGraphRemoveDependencies_v2", 12030},
                           {"cuGraphGetEdges_v2", 12030},
                           {"cuGraphNodeGetDependencies_v2", 12030},
                           {"cuGraphNodeGetDependentNodes_v2", 12030},
                           {"cuStreamGetCaptureInfo_v3", 12030},
                           {"cuStreamUpdateCaptureDependencies_v2", 12030},
                           {"cuStreamGetCtx_v2", 12050},
                           {"cuCtxGetDevice_v2", 13000},
                           {"cuCtxSynchronize_v2", 13000},
                           {"cuMemcpyBatchAsync_v2", 13000},
                           {"cuMemcpy3DBatchAsync_v2", 13000}};
/// The names that functions are asked for by, and the version that each came with.
constexpr Form kSince[] = {
#include "runtime/driver/versions.inc"
};
constexpr int kNewestVersion = 13000, kVersionNotSufficient = 2;
bool is_newer(std::string_view name, int version) {
  return std::ranges::any_of(kForms, [&](const Form& f) { return f.name == name && version < f.since; });
}
}  // namespace

/// Tables of functions without names, by which the toolkit's own libraries reach into the driver.
GPUSIM_DRIVER cuGetExportTable(const void** table, const void*) {
  if (table == nullptr) return 1;
  *table = nullptr;
  // NVRTC looks for one, and compiles without.
  Dl_info caller{};
  const bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  const std::string_view library = known ? caller.dli_fname : "";
  static std::atomic<bool> told{false};
  if (!library.substr(library.rfind('/') + 1).starts_with("libnvrtc.so") && !told.exchange(true))
    std::fprintf(
        stderr,
        "gpusim: error: cuGetExportTable is not supported (CUDA_ERROR_NOT_SUPPORTED)\n"
        "  hint: closed libraries of the toolkit (cuBLAS, cuFFT, ...) call it, and do not run here\n");
  return static_cast<int>(Code::kNotSupported);
}
/// The newest form of a function that programs of that version know.
GPUSIM_DRIVER cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                                  int* status) {
  constexpr unsigned long long kFlags = 3;
  if (name == nullptr || function == nullptr) return 1;
  *function = nullptr;
  if (version > kNewestVersion || (flags & ~kFlags) != 0) return 1;
  const auto* const known = std::ranges::find(kSince, std::string_view(name), &Form::name);
  if (known != std::end(kSince) && version < known->since) {
    if (status != nullptr) *status = kVersionNotSufficient;
    return status == nullptr ? static_cast<int>(Code::kSymbolNotFound) : 0;
  }
  static void* const self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  // The one function whose newest form has another name.
  if (std::strcmp(name, "cuGraphInstantiate") == 0 && version >= 12000) name = "cuGraphInstantiateWithFlags";
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (known == std::end(kSince)) break;
    // Contexts with parameters are asked for by newer programs only; they take the form without.
    if (std::strcmp(name, "cuCtxCreate") == 0 && (suffix[1] == '3' || suffix[1] == '4')) continue;
    const std::string newest = std::string(name) + suffix;
    if (is_newer(newest, version)) continue;
    if ((flags & kFunctionsPerThread) != 0)
      for (const char* form : {"_ptsz", "_ptds"})
        if (*function == nullptr) *function = dlsym(self, (newest + form).c_str());
    if (*function == nullptr) *function = dlsym(self, newest.c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  if (*function == nullptr && *name != '\0')
    std::fprintf(stderr, "gpusim: note: %s is not supported\n", name);
  return *function == nullptr && status == nullptr ? static_cast<int>(Code::kSymbolNotFound) : 0;
}
/// The same, with the functions for programs with a default stream of each thread where there are such.
GPUSIM_DRIVER cuGetProcAddress_v2_ptsz(const char* name, void** function, int version,
                                       unsigned long long flags, int* status) {
  return cuGetProcAddress_v2(name, function, version, flags | kFunctionsPerThread, status);
}
GPUSIM_DRIVER cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // namespace gpusim::runtime::driver
