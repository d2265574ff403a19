// Memory, copies and fills.
#include <cstring>
#include <utility>

#include "runtime/cudart/batch_copies.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream, bool wait) {
  return in_context([&](Device& device) {
    cudart::submit_copy(device, cudart::linear_copy(device, to, from, bytes, kind),
                        cudart::stream_of(device, stream), wait);
  });
}

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned value_bytes, size_t width, size_t height,
              CUstream stream, bool wait) {
  return in_context([&](Device& device) {
    require(to % value_bytes == 0);
    require(height <= 1 || (pitch % value_bytes == 0 && width * value_bytes <= pitch));
    Fill f;
    f.to = pointer(to);
    f.width = width * value_bytes, f.height = height;
    f.pitch = height == 1 ? f.width : pitch;
    f.slice = f.pitch * height;
    f.value = value, f.value_bytes = value_bytes;
    if (f.bytes() != 0) {
      const PointerKind kind = device.pointer_kind(f.to);
      require(kind.memory != PointerKind::Memory::kUnregistered &&
              (height - 1) * f.pitch + f.width <= kind.base + kind.bytes - to);
    }
    cudart::submit_fill(device, f, cudart::stream_of(device, stream), wait);
  });
}

}  // namespace

GPUSIM_DRIVER cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return in_context([&](Device& device) {
    require(address != nullptr && bytes != 0);
    cudart::refuse_if_unsafe();
    device.check();
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(bytes));
  });
}
GPUSIM_EXPORT cudaError_t cudaFree(void* memory);
GPUSIM_DRIVER cuMemFree_v2(CUdeviceptr address) { return cudaFree(pointer(address)); }
GPUSIM_DRIVER cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                                 unsigned element) {
  return in_context([&](Device& device) {
    require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
    require(element == 4 || element == 8 || element == 16);
    cudart::refuse_if_unsafe();
    *pitch = (width + 511) / 512 * 512;
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(*pitch * height));
  });
}
GPUSIM_DRIVER cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return in_context([&](Device& device) {
    constexpr unsigned kGlobal = 1, kHost = 2;
    require(address != nullptr && bytes != 0 && (flags == kGlobal || flags == kHost));
    cudart::refuse_if_unsafe();
    device.check();
    *address = reinterpret_cast<CUdeviceptr>(device.allocate_managed(bytes));
  });
}
GPUSIM_DRIVER cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return in_context([&](Device& device) {
    constexpr unsigned kFlags = 7;
    require(memory != nullptr && (flags & ~kFlags) == 0);
    cudart::refuse_if_unsafe();
    device.check();
    *memory = bytes == 0 ? nullptr : device.allocate_host(bytes, flags);
  });
}
GPUSIM_DRIVER cuMemAllocHost_v2(void** memory, size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }
/// As cuMemFree() does, it finds the memory by its address: no context need be current.
GPUSIM_DRIVER cuMemFreeHost(void* memory) {
  return call([&](Device& device) {
    cudart::refuse_if_unsafe();
    device.synchronize();
    require(device.release_host(memory));
  });
}
GPUSIM_DRIVER cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned flags) {
  return in_context([&](Device& device) {
    require(address != nullptr && flags == 0);
    require(device.pointer_kind(memory).memory == PointerKind::Memory::kHost);
    *address = reinterpret_cast<CUdeviceptr>(memory);
  });
}
GPUSIM_SAME_IN_CONTEXT(cuMemHostGetFlags, cudaHostGetFlags, (unsigned* flags, void* memory), (flags, memory))
GPUSIM_SAME_IN_CONTEXT(cuMemHostRegister_v2, cudaHostRegister, (void* memory, size_t bytes, unsigned flags),
                       (memory, bytes, flags))
GPUSIM_SAME(cuMemHostUnregister, cudaHostUnregister, (void* memory), (memory))
GPUSIM_DRIVER cuMemGetInfo_v2(size_t* free, size_t* total) {
  return in_context([&](Device& device) {
    require(free != nullptr && total != nullptr);
    device.check();
    *free = device.free_bytes();
    *total = device.total_bytes();
  });
}
GPUSIM_DRIVER cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return in_context([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(kind.memory != PointerKind::Memory::kUnregistered, Code::kSymbolNotFound);
    if (base != nullptr) *base = kind.base;
    if (bytes != nullptr) *bytes = kind.bytes;
  });
}
namespace {

/// CUpointer_attribute. Of memory that is not ours the values are zero.
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kPeerTokens = 5,
  kSynchronizesMemory = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kOfOldIpc = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kHandleTypes = 14,
  kOfRdma = 15,
  kAccess = 16,
  kPoolHandle = 17,
  kMappingSize = 18,
  kMappingBase = 19,
  kBlockId = 20,
  kDecompresses = 21
};

void write_attribute(void* value, int attribute, CUdeviceptr address, const PointerKind& kind) {
  using Memory = PointerKind::Memory;
  constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;
  constexpr int kNoDevice = -2;
  const bool known = kind.memory != Memory::kUnregistered;
  switch (attribute) {
    case kContext:
      *static_cast<CUcontext*>(value) = known ? kPrimary : nullptr;
      return;
    case kMemoryType:
      *static_cast<unsigned*>(value) = !known                         ? 0
                                       : kind.memory == Memory::kHost ? kHostMemory
                                                                      : kDeviceMemory;
      return;
    case kHostPointer:
      require(kind.memory != Memory::kDevice);
      [[fallthrough]];
    case kDevicePointer:
      *static_cast<CUdeviceptr*>(value) = known ? address : 0;
      return;
    case kPeerTokens:
      require(kind.memory != Memory::kHost);
      std::memset(value, 0, 2 * sizeof(uint64_t));
      return;
    case kSynchronizesMemory:
      *static_cast<unsigned*>(value) = known && kind.memory != Memory::kHost;
      return;
    // What allocations of the device alone are; a variable or a pool's memory is not told apart.
    case kOfOldIpc:
    case kOfRdma:
    case kDecompresses:
      *static_cast<unsigned*>(value) = kind.memory == Memory::kDevice;
      return;
    case kHandleTypes:
      *static_cast<uint64_t*>(value) = 0;
      return;
    case kAccess: {
      constexpr unsigned kReadAndWrite = 3;
      *static_cast<unsigned*>(value) = known ? kReadAndWrite : 0;
      return;
    }
    case kPoolHandle:
      *static_cast<cudaMemPool_t*>(value) = cudart::pool_at(pointer(address));
      return;
    case kRangeStart:
      *static_cast<CUdeviceptr*>(value) = kind.base;
      return;
    // Of what is unknown these are left as they are.
    case kBufferId:
    case kBlockId:
    case kMappingBase:
      if (known) *static_cast<CUdeviceptr*>(value) = kind.base;
      return;
    case kIsManaged:
      *static_cast<unsigned*>(value) = kind.memory == Memory::kManaged;
      return;
    case kDeviceOrdinal:
      *static_cast<int*>(value) = known ? 0 : kNoDevice;
      return;
    case kRangeSize:
    case kMappingSize:
      if (known) *static_cast<size_t*>(value) = kind.bytes;
      return;
    case kMapped:
      *static_cast<unsigned*>(value) = known;
      return;
    default:
      throw Failure(Code::kInvalidValue);
  }
}

}  // namespace
GPUSIM_DRIVER cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return call([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(value != nullptr && kind.memory != PointerKind::Memory::kUnregistered);
    write_attribute(value, attribute, address, kind);
  });
}
/// Memory that is not ours is no error here.
GPUSIM_DRIVER cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                     CUdeviceptr address) {
  return call([&](Device& device) {
    require(count != 0 && attributes != nullptr && values != nullptr);
    const PointerKind kind = device.pointer_kind(pointer(address));
    for (unsigned i = 0; i < count; ++i) {
      require(values[i] != nullptr);
      write_attribute(values[i], attributes[i], address, kind);
    }
  });
}

/// Copies from and to the memory are done when their calls return, as it is.
GPUSIM_DRIVER cuPointerSetAttribute(const void* value, int attribute, CUdeviceptr address) {
  return call([&](Device& device) {
    require(value != nullptr && attribute == kSynchronizesMemory);
    const PointerKind::Memory memory = device.pointer_kind(pointer(address)).memory;
    require(memory == PointerKind::Memory::kDevice || memory == PointerKind::Memory::kManaged);
  });
}

// Managed memory, which is everywhere
GPUSIM_EXPORT cudaError_t cudaMemAdvise(const void* memory, size_t bytes, int advice, cudaMemLocation where);
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation where,
                                               unsigned flags, cudaStream_t stream);
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_ptsz(const void* memory, size_t bytes, cudaMemLocation where,
                                                    unsigned flags, cudaStream_t stream);
GPUSIM_EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes,
                                                   unsigned flags);
namespace {
cudaMemLocation location_of(CUdevice device) {
  constexpr int kOnDevice = 1;
  constexpr int kOnHost = 2, kHost = -1;  // CU_DEVICE_CPU
  return device == kHost ? cudaMemLocation{kOnHost, 0} : cudaMemLocation{kOnDevice, device};
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute,
                                                   const void* memory, size_t bytes);
GPUSIM_DRIVER cuMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, CUdeviceptr address,
                                     size_t bytes) {
  return cudaMemRangeGetAttribute(data, data_bytes, attribute, pointer(address), bytes);
}
GPUSIM_EXPORT cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes, const int* attributes,
                                                    size_t count, const void* memory, size_t bytes);
GPUSIM_DRIVER cuMemRangeGetAttributes(void** data, size_t* data_bytes, const int* attributes, size_t count,
                                      CUdeviceptr address, size_t bytes) {
  return cudaMemRangeGetAttributes(data, data_bytes, attributes, count, pointer(address), bytes);
}
GPUSIM_DRIVER cuMemAdvise_v2(CUdeviceptr address, size_t bytes, int advice, cudaMemLocation where) {
  return cudaMemAdvise(pointer(address), bytes, advice, where);
}
GPUSIM_DRIVER cuMemAdvise(CUdeviceptr address, size_t bytes, int advice, CUdevice device) {
  return cudaMemAdvise(pointer(address), bytes, advice, location_of(device));
}
GPUSIM_DRIVER cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, cudaMemLocation where, unsigned flags,
                                    CUstream stream) {
  return cudaMemPrefetchAsync(pointer(address), bytes, where, flags, stream);
}
GPUSIM_DRIVER cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, cudaMemLocation where,
                                         unsigned flags, CUstream stream) {
  return cudaMemPrefetchAsync_ptsz(pointer(address), bytes, where, flags, stream);
}
GPUSIM_DRIVER cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cudaMemPrefetchAsync(pointer(address), bytes, location_of(device), 0, stream);
}
GPUSIM_DRIVER cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cudaMemPrefetchAsync_ptsz(pointer(address), bytes, location_of(device), 0, stream);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchBatchAsync(void** memory, size_t* bytes, size_t count,
                                                    cudaMemLocation* where, size_t* first,
                                                    size_t location_count, unsigned long long flags,
                                                    cudaStream_t stream);
GPUSIM_DRIVER cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* bytes, size_t count,
                                      cudaMemLocation* where, size_t* first, size_t location_count,
                                      unsigned long long flags, CUstream stream) {
  return cudaMemPrefetchBatchAsync(reinterpret_cast<void**>(addresses), bytes, count, where, first,
                                   location_count, flags, stream);
}
GPUSIM_DRIVER cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* bytes, size_t count,
                                           cudaMemLocation* where, size_t* first, size_t location_count,
                                           unsigned long long flags, CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, bytes, count, where, first, location_count, flags,
                                 per_thread(stream));
}
GPUSIM_DRIVER cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
  return cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags);
}
GPUSIM_DRIVER cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr address, size_t bytes,
                                          unsigned flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), pointer(address), bytes, flags);
}

#define GPUSIM_DRIVER_COPY(name, version, to_type, from_type, to_pointer, from_pointer, kind)            \
  GPUSIM_DRIVER name##version(to_type to, from_type from, size_t bytes) {                                \
    return copy(to_pointer, from_pointer, bytes, kind, nullptr, true);                                   \
  }                                                                                                      \
  GPUSIM_DRIVER name##version##_ptds(to_type to, from_type from, size_t bytes) {                         \
    return copy(to_pointer, from_pointer, bytes, kind, kPerThread, true);                                \
  }                                                                                                      \
  GPUSIM_DRIVER name##Async##version(to_type to, from_type from, size_t bytes, CUstream stream) {        \
    return copy(to_pointer, from_pointer, bytes, kind, stream, false);                                   \
  }                                                                                                      \
  GPUSIM_DRIVER name##Async##version##_ptsz(to_type to, from_type from, size_t bytes, CUstream stream) { \
    return copy(to_pointer, from_pointer, bytes, kind, per_thread(stream), false);                       \
  }
GPUSIM_DRIVER_COPY(cuMemcpyHtoD, _v2, CUdeviceptr, const void*, pointer(to), from, cudaMemcpyHostToDevice)
GPUSIM_DRIVER_COPY(cuMemcpyDtoH, _v2, void*, CUdeviceptr, to, pointer(from), cudaMemcpyDeviceToHost)
GPUSIM_DRIVER_COPY(cuMemcpyDtoD, _v2, CUdeviceptr, CUdeviceptr, pointer(to), pointer(from),
                   cudaMemcpyDeviceToDevice)
GPUSIM_DRIVER_COPY(cuMemcpy, , CUdeviceptr, CUdeviceptr, pointer(to), pointer(from), cudaMemcpyDefault)

/// All contexts are of one device, and null is the current one; what never was a context, or is destroyed, is
/// none.
static CUresult wrong_peer(CUcontext one, CUcontext other) {
  for (const CUcontext context : {one, other})
    if (context != nullptr && !is_alive(context)) return static_cast<int>(Code::kDeviceUninitialized);
  return 0;
}

#define GPUSIM_PEER_COPY(waits, waits_not)                                                            \
  GPUSIM_DRIVER cuMemcpyPeer##waits(CUdeviceptr to, CUcontext its, CUdeviceptr from, CUcontext their, \
                                    size_t bytes) {                                                   \
    const CUresult wrong = wrong_peer(its, their);                                                    \
    return wrong != 0 ? wrong : cuMemcpyDtoD_v2##waits(to, from, bytes);                              \
  }                                                                                                   \
  GPUSIM_DRIVER cuMemcpyPeerAsync##waits_not(CUdeviceptr to, CUcontext its, CUdeviceptr from,         \
                                             CUcontext their, size_t bytes, CUstream stream) {        \
    const CUresult wrong = wrong_peer(its, their);                                                    \
    return wrong != 0 ? wrong : cuMemcpyDtoDAsync_v2##waits_not(to, from, bytes, stream);             \
  }
GPUSIM_PEER_COPY(, )
GPUSIM_PEER_COPY(_ptds, _ptsz)

#define GPUSIM_DRIVER_FILL_IN(bits, type, waits, waits_not, null, stream_of_call)                           \
  GPUSIM_DRIVER cuMemsetD##bits##_v2##waits(CUdeviceptr to, type value, size_t count) {                     \
    return fill(to, 0, value, bits / 8, count, 1, null, true);                                              \
  }                                                                                                         \
  GPUSIM_DRIVER cuMemsetD##bits##Async##waits_not(CUdeviceptr to, type value, size_t count,                 \
                                                  CUstream stream) {                                        \
    return fill(to, 0, value, bits / 8, count, 1, stream_of_call, false);                                   \
  }                                                                                                         \
  GPUSIM_DRIVER cuMemsetD2D##bits##_v2##waits(CUdeviceptr to, size_t pitch, type value, size_t width,       \
                                              size_t height) {                                              \
    return fill(to, pitch, value, bits / 8, width, height, null, true);                                     \
  }                                                                                                         \
  GPUSIM_DRIVER cuMemsetD2D##bits##Async##waits_not(CUdeviceptr to, size_t pitch, type value, size_t width, \
                                                    size_t height, CUstream stream) {                       \
    return fill(to, pitch, value, bits / 8, width, height, stream_of_call, false);                          \
  }
#define GPUSIM_DRIVER_FILL(bits, type)                   \
  GPUSIM_DRIVER_FILL_IN(bits, type, , , nullptr, stream) \
  GPUSIM_DRIVER_FILL_IN(bits, type, _ptds, _ptsz, kPerThread, per_thread(stream))
GPUSIM_DRIVER_FILL(8, unsigned char)
GPUSIM_DRIVER_FILL(16, unsigned short)
GPUSIM_DRIVER_FILL(32, unsigned)

// Batches of copies. Before CUDA 13 they said which copy was wrong.
#define GPUSIM_BATCH(suffix, null)                                                                           \
  GPUSIM_DRIVER cuMemcpyBatchAsync##suffix(void* const* to, const void* const* from, const size_t* bytes,    \
                                           size_t count, const void*, const size_t*, size_t, size_t* failed, \
                                           CUstream stream) {                                                \
    return cudart::copy_batch(to, from, bytes, count, failed, stream, cudart::Default::null);                \
  }                                                                                                          \
  GPUSIM_DRIVER cuMemcpyBatchAsync_v2##suffix(void* const* to, const void* const* from, const size_t* bytes, \
                                              size_t count, const void*, const size_t*, size_t,              \
                                              CUstream stream) {                                             \
    return cudart::copy_batch(to, from, bytes, count, nullptr, stream, cudart::Default::null);               \
  }                                                                                                          \
  GPUSIM_DRIVER cuMemcpy3DBatchAsync##suffix(size_t count, const cudart::BatchCopy* copies, size_t* failed,  \
                                             unsigned long long flags, CUstream stream) {                    \
    return cudart::copy_batch_3d(count, copies, failed, flags, stream, cudart::Default::null);               \
  }                                                                                                          \
  GPUSIM_DRIVER cuMemcpy3DBatchAsync_v2##suffix(size_t count, const cudart::BatchCopy* copies,               \
                                                unsigned long long flags, CUstream stream) {                 \
    return cudart::copy_batch_3d(count, copies, nullptr, flags, stream, cudart::Default::null);              \
  }
GPUSIM_BATCH(, kLegacy)
GPUSIM_BATCH(_ptsz, kThread)

}  // namespace gpusim::runtime::driver
