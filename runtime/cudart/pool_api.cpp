// Memory pools and memory in the order of a stream.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/cudart/ipc.h"

namespace gpusim::runtime::cudart {

namespace {

constexpr int kPosixFile = 1;  // of cudaMemAllocationHandleType
// cudaMemLocationType, cudaMemAllocationType and cudaMemAccessFlags
constexpr int kNoLocation = 0, kPoolLocation = 1, kHostLocation = 2, kHostNode = 3, kHostNodeOfThread = 4;
constexpr int kPinnedType = 1, kManagedType = 2;
constexpr int kPoolNoAccess = 0, kPoolAccess = 3;

/// What a pool has: memory of the device, of the host, or of both. The host's is one node of memory.
enum class PoolMemory : uint8_t { kDevice, kHost, kManaged };

struct Pool {
  PoolMemory memory = PoolMemory::kDevice;
  uint64_t most = 0;  ///< bytes that it may have; 0: no limit of its own
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  ///< attributes that change nothing
  // Memory is given back as soon as it is freed, so that what is reserved is what is used.
  uint64_t used = 0, used_high = 0, reserved_high = 0;
  int handle_types = 0;
  bool imported = false;  ///< memory of it comes from another process
  int file = -1;          ///< that stands for it in other processes
};
struct Pools {
  Pool standard;  ///< the default pool of the device
  Pool standard_host{.memory = PoolMemory::kHost}, standard_managed{.memory = PoolMemory::kManaged};
  Pool* current = &standard;
  Pool* current_host = &standard_host;
  Pool* current_managed = &standard_managed;
  std::set<Pool*> all{&standard, &standard_host, &standard_managed};
  struct Piece {
    Pool* pool;
    uint64_t bytes;
  };
  std::map<const void*, Piece> pieces;  ///< what is allocated from pools
  std::set<const void*> freed_later;    ///< by a stream that has not come there

  std::byte* allocate(Device& device, Pool& pool, uint64_t bytes) {
    require(pool.most == 0 || bytes <= pool.most - pool.used, Code::kMemoryAllocation);
    std::byte* const memory = pool.memory == PoolMemory::kHost      ? device.allocate_host(bytes)
                              : pool.memory == PoolMemory::kManaged ? device.allocate_managed(bytes)
                                                                    : device.allocate(bytes);
    pieces[memory] = {&pool, bytes};
    pool.used += bytes;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.used);
    return memory;
  }
  Pool& standard_of(PoolMemory memory) {
    return memory == PoolMemory::kHost      ? standard_host
           : memory == PoolMemory::kManaged ? standard_managed
                                            : standard;
  }
  Pool*& current_of(PoolMemory memory) {
    return memory == PoolMemory::kHost      ? current_host
           : memory == PoolMemory::kManaged ? current_managed
                                            : current;
  }
};
Pools& pools() {
  static auto& made = common_state<Pools>("memory pools");
  return made;
}
Pool& pool_of(cudaMemPool_t handle) {
  auto* const pool = reinterpret_cast<Pool*>(handle);
  require(pools().all.contains(pool));
  return *pool;
}

/// Of a place and a type of memory, as programs name them.
PoolMemory memory_of(const cudaMemLocation& location, int type) {
  if (type == kManagedType) {
    require(location.type >= kNoLocation && location.type <= kHostNode);
    require(location.type != kPoolLocation || location.id == 0, Code::kInvalidDevice);
    return PoolMemory::kManaged;
  }
  require(type == kPinnedType && location.type >= kPoolLocation && location.type <= kHostNodeOfThread);
  if (location.type == kPoolLocation) {
    require(location.id == 0, Code::kInvalidDevice);
    return PoolMemory::kDevice;
  }
  require(location.type != kHostNode || location.id == 0);
  return PoolMemory::kHost;
}

std::set<const void*>& imported_memory() {
  static auto& all = common_state<std::set<const void*>>("imported memory");
  return all;
}

// What the file of a pool holds. Memory of it is shared piece by piece.
constexpr char kPoolMark[] = "gpusim memory pool";

}  // namespace

cudaMemPool_t pool_at(const void* memory) {
  const auto at = pools().pieces.find(memory);
  return at == pools().pieces.end() ? nullptr : reinterpret_cast<cudaMemPool_t>(at->second.pool);
}

void forget_piece_of_pool(const void* memory) {
  const auto at = pools().pieces.find(memory);
  if (at == pools().pieces.end()) return;
  at->second.pool->used -= at->second.bytes;
  pools().pieces.erase(at);
}

void forget_pieces_of_pools() {
  pools().pieces.clear();
  pools().freed_later.clear();
  for (Pool* pool : pools().all) pool->used = 0;
}

bool free_host_piece(Device& device, void* pointer) {
  const auto at = pools().pieces.find(pointer);
  if (at == pools().pieces.end() || at->second.pool->memory != PoolMemory::kHost) return false;
  require(device.release_host(pointer));
  forget_piece_of_pool(pointer);
  return true;
}

bool free_imported(Device& device, void* pointer) {
  if (imported_memory().erase(pointer) == 0) return false;
  device.sharing().close_memory(pointer);
  return true;
}

// Memory in the order of a stream. It is there at once; what is freed is freed when the stream comes there.
namespace {
/// Does what is submitted first if that frees what is missing: a GPU waits for memory that a stream frees,
/// too.
std::byte* allocate_from(Device& device, Pool& pool, uint64_t bytes) {
  try {
    return pools().allocate(device, pool, bytes);
  } catch (const Failure& failure) {
    if (failure.code() != Code::kMemoryAllocation) throw;
    device.synchronize();
    return pools().allocate(device, pool, bytes);
  }
}
/// `pool`: null if it is the device's.
cudaError_t allocate_async(void** pointer, size_t bytes, const cudaMemPool_t* pool, cudaStream_t stream,
                           Default null) {
  return call([&](Device& device) {
    require(pointer != nullptr);
    Pool& p = pool == nullptr ? *pools().current : pool_of(*pool);
    require(!p.imported);
    device.check();
    Stream& s = stream_of(device, stream, null);
    if (bytes != 0 && captures_allocation(device, s, pointer, bytes)) return;
    *pointer = bytes == 0 ? nullptr : allocate_from(device, p, bytes);
  });
}
cudaError_t free_async(void* pointer, cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    if (pointer == nullptr || captures_free(device, s, pointer) || free_memory_of_graphs(device, pointer))
      return;
    if (free_imported(device, pointer)) return;
    require(device.pointer_kind(pointer).base == reinterpret_cast<uint64_t>(pointer));
    device.check();
    require(pools().freed_later.insert(pointer).second);
    device.action(
        [&device, pointer] {
          pools().freed_later.erase(pointer);
          if (!free_host_piece(device, pointer) && device.release(pointer)) forget_piece_of_pool(pointer);
        },
        s);
  });
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t stream) {
  return allocate_async(p, bytes, nullptr, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMallocAsync_ptsz(void** p, size_t bytes, cudaStream_t stream) {
  return allocate_async(p, bytes, nullptr, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t pool,
                                                  cudaStream_t stream) {
  return allocate_async(p, bytes, &pool, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMallocFromPoolAsync_ptsz(void** p, size_t bytes, cudaMemPool_t pool,
                                                       cudaStream_t stream) {
  return allocate_async(p, bytes, &pool, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return free_async(p, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaFreeAsync_ptsz(void* p, cudaStream_t stream) {
  return free_async(p, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number) {
  return call([&](Device&) {
    require(pool != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *pool = reinterpret_cast<cudaMemPool_t>(&pools().standard);
  });
}
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, int type) {
  return call([&](Device&) {
    require(pool != nullptr && location != nullptr);
    *pool = reinterpret_cast<cudaMemPool_t>(&pools().standard_of(memory_of(*location, type)));
  });
}
GPUSIM_EXPORT cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, int type) {
  return call([&](Device&) {
    require(pool != nullptr && location != nullptr);
    *pool = reinterpret_cast<cudaMemPool_t>(pools().current_of(memory_of(*location, type)));
  });
}
GPUSIM_EXPORT cudaError_t cudaMemSetMemPool(cudaMemLocation* location, int type, cudaMemPool_t pool) {
  return call([&](Device&) {
    require(location != nullptr);
    const PoolMemory memory = memory_of(*location, type);
    require(pool_of(pool).memory == memory);
    pools().current_of(memory) = &pool_of(pool);
  });
}
#endif
GPUSIM_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int number) {
  return call([&](Device&) {
    require(pool != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *pool = reinterpret_cast<cudaMemPool_t>(pools().current);
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    require(pool_of(pool).memory == PoolMemory::kDevice);
    pools().current = &pool_of(pool);
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&](Device&) {
    require(pool != nullptr && properties != nullptr);
    if (properties->handleTypes != 0 && properties->handleTypes != kPosixFile)
      throw Failure(Code::kNotSupported, "memory pools are shared by file descriptors only");
    const PoolMemory memory = memory_of(properties->location, properties->allocType);
    if (properties->handleTypes != 0 && memory != PoolMemory::kDevice)
      throw Failure(Code::kNotSupported, "memory pools of the host are not shared with other processes");
    auto* const made = new Pool{.memory = memory};
    made->handle_types = properties->handleTypes;
    made->most = properties->maxSize;
    pools().all.insert(made);
    *pool = reinterpret_cast<cudaMemPool_t>(made);
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&](Device&) {
    Pool& p = pool_of(pool);
    require(&p != &pools().standard_of(p.memory));
    pools().all.erase(&p);
    if (pools().current_of(p.memory) == &p) pools().current_of(p.memory) = &pools().standard_of(p.memory);
    std::erase_if(pools().pieces, [&p](const auto& piece) { return piece.second.pool == &p; });
    if (p.file >= 0) close(p.file);
    delete &p;
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call([&](Device&) { (void)pool_of(pool); });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                               size_t count) {
  return call([&](Device&) {
    const Pool& p = pool_of(pool);
    require(access != nullptr || count == 0);
    // Who has the memory reads and writes it, whoever says what.
    for (size_t i = 0; i < count; ++i) {
      require(access[i].location.type == kPoolLocation ||
              (p.memory != PoolMemory::kDevice && access[i].location.type >= kHostLocation &&
               access[i].location.type <= kHostNode));
      require(access[i].location.id == 0 && access[i].flags != kPoolNoAccess, Code::kInvalidDevice);
      require(access[i].flags == kPoolAccess, Code::kNotSupported);
    }
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolGetAccess(int* access, cudaMemPool_t pool, cudaMemLocation* location) {
  return call([&](Device&) {
    const Pool& p = pool_of(pool);
    require(access != nullptr && location != nullptr && location->id == 0);
    require(
        location->type == kPoolLocation ||
        (p.memory != PoolMemory::kDevice && location->type >= kHostLocation && location->type <= kHostNode));
    *access = kPoolAccess;
  });
}

// cudaMemPoolAttr
namespace {
enum PoolAttribute : int {
  kFirstReuse = 1,
  kLastReuse = 3,
  kReleaseThreshold = 4,
  kPoolReserved = 5,
  kPoolReservedHigh = 6,
  kPoolUsed = 7,
  kPoolUsedHigh = 8
};
}  // namespace
GPUSIM_EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void* value) {
  return call([&](Device&) {
    Pool& p = pool_of(pool);
    require(value != nullptr && attribute >= kFirstReuse && attribute <= kPoolUsedHigh);
    if (attribute <= kLastReuse) {
      p.reuse[attribute - kFirstReuse] = *static_cast<int*>(value);
    } else if (attribute == kReleaseThreshold) {
      p.release_threshold = *static_cast<uint64_t*>(value);
    } else {
      // The highest values can be set back, and nothing else.
      require(attribute == kPoolReservedHigh || attribute == kPoolUsedHigh);
      require(*static_cast<uint64_t*>(value) == 0);
      (attribute == kPoolUsedHigh ? p.used_high : p.reserved_high) = p.used;
    }
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void* value) {
  return call([&](Device&) {
    const Pool& p = pool_of(pool);
    require(value != nullptr && attribute >= kFirstReuse && attribute <= kPoolUsedHigh);
    if (attribute <= kLastReuse) {
      *static_cast<int*>(value) = p.reuse[attribute - kFirstReuse];
      return;
    }
    const uint64_t values[] = {p.release_threshold, p.used, p.reserved_high, p.used, p.used_high};
    *static_cast<uint64_t*>(value) = values[attribute - kReleaseThreshold];
  });
}

// Pools of other processes

GPUSIM_EXPORT cudaError_t cudaMemPoolExportToShareableHandle(void* shareable, cudaMemPool_t pool, int type,
                                                             unsigned flags) {
  return call([&](Device&) {
    Pool& p = pool_of(pool);
    require(shareable != nullptr && flags == 0 && type == kPosixFile && !p.imported);
    require((p.handle_types & kPosixFile) != 0);
    if (p.file < 0) p.file = memfd_create("gpusim", MFD_CLOEXEC);
    if (p.file < 0 || pwrite(p.file, kPoolMark, sizeof kPoolMark, 0) != sizeof kPoolMark)
      throw Failure(Code::kMemoryAllocation, "a memory pool cannot be shared");
    const int descriptor = dup(p.file);
    if (descriptor < 0) throw Failure(Code::kUnknown, "no further file descriptor");
    *static_cast<int*>(shareable) = descriptor;
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* shareable, int type,
                                                               unsigned flags) {
  return call([&](Device&) {
    require(pool != nullptr && flags == 0 && type == kPosixFile);
    char mark[sizeof kPoolMark] = {};
    const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(shareable));
    require(pread(descriptor, mark, sizeof mark, 0) == sizeof mark &&
            std::memcmp(mark, kPoolMark, sizeof mark) == 0);
    auto* const made = new Pool;
    made->imported = true;
    pools().all.insert(made);
    *pool = reinterpret_cast<cudaMemPool_t>(made);
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  return call([&](Device& device) {
    require(data != nullptr);
    const auto piece = pools().pieces.find(pointer);
    require(piece != pools().pieces.end() && piece->second.pool->handle_types != 0);
    put_handle(data, device.sharing().share_memory(pointer));
  });
}
GPUSIM_EXPORT cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                                   cudaMemPoolPtrExportData* data) {
  return call([&](Device& device) {
    require(pointer != nullptr && data != nullptr && pool_of(pool).imported);
    std::byte* const memory = device.sharing().open_memory(handle_in(*data));
    imported_memory().insert(memory);
    *pointer = memory;
  });
}

}  // namespace gpusim::runtime::cudart
