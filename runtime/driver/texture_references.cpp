// Texture references of modules (CUDA Driver API, "Texture Reference Management", deprecated): module-level
// textures of PTX, which a program binds to memory or an array.
#include <map>
#include <memory>

#include "runtime/cudart/libraries.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

using CUarray = cudaArray_t;

struct Reference {
  uint64_t handle = 0;
  int format = 0x20;  ///< CU_AD_FORMAT_FLOAT
  unsigned channels = 1, flags = 0;
  int filter_mode = 0;
  int address_mode[3] = {1, 1, 1};
  CUarray array = nullptr;
  CUdeviceptr address = 0;
  size_t bytes = 0, width = 0, height = 0, pitch = 0;  ///< linear memory: bytes, or rows
  [[nodiscard]] bool is_bound() const { return array != nullptr || address != 0; }
};

struct ArrayShape2d {
  size_t width, height;
  int format;
  unsigned channels;
};

struct References {
  std::map<std::pair<const Module*, std::string>, std::unique_ptr<Reference>> of_modules;
};
References& references() {
  static auto* const all = new References;
  return *all;
}

Reference& reference_of(Reference* handle) {
  for (const auto& [key, reference] : references().of_modules)
    if (reference.get() == handle) return *reference;
  throw Failure(Code::kInvalidValue);
}

/// What the kernels see changes with every setting.
void bind(Device& device, const Reference& r) {
  constexpr unsigned kReadAsInteger = 1, kNormalized = 2, kSrgb = 0x10;
  constexpr int kArray = 0, kLinear = 2, kPitch2d = 3;
  if (!r.is_bound()) return;
  cudaResourceDesc resource{};
  const cudaChannelFormatDesc format = cudart::described(format_of(r.format, r.channels));
  if (r.array != nullptr) {
    resource.resType = kArray;
    resource.res.array.array = r.array;
  } else if (r.pitch == 0) {
    resource.resType = kLinear;
    resource.res.linear = {pointer(r.address), format, r.bytes};
  } else {
    resource.resType = kPitch2d;
    resource.res.pitch2D = {pointer(r.address), format, r.width, r.height, r.pitch};
  }
  cudaTextureDesc texture{};
  for (size_t i = 0; i < 3; ++i) texture.addressMode[i] = r.address_mode[i];
  texture.filterMode = r.filter_mode;
  const ChannelFormat texels =
      r.array != nullptr ? cudart::array_of(device, r.array).format : cudart::channels(format);
  const bool small = texels.kind != ChannelFormat::Kind::kFloat && texels.x < 32;
  texture.readMode = small && (r.flags & kReadAsInteger) == 0 ? 1 : 0;
  texture.normalizedCoords = (r.flags & kNormalized) != 0 ? 1 : 0;
  texture.sRGB = (r.flags & kSrgb) != 0 ? 1 : 0;
  const isa::Texture made = cudart::texture_of(device, resource, texture);
  device.bind_texture(r.handle, &made);
}

template <class Change>
CUresult set(Reference* handle, Change change) {
  return call([&](Device& device) {
    Reference& reference = reference_of(handle);
    Reference changed = reference;
    change(device, changed);
    bind(device, changed);
    reference = changed;
  });
}
template <class Question>
CUresult get(Reference* handle, Question question) {
  return call([&](Device&) { question(reference_of(handle)); });
}

}  // namespace

void forget_references(const Module& module) {
  std::erase_if(references().of_modules, [&module](const auto& r) { return r.first.first == &module; });
}

GPUSIM_DRIVER cuModuleGetTexRef(Reference** reference, CUmodule handle, const char* name) {
  return call([&](Device&) {
    require(reference != nullptr && name != nullptr);
    Module& module = cudart::loaded_module(handle);
    const auto texture = module.texture_reference(name);
    require(texture.has_value(), Code::kSymbolNotFound);
    auto& made = references().of_modules[{&module, name}];
    if (made == nullptr) {
      made = std::make_unique<Reference>();
      made->handle = *texture;
    }
    *reference = made.get();
  });
}

GPUSIM_DRIVER cuTexRefSetArray(Reference* reference, CUarray array, unsigned flags) {
  constexpr unsigned kOverrideFormat = 1;
  return set(reference, [&](Device& device, Reference& r) {
    require(flags == kOverrideFormat);
    const Array& a = cudart::array_of(device, array);
    r.array = array;
    r.address = 0;
    r.format = number_of(a.format);
    r.channels = channels_of(a.format);
  });
}
GPUSIM_DRIVER cuTexRefSetAddress_v2(size_t* offset, Reference* reference, CUdeviceptr address, size_t bytes) {
  return set(reference, [&](Device& device, Reference& r) {
    if (offset != nullptr) *offset = 0;  // any address will do
    r.array = nullptr;
    r.address = address;
    r.bytes = bytes;
    r.pitch = 0;
    if (address == 0) device.bind_texture(r.handle, nullptr);
  });
}
GPUSIM_DRIVER cuTexRefSetAddress2D_v3(Reference* reference, const ArrayShape2d* shape, CUdeviceptr address,
                                      size_t pitch) {
  return set(reference, [&](Device&, Reference& r) {
    require(shape != nullptr && address != 0 && pitch != 0);
    r.array = nullptr;
    r.address = address;
    r.format = shape->format;
    r.channels = shape->channels;
    r.width = shape->width;
    r.height = shape->height;
    r.pitch = pitch;
  });
}
GPUSIM_DRIVER cuTexRefSetAddress2D_v2(Reference* reference, const ArrayShape2d* shape, CUdeviceptr address,
                                      size_t pitch) {
  return cuTexRefSetAddress2D_v3(reference, shape, address, pitch);
}
GPUSIM_DRIVER cuTexRefSetFormat(Reference* reference, int format, int channels) {
  return set(reference, [&](Device&, Reference& r) {
    static_cast<void>(format_of(format, static_cast<unsigned>(channels)));
    r.format = format;
    r.channels = static_cast<unsigned>(channels);
  });
}
GPUSIM_DRIVER cuTexRefSetAddressMode(Reference* reference, int dimension, int mode) {
  return set(reference, [&](Device&, Reference& r) {
    require(dimension >= 0 && dimension < 3 && mode >= 0 && mode < 4);
    r.address_mode[dimension] = mode;
  });
}
GPUSIM_DRIVER cuTexRefSetFilterMode(Reference* reference, int mode) {
  return set(reference, [&](Device&, Reference& r) {
    require(mode == 0 || mode == 1);
    r.filter_mode = mode;
  });
}
GPUSIM_DRIVER cuTexRefSetFlags(Reference* reference, unsigned flags) {
  return set(reference, [&](Device&, Reference& r) { r.flags = flags; });
}
/// Modules have their references themselves.
GPUSIM_DRIVER cuParamSetTexRef(CUfunction, int, Reference* reference) {
  return get(reference, [](const Reference&) {});
}

GPUSIM_DRIVER cuTexRefGetAddress_v2(CUdeviceptr* address, Reference* reference) {
  return get(reference, [&](const Reference& r) {
    require(address != nullptr && r.address != 0);
    *address = r.address;
  });
}
GPUSIM_DRIVER cuTexRefGetArray(CUarray* array, Reference* reference) {
  return get(reference, [&](const Reference& r) {
    require(array != nullptr && r.array != nullptr);
    *array = r.array;
  });
}
GPUSIM_DRIVER cuTexRefGetFormat(int* format, int* channels, Reference* reference) {
  return get(reference, [&](const Reference& r) {
    require(format != nullptr && channels != nullptr);
    *format = r.format;
    *channels = static_cast<int>(r.channels);
  });
}
GPUSIM_DRIVER cuTexRefGetAddressMode(int* mode, Reference* reference, int dimension) {
  return get(reference, [&](const Reference& r) {
    require(mode != nullptr && dimension >= 0 && dimension < 3);
    *mode = r.address_mode[dimension];
  });
}
GPUSIM_DRIVER cuTexRefGetFilterMode(int* mode, Reference* reference) {
  return get(reference, [&](const Reference& r) {
    require(mode != nullptr);
    *mode = r.filter_mode;
  });
}
GPUSIM_DRIVER cuTexRefGetFlags(unsigned* flags, Reference* reference) {
  return get(reference, [&](const Reference& r) {
    require(flags != nullptr);
    *flags = r.flags;
  });
}

}  // namespace gpusim::runtime::driver
