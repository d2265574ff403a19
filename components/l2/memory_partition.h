// Memory partition: the end of the interconnect in front of its DRAM channels. It serves constant reads from
// its slice of the third-level constant cache, and texture reads from its slice of the second texture level
// if there is one, serialises atomic updates, and passes the rest to its slice of the L2 if
// the machine has one, else to the channel of its address. Clocked in the interconnect domain; asleep unless
// a request or a reply is visible. Replies go first: they always sink, so requests always drain.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/l2/address_map.h"
#include "components/l2/l2_slice.h"
#include "components/l2/texture_l2.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class MemoryPartition : public core::Clocked {
 public:
  MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                  const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    requests_ = &requests;
    replies_ = &replies;
    requests_->publish_head(next_request_);
  }
  /// The links of its next channel; dram.channels times.
  void connect_channel(core::Link<MemoryRequest>& to, core::Link<MemoryReply>& from) {
    channels_.push_back({&to, &from});
    from.publish_head(channels_.back().next_reply);
  }
  /// Event tables count its cycles.
  void set_core(const core::ClockDomain& core) { core_ = &core; }
  [[nodiscard]] uint64_t constant_hits() const { return constant_hits_; }
  [[nodiscard]] uint64_t constant_misses() const { return constant_misses_; }
  /// Null if the machine has none.
  [[nodiscard]] const L2Slice* l2() const { return l2_.get(); }
  [[nodiscard]] const TextureL2* texture_l2() const { return textures_.get(); }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  struct Channel {
    core::Link<MemoryRequest>* to;
    core::Link<MemoryReply>* from;
    core::Cycle next_reply = core::kNever;  ///< when the oldest is visible
  };
  [[nodiscard]] Channel& channel_of(uint64_t address) {
    return channels_.size() == 1 ? channels_[0] : channels_[map_.round(address) % channel_count_];
  }
  /// A channel that has a reply by `now`, the next in turn; null if none has.
  [[nodiscard]] Channel* replying(core::Cycle now);
  [[nodiscard]] core::Cycle next_reply() const;
  [[nodiscard]] core::Cycle next_wanted(uint64_t now, bool reply_blocked, bool request_blocked,
                                        uint64_t retry) const;

  [[nodiscard]] bool look_up_constant(uint64_t address);
  /// False if the texture read, which hit, cannot be answered yet.
  bool answer_texture(uint64_t now);
  void record(uint64_t address, uint8_t cache, core::CacheResult result) const;
  // memory_partition_l2.cpp: with an L2
  core::Cycle tick_with_l2(core::Cycle now);
  [[nodiscard]] bool take_request(uint64_t now);
  void send_answer();

  uint32_t index_;
  const core::ClockDomain* core_ = nullptr;
  uint64_t atomic_cycles_;
  uint64_t l3_latency_;
  const EventSink* events_;
  AddressMap map_;
  TagCache l3_;  ///< this partition's slice, by place in the partition, so that all its sets are used
  std::unique_ptr<TextureL2> textures_;
  std::unique_ptr<L2Slice> l2_;
  bool refused_ = false;  ///< l2_: the oldest request was looked at and has to wait
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  core::Divisor channel_count_;
  std::vector<Channel> channels_;
  size_t last_replying_ = 0;
  core::Cycle next_request_ = core::kNever;  ///< when the oldest is visible
  uint64_t atomic_free_ = 0;
  uint64_t constant_hits_ = 0, constant_misses_ = 0;
};

}  // namespace gpusim::comp
