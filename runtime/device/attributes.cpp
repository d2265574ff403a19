// Attributes of the device (cudaDeviceAttr), from the machine's configuration.
#include "runtime/device/attributes.h"

#include <algorithm>

namespace gpusim::runtime {

namespace {

int as_int(uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, 0x7fffffff)); }

/// What properties and attributes are made from.
struct Facts {
  explicit Facts(const core::MachineConfig& m)
      : machine(m), capability(static_cast<int>(m.gpu.compute_capability)) {
    l2 = as_int(m.l2.bytes);
    shared_per_block = static_cast<int>(std::min<uint64_t>(m.shared.bytes, 48 * 1024));
    bus_bits = as_int(uint64_t{m.l2.partitions} * m.dram.channels * 8 * m.dram.bus_bytes);
  }
  const core::MachineConfig& machine;
  int capability, l2, shared_per_block, bus_bits;
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
    case 23:
      return 131072;
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
    case 32:
      return 0;
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
    case 45:
    case 46:
      return 32768;
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
      return as_int(m.shared.bytes);
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
      return as_int(m.shared.bytes - (m.shared.bytes > 65536 && f.capability >= 80 ? 1024 : 0));
    case 99:
      return 1;
    case 102:
    case 103:
      return 1;
    case 106:
      return as_int(sm.max_blocks);
    case 111:
      return f.capability >= 80 ? 1024 : 0;
    case 115:
      return 1;
    case 119:  // of memory pools: file descriptors
    case 125:  // events of other processes
      return 1;
    case 120:  // thread block clusters
      return m.clusters.gpcs != 0;
    default:
      return 0;
  }
}

}  // namespace

int device_attribute(const core::MachineConfig& machine, int which) {
  return attribute(Facts(machine), which);
}

}  // namespace gpusim::runtime
