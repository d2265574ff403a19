// Memory and events of other processes, as both libraries have them.
#pragma once
#include <cstring>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

// Bits of an event's flags.
constexpr unsigned kDisableTiming = 2, kInterprocess = 4;

/// An event with the flags of cudaEventCreateWithFlags.
inline Event& new_event(Device& device, unsigned flags) {
  require((flags & ~7u) == 0);
  require((flags & kInterprocess) == 0 || (flags & kDisableTiming) != 0);
  Event& event = device.add_event((flags & kDisableTiming) == 0);
  event.interprocess = (flags & kInterprocess) != 0;
  return event;
}

/// Handles of the APIs have 64 bytes.
template <class Handle>
void put_handle(Handle* to, const SharedHandle& handle) {
  static_assert(sizeof(Handle) == 64);
  std::memset(static_cast<void*>(to), 0, sizeof(Handle));
  std::memcpy(static_cast<void*>(to), &handle, sizeof handle);
}
template <class Handle>
SharedHandle handle_in(const Handle& from) {
  static_assert(sizeof(Handle) == 64);
  SharedHandle handle;
  std::memcpy(static_cast<void*>(&handle), &from, sizeof handle);
  return handle;
}

/// `flags` as cudaIpcOpenMemHandle has them.
inline std::byte* open_memory(Device& device, const SharedHandle& handle, unsigned flags) {
  constexpr unsigned kLazyEnablePeerAccess = 1;
  require(flags == kLazyEnablePeerAccess);
  device.check();
  return device.sharing().open_memory(handle);
}

}  // namespace gpusim::runtime::cudart
