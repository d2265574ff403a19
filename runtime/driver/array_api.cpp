// Arrays, copies of two and three dimensions, texture and surface objects.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "runtime/cudart/mipmapped_arrays.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

struct Format {
  int number;
  ChannelFormat::Kind kind;
  int bits;
};
constexpr Format kFormats[] = {
    {0x01, ChannelFormat::Kind::kUnsigned, 8},  {0x02, ChannelFormat::Kind::kUnsigned, 16},
    {0x03, ChannelFormat::Kind::kUnsigned, 32}, {0x08, ChannelFormat::Kind::kSigned, 8},
    {0x09, ChannelFormat::Kind::kSigned, 16},   {0x0a, ChannelFormat::Kind::kSigned, 32},
    {0x10, ChannelFormat::Kind::kFloat, 16},    {0x20, ChannelFormat::Kind::kFloat, 32},
};

}  // namespace

ChannelFormat format_of(int number, unsigned channels) {
  const auto* const at = std::ranges::find(kFormats, number, &Format::number);
  require(at != std::end(kFormats) && (channels == 1 || channels == 2 || channels == 4));
  const auto bits = [&](unsigned channel) { return channel < channels ? at->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), at->kind};
}
int number_of(const ChannelFormat& format) {
  const auto same = [&](const Format& f) { return f.kind == format.kind && f.bits == format.x; };
  const auto* const at = std::ranges::find_if(kFormats, same);
  return at == std::end(kFormats) ? 0 : at->number;
}
unsigned channels_of(const ChannelFormat& f) {
  return 1u + static_cast<unsigned>(f.y != 0) + static_cast<unsigned>(f.z != 0) +
         static_cast<unsigned>(f.w != 0);
}

// As cuda.h lays them out.
using CUarray = cudaArray_t;
struct Copy3dEnd {
  size_t x, y, z, level;
  int type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  void* reserved;
  size_t pitch, height;
};
struct Copy3d {
  Copy3dEnd from, to;
  size_t width, height, depth;
};

namespace {

struct ArrayDescriptor {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3dDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
enum MemoryType : int { kHostMemory = 1, kDeviceMemory = 2, kArrayMemory = 3, kUnifiedMemory = 4 };
struct Copy2d {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  CUdeviceptr from_device;
  CUarray from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  CUdeviceptr to_device;
  CUarray to_array;
  size_t to_pitch;
  size_t width, height;
};
/// CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has contexts where this one has reserved members.
static_assert(sizeof(Copy2d) == 128 && sizeof(Copy3d) == 200);
struct ResourceDescriptor {
  int type;
  union {
    CUarray array;
    cudaMipmappedArray_t mipmapped;
    struct {
      CUdeviceptr address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      CUdeviceptr address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } rows;
    int reserved[32];
  };
  unsigned flags;
};
struct TextureDescriptor {
  int address_mode[3], filter_mode;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  float border[4];
  int reserved[12];
};
struct ViewDescriptor {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};
static_assert(sizeof(ResourceDescriptor) == 144 && sizeof(TextureDescriptor) == 104);
static_assert(sizeof(ViewDescriptor) == 112);

ArrayShape shape_of(const Device& device, const Array3dDescriptor& d) {
  constexpr unsigned kUnknown = 0x1c0;
  const ArrayShape shape{format_of(d.format, d.channels), {d.width, d.height, d.depth}, d.flags};
  cudart::check_extent(device, shape);
  if ((d.flags & kUnknown) != 0)
    throw Failure(Code::kNotSupported, "arrays for sparse or deferred memory, or for video");
  return shape;
}
void make_array(Device& device, CUarray* handle, const Array3dDescriptor& d) {
  require(handle != nullptr);
  *handle = reinterpret_cast<CUarray>(&device.add_array(shape_of(device, d)));
}

/// Where one end of a copy begins, and how far its rows and slices lie from each other.
struct Place {
  std::byte* begin;
  uint64_t pitch, slice;
};
Place place_of(const Device& device, const Copy3dEnd& end, size_t width, size_t height, size_t depth) {
  if (end.type == kArrayMemory) {
    require(end.array != nullptr && end.level == 0);
    const Array& a = cudart::array_of(device, end.array);
    require(end.x % a.texel_bytes() == 0 && width % a.texel_bytes() == 0);
    require(end.x <= a.row_bytes() && width <= a.row_bytes() - end.x);
    require(end.y <= a.height() && height <= a.height() - end.y);
    require(end.z <= a.depth() && depth <= a.depth() - end.z);
    return {a.data + end.z * a.slice() + end.y * a.pitch + end.x, a.pitch, a.slice()};
  }
  require(end.type == kHostMemory || end.type == kDeviceMemory || end.type == kUnifiedMemory);
  auto* const base =
      end.type == kHostMemory ? static_cast<std::byte*>(const_cast<void*>(end.host)) : pointer(end.device);
  require(base != nullptr);
  const uint64_t pitch = end.pitch == 0 ? width : end.pitch;
  // A row lies within the pitch (as an H100 with driver 580.159 answers).
  require(pitch >= width && (height <= 1 || end.x + width <= pitch));
  require(depth <= 1 || end.height == 0 || end.height >= height);
  const uint64_t slice = pitch * std::max(end.height, height);
  return {base + end.z * slice + end.y * pitch + end.x, pitch, slice};
}

}  // namespace

Copy described_copy(Device& device, const Copy3d& p) {
  if (p.width == 0 || p.height == 0 || p.depth == 0) return {};
  const Place from = place_of(device, p.from, p.width, p.height, p.depth);
  const Place to = place_of(device, p.to, p.width, p.height, p.depth);
  Copy c;
  c.from = from.begin, c.to = to.begin;
  c.width = p.width, c.height = p.height, c.depth = p.depth;
  // Of one row, what lies between rows plays no part.
  c.from_pitch = std::max<uint64_t>(from.pitch, p.width), c.to_pitch = std::max<uint64_t>(to.pitch, p.width);
  c.from_slice = from.slice, c.to_slice = to.slice;
  return cudart::checked_copy(device, std::move(c), cudaMemcpyDefault);
}

cudaMemcpy3DParms as_runtime(const Device& device, const Copy3d& p) {
  // Arrays count in texels there, and so does the extent then.
  const auto texel = [&](const Copy3dEnd& end) {
    return end.type == kArrayMemory ? cudart::array_of(device, end.array).texel_bytes() : 1;
  };
  const auto memory = [&](const Copy3dEnd& end) {
    void* const base = end.type == kHostMemory ? const_cast<void*>(end.host) : pointer(end.device);
    return end.type == kArrayMemory
               ? cudaPitchedPtr{}
               : cudaPitchedPtr{base, std::max(end.pitch, p.width), p.width, std::max(end.height, p.height)};
  };
  const auto place = [&](const Copy3dEnd& end) { return cudaPos{end.x / texel(end), end.y, end.z}; };
  cudaMemcpy3DParms r{};
  r.srcArray = p.from.type == kArrayMemory ? p.from.array : nullptr;
  r.dstArray = p.to.type == kArrayMemory ? p.to.array : nullptr;
  r.srcPos = place(p.from), r.dstPos = place(p.to);
  r.srcPtr = memory(p.from), r.dstPtr = memory(p.to);
  r.extent = {p.width / std::max(texel(p.from), texel(p.to)), p.height, p.depth};
  r.kind = cudaMemcpyDefault;
  return r;
}

Copy3d as_driver(const Device& device, const cudaMemcpy3DParms& p) {
  const auto end = [&](cudaArray_t array, const cudaPos& place, const cudaPitchedPtr& memory) {
    Copy3dEnd e{place.x, place.y, place.z, 0, kArrayMemory, nullptr, 0, array, nullptr, 0, 0};
    if (array != nullptr) {
      e.x *= cudart::array_of(device, array).texel_bytes();
      return e;
    }
    const bool on_host = device.pointer_kind(memory.ptr).memory != PointerKind::Memory::kDevice;
    e.type = on_host ? kHostMemory : kDeviceMemory;
    e.host = on_host ? memory.ptr : nullptr;
    e.device = on_host ? 0 : reinterpret_cast<CUdeviceptr>(memory.ptr);
    e.pitch = memory.pitch, e.height = memory.ysize;
    return e;
  };
  const cudaArray_t array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  const size_t texel = array == nullptr ? 1 : cudart::array_of(device, array).texel_bytes();
  return {end(p.srcArray, p.srcPos, p.srcPtr), end(p.dstArray, p.dstPos, p.dstPtr), p.extent.width * texel,
          p.extent.height, p.extent.depth};
}

namespace {

void copy_3d(Device& device, const Copy3d& p, CUstream stream, bool wait) {
  cudart::submit_copy(device, described_copy(device, p), cudart::stream_of(device, stream), wait);
}

CUresult copy_3d(const Copy3d* p, CUstream stream, bool wait) {
  return call([&](Device& device) {
    require(p != nullptr);
    copy_3d(device, *p, stream, wait);
  });
}

CUresult copy_2d(const Copy2d* p, CUstream stream, bool wait) {
  return call([&](Device& device) {
    require(p != nullptr);
    Copy3d c{};
    c.from = {p->from_x, p->from_y,     0, 0, p->from_type, p->from_host, p->from_device, p->from_array,
              nullptr,   p->from_pitch, 0};
    c.to = {p->to_x,      p->to_y,     0,       0,           p->to_type, p->to_host,
            p->to_device, p->to_array, nullptr, p->to_pitch, 0};
    c.width = p->width, c.height = p->height, c.depth = 1;
    copy_3d(device, c, stream, wait);
  });
}

Copy3dEnd on_host(const void* memory) { return {0, 0, 0, 0, kHostMemory, memory, 0, nullptr, nullptr, 0, 0}; }
Copy3dEnd on_device(CUdeviceptr address) {
  return {0, 0, 0, 0, kDeviceMemory, nullptr, address, nullptr, nullptr, 0, 0};
}
Copy3dEnd in_array(CUarray array, size_t offset) {
  return {offset, 0, 0, 0, kArrayMemory, nullptr, 0, array, nullptr, 0, 0};
}
/// Of arrays: any bytes of the first row.
CUresult copy_row(const Copy3dEnd& to, const Copy3dEnd& from, size_t bytes, CUstream stream, bool wait) {
  return call([&](Device& device) {
    const auto begin = [&](const Copy3dEnd& end) {
      if (end.type == kHostMemory) return static_cast<std::byte*>(const_cast<void*>(end.host));
      if (end.type == kDeviceMemory) return pointer(end.device);
      const Array& a = cudart::array_of(device, end.array);
      require(end.x <= a.row_bytes() && bytes <= a.row_bytes() - end.x);
      return a.data + end.x;
    };
    cudart::submit_copy(device, cudart::linear_copy(device, begin(to), begin(from), bytes, cudaMemcpyDefault),
                        cudart::stream_of(device, stream), wait);
  });
}

struct Described {
  ResourceDescriptor resource;
  TextureDescriptor texture;
  std::optional<ViewDescriptor> view;
};
std::map<uint64_t, Described>& objects() {
  static auto* const made = new std::map<uint64_t, Described>;
  return *made;
}
const Described& described(uint64_t object) {
  const auto at = objects().find(object);
  require(at != objects().end());
  return at->second;
}

cudaResourceDesc as_runtime(const ResourceDescriptor& d) {
  constexpr int kArray = 0, kMipmapped = 1, kLinear = 2, kRows = 3;
  cudaResourceDesc r{};
  r.resType = d.type;
  if (d.type == kArray) {
    r.res.array.array = d.array;
  } else if (d.type == kMipmapped) {
    r.res.mipmap.mipmap = d.mipmapped;
  } else if (d.type == kLinear) {
    r.res.linear = {pointer(d.linear.address),
                    cudart::described(format_of(d.linear.format, d.linear.channels)), d.linear.bytes};
  } else if (d.type == kRows) {
    r.res.pitch2D = {pointer(d.rows.address), cudart::described(format_of(d.rows.format, d.rows.channels)),
                     d.rows.width, d.rows.height, d.rows.pitch};
  }
  return r;
}

cudaTextureDesc as_runtime(const Device& device, const ResourceDescriptor& resource,
                           const TextureDescriptor& d) {
  constexpr int kArray = 0, kMipmapped = 1;
  constexpr unsigned kAsInteger = 1, kNormalized = 2, kSrgb = 0x10;
  const ChannelFormat format = resource.type == kArray ? cudart::array_of(device, resource.array).format
                               : resource.type == kMipmapped
                                   ? cudart::mipmapped_array_of(resource.mipmapped).levels.front()->format
                                   : cudart::channels(as_runtime(resource).res.linear.desc);
  // Integers of 8 and 16 bits are read as numbers of [0, 1] or [-1, 1] unless they are asked for.
  const bool integers = format.kind != ChannelFormat::Kind::kFloat;
  const bool promoted = (d.flags & kAsInteger) == 0 && integers && format.x < 32;
  cudaTextureDesc t{};
  std::copy(std::begin(d.address_mode), std::end(d.address_mode), std::begin(t.addressMode));
  std::copy(std::begin(d.border), std::end(d.border), std::begin(t.borderColor));
  // A linear filter of what is read as integers, which the runtime library refuses, is taken here (FFmpeg's
  // scale_cuda makes such textures) and does not filter.
  constexpr int kPoint = 0, kLinear = 1;
  t.filterMode = integers && !promoted && d.filter_mode == kLinear ? kPoint : d.filter_mode;
  t.readMode = promoted ? 1 : 0;
  t.normalizedCoords = (d.flags & kNormalized) != 0;
  t.sRGB = (d.flags & kSrgb) != 0;
  t.mipmapFilterMode = d.mipmap_filter, t.mipmapLevelBias = d.mipmap_bias;
  t.minMipmapLevelClamp = d.mipmap_least, t.maxMipmapLevelClamp = d.mipmap_most;
  return t;
}

}  // namespace

GPUSIM_DRIVER cuArrayCreate_v2(CUarray* array, const ArrayDescriptor* d) {
  return call([&](Device& device) {
    require(d != nullptr);
    make_array(device, array, {d->width, d->height, 0, d->format, d->channels, 0});
  });
}
GPUSIM_DRIVER cuArray3DCreate_v2(CUarray* array, const Array3dDescriptor* d) {
  return call([&](Device& device) {
    require(d != nullptr);
    make_array(device, array, *d);
  });
}
GPUSIM_DRIVER cuArray3DGetDescriptor_v2(Array3dDescriptor* d, CUarray array) {
  return call([&](Device& device) {
    require(d != nullptr);
    const Array& a = cudart::array_of(device, array);
    *d = {a.extent.width,      a.extent.height,       a.extent.depth,
          number_of(a.format), channels_of(a.format), a.flags};
  });
}
GPUSIM_DRIVER cuArrayGetDescriptor_v2(ArrayDescriptor* d, CUarray array) {
  return call([&](Device& device) {
    require(d != nullptr);
    const Array& a = cudart::array_of(device, array);
    *d = {a.extent.width, a.extent.height, number_of(a.format), channels_of(a.format)};
  });
}
GPUSIM_SAME(cuArrayGetMemoryRequirements, cudaArrayGetMemoryRequirements,
            (void* answer, CUarray array, CUdevice device), (answer, array, device))
GPUSIM_SAME(cuArrayGetSparseProperties, cudaArrayGetSparseProperties, (void* answer, CUarray array),
            (answer, array))
GPUSIM_SAME(cuArrayGetPlane, cudaArrayGetPlane, (CUarray * plane, CUarray array, unsigned number),
            (plane, array, number))
GPUSIM_DRIVER cuArrayDestroy(CUarray array) {
  return call([&](Device& device) { device.remove_array(&cudart::array_of(device, array)); });
}

GPUSIM_DRIVER cuMipmappedArrayCreate(cudaMipmappedArray_t* array, const Array3dDescriptor* d,
                                     unsigned levels) {
  return call([&](Device& device) {
    require(d != nullptr);
    cudart::add_mipmapped_array(device, array, shape_of(device, *d), levels);
  });
}
GPUSIM_SAME(cuMipmappedArrayGetLevel, cudaGetMipmappedArrayLevel,
            (CUarray * level, cudaMipmappedArray_t array, unsigned number), (level, array, number))
GPUSIM_SAME(cuMipmappedArrayDestroy, cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array))

GPUSIM_DRIVER cuMemcpy2D_v2(const Copy2d* p) { return copy_2d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy2DUnaligned_v2(const Copy2d* p) { return copy_2d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy2DAsync_v2(const Copy2d* p, CUstream stream) { return copy_2d(p, stream, false); }
GPUSIM_DRIVER cuMemcpy3D_v2(const Copy3d* p) { return copy_3d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy3DAsync_v2(const Copy3d* p, CUstream stream) { return copy_3d(p, stream, false); }
GPUSIM_DRIVER cuMemcpy3DPeer(const Copy3d* p) { return copy_3d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy3DPeerAsync(const Copy3d* p, CUstream stream) { return copy_3d(p, stream, false); }
GPUSIM_DRIVER cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return copy_row(in_array(to, offset), on_device(from), bytes, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return copy_row(on_device(to), in_array(from, offset), bytes, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return copy_row(in_array(to, offset), on_host(from), bytes, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return copy_row(on_host(to), in_array(from, offset), bytes, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  return copy_row(in_array(to, to_offset), in_array(from, from_offset), bytes, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                                   CUstream stream) {
  return copy_row(in_array(to, offset), on_host(from), bytes, stream, false);
}
GPUSIM_DRIVER cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return copy_row(on_host(to), in_array(from, offset), bytes, stream, false);
}
GPUSIM_DRIVER cuMemcpy2D_v2_ptds(const Copy2d* p) { return copy_2d(p, kPerThread, true); }
GPUSIM_DRIVER cuMemcpy2DUnaligned_v2_ptds(const Copy2d* p) { return copy_2d(p, kPerThread, true); }
GPUSIM_DRIVER cuMemcpy2DAsync_v2_ptsz(const Copy2d* p, CUstream stream) {
  return copy_2d(p, per_thread(stream), false);
}
GPUSIM_DRIVER cuMemcpy3D_v2_ptds(const Copy3d* p) { return copy_3d(p, kPerThread, true); }
GPUSIM_DRIVER cuMemcpy3DAsync_v2_ptsz(const Copy3d* p, CUstream stream) {
  return copy_3d(p, per_thread(stream), false);
}
GPUSIM_DRIVER cuMemcpy3DPeer_ptds(const Copy3d* p) { return copy_3d(p, kPerThread, true); }
GPUSIM_DRIVER cuMemcpy3DPeerAsync_ptsz(const Copy3d* p, CUstream stream) {
  return copy_3d(p, per_thread(stream), false);
}
GPUSIM_DRIVER cuMemcpyDtoA_v2_ptds(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return copy_row(in_array(to, offset), on_device(from), bytes, kPerThread, true);
}
GPUSIM_DRIVER cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return copy_row(on_device(to), in_array(from, offset), bytes, kPerThread, true);
}
GPUSIM_DRIVER cuMemcpyHtoA_v2_ptds(CUarray to, size_t offset, const void* from, size_t bytes) {
  return copy_row(in_array(to, offset), on_host(from), bytes, kPerThread, true);
}
GPUSIM_DRIVER cuMemcpyAtoH_v2_ptds(void* to, CUarray from, size_t offset, size_t bytes) {
  return copy_row(on_host(to), in_array(from, offset), bytes, kPerThread, true);
}
GPUSIM_DRIVER cuMemcpyAtoA_v2_ptds(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                                   size_t bytes) {
  return copy_row(in_array(to, to_offset), in_array(from, from_offset), bytes, kPerThread, true);
}
GPUSIM_DRIVER cuMemcpyHtoAAsync_v2_ptsz(CUarray to, size_t offset, const void* from, size_t bytes,
                                        CUstream stream) {
  return copy_row(in_array(to, offset), on_host(from), bytes, per_thread(stream), false);
}
GPUSIM_DRIVER cuMemcpyAtoHAsync_v2_ptsz(void* to, CUarray from, size_t offset, size_t bytes,
                                        CUstream stream) {
  return copy_row(on_host(to), in_array(from, offset), bytes, per_thread(stream), false);
}

GPUSIM_DRIVER cuTexObjectCreate(unsigned long long* object, const ResourceDescriptor* resource,
                                const TextureDescriptor* texture, const ViewDescriptor* view) {
  return call([&](Device& device) {
    constexpr unsigned kFlags = 0x3f;
    constexpr int kOfArray = 0;
    require(object != nullptr && resource != nullptr && texture != nullptr && resource->flags == 0);
    require((texture->flags & ~kFlags) == 0 && (resource->type != kOfArray || resource->array != nullptr));
    cudart::check_texture_memory(device, as_runtime(*resource));
    cudaResourceViewDesc seen{};
    if (view != nullptr) {
      seen.format = view->format;
      seen.width = view->width, seen.height = view->height, seen.depth = view->depth;
      seen.firstMipmapLevel = view->first_level, seen.lastMipmapLevel = view->last_level;
      seen.firstLayer = view->first_layer, seen.lastLayer = view->last_layer;
    }
    *object = device.add_texture(cudart::texture_of(device, as_runtime(*resource),
                                                    as_runtime(device, *resource, *texture),
                                                    view == nullptr ? nullptr : &seen));
    objects()[*object] = {*resource, *texture,
                          view == nullptr ? std::nullopt : std::optional<ViewDescriptor>(*view)};
  });
}
GPUSIM_DRIVER cuTexObjectDestroy(unsigned long long object) {
  return call([&](Device& device) {
    // One that is gone already is no error (as an H100 with driver 580.159 answers).
    if (objects().erase(object) != 0) device.remove_texture(object);
  });
}
GPUSIM_DRIVER cuTexObjectGetResourceDesc(ResourceDescriptor* resource, unsigned long long object) {
  return call([&](Device&) {
    require(resource != nullptr);
    *resource = described(object).resource;
  });
}
GPUSIM_DRIVER cuTexObjectGetTextureDesc(TextureDescriptor* texture, unsigned long long object) {
  return call([&](Device&) {
    require(texture != nullptr);
    *texture = described(object).texture;
  });
}
GPUSIM_DRIVER cuTexObjectGetResourceViewDesc(ViewDescriptor* view, unsigned long long object) {
  return call([&](Device&) {
    require(view != nullptr);
    *view = described(object).view.value_or(ViewDescriptor{});
  });
}
GPUSIM_DRIVER cuSurfObjectCreate(unsigned long long* object, const ResourceDescriptor* resource) {
  return call([&](Device& device) {
    require(object != nullptr && resource != nullptr && resource->flags == 0);
    constexpr int kMipmapped = 1;
    require(resource->type <= kMipmapped);
    *object = device.add_texture(cudart::surface_of(device, as_runtime(*resource)));
    objects()[*object] = {*resource, {}, std::nullopt};
  });
}
GPUSIM_DRIVER cuSurfObjectDestroy(unsigned long long object) { return cuTexObjectDestroy(object); }
GPUSIM_DRIVER cuSurfObjectGetResourceDesc(ResourceDescriptor* resource, unsigned long long object) {
  return cuTexObjectGetResourceDesc(resource, object);
}

}  // namespace gpusim::runtime::driver
