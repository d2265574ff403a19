// How clusters and memory partitions are joined. One file NAME.cpp of this folder is one topology, "NAME" in
// interconnect.topology; the build finds it: it defines make_NAME_topology(), and nothing else has to know
// it.
#pragma once
#include <cstdint>

#include "components/noc/network.h"
#include "components/policy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

/// What every topology has to do: ports on both sides, and the rules of its messages.
struct NetworkPlan {
  explicit NetworkPlan(const core::MachineConfig& machine);

  uint32_t sm_ports, partitions;
  PartitionOfAddress request_way;
  PortOfReply reply_way;
  PacketLength request_length, reply_length;
};

}  // namespace gpusim::comp
