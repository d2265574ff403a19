#include "components/dram/dram_timing.h"

#include <algorithm>

namespace gpusim::comp {

DramTiming::DramTiming(const core::MachineConfig::Dram& d, const core::ClockDomain& domain) {
  const auto clocks = [&](double ns) { return static_cast<uint32_t>(domain.latency_cycles(ns)); };
  cl = clocks(d.cl_ns), rcd = clocks(d.rcd_ns), rp = clocks(d.rp_ns), ras = clocks(d.ras_ns);
  rc = clocks(d.rc_ns), rrd = clocks(d.rrd_ns), wl = clocks(d.wl_ns), ccd = clocks(d.ccd_ns);
  wr = clocks(d.wr_ns), cdlr = clocks(d.cdlr_ns), rtw = clocks(d.rtw_ns);
  rfc = clocks(d.rfc_ns);
  refi = static_cast<uint32_t>(domain.cycles_of_ns(d.refi_ns));  // what the cells need, at any clock
  ccd_l = std::max(ccd, clocks(d.ccd_l_ns)), rrd_l = std::max(rrd, clocks(d.rrd_l_ns));
  faw = clocks(d.faw_ns);
  burst_bytes = d.burst_bytes;
  // Double data rate: two transfers of bus_bytes a clock.
  clocks_per_burst = std::max(1u, d.burst_bytes / (2 * d.bus_bytes));
}

DramPlaces::DramPlaces(const core::MachineConfig& machine)
    : map_(machine.l2),
      interleave_(machine.l2.interleave),
      channels_(machine.dram.channels),
      groups_(machine.dram.bank_groups),
      group_bytes_(machine.dram.group_interleave == 0 ? machine.dram.row_bytes
                                                      : machine.dram.group_interleave),
      blocks_per_row_(machine.dram.row_bytes / group_bytes_.value()),
      banks_per_group_(machine.dram.banks / machine.dram.bank_groups),
      banks_(machine.dram.banks),
      hash_(machine.dram.bank_hash) {}

}  // namespace gpusim::comp
