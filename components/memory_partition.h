// Memory partition: the end of the interconnect in front of one DRAM channel. It serves constant reads from
// its slice of the third-level constant cache, serialises atomic updates, and passes the rest to the channel.
// Clocked in the interconnect domain; asleep unless a request or a reply is visible. Replies go first: they
// always sink, so requests always drain.
#pragma once
#include <cstdint>
#include <string>

#include "components/event_sink.h"
#include "components/messages.h"
#include "components/tag_cache.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class MemoryPartition : public core::Clocked {
 public:
  MemoryPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                  const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies,
               core::Link<MemoryRequest>& to_dram, core::Link<MemoryReply>& from_dram) {
    requests_ = &requests;
    replies_ = &replies;
    to_dram_ = &to_dram;
    from_dram_ = &from_dram;
    requests_->publish_head(next_request_);
    from_dram_->publish_head(next_reply_);
  }
  [[nodiscard]] uint64_t constant_hits() const { return constant_hits_; }
  [[nodiscard]] uint64_t constant_misses() const { return constant_misses_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  [[nodiscard]] core::Cycle next_wanted(uint64_t now, bool reply_blocked, bool request_blocked,
                                        uint64_t retry) const;

  /// Address inside this partition: the interleave is taken out, so that a slice uses all its sets.
  [[nodiscard]] uint64_t local(uint64_t address) const {
    return address / span_ * interleave_.value() + address % interleave_;
  }

  [[nodiscard]] bool look_up_constant(uint64_t address);

  uint32_t index_;
  uint64_t core_khz_;
  uint64_t atomic_cycles_;
  uint64_t l3_latency_;
  const EventSink* events_;
  core::Divisor interleave_, span_;
  TagCache l3_;  ///< this partition's slice
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  core::Link<MemoryRequest>* to_dram_ = nullptr;
  core::Link<MemoryReply>* from_dram_ = nullptr;
  core::Cycle next_request_ = core::kNever, next_reply_ = core::kNever;  ///< when the oldest is visible
  uint64_t atomic_free_ = 0;
  uint64_t constant_hits_ = 0, constant_misses_ = 0;
};

}  // namespace gpusim::comp
