// Allocation: device, pinned, mapped and managed memory, arrays.
#include <algorithm>
#include <map>

#include "runtime/cudart/api.h"
#include "runtime/device/attributes.h"

namespace gpusim::runtime::cudart {

namespace {

constexpr uint64_t kPitchAlignment = 512;
uint64_t pitch_of(uint64_t width) {
  return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

/// Of so many rows, or more than any device has.
uint64_t rows_bytes(uint64_t pitch, uint64_t height, uint64_t depth) {
  uint64_t slice = 0, bytes = 0;
  const bool fits =
      !__builtin_mul_overflow(pitch, height, &slice) && !__builtin_mul_overflow(slice, depth, &bytes);
  require(fits, Code::kMemoryAllocation);
  return bytes;
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

/// One, two or four channels of the same bits, as textures read them. Numbers of kinds from 5 on are of
/// formats that say all themselves.
bool is_texel(const cudaChannelFormatDesc& f) {
  constexpr int kFloat = 2, kNone = 3, kFirstWholeFormat = 5;
  if (f.f >= kFirstWholeFormat) return f.x > 0;
  const bool pairs = f.y == 0 || f.y == f.x, fours = f.z == f.w && (f.z == 0 || (f.z == f.x && f.y == f.x));
  const bool bits = f.x == 16 || f.x == 32 || (f.x == 8 && f.f != kFloat);
  return f.f >= 0 && f.f < kNone && bits && pairs && fours;
}

void allocate_array(Device& device, cudaArray_t* handle, const cudaChannelFormatDesc* format,
                    cudaExtent extent, unsigned flags) {
  require(handle != nullptr);
  *handle = reinterpret_cast<cudaArray_t>(&device.add_array(checked_shape(device, format, extent, flags)));
}

}  // namespace

ArrayShape checked_shape(const Device& device, const cudaChannelFormatDesc* format, cudaExtent extent,
                         unsigned flags) {
  require(format != nullptr);
  refuse_if_unsafe();
  device.check();
  require(is_texel(*format), Code::kInvalidChannelDescriptor);
  const ArrayShape shape{channels(*format), {extent.width, extent.height, extent.depth}, flags};
  check_extent(device, shape);
  return shape;
}

void check_extent(const Device& device, const ArrayShape& shape) {
  constexpr unsigned kGather = 8, kDepth = 16, kColour = 32, kFlags = 0x1ff;
  const unsigned flags = shape.flags;
  require((flags & (kDepth | kColour)) == 0 && (flags & ~kFlags) == 0);
  const auto& e = shape.extent;
  // Attributes of the device that limit each dimension.
  struct Limits {
    int width = 0, height = 0, depth = 0;
  } limits;
  const bool layered = (flags & Array::kLayered) != 0, cube = (flags & Array::kCubemap) != 0;
  require(e.width != 0 && (!layered || e.depth != 0));
  if (cube) {
    constexpr uint64_t kFaces = 6;
    require(e.width == e.height && e.depth != 0 && (layered ? e.depth % kFaces == 0 : e.depth == kFaces));
    limits = layered ? Limits{53, 53, 54} : Limits{52, 52, 0};
  } else if (layered) {
    limits = e.height == 0 ? Limits{42, 0, 43} : Limits{27, 28, 29};
  } else if (e.depth != 0) {
    require(e.height != 0);
    limits = {24, 25, 0};
  } else {
    limits = e.height == 0 ? Limits{21, 0, 0} : Limits{22, 23, 0};
  }
  if ((flags & kGather) != 0) {
    require(e.height != 0 && e.depth == 0);
    limits = {45, 46, 0};
  }
  const auto within = [&](uint64_t size, int attribute) {
    return attribute == 0 ||
           size <= static_cast<uint64_t>(device_attribute(device.machine(), attribute).value_or(0));
  };
  require(within(e.width, limits.width) && within(e.height, limits.height) && within(e.depth, limits.depth));
}

GPUSIM_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
GPUSIM_EXPORT cudaError_t cudaFree(void* pointer) {
  return call([&](Device& device) {
    device.check();
    refuse_if_unsafe();
    if (pointer == nullptr) return;
    if (free_memory_of_graphs(device, pointer) || free_imported(device, pointer)) return;
    device.synchronize();
    if (free_host_piece(device, pointer)) return;
    require(device.release(pointer));
    forget_piece_of_pool(pointer);
    forget_advice(pointer);
  });
}
GPUSIM_EXPORT cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&](Device& device) {
    require(pointer != nullptr && pitch != nullptr);
    refuse_if_unsafe();
    *pitch = height == 0 ? 0 : pitch_of(width);
    *pointer = *pitch == 0 ? nullptr : device.allocate(rows_bytes(*pitch, height, 1));
  });
}
GPUSIM_EXPORT cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  return call([&](Device& device) {
    require(p != nullptr);
    refuse_if_unsafe();
    const bool empty = extent.height == 0 || extent.depth == 0;
    const uint64_t pitch = empty ? 0 : pitch_of(extent.width);
    *p = {pitch == 0 ? nullptr : device.allocate(rows_bytes(pitch, extent.height, extent.depth)), pitch,
          extent.width, extent.height};
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
    refuse_if_unsafe();
    if (pointer == nullptr) return;
    device.synchronize();
    require(device.release_host(pointer));
  });
}
GPUSIM_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    constexpr unsigned kIoMemory = 4, kFlags = 15;
    refuse_if_unsafe();
    // Memory of other devices, which there are none of, is no host memory; nor is the device's.
    require((flags & ~kFlags) == 0 && (flags & kIoMemory) == 0);
    require(device.pointer_kind(pointer).memory != PointerKind::Memory::kDevice);
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
    // With unified addressing all of it is mapped.
    constexpr unsigned kMapped = 2;
    *flags = kind.flags | kMapped;
  });
}
GPUSIM_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Device& device) {
    device.check();
    if (free != nullptr) *free = device.free_bytes();
    if (total != nullptr) *total = device.total_bytes();
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

// Advice about managed memory changes nothing, for its pages are everywhere. It is remembered for the
// questions about it, of each allocation as a whole.
namespace {

constexpr int kNoDevice = -2, kNowhere = 0, kOnDevice = 1;

/// cudaMemoryAdvise
enum Advised : int {
  kSetReadMostly = 1,
  kUnsetReadMostly,
  kSetPreferred,
  kUnsetPreferred,
  kSetAccessed,
  kUnsetAccessed
};

struct Advice {
  bool read_mostly = false, accessed = false;
  cudaMemLocation preferred{kNowhere, kNoDevice}, prefetched{kNowhere, kNoDevice};
};
std::map<uint64_t, Advice>& advice() {
  static auto& all = common_state<std::map<uint64_t, Advice>>("advice");
  return all;
}

/// A place where managed memory can be: the device, the host or a node of its memory.
void check_place(cudaMemLocation where) {
  constexpr int kLastPlace = 4;  // cudaMemLocationTypeHostNumaCurrent
  require(where.type >= kOnDevice && where.type <= kLastPlace);
  require(where.type != kOnDevice || where.id == 0, Code::kInvalidDevice);
}

/// The allocation of managed memory in which the range lies.
uint64_t managed_at(const Device& device, const void* pointer, size_t bytes) {
  require(pointer != nullptr && bytes != 0);
  const PointerKind kind = device.pointer_kind(pointer);
  require(kind.memory == PointerKind::Memory::kManaged);
  require(bytes <= kind.base + kind.bytes - reinterpret_cast<uint64_t>(pointer));
  return kind.base;
}

cudaError_t advise(const void* pointer, size_t bytes, int what, cudaMemLocation where) {
  return call([&](Device& device) {
    Advice& a = advice()[managed_at(device, pointer, bytes)];
    switch (what) {
      case kSetReadMostly:
      case kUnsetReadMostly:
        a.read_mostly = what == kSetReadMostly;
        return;
      case kSetPreferred:
        check_place(where);
        a.preferred = where;
        return;
      case kUnsetPreferred:
        a.preferred = Advice().preferred;
        return;
      case kSetAccessed:
      case kUnsetAccessed:
        check_place(where);
        a.accessed = what == kSetAccessed;
        return;
      default:
        throw Failure(Code::kInvalidValue);
    }
  });
}
void prefetch(const Device& device, const void* pointer, size_t bytes, cudaMemLocation where) {
  check_place(where);
  advice()[managed_at(device, pointer, bytes)].prefetched = where;
}
cudaError_t prefetch(const void* pointer, size_t bytes, cudaMemLocation where, unsigned flags,
                     cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    (void)stream_of(device, stream, null);
    require(flags == 0);
    prefetch(device, pointer, bytes, where);
  });
}

void write_attribute(const Advice& a, int attribute, void* data, size_t bytes) {
  require(data != nullptr && bytes != 0 && bytes % sizeof(int) == 0);
  int* const values = static_cast<int*>(data);
  constexpr int kReadMostly = 1, kAccessedBy = 3, kLast = 8;
  require(attribute >= kReadMostly && attribute <= kLast);
  if (attribute == kAccessedBy) {
    std::fill_n(values, bytes / sizeof(int), kNoDevice);
    if (a.accessed) values[0] = 0;
    return;
  }
  require(bytes == sizeof(int));
  // Of 2 and 4, the host is -1.
  const auto device_of = [](cudaMemLocation l) {
    return l.type == kOnDevice || l.type == kNowhere ? l.id : -1;
  };
  const int answers[] = {a.read_mostly,           device_of(a.preferred), 0,
                         device_of(a.prefetched), a.preferred.type,       a.preferred.id,
                         a.prefetched.type,       a.prefetched.id};
  values[0] = answers[attribute - 1];
}

#if GPUSIM_CUDART < 13
/// Devices by their numbers; -1 is the host.
cudaMemLocation location_of(int device) {
  constexpr int kOnHost = 2;
  return device == -1 ? cudaMemLocation{kOnHost, 0} : cudaMemLocation{kOnDevice, device};
}
#endif

}  // namespace
void forget_advice(const void* pointer) { advice().erase(reinterpret_cast<uint64_t>(pointer)); }

GPUSIM_EXPORT cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute,
                                                   const void* pointer, size_t bytes) {
  return call([&](Device& device) {
    write_attribute(advice()[managed_at(device, pointer, bytes)], attribute, data, data_bytes);
  });
}
GPUSIM_EXPORT cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes, const int* attributes,
                                                    size_t count, const void* pointer, size_t bytes) {
  return call([&](Device& device) {
    require(data != nullptr && data_bytes != nullptr && attributes != nullptr && count != 0);
    const Advice& a = advice()[managed_at(device, pointer, bytes)];
    for (size_t i = 0; i < count; ++i) write_attribute(a, attributes[i], data[i], data_bytes[i]);
  });
}
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaMemAdvise(const void* p, size_t bytes, int what, cudaMemLocation where) {
  return advise(p, bytes, what, where);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation where,
                                               unsigned flags, cudaStream_t stream) {
  return prefetch(p, bytes, where, flags, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_ptsz(const void* p, size_t bytes, cudaMemLocation where,
                                                    unsigned flags, cudaStream_t stream) {
  return prefetch(p, bytes, where, flags, stream, Default::kThread);
}
namespace {
/// Location `i` holds from the range on that `first[i]` numbers.
cudaError_t prefetch_batch(void** pointers, const size_t* bytes, size_t count,
                           const cudaMemLocation* locations, const size_t* first, size_t location_count,
                           unsigned long long flags, cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    (void)stream_of(device, stream, null);
    require(pointers != nullptr && bytes != nullptr && count != 0 && flags == 0);
    require(locations != nullptr && first != nullptr && location_count != 0 && first[0] == 0);
    size_t location = 0;
    for (size_t i = 0; i < count; ++i) {
      while (location + 1 < location_count && first[location + 1] <= i) ++location;
      prefetch(device, pointers[i], bytes[i], locations[location]);
    }
  });
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* bytes, size_t count,
                                                    cudaMemLocation* locations, size_t* first,
                                                    size_t location_count, unsigned long long flags,
                                                    cudaStream_t stream) {
  return prefetch_batch(pointers, bytes, count, locations, first, location_count, flags, stream,
                        Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** pointers, size_t* bytes, size_t count,
                                                         cudaMemLocation* locations, size_t* first,
                                                         size_t location_count, unsigned long long flags,
                                                         cudaStream_t stream) {
  return prefetch_batch(pointers, bytes, count, locations, first, location_count, flags, stream,
                        Default::kThread);
}
#else
GPUSIM_EXPORT cudaError_t cudaMemAdvise(const void* p, size_t bytes, int what, int device) {
  return advise(p, bytes, what, location_of(device));
}
GPUSIM_EXPORT cudaError_t cudaMemAdvise_v2(const void* p, size_t bytes, int what, cudaMemLocation where) {
  return advise(p, bytes, what, where);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, int device, cudaStream_t stream) {
  return prefetch(p, bytes, location_of(device), 0, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_ptsz(const void* p, size_t bytes, int device,
                                                    cudaStream_t stream) {
  return prefetch(p, bytes, location_of(device), 0, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaMemPrefetchAsync_v2(const void* p, size_t bytes, cudaMemLocation where,
                                                  unsigned flags, cudaStream_t stream) {
  return prefetch(p, bytes, where, flags, stream, Default::kLegacy);
}
#endif
namespace {
cudaError_t attach(cudaStream_t stream, const void* pointer, size_t bytes, unsigned flags, Default null) {
  return call([&](Device& device) {
    constexpr unsigned kGlobal = 1, kHost = 2, kSingle = 4;
    const Stream& s = stream_of(device, stream, null);
    refuse_while_capturing(device, s);
    require(flags == kGlobal || flags == kHost || flags == kSingle);
    const PointerKind kind = device.pointer_kind(pointer);
    require(kind.memory == PointerKind::Memory::kManaged && (bytes == 0 || bytes == kind.bytes));
    require(flags != kSingle || &s != &device.legacy_stream());
  });
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                                   unsigned flags) {
  return attach(stream, pointer, bytes, flags, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t bytes,
                                                        unsigned flags) {
  return attach(stream, pointer, bytes, flags, Default::kThread);
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
// What arrays of sparse or deferred memory have, and those of several planes.
namespace {
cudaError_t ask_special_array(const void* answer, cudaArray_t array, unsigned flag) {
  return call([&](Device& device) {
    const Array& a = array_of(device, array);
    require(answer != nullptr && (a.flags & flag) != 0);
    throw Failure(Code::kNotSupported, "arrays for sparse or deferred memory");
  });
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaArrayGetMemoryRequirements(void* answer, cudaArray_t array, int device) {
  constexpr unsigned kDeferred = 0x80;
  if (device != 0) return returned(Failure(Code::kInvalidDevice));
  return ask_special_array(answer, array, kDeferred);
}
GPUSIM_EXPORT cudaError_t cudaArrayGetSparseProperties(void* answer, cudaArray_t array) {
  constexpr unsigned kSparse = 0x40;
  return ask_special_array(answer, array, kSparse);
}
GPUSIM_EXPORT cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned) {
  return ask_special_array(plane, array, 0);
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
