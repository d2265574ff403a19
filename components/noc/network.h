// The two interconnect networks of the GPU, of memory requests and of replies, with the
// rules that give a message's way and its length.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "components/noc/interconnect.h"
#include "components/noc/messages.h"
#include "simcore/address_map.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"

namespace gpusim::comp {

/// Length of a packet: header and payload in whole flits.
class PacketLength {
 public:
  PacketLength(uint32_t header_bytes, uint32_t flit_bytes) : header_bytes_(header_bytes), flit_(flit_bytes) {}
  [[nodiscard]] uint32_t operator()(uint64_t payload_bytes) const {
    return static_cast<uint32_t>(
        std::max<uint64_t>(1, (payload_bytes + header_bytes_ + flit_.value() - 1) / flit_));
  }
  uint32_t operator()(const MemoryRequest& r) const {
    return (*this)(uint64_t{r.kind == RequestKind::kWrite ? r.bytes : uint16_t{0}});
  }
  uint32_t operator()(const MemoryReply& r) const {
    return (*this)(uint64_t{r.has_data ? r.bytes : uint16_t{0}});
  }

 private:
  uint64_t header_bytes_;
  core::Divisor flit_;
};

/// Requests go to the partition of their address.
struct PartitionOfAddress {
  core::AddressMap map;
  uint32_t operator()(const MemoryRequest& r) const { return map.partition(r.address); }
};
/// Replies go to the port that the request named.
struct PortOfReply {
  uint32_t operator()(const MemoryReply& r) const { return r.port; }
};

using RequestNetwork = Interconnect<MemoryRequest>;
using ReplyNetwork = Interconnect<MemoryReply>;

/// The machine's networks, before their links. Requests enter at the SMs' ports and leave at the
/// partitions', replies the other way.
struct Networks {
  std::unique_ptr<RequestNetwork> requests;
  std::unique_ptr<ReplyNetwork> replies;
};
/// In the topology that `machine` names (components/noc/topology).
[[nodiscard]] Networks make_networks(core::ClockDomain& domain, const core::MachineConfig& machine);

}  // namespace gpusim::comp
