// Texture references of programs of CUDA 11 (CUDA Runtime API, "Texture Reference Management"; gone since
// CUDA 12): module-level textures of PTX that a program registers, and binds to memory or an array.
#include "runtime/cudart/api.h"

#if GPUSIM_CUDART < 12
#include <string>
#include <unordered_map>

namespace gpusim::runtime::cudart {

namespace {

struct TextureReference {
  int normalized, filterMode, addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, reserved[14];
};

struct Registered {
  void** program;
  std::string name;
  bool normalized_float;
};
std::unordered_map<const TextureReference*, Registered>& registered() {
  static auto* const all = new std::unordered_map<const TextureReference*, Registered>;
  return *all;
}

uint64_t handle_of(Device& device, const TextureReference* reference) {
  const auto at = registered().find(reference);
  require(at != registered().end(), Code::kInvalidTexture);
  const auto handle = module_of_program(device, at->second.program).texture_reference(at->second.name);
  require(handle.has_value(), Code::kInvalidTexture);
  return *handle;
}

void bind(Device& device, const TextureReference* reference, const cudaResourceDesc& resource) {
  const uint64_t handle = handle_of(device, reference);
  cudaTextureDesc texture{};
  for (size_t i = 0; i < 3; ++i) texture.addressMode[i] = reference->addressMode[i];
  texture.filterMode = reference->filterMode;
  texture.readMode = registered().at(reference).normalized_float ? 1 : 0;
  texture.sRGB = reference->sRGB;
  texture.normalizedCoords = reference->normalized;
  const isa::Texture made = texture_of(device, resource, texture);
  device.bind_texture(handle, &made);
}

}  // namespace

GPUSIM_EXPORT void __cudaRegisterTexture(void** program, const TextureReference* reference, const void**,
                                         const char* name, int, int normalized_float, int) {
  registered()[reference] = {program, name, normalized_float != 0};
}

GPUSIM_EXPORT cudaError_t cudaBindTexture(size_t* offset, const TextureReference* reference,
                                          const void* pointer, const cudaChannelFormatDesc* format,
                                          size_t bytes) {
  return call([&](Device& device) {
    require(pointer != nullptr && format != nullptr);
    const PointerKind kind = device.pointer_kind(pointer);
    require(kind.memory != PointerKind::Memory::kUnregistered, Code::kInvalidDevicePointer);
    constexpr int kLinear = 2;
    cudaResourceDesc resource{};
    resource.resType = kLinear;
    // UINT_MAX stands for all of it.
    const uint64_t left = kind.base + kind.bytes - reinterpret_cast<uint64_t>(pointer);
    resource.res.linear = {const_cast<void*>(pointer), *format, std::min<size_t>(bytes, left)};
    bind(device, reference, resource);
    if (offset != nullptr) *offset = 0;
  });
}

GPUSIM_EXPORT cudaError_t cudaBindTexture2D(size_t* offset, const TextureReference* reference,
                                            const void* pointer, const cudaChannelFormatDesc* format,
                                            size_t width, size_t height, size_t pitch) {
  return call([&](Device& device) {
    require(pointer != nullptr && format != nullptr);
    constexpr int kPitch2d = 3;
    cudaResourceDesc resource{};
    resource.resType = kPitch2d;
    resource.res.pitch2D = {const_cast<void*>(pointer), *format, width, height, pitch};
    bind(device, reference, resource);
    if (offset != nullptr) *offset = 0;
  });
}

GPUSIM_EXPORT cudaError_t cudaBindTextureToArray(const TextureReference* reference, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc*) {
  return call([&](Device& device) {
    cudaResourceDesc resource{};
    resource.res.array.array = const_cast<cudaArray_t>(array);
    bind(device, reference, resource);
  });
}

GPUSIM_EXPORT cudaError_t cudaUnbindTexture(const TextureReference* reference) {
  return call([&](Device& device) { device.bind_texture(handle_of(device, reference), nullptr); });
}

GPUSIM_EXPORT cudaError_t cudaGetTextureReference(const TextureReference** reference, const void* symbol) {
  return call([&](Device& device) {
    require(reference != nullptr);
    *reference = static_cast<const TextureReference*>(symbol);
    static_cast<void>(handle_of(device, *reference));
  });
}

GPUSIM_EXPORT cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const TextureReference* reference) {
  return call([&](Device& device) {
    require(offset != nullptr);
    static_cast<void>(handle_of(device, reference));
    *offset = 0;
  });
}

}  // namespace gpusim::runtime::cudart
#endif
