// Memory, copies and fills.
#include <utility>

#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream, bool wait) {
  return call([&](Device& device) {
    device.copy(cudart::linear_copy(device, to, from, bytes, kind), cudart::stream_of(device, stream), wait);
  });
}

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned value_bytes, size_t width, size_t height,
              CUstream stream, bool wait) {
  return call([&](Device& device) {
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
    device.fill(f, cudart::stream_of(device, stream), wait);
  });
}

}  // namespace

GPUSIM_DRIVER cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call([&](Device& device) {
    require(address != nullptr && bytes != 0);
    device.check();
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(bytes));
  });
}
GPUSIM_DRIVER cuMemFree_v2(CUdeviceptr address) {
  return call([&](Device& device) {
    if (address == 0) return;
    device.synchronize();
    require(device.release(pointer(address)));
  });
}
GPUSIM_DRIVER cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
    *pitch = (width + 511) / 512 * 512;
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(*pitch * height));
  });
}
GPUSIM_DRIVER cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && bytes != 0);
    *address = reinterpret_cast<CUdeviceptr>(device.allocate_managed(bytes));
  });
}
GPUSIM_DRIVER cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    require(memory != nullptr && bytes != 0);
    *memory = device.allocate_host(bytes, flags);
  });
}
GPUSIM_DRIVER cuMemAllocHost_v2(void** memory, size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }
GPUSIM_DRIVER cuMemFreeHost(void* memory) {
  return call([&](Device& device) {
    device.synchronize();
    require(device.release_host(memory));
  });
}
GPUSIM_DRIVER cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && device.pointer_kind(memory).memory == PointerKind::Memory::kHost);
    *address = reinterpret_cast<CUdeviceptr>(memory);
  });
}
GPUSIM_DRIVER cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return call([&](Device& device) { device.register_host(memory, bytes, flags); });
}
GPUSIM_DRIVER cuMemHostUnregister(void* memory) {
  return call([&](Device& device) {
    device.synchronize();
    device.unregister_host(memory);
  });
}
GPUSIM_DRIVER cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call([&](Device& device) {
    require(free != nullptr && total != nullptr);
    *free = device.free_bytes();
    *total = device.total_bytes();
  });
}
GPUSIM_DRIVER cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return call([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(kind.memory != PointerKind::Memory::kUnregistered);
    if (base != nullptr) *base = kind.base;
    if (bytes != nullptr) *bytes = kind.bytes;
  });
}
GPUSIM_DRIVER cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return call([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(value != nullptr && kind.memory != PointerKind::Memory::kUnregistered);
    switch (attribute) {
      case 1:
        *static_cast<CUcontext*>(value) = kPrimary;
        break;
      case 2:
        *static_cast<unsigned*>(value) = kind.memory == PointerKind::Memory::kHost ? 1 : 2;
        break;
      case 3:
      case 4:
        *static_cast<CUdeviceptr*>(value) = address;
        break;
      case 8:
        *static_cast<unsigned*>(value) = kind.memory == PointerKind::Memory::kManaged;
        break;
      case 9:
        *static_cast<int*>(value) = 0;
        break;
      case 11:
        *static_cast<CUdeviceptr*>(value) = kind.base;
        break;
      case 12:
        *static_cast<size_t*>(value) = kind.bytes;
        break;
      default:
        throw Failure(Code::kInvalidValue);
    }
  });
}

#define GPUSIM_DRIVER_COPY(name, to_type, from_type, to_pointer, from_pointer, kind)        \
  GPUSIM_DRIVER name##_v2(to_type to, from_type from, size_t bytes) {                       \
    return copy(to_pointer, from_pointer, bytes, kind, nullptr, true);                      \
  }                                                                                         \
  GPUSIM_DRIVER name##Async_v2(to_type to, from_type from, size_t bytes, CUstream stream) { \
    return copy(to_pointer, from_pointer, bytes, kind, stream, false);                      \
  }
GPUSIM_DRIVER_COPY(cuMemcpyHtoD, CUdeviceptr, const void*, pointer(to), from, cudaMemcpyHostToDevice)
GPUSIM_DRIVER_COPY(cuMemcpyDtoH, void*, CUdeviceptr, to, pointer(from), cudaMemcpyDeviceToHost)
GPUSIM_DRIVER_COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, pointer(to), pointer(from),
                   cudaMemcpyDeviceToDevice)
GPUSIM_DRIVER cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, false);
}

#define GPUSIM_DRIVER_FILL(bits, type)                                                              \
  GPUSIM_DRIVER cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count) {                    \
    return fill(to, 0, value, bits / 8, count, 1, nullptr, true);                                   \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) { \
    return fill(to, 0, value, bits / 8, count, 1, stream, false);                                   \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,      \
                                       size_t height) {                                             \
    return fill(to, pitch, value, bits / 8, width, height, nullptr, true);                          \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,    \
                                         size_t height, CUstream stream) {                          \
    return fill(to, pitch, value, bits / 8, width, height, stream, false);                          \
  }
GPUSIM_DRIVER_FILL(8, unsigned char)
GPUSIM_DRIVER_FILL(16, unsigned short)
GPUSIM_DRIVER_FILL(32, unsigned)

}  // namespace gpusim::runtime::driver
