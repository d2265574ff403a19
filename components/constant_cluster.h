// Second-level constant cache of a cluster (TPC), shared by its SMs: hits answer after a fixed latency,
// misses go over the interconnect to the partition's third level; misses of one line are merged. Clocked in
// the core domain; asleep unless a request or a reply is visible. Sources of the sizes: configuration
// [constant].
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/event_sink.h"
#include "components/messages.h"
#include "components/tag_cache.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class ConstantCluster : public core::Clocked {
 public:
  /// `port`: index of this cluster's link among the reply crossbar's outputs.
  ConstantCluster(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                  const core::MachineConfig& machine, uint16_t port);

  /// One call per SM of the cluster, in order.
  void connect_sm(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    sms_.push_back({&requests, &replies});
  }
  void connect_network(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    to_network_ = &requests;
    from_network_ = &replies;
  }
  /// Where look-ups are recorded, under the cluster's number.
  void set_events(const EventSink* events, uint32_t cluster) {
    events_ = events;
    cluster_ = cluster;
  }
  [[nodiscard]] uint64_t hits() const { return hits_; }
  [[nodiscard]] uint64_t misses() const { return misses_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  static constexpr uint64_t kNone = ~0ull;
  struct SmPort {
    core::Link<MemoryRequest>* requests;
    core::Link<MemoryReply>* replies;
  };
  struct Waiter {
    uint32_t sm;
    MemoryRequest request;
  };
  struct Miss {
    uint64_t line = kNone;
    std::vector<Waiter> waiting;
  };
  bool take_request(uint32_t sm);
  bool answer_one();

  uint16_t port_;
  uint64_t latency_;
  uint32_t mshrs_per_sm_;
  TagCache l2_;
  std::vector<SmPort> sms_;
  std::vector<Miss> misses_table_;
  std::vector<std::pair<Waiter, MemoryLevel>> answers_;  ///< merged replies not sent yet
  core::Link<MemoryRequest>* to_network_ = nullptr;
  core::Link<MemoryReply>* from_network_ = nullptr;
  uint32_t next_sm_ = 0;
  uint64_t hits_ = 0, misses_ = 0;
  const EventSink* events_ = nullptr;
  uint32_t cluster_ = 0;
};

}  // namespace gpusim::comp
