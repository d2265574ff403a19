#include "simcore/power/energy_terms.h"

namespace gpusim::core {

const std::array<TermInfo, kNumEnergyTerms>& energy_terms() {
  using D = PowerDomain;
  using K = TermKind;
  using E = MachineConfig::Energy;
  static constexpr std::array<TermInfo, kNumEnergyTerms> kTerms = {{
      {"energy_issue", D::kCore, K::kEvents, &E::issue, "fetch, decode and scheduling of operations"},
      {"energy_int", D::kCore, K::kEvents, &E::integer, "integer operations and conversions"},
      {"energy_int_mul", D::kCore, K::kEvents, &E::int_mul, "integer multiplies"},
      {"energy_fp32", D::kCore, K::kEvents, &E::fp32, "single-precision operations"},
      {"energy_half", D::kCore, K::kEvents, &E::half, "half-precision operations"},
      {"energy_fp64", D::kCore, K::kEvents, &E::fp64, "double-precision operations"},
      {"energy_sfu", D::kCore, K::kEvents, &E::sfu, "operations of the special function units"},
      {"energy_mma_half", D::kCore, K::kEvents, &E::mma_half, "matrix operations of half precision"},
      {"energy_mma_int8", D::kCore, K::kEvents, &E::mma_int8, "matrix operations of 8-bit integers"},
      {"energy_mma_fp64", D::kCore, K::kEvents, &E::mma_fp64, "matrix operations of double precision"},
      {"energy_lane_access", D::kCore, K::kEvents, &E::lane_access, "lanes' accesses to memory"},
      {"energy_register_file", D::kCore, K::kEvents, &E::register_word, "registers read and written"},
      {"energy_shared", D::kCore, K::kEvents, &E::shared, "shared memory"},
      {"energy_l1", D::kCore, K::kEvents, &E::l1, "L1 data caches"},
      {"energy_constant", D::kCore, K::kEvents, &E::constant, "constant caches of SMs and clusters"},
      {"energy_texture", D::kCore, K::kEvents, &E::texture, "texture caches of SMs and clusters"},
      {"energy_core_active", D::kCore, K::kActive, &E::core_active, "SMs that hold warps, whatever these do"},
      {"energy_core_clock", D::kCore, K::kClock, &E::core_cycle, "clock network of the SMs"},
      {"energy_core_static", D::kCore, K::kStatic, &E::core_static_w, "static power of the SMs"},
      {"energy_l2", D::kInterconnect, K::kEvents, &E::l2_sector,
       "L2, and constants and textures in the partitions"},
      {"energy_interconnect", D::kInterconnect, K::kEvents, &E::flit, "flits through the interconnect"},
      {"energy_interconnect_clock", D::kInterconnect, K::kClock, &E::interconnect_cycle,
       "clock network of interconnect and L2"},
      {"energy_interconnect_static", D::kInterconnect, K::kStatic, &E::interconnect_static_w,
       "static power of interconnect and L2"},
      {"energy_dram_activate", D::kDram, K::kEvents, &E::dram_activate, "rows opened and closed"},
      {"energy_dram_read", D::kDram, K::kEvents, &E::dram_read, "data read from DRAM"},
      {"energy_dram_write", D::kDram, K::kEvents, &E::dram_write, "data written to DRAM"},
      {"energy_dram_refresh", D::kDram, K::kRefresh, &E::dram_refresh, "refreshes"},
      {"energy_dram_clock", D::kDram, K::kClock, &E::dram_cycle, "memory controllers and interfaces"},
      {"energy_dram_static", D::kDram, K::kStatic, &E::dram_static_w, "static power of the memory"},
      {"energy_board", D::kBoard, K::kStatic, &E::board_w, "rest of the board"},
  }};
  return kTerms;
}

double total(const EnergyAmounts& joules) {
  double sum = 0;
  for (const double j : joules) sum += j;
  return sum;
}

double total(const EnergyAmounts& joules, PowerDomain domain) {
  double sum = 0;
  for (size_t i = 0; i < kNumEnergyTerms; ++i)
    if (energy_terms()[i].domain == domain) sum += joules[i];
  return sum;
}

}  // namespace gpusim::core
