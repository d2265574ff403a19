// What a DRAM channel is given: its timings in memory clocks, and where an address lies in it. Addresses
// inside a channel are dense, for the interleaving over partitions and their channels is taken out. Blocks of
// dram.group_interleave bytes (by default: rows) go round the bank groups, rows round the banks of a group.
#pragma once
#include <cstdint>

#include "simcore/address_map.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {

/// DRAM timing in memory clocks.
struct DramTiming {
  DramTiming(const core::MachineConfig::Dram& config, const core::ClockDomain& domain);

  uint32_t cl, rcd, rp, ras, rc, rrd, wl, ccd, wr, cdlr, rtw, refi, rfc;
  uint32_t ccd_l, rrd_l;      ///< within a bank group
  uint32_t faw;               ///< 0: no limit
  uint32_t clocks_per_burst;  ///< data-bus clocks of one burst
  uint32_t burst_bytes;
};

/// Place of an address in its partition's channels.
class DramPlaces {
 public:
  explicit DramPlaces(const core::MachineConfig& machine);

  struct Place {
    uint32_t bank;  ///< banks b and b + groups are of one group
    uint64_t row;
  };
  /// Offset in the channel.
  [[nodiscard]] uint64_t local(uint64_t address) const {
    return map_.round(address) / channels_ * interleave_.value() + address % interleave_;
  }
  [[nodiscard]] Place of(uint64_t address) const {
    const uint64_t offset = local(address);
    const uint64_t block = offset / group_bytes_;
    const uint64_t page = block / groups_ / blocks_per_row_;
    const uint64_t row = page / banks_per_group_;
    uint64_t bank = page % banks_per_group_ * groups_.value() + block % groups_;
    // Spreads rows of one bank index that differ in higher bits only (power-of-two strides, arrays that lie
    // powers of two apart).
    if (hash_) bank = (bank + row + row / banks_ + row / banks_ / banks_) % banks_;
    return {static_cast<uint32_t>(bank), row};
  }

 private:
  core::AddressMap map_;
  core::Divisor interleave_, channels_, groups_, group_bytes_, blocks_per_row_, banks_per_group_, banks_;
  bool hash_;
};

}  // namespace gpusim::comp
