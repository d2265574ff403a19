// What the functions of the CUDA runtime library share.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/cudart/exported.h"
#include "runtime/device/common_state.h"
#include "runtime/device/device.h"

namespace gpusim::runtime::cudart {

/// Remembers an error that is one, and returns it.
cudaError_t returned(const Failure& failure);

/// Called by each API function: what of it the two libraries have to know of each other.
void note_call();

/// Runs the body of an API function with the device, which it locks.
template <class Body>
cudaError_t call(Body body) noexcept {
  try {
    Device& device = current_device();
    note_call();
    const std::lock_guard lock(device.mutex());
    body(device);
    return 0;
  } catch (const Failure& failure) {
    return returned(failure);
  } catch (const std::bad_alloc&) {
    return returned(Failure(Code::kMemoryAllocation));
  } catch (const std::exception& error) {
    return returned(Failure(Code::kUnknown, error.what()));
  }
}

inline void require(bool condition, Code code = Code::kInvalidValue) {
  if (!condition) throw Failure(code);
}

#ifdef GPUSIM_CUDART
/// Does what launches. Of a configuration that cannot be, the driver, and the runtime since CUDA 13, say that
/// it is an invalid value (as an H100 with driver 580.159 answers).
template <class Action>
void as_launch(Action action) {
  try {
    action();
  } catch (const Failure& failure) {
    if (GPUSIM_CUDART < 13 || failure.code() != Code::kInvalidConfiguration) throw;
    throw Failure(Code::kInvalidValue, failure.what(), failure.told());
  }
}
#endif

/// Which stream a null handle means: the legacy default stream, or with --default-stream per-thread the
/// thread's.
enum class Default : uint8_t { kLegacy, kThread };
[[nodiscard]] Stream& stream_of(Device& device, cudaStream_t handle, Default null = Default::kLegacy);
/// The same when a kernel has failed.
[[nodiscard]] Stream& stream_at(Device& device, cudaStream_t handle, Default null);
[[nodiscard]] Event& event_of(Device& device, cudaEvent_t handle);

// Registered functions and variables.
[[nodiscard]] Kernel& kernel_of(Device& device, const void* function);
/// Of a handle that __cudaRegisterFatBinary() has given.
[[nodiscard]] Module& module_of_program(Device& device, void** handle);
struct Symbol {
  std::byte* address;
  uint64_t bytes;
};
[[nodiscard]] Symbol symbol_of(Device& device, const void* variable);

// Arrays and what kernels read through them
[[nodiscard]] inline ChannelFormat channels(const cudaChannelFormatDesc& f) {
  return {f.x, f.y, f.z, f.w,
          f.f >= 0 && f.f < 3 ? static_cast<ChannelFormat::Kind>(f.f) : ChannelFormat::Kind::kNone};
}
[[nodiscard]] inline cudaChannelFormatDesc described(const ChannelFormat& f) {
  return {f.x, f.y, f.z, f.w, static_cast<int>(f.kind)};
}
[[nodiscard]] Array& array_of(const Device& device, cudaArray_const_t handle);
/// Of an array that is about to be allocated.
[[nodiscard]] ArrayShape checked_shape(const Device& device, const cudaChannelFormatDesc* format,
                                       cudaExtent extent, unsigned flags);
/// The same of how large it is in each dimension, and of its kind.
void check_extent(const Device& device, const ArrayShape& shape);
/// Throws for what textures cannot have.
[[nodiscard]] isa::Texture texture_of(const Device& device, const cudaResourceDesc& resource,
                                      const cudaTextureDesc& texture,
                                      const cudaResourceViewDesc* view = nullptr);
/// Throws for memory that no texture object may be of. References take what begins anywhere.
void check_texture_memory(const Device& device, const cudaResourceDesc& resource);
[[nodiscard]] isa::Texture surface_of(const Device& device, const cudaResourceDesc& resource);

/// Direction and lengths of a copy that the program may ask for; throws if the device memory in it is not
/// allocated that far.
[[nodiscard]] Copy checked_copy(Device& device, Copy copy, cudaMemcpyKind kind);
[[nodiscard]] Copy linear_copy(Device& device, void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
[[nodiscard]] Copy to_symbol(Device& device, const void* symbol, const void* from, size_t bytes,
                             size_t offset, cudaMemcpyKind kind);
[[nodiscard]] Copy from_symbol(Device& device, void* to, const void* symbol, size_t bytes, size_t offset,
                               cudaMemcpyKind kind);
/// Bytes from the first to the last of rows.
[[nodiscard]] uint64_t span_of_rows(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch,
                                    uint64_t slice);
/// Of memory that an allocation of ours holds, all must be there.
void check_reach(const Device& device, const void* pointer, uint64_t bytes, bool must_be_device);
[[nodiscard]] Copy copy_3d(Device& device, const cudaMemcpy3DParms& p);

// Work that a stream takes, or the graph that it is captured into.
void submit_copy(Device& device, Copy copy, Stream& stream, bool wait);
void submit_fill(Device& device, const Fill& fill, Stream& stream, bool wait);
/// What cudaLaunchKernelExC and cuLaunchKernelEx say besides sizes.
void read_launch_attributes(Device& device, const cudaLaunchAttribute* attributes, unsigned count,
                            LaunchRequest& r);
/// Attributes of functions about clusters, which both libraries have: read, and set by their common number.
struct ClusterAttributes {
  int must_be_set = 0, required[3] = {0, 0, 0}, policy = 0, non_portable = 0;
};
void read_cluster_attributes(const Kernel& kernel, const isa::KernelImage& image, ClusterAttributes& a);
void set_cluster_attribute(Kernel& kernel, int attribute, int value);
/// Clusters of the launch that run at a time, and the most blocks that one can have.
[[nodiscard]] int active_clusters(Device& device, const LaunchRequest& r);
[[nodiscard]] int largest_cluster(Device& device, const LaunchRequest& r);
/// `function`: the handle by which the program knows the kernel, which questions about a captured node give
/// back.
void submit_launch(Device& device, const LaunchRequest& request, Stream& stream, const void* function);
/// The parameters that a launch or a node of a graph has in one buffer (CU_LAUNCH_PARAM_...), for `kernel`.
[[nodiscard]] std::vector<std::byte> packed_parameters(Kernel& kernel, void* const* extra);
void submit_function(Device& device, std::function<void()> function, Stream& stream,
                     void (*fn)(void*) = nullptr, void* data = nullptr,
                     std::function<void(Code)> after_failure = {});
/// `external`: in a stream that is captured, a node records the event or waits for it at each launch.
void submit_record(Device& device, Event& event, Stream& stream, bool external = false);
void submit_wait(Device& device, Stream& stream, Event& event, bool external = false);
/// Memory in a stream that is captured becomes nodes of the graph: false if it is not captured.
[[nodiscard]] bool captures_allocation(Device& device, Stream& stream, void** pointer, uint64_t bytes);
[[nodiscard]] bool captures_free(Device& device, Stream& stream, void* pointer);
/// Outside of graphs. False if the memory is none that a graph has allocated.
[[nodiscard]] bool free_memory_of_graphs(Device& device, void* pointer);
/// The pool that memory is of; null: none.
[[nodiscard]] cudaMemPool_t pool_at(const void* memory);
/// Memory that may be a pool's has been freed, or all memory has.
void forget_piece_of_pool(const void* memory);
void forget_pieces_of_pools();
/// Memory of the host that a pool has: frees it. False if it is none.
[[nodiscard]] bool free_host_piece(Device& device, void* pointer);
/// Memory that may be managed has been freed.
void forget_advice(const void* pointer);
/// Memory of another process's pool. False if it is none.
[[nodiscard]] bool free_imported(Device& device, void* pointer);
/// The device is reset, and its memory is gone.
void forget_memory_of_graphs();
// Calls that cannot be captured: each invalidates the captures that it disturbs, and throws.
/// The call looks at what the stream has done, or at what the event marks, or at what the device has done.
void refuse_while_capturing(Device& device, const Stream& stream);
void refuse_captured(const Event& event);
void refuse_while_anything_is_captured();
/// The call is potentially unsafe (cudaMalloc and the like): whether it is refused depends on the modes of
/// the captures and of the thread.
void refuse_if_unsafe();

}  // namespace gpusim::runtime::cudart
