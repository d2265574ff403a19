// Times single loads of a program's choosing (workloads/micro/probe.ptx): what all questions about caches are
// put through. A reading is in clocks of the probe, which include its own few operations around each load, so
// readings compare with each other only.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "microbench/device.h"

namespace gpusim::microbench {

enum class Path : uint8_t {
  kCached,    ///< ld.global
  kPastL1,    ///< ld.volatile.global
  kConstant,  ///< ld.const, in 64 KB
};

struct ProbeRequest {
  // First the addresses k * stride, k < rounds * threads, `threads` of them at once (1 to 32); then, with one
  // thread only, the members.
  uint32_t stride = 0, rounds = 0, threads = 1;
  std::vector<uint32_t> members;  ///< offsets in bytes, multiples of four
  uint32_t laps = 1;
  bool filled = false;   ///< zeros are written to all bytes up to the last load first, by many threads
  uint32_t limit = ~0u;  ///< a load that takes longer is slow
};

/// Of the last lap.
struct ProbeReading {
  uint32_t clocks = 0, slow = 0, fastest = 0, slowest = 0;
  std::vector<uint32_t> members;  ///< clocks of each
};

/// Bytes of global memory that a probe can ask for, of a device with so many.
[[nodiscard]] inline uint64_t reach_of_probe(uint64_t memory_bytes) {
  return std::min<uint64_t>(memory_bytes / 2, uint64_t{1} << 31);
}
/// Bits of an address within that many bytes that may have any value. Where buffers begin matters to the
/// bits above: sums with it carry.
[[nodiscard]] inline unsigned address_bits(uint64_t reach) {
  return std::min<unsigned>(static_cast<unsigned>(std::bit_width(reach)) - 1,
                            std::bit_width(kBufferAlignment) - 1);
}

class Probe {
 public:
  Probe(Device& device, Path path) : device_(&device), path_(path) {}

  /// Each request finds what the ones before it left in caches that outlive a kernel. `separate`: it does
  /// not, each is a program of its own.
  [[nodiscard]] std::vector<ProbeReading> read(std::span<const ProbeRequest> requests,
                                               bool separate = false) const;
  [[nodiscard]] ProbeReading read(const ProbeRequest& request) const { return read({&request, 1}).front(); }

  [[nodiscard]] Path path() const { return path_; }
  /// Kernel and file, for the data sheet.
  [[nodiscard]] std::string kernel() const;
  /// Bytes that can be asked for.
  [[nodiscard]] uint64_t reach() const;
  /// Of so many loads, those that may be slow though the level has what they load.
  [[nodiscard]] double strays_of(uint64_t loads) const {
    return device_->properties().stray_loads * static_cast<double>(loads);
  }
  /// Members that a request can have.
  [[nodiscard]] uint32_t most_members() const;

 private:
  [[nodiscard]] Program program(std::span<const ProbeRequest> requests) const;

  Device* device_;
  Path path_;
};

}  // namespace gpusim::microbench
