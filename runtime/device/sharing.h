// Device memory and events of one process in others on the same machine (interprocess communication of the
// CUDA APIs). Memory that is shared becomes a file without a name, which other processes map: they see the
// same bytes. An event that is recorded is reached before the call returns, so that what another process
// submits after that comes after it; all that others need to know of it is that it exists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace gpusim::runtime {

class Device;
class Event;

/// What one process gives to another, by any way that it likes. As large as the handles of the CUDA APIs.
struct SharedHandle {
  enum class Kind : uint32_t { kNone, kMemory, kEvent };
  uint64_t mark = 0;
  Kind kind = Kind::kNone;
  int32_t process = 0, file = 0;  ///< that has it, and under which number
  uint32_t reserved = 0;
  uint64_t file_system = 0, node = 0;  ///< by which the file is known to be the same
  uint64_t offset = 0, bytes = 0;      ///< of the memory in the file
};
static_assert(sizeof(SharedHandle) == 56);

class Sharing {
 public:
  explicit Sharing(Device& device) : device_(device) {}
  ~Sharing();
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;

  // Throw Failure with the error that the manual has.
  SharedHandle share_memory(const void* pointer);
  SharedHandle share_event(const Event& event);
  /// Opened again, memory is where it was, until it has been closed as often.
  std::byte* open_memory(const SharedHandle& handle);
  void close_memory(void* memory);
  [[nodiscard]] bool is_open(const void* memory) const { return opened_.contains(memory); }
  Event& open_event(const SharedHandle& handle);

  /// It is gone: nobody can open it any more.
  void forget_memory(uint64_t base) { forget(memory_, reinterpret_cast<const void*>(base)); }
  void forget_event(const Event* event) { forget(events_, event); }
  void forget_all();

 private:
  using Files = std::map<const void*, int>;
  static void forget(Files& files, const void* key);
  struct Opened {
    uint64_t file_system = 0, node = 0;
    void* pages = nullptr;
    uint64_t size = 0;
    int users = 0;
  };
  Device& device_;
  Files memory_, events_;
  std::map<const void*, Opened> opened_;
};

}  // namespace gpusim::runtime
