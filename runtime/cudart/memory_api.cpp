// Allocation: device, pinned, mapped and managed memory, arrays.
#include <algorithm>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

namespace {

constexpr uint64_t kPitchAlignment = 512;
uint64_t pitch_of(uint64_t width) {
  return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

cudaError_t allocate(void** pointer, size_t bytes) {
  return call([&](Device& device) {
    require(pointer != nullptr);
    refuse_if_unsafe();
    device.check();
    *pointer = bytes == 0 ? nullptr : device.allocate(bytes);
  });
}

cudaError_t allocate_host(void** pointer, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    require(pointer != nullptr && (flags & ~7u) == 0);
    refuse_if_unsafe();
    device.check();
    *pointer = bytes == 0 ? nullptr : device.allocate_host(bytes, flags);
  });
}

void allocate_array(Device& device, cudaArray_t* handle, const cudaChannelFormatDesc* format,
                    cudaExtent extent, unsigned flags) {
  require(handle != nullptr && format != nullptr);
  refuse_if_unsafe();
  const int bits = format->x + format->y + format->z + format->w;
  require(bits > 0 && bits % 8 == 0 && extent.width != 0, Code::kInvalidChannelDescriptor);
  const ArrayShape shape{channels(*format), {extent.width, extent.height, extent.depth}, flags};
  *handle = reinterpret_cast<cudaArray_t>(&device.add_array(shape));
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
GPUSIM_EXPORT cudaError_t cudaFree(void* pointer) {
  return call([&](Device& device) {
    device.check();
    if (pointer == nullptr) return;
    refuse_if_unsafe();
    if (free_memory_of_graphs(device, pointer) || free_imported(device, pointer)) return;
    device.synchronize();
    require(device.release(pointer));
    forget_piece_of_pool(pointer);
  });
}
GPUSIM_EXPORT cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&](Device& device) {
    require(pointer != nullptr && pitch != nullptr);
    refuse_if_unsafe();
    *pitch = pitch_of(width);
    *pointer = width == 0 || height == 0 ? nullptr : device.allocate(*pitch * height);
  });
}
GPUSIM_EXPORT cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  return call([&](Device& device) {
    require(p != nullptr);
    refuse_if_unsafe();
    const uint64_t pitch = pitch_of(extent.width);
    const uint64_t bytes = pitch * extent.height * extent.depth;
    *p = {bytes == 0 ? nullptr : device.allocate(bytes), pitch, extent.width, extent.height};
  });
}
GPUSIM_EXPORT cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    require(pointer != nullptr && bytes != 0 && (flags == 1 || flags == 2));
    refuse_if_unsafe();
    device.check();
    *pointer = device.allocate_managed(bytes);
  });
}
GPUSIM_EXPORT cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return allocate_host(pointer, bytes, 0);
}
GPUSIM_EXPORT cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return allocate_host(pointer, bytes, flags);
}
GPUSIM_EXPORT cudaError_t cudaFreeHost(void* pointer) {
  return call([&](Device& device) {
    if (pointer == nullptr) return;
    refuse_if_unsafe();
    device.synchronize();
    require(device.release_host(pointer));
  });
}
GPUSIM_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    refuse_if_unsafe();
    device.register_host(pointer, bytes, flags);
  });
}
GPUSIM_EXPORT cudaError_t cudaHostUnregister(void* pointer) {
  return call([&](Device& device) {
    refuse_if_unsafe();
    device.synchronize();
    device.unregister_host(pointer);
  });
}
GPUSIM_EXPORT cudaError_t cudaHostGetDevicePointer(void** pointer, void* host, unsigned flags) {
  return call([&](Device& device) {
    require(pointer != nullptr && flags == 0);
    const PointerKind kind = device.pointer_kind(host);
    require(kind.memory == PointerKind::Memory::kHost);
    *pointer = host;
  });
}
GPUSIM_EXPORT cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Device& device) {
    require(flags != nullptr);
    const PointerKind kind = device.pointer_kind(host);
    require(kind.memory == PointerKind::Memory::kHost);
    *flags = kind.flags;
  });
}
GPUSIM_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Device& device) {
    require(free != nullptr && total != nullptr);
    *free = device.free_bytes();
    *total = device.total_bytes();
  });
}
GPUSIM_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* pointer) {
  return call([&](Device& device) {
    require(a != nullptr);
    *a = {};
    const PointerKind kind = device.pointer_kind(pointer);
    a->type = static_cast<int>(kind.memory);
    a->device = kind.memory == PointerKind::Memory::kUnregistered ? -2 : 0;
    void* const same = const_cast<void*>(pointer);
    if (kind.memory != PointerKind::Memory::kUnregistered) a->devicePointer = same;
    if (kind.memory != PointerKind::Memory::kDevice) a->hostPointer = same;
  });
}

// Advice about managed memory changes nothing: its pages are everywhere.
namespace {
cudaError_t advise(const void* pointer, size_t bytes) {
  return call([&](Device& device) {
    require(pointer != nullptr && bytes != 0);
    require(device.pointer_kind(pointer).memory == PointerKind::Memory::kManaged);
  });
}
cudaError_t prefetch(const void* pointer, size_t bytes, cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    (void)stream_of(device, stream, null);
    require(pointer != nullptr && bytes != 0);
    require(device.pointer_kind(pointer).memory == PointerKind::Memory::kManaged);
  });
}
}  // namespace
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaMemAdvise(const void* p, size_t bytes, int, cudaMemLocation) {
  return advise(p, bytes);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation, unsigned,
                                               cudaStream_t stream) {
  return prefetch(p, bytes, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_ptsz(const void* p, size_t bytes, cudaMemLocation, unsigned,
                                                    cudaStream_t stream) {
  return prefetch(p, bytes, stream, Default::kThread);
}
#else
GPUSIM_EXPORT cudaError_t cudaMemAdvise(const void* p, size_t bytes, int, int) { return advise(p, bytes); }
GPUSIM_EXPORT cudaError_t cudaMemAdvise_v2(const void* p, size_t bytes, int, cudaMemLocation) {
  return advise(p, bytes);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, int, cudaStream_t stream) {
  return prefetch(p, bytes, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_ptsz(const void* p, size_t bytes, int, cudaStream_t stream) {
  return prefetch(p, bytes, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_v2(const void* p, size_t bytes, cudaMemLocation, unsigned,
                                                  cudaStream_t stream) {
  return prefetch(p, bytes, stream, Default::kLegacy);
}
#endif
GPUSIM_EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned) {
  return call([&](Device& device) {
    (void)stream_of(device, stream);
    require(device.pointer_kind(pointer).memory == PointerKind::Memory::kManaged);
  });
}

// Arrays

GPUSIM_EXPORT cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                          size_t width, size_t height, unsigned flags) {
  return call([&](Device& device) { allocate_array(device, array, format, {width, height, 0}, flags); });
}
GPUSIM_EXPORT cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                            cudaExtent extent, unsigned flags) {
  return call([&](Device& device) { allocate_array(device, array, format, extent, flags); });
}
GPUSIM_EXPORT cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&](Device& device) {
    if (array == nullptr) return;
    device.remove_array(&array_of(device, array));
  });
}
GPUSIM_EXPORT cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                                           cudaArray_t array) {
  return call([&](Device& device) {
    const Array& a = array_of(device, array);
    if (format != nullptr) *format = described(a.format);
    if (extent != nullptr) *extent = {a.extent.width, a.extent.height, a.extent.depth};
    if (flags != nullptr) *flags = a.flags;
  });
}
GPUSIM_EXPORT cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call([&](Device& device) {
    require(format != nullptr);
    *format = described(array_of(device, array).format);
  });
}
GPUSIM_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

}  // namespace gpusim::runtime::cudart
