// What a program asks of a device: launches, copies, fills, and what a pointer is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpusim::runtime {

class Event;
class Kernel;

struct Size3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct Copy {
  enum class Direction : uint8_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };
  Direction direction = Direction::kHostToDevice;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  // Rows of `width` bytes, `height` to a slice, `depth` slices.
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t to_pitch = 0, from_pitch = 0, to_slice = 0, from_slice = 0;
  std::vector<std::byte> staged;  ///< the source, if it may change before the copy is carried out
  [[nodiscard]] uint64_t bytes() const { return width * height * depth; }
};

struct Fill {
  std::byte* to = nullptr;
  uint64_t width = 0, height = 1, depth = 1, pitch = 0, slice = 0;  ///< bytes
  uint32_t value = 0;
  uint32_t value_bytes = 1;  ///< 1, 2 or 4
  [[nodiscard]] uint64_t bytes() const { return width * height * depth; }
};

struct PointerKind {
  enum class Memory : uint8_t { kUnregistered, kHost, kDevice, kManaged };
  Memory memory = Memory::kUnregistered;
  uint64_t base = 0, bytes = 0;
  unsigned flags = 0;
};

struct LaunchRequest {
  Kernel* kernel = nullptr;
  Size3 grid, block;
  uint32_t dynamic_shared = 0;
  void** arguments = nullptr;             ///< one pointer for each parameter, or
  std::span<const std::byte> parameters;  ///< the parameter block as it is
  bool cooperative = false;
  std::optional<Size3> cluster;  ///< blocks of a cluster
  struct Record {
    Event* event = nullptr;
    bool external = false;  ///< in a stream that is captured: by a node
  };
  std::vector<Record> records;  ///< behind the launch
};

}  // namespace gpusim::runtime
