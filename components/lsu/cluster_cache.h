// Read-only cache between SMs and the interconnect: the second level of constants and instructions, shared by
// the SMs of a cluster (TPC), or the texture cache of a cluster or an SM. Hits answer after a fixed latency;
// misses go over the interconnect to the partition; misses of one line are merged. Clocked in the core
// domain; asleep unless a request or a reply is visible. Sources of the sizes: configuration [constant],
// [texture].
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/cache/mshr_table.h"
#include "components/cache/tag_cache.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

/// What a ClusterCache holds, and how much.
struct ClusterCacheShape {
  uint64_t bytes = 0;
  uint32_t line = 0, ways = 0;
  uint64_t latency = 0;            ///< core cycles from look-up to reply
  double latency_ns = 0;           ///< the latency, if it is a time
  uint32_t mshrs = 0, merges = 0;  ///< lines on their way; requests that can wait for one of them
  RequestKind kind{};              ///< of requests to the partition
  MemoryLevel level{};             ///< that a hit comes from
  uint8_t code = 0;                ///< in events/cache
};
/// The cluster's level of constants and instructions: room for all misses that its SMs can have at once.
[[nodiscard]] ClusterCacheShape constant_shape(const core::MachineConfig& machine,
                                               const core::ClockDomain& domain);
/// A texture cache of machine.texture.scope.
[[nodiscard]] ClusterCacheShape texture_shape(const core::MachineConfig& machine);

struct ClusterCacheStats {
  uint64_t hits = 0, misses = 0;  ///< requests; a miss that joins an earlier one included
  uint64_t fills = 0;             ///< lines asked of the partitions
};

class ClusterCache : public core::Clocked {
 public:
  /// `port`: index of this cache's link among the reply network's outputs.
  ClusterCache(const sc_core::sc_module_name& name, core::ClockDomain& domain, const ClusterCacheShape& shape,
               uint16_t port);

  /// One call per requester, in order; each takes turns.
  void connect_sm(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    sms_.push_back({&requests, &replies, 0});
  }
  void connect_network(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    to_network_ = &requests;
    from_network_ = &replies;
  }
  /// Where look-ups are recorded, under the number of the cluster or SM.
  void set_events(const EventSink* events, uint32_t unit) {
    events_ = events;
    unit_ = unit;
  }
  /// Forgets all lines that it has.
  void forget() { tags_.invalidate(); }
  /// Since the start of the simulation.
  [[nodiscard]] const ClusterCacheStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  struct SmPort {
    core::Link<MemoryRequest>* requests;
    core::Link<MemoryReply>* replies;
    uint16_t port = 0;  ///< that its requests name
  };
  /// A reply not sent yet, to a request that waited for its line.
  struct Answer {
    uint32_t waiter;  ///< see waiter_of()
    MemoryLevel level;
    uint64_t line;
  };
  /// A request as the table of misses keeps it: port and tag.
  [[nodiscard]] static uint32_t waiter_of(uint32_t sm, uint16_t tag) { return sm << 16 | tag; }
  bool take_request(uint32_t sm);
  bool take_miss(uint32_t sm, const MemoryRequest& request, uint64_t line);
  bool answer_one();
  [[nodiscard]] MemoryReply reply(uint64_t line, MemoryLevel level, uint32_t waiter) const;

  ClusterCacheShape shape_;
  uint16_t port_;
  TagCache tags_;
  MshrTable misses_;
  std::vector<SmPort> sms_;
  std::vector<Answer> answers_;
  core::Link<MemoryRequest>* to_network_ = nullptr;
  core::Link<MemoryReply>* from_network_ = nullptr;
  uint32_t next_sm_ = 0;
  ClusterCacheStats stats_;
  const EventSink* events_ = nullptr;
  uint32_t unit_ = 0;
};

}  // namespace gpusim::comp
