// Virtual memory management of the driver API: address ranges, memory without an address, and mappings of the
// one in the other. A piece of memory is a file without a name, which each mapping of it shares.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

using Handle = unsigned long long;  // CUmemGenericAllocationHandle

// As cuda.h numbers and lays them out.
constexpr int kPinned = 1, kOnDevice = 1, kPosixFile = 1;
constexpr unsigned kNone = 0, kRead = 1, kReadWrite = 3;
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, handle_types;
  CUmemLocation location;
  void* windows;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(CUmemAllocationProp) == 32);
struct CUmemAccessDesc {
  CUmemLocation location;
  unsigned flags;
};

constexpr uint64_t kGranularity = uint64_t{2} << 20;

/// Memory without an address; gone with its last user.
struct Piece {
  Piece(int descriptor, uint64_t size, const CUmemAllocationProp& p)
      : file(descriptor), bytes(size), properties(p) {}
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  ~Piece() {
    close(file);
    if (Device* device = existing_device()) device->give_bytes(bytes);
  }
  int file;
  uint64_t bytes;
  CUmemAllocationProp properties;
};
struct Mapped {
  std::shared_ptr<Piece> piece;
  unsigned access = kNone;
};
struct Range {
  uint64_t bytes = 0;
  std::map<uint64_t, Mapped> mapped;  ///< by address
  std::vector<uint64_t> visible;      ///< what the device knows
};
struct State {
  std::map<uint64_t, Range> ranges;  ///< by address
  struct Held {
    std::shared_ptr<Piece> piece;
    uint64_t users = 1;
  };
  std::map<Handle, Held> pieces;
  Handle next = 1;
};
State& state() {
  static auto* const made = new State;
  return *made;
}

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

Range& range_of(uint64_t address, uint64_t bytes) {
  auto& ranges = state().ranges;
  auto found = ranges.upper_bound(address);
  require(found != ranges.begin() && bytes != 0);
  --found;
  require(address - found->first <= found->second.bytes &&
          bytes <= found->second.bytes - (address - found->first));
  return found->second;
}

std::shared_ptr<Piece> piece_of(Handle handle) {
  const auto found = state().pieces.find(handle);
  require(found != state().pieces.end());
  return found->second.piece;
}

Handle add_piece(std::shared_ptr<Piece> piece) {
  const Handle handle = state().next++;
  state().pieces[handle].piece = std::move(piece);
  return handle;
}

/// Mappings that fill [address, address + bytes) exactly.
std::vector<std::map<uint64_t, Mapped>::iterator> filling(Range& range, uint64_t address, uint64_t bytes) {
  std::vector<std::map<uint64_t, Mapped>::iterator> all;
  uint64_t next = address;
  while (next < address + bytes) {
    const auto mapping = range.mapped.find(next);
    require(mapping != range.mapped.end());
    all.push_back(mapping);
    next += mapping->second.piece->bytes;
  }
  require(next == address + bytes);
  return all;
}

/// Neighbours that may be accessed are one allocation for the device, so that copies may reach over them.
void show(Device& device, Range& range) {
  for (const uint64_t base : range.visible) device.release(at(base));
  range.visible.clear();
  uint64_t begin = 0, end = 0;
  const auto add = [&] {
    if (begin == end) return;
    device.map(at(begin), end - begin);
    range.visible.push_back(begin);
  };
  for (const auto& [address, mapping] : range.mapped) {
    if (mapping.access == kNone) continue;
    if (address != end) {
      add();
      begin = address;
    }
    end = address + mapping.piece->bytes;
  }
  add();
}

void require_properties(const CUmemAllocationProp* p) {
  require(p != nullptr && p->type == kPinned && p->location.type == kOnDevice);
  require(p->location.id == 0, Code::kInvalidDevice);
  require((p->handle_types & ~kPosixFile) == 0, Code::kNotSupported);
}

}  // namespace

GPUSIM_DRIVER cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                            int option) {
  return call([&](Device&) {
    require(granularity != nullptr && (option == 0 || option == 1));
    require(properties != nullptr);
    *granularity = kGranularity;
  });
}

GPUSIM_DRIVER cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr wished,
                                  unsigned long long flags) {
  return call([&](Device& device) {
    require(address != nullptr && bytes != 0 && bytes % kGranularity == 0 && flags == 0);
    require((alignment & (alignment - 1)) == 0);
    device.check();
    const uint64_t align = std::max<uint64_t>(alignment, kGranularity);
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // What is too much at both ends is given back.
    void* const memory = mmap(at(wished), bytes + align, PROT_NONE, kFlags, -1, 0);
    if (memory == MAP_FAILED) throw Failure(Code::kMemoryAllocation);
    const auto begin = reinterpret_cast<uint64_t>(memory);
    const uint64_t base = (begin + align - 1) / align * align;
    if (base != begin) munmap(memory, base - begin);
    munmap(at(base + bytes), begin + align - base);
    state().ranges[base].bytes = bytes;
    *address = base;
  });
}
GPUSIM_DRIVER cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return call([&](Device&) {
    const auto range = state().ranges.find(address);
    require(range != state().ranges.end() && range->second.bytes == bytes && range->second.mapped.empty());
    munmap(at(address), bytes);
    state().ranges.erase(range);
  });
}

GPUSIM_DRIVER cuMemCreate(Handle* handle, size_t bytes, const CUmemAllocationProp* properties,
                          unsigned long long flags) {
  return call([&](Device& device) {
    require(handle != nullptr && bytes != 0 && bytes % kGranularity == 0 && flags == 0);
    require_properties(properties);
    device.check();
    device.take_bytes(bytes);
    const int file = memfd_create("gpusim", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      device.give_bytes(bytes);
      if (file >= 0) close(file);
      throw Failure(Code::kMemoryAllocation);
    }
    *handle = add_piece(std::make_shared<Piece>(file, bytes, *properties));
  });
}
GPUSIM_DRIVER cuMemRelease(Handle handle) {
  return call([&](Device&) {
    const auto at = state().pieces.find(handle);
    require(at != state().pieces.end());
    if (--at->second.users == 0) state().pieces.erase(at);
  });
}
GPUSIM_DRIVER cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, Handle handle) {
  return call([&](Device&) {
    require(properties != nullptr);
    *properties = piece_of(handle)->properties;
  });
}

GPUSIM_DRIVER cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, Handle handle,
                       unsigned long long flags) {
  return call([&](Device& device) {
    device.check();
    const std::shared_ptr<Piece> piece = piece_of(handle);
    require(flags == 0 && address % kGranularity == 0);
    require(offset == 0 && bytes == piece->bytes, Code::kNotSupported);
    Range& range = range_of(address, bytes);
    const auto after = range.mapped.lower_bound(address);
    require(after == range.mapped.end() || after->first >= address + bytes);
    if (after != range.mapped.begin()) {
      const auto before = std::prev(after);
      require(before->first + before->second.piece->bytes <= address);
    }
    if (mmap(at(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, piece->file, 0) == MAP_FAILED)
      throw Failure(Code::kMemoryAllocation);
    range.mapped[address] = {piece, kNone};
  });
}
GPUSIM_DRIVER cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return call([&](Device& device) {
    Range& range = range_of(address, bytes);
    require(address % kGranularity == 0 && bytes % kGranularity == 0);
    // Whole mappings; where there is none, nothing is done.
    auto first = range.mapped.lower_bound(address);
    const auto last = range.mapped.lower_bound(address + bytes);
    const auto end_of = [](const auto& mapping) { return mapping->first + mapping->second.piece->bytes; };
    require(first == range.mapped.begin() || end_of(std::prev(first)) <= address);
    require(first == last || end_of(std::prev(last)) <= address + bytes);
    device.synchronize();
    range.mapped.erase(first, last);
    mmap(at(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    show(device, range);
  });
}

GPUSIM_DRIVER cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* accesses,
                             size_t count) {
  return call([&](Device& device) {
    require(accesses != nullptr && count != 0);
    Range& range = range_of(address, bytes);
    const auto mappings = filling(range, address, bytes);
    for (size_t i = 0; i < count; ++i) {
      require(accesses[i].location.type == kOnDevice);
      require(accesses[i].location.id == 0);
      const unsigned access = accesses[i].flags;
      require(access == kNone || access == kRead || access == kReadWrite);
      for (const auto& mapping : mappings) mapping->second.access = access;
      mprotect(at(address), bytes, access == kNone ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
    device.synchronize();
    show(device, range);
  });
}
GPUSIM_DRIVER cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return call([&](Device&) {
    require(flags != nullptr && location != nullptr && location->type == kOnDevice);
    require(location->id == 0, Code::kInvalidDevice);
    Range& range = range_of(address, 1);
    auto mapping = range.mapped.upper_bound(address);
    require(mapping != range.mapped.begin());
    --mapping;
    require(address - mapping->first < mapping->second.piece->bytes);
    *flags = mapping->second.access;
  });
}
GPUSIM_DRIVER cuMemRetainAllocationHandle(Handle* handle, void* address) {
  return call([&](Device&) {
    require(handle != nullptr);
    const auto place = reinterpret_cast<uint64_t>(address);
    Range& range = range_of(place, 1);
    auto mapping = range.mapped.upper_bound(place);
    require(mapping != range.mapped.begin());
    --mapping;
    require(place - mapping->first < mapping->second.piece->bytes);
    for (auto& [known, held] : state().pieces)
      if (held.piece == mapping->second.piece) {
        ++held.users;
        *handle = known;
        return;
      }
    *handle = add_piece(mapping->second.piece);
  });
}

// Handles for other processes are file descriptors: what they map is the same memory.
GPUSIM_DRIVER cuMemExportToShareableHandle(void* shareable, Handle handle, int type,
                                           unsigned long long flags) {
  return call([&](Device&) {
    require(shareable != nullptr && flags == 0);
    const std::shared_ptr<Piece> piece = piece_of(handle);
    require((piece->properties.handle_types & type) != 0);
    const int descriptor = dup(piece->file);
    if (descriptor < 0) throw Failure(Code::kUnknown, "no further file descriptor");
    *static_cast<int*>(shareable) = descriptor;
  });
}
GPUSIM_DRIVER cuMemImportFromShareableHandle(Handle* handle, void* shareable, int type) {
  return call([&](Device& device) {
    require(handle != nullptr);
    require(type == kPosixFile, Code::kNotSupported);
    const int descriptor = dup(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size == 0) {
      if (descriptor >= 0) close(descriptor);
      throw Failure(descriptor < 0 ? Code::kUnknown : Code::kInvalidValue);
    }
    const auto bytes = static_cast<uint64_t>(status.st_size);
    CUmemAllocationProp properties{};
    properties.type = kPinned, properties.location = {kOnDevice, 0}, properties.handle_types = kPosixFile;
    device.take_bytes(bytes);  // counted by each process that maps it
    *handle = add_piece(std::make_shared<Piece>(descriptor, bytes, properties));
  });
}

}  // namespace gpusim::runtime::driver
