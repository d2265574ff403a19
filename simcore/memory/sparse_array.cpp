#include "simcore/memory/sparse_array.h"

#include <cstdlib>
#include <new>

#include "simcore/memory/address_sanitizer.h"
#include "simcore/memory/page_arena.h"

namespace gpusim::core {

std::shared_ptr<std::byte> zeroed_bytes(size_t bytes) {
#ifdef GPUSIM_ADDRESS_SANITIZER  // it sees what goes beyond a piece of its own
  auto* const memory = static_cast<std::byte*>(std::calloc(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](std::byte* at) { std::free(at); }};
#else
  constexpr size_t kSharedBytes = size_t{32} << 20;
  thread_local std::shared_ptr<PageArena> arena;
  thread_local size_t used = 0;
  if (arena == nullptr || used > kSharedBytes) {
    arena = std::make_shared<PageArena>();
    used = 0;
  }
  used += bytes;
  return {arena, arena->allocate(bytes)};
#endif
}

}  // namespace gpusim::core
