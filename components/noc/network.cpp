#include "components/noc/network.h"

#include <utility>

#include "components/noc/crossbar.h"
#include "components/noc/mesh.h"

namespace gpusim::comp {

Networks::Networks(core::ClockDomain& domain, const core::MachineConfig& machine) {
  const auto& net = machine.interconnect;
  const auto sms = static_cast<uint32_t>(machine.gpu.sms);
  const auto per_cluster = static_cast<uint32_t>(machine.gpu.sms_per_cluster);
  const uint32_t clusters = (sms + per_cluster - 1) / per_cluster;
  const auto partitions = static_cast<uint32_t>(machine.l2.partitions);
  const PartitionOfAddress request_way{AddressMap(machine.l2)};
  const PacketLength request_length(net.header_bytes, net.flit_bytes);
  const PacketLength reply_length(net.header_bytes,
                                  net.reply_flit_bytes == 0 ? net.flit_bytes : net.reply_flit_bytes);
  const Arbitration arbitration = net.arbitration;
  if (net.topology == "crossbar") {
    requests = std::make_unique<Crossbar<MemoryRequest, PartitionOfAddress, PacketLength>>(
        "requests", domain, clusters, partitions, request_way, request_length, arbitration);
    replies = std::make_unique<Crossbar<MemoryReply, PortOfReply, PacketLength>>(
        "replies", domain, partitions, clusters, PortOfReply{}, reply_length, arbitration);
    return;
  }
  const auto graph = std::make_shared<MeshGraph>(clusters, partitions, static_cast<uint32_t>(net.mesh_width));
  const MeshOptions options{static_cast<uint64_t>(net.hop_cycles), static_cast<uint32_t>(net.router_queue),
                            arbitration};
  requests = std::make_unique<Mesh<MemoryRequest, PartitionOfAddress, PacketLength>>(
      "requests", domain, graph, graph->clusters(), graph->partitions(), options, request_way,
      request_length);
  replies = std::make_unique<Mesh<MemoryReply, PortOfReply, PacketLength>>(
      "replies", domain, graph, graph->partitions(), graph->clusters(), options, PortOfReply{}, reply_length);
}

}  // namespace gpusim::comp
