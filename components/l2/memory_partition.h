// Memory partition: the end of the interconnect in front of its DRAM channels. This is what every partition
// has: the links, the way to the channel of an address, and its slice of the third-level constant cache. Two
// kinds are built on it, and the machine chooses: with a slice of the L2 (L2Partition) and without
// (UncachedPartition). Clocked in the interconnect domain; asleep unless a request or a reply is visible.
// Replies go first: they always sink, so requests always drain.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/host/host_ranges.h"
#include "components/l2/l2_stats.h"
#include "components/l2/partition_use.h"
#include "components/l2/texture_l2.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/address_map.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class MemoryPartition : public core::Clocked {
 public:
  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    requests_ = &requests;
    replies_ = {&replies};
    requests_->publish_head(next_request_);
  }
  /// One more link for replies, with a queue of its own; each takes what goes to every n-th reply port.
  void add_reply_link(core::Link<MemoryReply>& replies) { replies_.push_back(&replies); }
  /// The links of its next channel; dram.channels times.
  void connect_channel(core::Link<MemoryRequest>& to, core::Link<MemoryReply>& from) {
    channels_.push_back({&to, &from});
    from.publish_head(channels_.back().next_reply);
  }
  /// Requests for memory in `host_memory` go to the host, past the caches.
  void connect_host(const HostRanges& host_memory, core::Link<MemoryRequest>& to,
                    core::Link<MemoryReply>& from) {
    host_memory_ = &host_memory;
    host_ = {&to, &from};
    from.publish_head(host_.next_reply);
  }
  /// Event tables count its cycles.
  void set_core(const core::ClockDomain& core) { core_ = &core; }
  /// Its caches forget what they hold and is not on its way; nothing is written back.
  virtual void empty_caches() { l3_.invalidate(); }
  [[nodiscard]] uint64_t constant_hits() const { return constant_hits_; }
  [[nodiscard]] uint64_t constant_misses() const { return constant_misses_; }
  /// Null if the machine has no L2.
  [[nodiscard]] virtual const L2Stats* l2_stats() const { return nullptr; }
  // Zeros if the machine has no such cache.
  [[nodiscard]] virtual uint64_t l2_dirty_sectors() const { return 0; }
  [[nodiscard]] virtual TextureL2Stats texture_stats() const { return {}; }
  /// Since the start of the simulation, until `now` in interconnect cycles.
  [[nodiscard]] virtual PartitionUse use(uint64_t now) const = 0;
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                  const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  struct Channel {
    core::Link<MemoryRequest>* to;
    core::Link<MemoryReply>* from;
    core::Cycle next_reply = core::kNever;  ///< when the oldest is visible
  };
  [[nodiscard]] Channel& channel_of(uint64_t address) {
    return channels_.size() == 1 ? channels_[0] : channels_[map_.round(address) % channel_count_];
  }
  /// Where the reply to a port goes.
  [[nodiscard]] core::Link<MemoryReply>& replies_to(uint32_t port) {
    return *replies_[replies_.size() == 1 ? 0 : port % replies_.size()];
  }
  /// The next channel in turn with a reply that is visible; null if there is none.
  [[nodiscard]] Channel* replying(core::Cycle now);
  [[nodiscard]] core::Cycle next_reply() const {
    core::Cycle next = core::kNever;
    for (const Channel& c : channels_) next = std::min(next, c.next_reply);
    return next;
  }
  /// One reply of the host leaves; returns when to look again, kNever if its link has no room and wakes this
  /// module.
  core::Cycle pass_host_reply(core::Cycle now);
  [[nodiscard]] bool is_for_host(const MemoryRequest& r) const {
    return host_memory_ != nullptr && r.kind <= RequestKind::kAtomic && host_memory_->holds(r.address);
  }
  /// The oldest request, which is for the host, goes there; false if it has to wait.
  [[nodiscard]] bool pass_to_host(uint64_t now);
  /// What tick() returns when there is something to do at `next`.
  [[nodiscard]] static core::Cycle later(uint64_t next, uint64_t now) {
    return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
  }
  /// The oldest request has to wait at `now`.
  void waits_for(PartitionWait why, uint64_t now) {
    if (waits_ == why) return;
    goes_on(now);
    waits_ = why;
    waits_since_ = now;
  }
  /// It is taken, or waits for something else.
  void goes_on(uint64_t now) {
    if (waits_ == PartitionWait::kNone) return;
    use_.waits[waits_] += now - waits_since_;
    waits_ = PartitionWait::kNone;
  }
  /// True on a hit in the constant cache. `again`: the request was looked at before.
  [[nodiscard]] bool look_up_constant(uint64_t address, bool again);
  void record(uint64_t address, uint8_t cache, core::CacheResult result) const {
    if (events_->cache != nullptr) write_event(address, cache, result);
  }
  [[nodiscard]] uint64_t cycles_of_ns(double ns) const { return domain().latency_cycles(ns); }

  uint32_t index_;
  uint64_t l3_latency_;
  core::AddressMap map_;
  TagCache l3_;  ///< this partition's slice, by place in the partition, so that all its sets are used
  core::Link<MemoryRequest>* requests_ = nullptr;
  std::vector<core::Link<MemoryReply>*> replies_;
  core::Cycle next_request_ = core::kNever;  ///< when the oldest is visible
  uint64_t constant_hits_ = 0, constant_misses_ = 0;

 private:
  void write_event(uint64_t address, uint8_t cache, core::CacheResult result) const;

  const core::ClockDomain* core_ = nullptr;
  const EventSink* events_;
  core::Divisor channel_count_;
  std::vector<Channel> channels_;
  size_t last_replying_ = 0;
  const HostRanges* host_memory_ = nullptr;
  Channel host_{nullptr, nullptr};
  PartitionWait waits_ = PartitionWait::kNone;
  uint64_t waits_since_ = 0;

 protected:
  PartitionUse use_;  ///< after what is looked at more often
};

/// The kind that this machine has.
[[nodiscard]] std::unique_ptr<MemoryPartition> make_partition(const sc_core::sc_module_name& name,
                                                              core::ClockDomain& domain,
                                                              const core::MachineConfig& machine,
                                                              uint32_t index, const EventSink* events);

}  // namespace gpusim::comp
