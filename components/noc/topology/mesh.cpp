// A grid of routers, one for each cluster and each partition, for requests and one for replies.
#include "components/noc/mesh.h"

#include "components/noc/topology/topology.h"

namespace gpusim::comp {

Networks make_mesh_topology(core::ClockDomain& domain, const core::MachineConfig& machine,
                            const NetworkPlan& plan) {
  const auto& net = machine.interconnect;
  const auto graph = std::make_shared<MeshGraph>(plan.sm_ports, plan.partitions, net.mesh_width);
  const MeshOptions options{net.hop_cycles, net.router_queue, net.arbitration};
  return {std::make_unique<Mesh<MemoryRequest, PartitionOfAddress, PacketLength>>(
              "requests", domain, graph, graph->clusters(), graph->partitions(), options, plan.request_way,
              plan.request_length),
          std::make_unique<Mesh<MemoryReply, PortOfReply, PacketLength>>(
              "replies", domain, graph, graph->partitions(), graph->clusters(), options, plan.reply_way,
              plan.reply_length)};
}

}  // namespace gpusim::comp
