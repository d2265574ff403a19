#include "components/noc/network.h"

#include <stdexcept>

#include "components/noc/topology/topology.h"

namespace gpusim::comp {

NetworkPlan::NetworkPlan(const core::MachineConfig& machine)
    : sm_ports(core::sm_ports(machine)),
      partitions(machine.l2.partitions),
      request_way{core::AddressMap(machine.l2)},
      request_length(machine.interconnect.header_bytes, machine.interconnect.flit_bytes),
      reply_length(machine.interconnect.header_bytes, machine.interconnect.reply_flit_bytes == 0
                                                          ? machine.interconnect.flit_bytes
                                                          : machine.interconnect.reply_flit_bytes) {}

// The build lists the topologies, GPUSIM_POLICY(name) for each.
Networks make_networks(core::ClockDomain& domain, const core::MachineConfig& machine) {
  const std::string& topology = machine.interconnect.topology;
  const NetworkPlan plan(machine);
#define GPUSIM_POLICY(name)                                                                            \
  Networks make_##name##_topology(core::ClockDomain&, const core::MachineConfig&, const NetworkPlan&); \
  if (topology == #name) return make_##name##_topology(domain, machine, plan);
#include "policies/topology.inc"
#undef GPUSIM_POLICY
  throw std::invalid_argument("no interconnect topology '" + topology + "'");
}

}  // namespace gpusim::comp
