// Attributes of the device (cudaDeviceAttr), from the machine's configuration.
#include "runtime/device/attributes.h"

#include <algorithm>
#include <regex>

#include "runtime/device/device.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::runtime {

namespace {

int as_int(uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, 0x7fffffff)); }

/// What properties and attributes are made from.
struct Facts {
  explicit Facts(const core::MachineConfig& m)
      : machine(m), capability(static_cast<int>(m.gpu.compute_capability)) {
    l2 = as_int(m.l2.bytes);
    if (capability == 80) persisting_l2 = m.l2.bytes / 4 * 3;
    if (capability >= 90) persisting_l2 = m.l2.bytes / 8 * 5;
    shared_per_block = static_cast<int>(std::min<uint64_t>(m.shared.bytes, 48 * 1024));
    bus_bits = as_int(uint64_t{m.l2.partitions} * m.dram.channels * 8 * m.dram.bus_bytes);
  }
  const core::MachineConfig& machine;
  int capability, l2, shared_per_block, bus_bits;
  /// Most of the L2 that may keep what it has: 30 of 40 MB of an A100 (CUDA programming guide), 5 of 8 parts
  /// of an H100 (as it answers with driver 580.159).
  uint64_t persisting_l2 = 0;
  static constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
};

int attribute(const Facts& f, int which) {
  const auto& m = f.machine;
  const auto& sm = m.sm;
  switch (which) {
    case 1:
      return as_int(sm.max_threads_per_block);
    case 2:
      return as_int(sm.max_block_x);
    case 3:
      return as_int(sm.max_block_y);
    case 4:
      return as_int(sm.max_block_z);
    case 5:
      return as_int(sm.max_grid_x);
    case 6:
      return as_int(sm.max_grid_y);
    case 7:
      return as_int(sm.max_grid_z);
    case 8:
      return f.shared_per_block;
    case 9:
      return 65536;
    case 10:
      return 32;
    case 11:
      return 0x7fffffff;
    case 12:
      return as_int(sm.registers);
    case 13:
      return as_int(static_cast<uint64_t>(m.clocks.core_khz));
    case 14:
      return Facts::kTextureAlignment;
    case 15:
      return 1;
    case 16:
      return as_int(m.gpu.sms);
    case 19:
      return 1;
    case 21:
    case 22:
      return 131072;
    case 23:
      return 65536;
    case 24:
    case 25:
    case 26:
      return 16384;
    case 27:
    case 28:
      return 32768;
    case 29:
      return 2048;
    case 30:
      return 512;
    case 31:
      return m.gpu.concurrent_kernels > 1;
    case 32:  // memory on the package corrects errors always
      return f.capability >= 60 && f.capability % 10 == 0;
    case 33:
      return 1;
    case 36:
      return as_int(static_cast<uint64_t>(m.clocks.dram_khz));
    case 37:
      return f.bus_bits;
    case 38:
      return f.l2;
    case 39:
      return as_int(sm.max_threads);
    case 40:
      return as_int(m.host.copy_engines);
    case 41:
      return 1;
    case 42:
      return 32768;
    case 43:
      return 2048;
    case 44:
      return f.capability >= 20;
    case 45:
    case 46:
      return 32768;
    // CUDA programming guide, technical specifications; as an H100 with driver 580.159 answers.
    case 47:
    case 48:
      return f.capability >= 60 ? 8192 : 0;
    case 49:
    case 61:
    case 63:
    case 64:
    case 66:
    case 67:
    case 73:
    case 74:
    case 77:
      return f.capability >= 60 ? 32768 : 0;
    case 62:
    case 65:
      return f.capability >= 60 ? 2048 : 0;
    case 68:
      return f.capability >= 60 ? 2046 : 0;
    case 51:
      return Facts::kTexturePitchAlignment;
    case 52:
    case 53:
      return 32768;
    case 54:
      return 2046;
    case 55:
      return 32768;
    case 56:
      return 131072;
    case 57:
      return 65536;
    case 58:
    case 59:
    case 60:
      return 16384;
    case 69:
      return 1 << 28;
    case 70:
      return 131072;
    case 71:
      return 65000;
    case 72:
      return 2097120;
    case 75:
      return f.capability / 10;
    case 76:
      return f.capability % 10;
    case 78:
      return 1;
    case 79:
    case 80:
      return m.l1.bytes != 0;
    case 81:
      return as_int(shared_of_sm(m));
    case 82:
      return as_int(sm.registers);
    case 83:
      return f.capability >= 30;
    case 87:
      return f.capability % 10 == 0 && f.capability >= 60 ? 2 : 32;
    case 88:
      return 0;
    case 89:
      return f.capability >= 60;
    case 90:
      return f.capability >= 60;
    case 91:
      return 1;
    case 95:
      return f.capability >= 60;
    case 97:
      return as_int(m.shared.bytes);
    case 99:
      return 1;
    case 102:
    case 103:
      return 1;
    case 106:
      return as_int(sm.max_blocks);
    case 107:
      return f.capability >= 80;
    case 108:
      return as_int(f.persisting_l2);
    case 109:
      return f.capability >= 90 ? 1 << 27 : 0;
    case 111:
      return as_int(core::reserved_shared_bytes(m));
    case 113:  // host memory is registered for reading only
    case 115:
      return 1;
    // Writes of other devices are ordered; there are none. 118: for the device that owns the memory.
    case 117:
      return f.capability >= 90;
    case 118:
      return f.capability >= 90 ? 100 : 0;
    case 122:
    case 123:
      return f.capability >= 70;
    case 126:  // of memory synchronization
      return f.capability >= 90 ? 4 : 1;
    case 127:
      return f.capability >= 90;
    case 131:  // of a node of memory, which it is not
      return -1;
    case 119:  // of memory pools: file descriptors
    case 125:  // events of other processes
    case 142:  // pools of a node of the host's memory
    case 144:  // pools of the host's memory
      return 1;
    case 120:  // thread block clusters
      return m.clusters.gpcs != 0;
    default:
      return 0;
  }
}

}  // namespace

std::optional<int> device_attribute(const core::MachineConfig& machine, int which) {
  constexpr int kAttributes = 148;
  if (which <= 0 || which >= kAttributes) return std::nullopt;
  return attribute(Facts(machine), which);
}

bool is_pci_bus_id(const char* text) {
  static const std::regex form("([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}(\\.[0-9a-fA-F])?");
  return std::regex_match(text, form);
}

size_t linear_texture_width(const core::MachineConfig& machine, int bits) {
  constexpr int kMaxTexture1DLinear = 69;
  // An H100 with driver 580.159: 4 GB of texels, and not more than 2^30.
  constexpr size_t kBytes = size_t{1} << 32, kTexels = size_t{1} << 30;
  if (machine.gpu.compute_capability < 90)
    return static_cast<size_t>(attribute(Facts(machine), kMaxTexture1DLinear));
  return bits == 0 ? 0 : std::min(kBytes / (static_cast<size_t>(bits) / 8), kTexels);
}

uint64_t shared_of_sm(const core::MachineConfig& machine) {
  return machine.shared.bytes + core::reserved_shared_bytes(machine);
}

namespace {
using Limit = Device::Limit;
/// Of which limits are known as an H100 with driver 580.159 answers.
bool is_measured(const core::MachineConfig& machine) { return machine.gpu.compute_capability >= 90; }
/// In how many parts the L2 keeps what it has, and how many it does from the beginning.
constexpr uint64_t kL2Parts = 10, kFirstL2Parts = 3;
/// Bytes that threads of an SM have in the buffer of what kernels print.
constexpr uint64_t kPrintfBytesOfSm = 64 * 1024;
uint64_t rounded(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
}  // namespace

bool has_limit(const core::MachineConfig& machine, int limit) {
  // Kernels that wait for kernels are gone with compute capability 9.0 (CUDA programming guide).
  if (limit == static_cast<int>(Limit::kSyncDepth)) return machine.gpu.compute_capability < 90;
  return limit >= 0 && limit < static_cast<int>(Device::kLimits);
}

std::optional<uint64_t> first_limit(const core::MachineConfig& machine, int limit) {
  if (limit == static_cast<int>(Limit::kSharedBytes)) return machine.shared.bytes;
  if (!is_measured(machine)) return std::nullopt;
  switch (static_cast<Limit>(limit)) {
    case Limit::kPrintfBytes:
      return kPrintfBytesOfSm * machine.gpu.sms;
    case Limit::kL2Granularity:
      return 64;
    case Limit::kPersistingL2:
      return Facts(machine).persisting_l2 / kL2Parts * kFirstL2Parts;
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> limit_value(const core::MachineConfig& machine, int limit, uint64_t value) {
  constexpr uint64_t kStackUnit = 16, kMostStack = 512 * 1024, kMostGranularity = 128;
  constexpr uint64_t kPrintfUnit = 512, kLeastPrintf = 512 * 1024, kHeapUnit = 64 * 1024,
                     kLeastHeap = 4 * 1024 * 1024, kLeastPending = 32;
  const uint64_t part = Facts(machine).persisting_l2 / kL2Parts;
  switch (static_cast<Limit>(limit)) {
    case Limit::kStack:
      return value > kMostStack ? std::nullopt : std::optional(rounded(value, kStackUnit));
    case Limit::kL2Granularity:
      return value > kMostGranularity ? std::nullopt : std::optional(value);
    case Limit::kSharedBytes:
      return std::nullopt;
    case Limit::kPersistingL2:
      return part == 0 ? 0 : std::min(rounded(value, part), part * kL2Parts);
    default:
      break;
  }
  if (!is_measured(machine)) return value;
  switch (static_cast<Limit>(limit)) {
    case Limit::kPrintfBytes:
      return std::max(rounded(value, kPrintfUnit), kLeastPrintf);
    case Limit::kHeapBytes:
      return std::max(rounded(value, kHeapUnit), kLeastHeap);
    case Limit::kPendingLaunches:
      return std::max(value, kLeastPending);
    default:
      return value;
  }
}

}  // namespace gpusim::runtime
