// Every input beside every output: a crossbar for requests and one for replies.
#include "components/noc/crossbar.h"

#include "components/noc/topology/topology.h"

namespace gpusim::comp {

Networks make_crossbar_topology(core::ClockDomain& domain, const core::MachineConfig& machine,
                                const NetworkPlan& plan) {
  const Arbitration arbitration = machine.interconnect.arbitration;
  return {
      std::make_unique<Crossbar<MemoryRequest, PartitionOfAddress, PacketLength>>(
          "requests", domain, plan.sm_ports, plan.partitions, plan.request_way, plan.request_length,
          arbitration, static_cast<uint32_t>(machine.interconnect.request_queues),
          static_cast<uint32_t>(machine.interconnect.queue)),
      std::make_unique<Crossbar<MemoryReply, PortOfReply, PacketLength>>(
          "replies", domain, plan.partitions, plan.sm_ports, plan.reply_way, plan.reply_length, arbitration)};
}

}  // namespace gpusim::comp
