// Second-level translation look-aside buffer, shared by the SMs of the GPU or of a cluster, and its
// page-table walkers. It looks one page up a cycle, SMs in turn; what it lacks is walked for by the first
// free walker, and a page that is being walked for is not walked for again. A walk whose line of the page
// table another walk has read takes tlb.table_latency. Clocked in the core domain (its latencies are
// nanoseconds in the configuration); asleep unless a request is visible or an answer is due. Every SM has at
// most tlb.l1_misses pages on their way, so answers always have room.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/lsu/tlb/sm_tlb.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

#define GPUSIM_SHARED_TLB_COUNTERS(COUNTER)                                       \
  COUNTER(hits, "tlb_l2_hits", "1", "of these misses, found in the second level") \
  COUNTER(misses, "tlb_l2_misses", "1", "not found there either")                 \
  COUNTER(walks, "tlb_walks", "1", "walks through the page table; misses of one page share a walk")

struct SharedTlbStats {
  GPUSIM_COUNTERS(SharedTlbStats, GPUSIM_SHARED_TLB_COUNTERS)
};

class SharedTlb : public core::Clocked {
 public:
  /// `sms`: that share it, at most.
  SharedTlb(const sc_core::sc_module_name& name, core::ClockDomain& domain,
            const core::MachineConfig::Tlb& config, uint32_t sms);

  /// One call per SM, in order.
  void connect_sm(core::Link<PageMessage>& asks, core::Link<PageMessage>& pages) {
    sms_.push_back({&asks, &pages});
  }
  /// Forgets all translations that it has.
  void forget() {
    tags_.invalidate();
    table_lines_.clear();
  }
  [[nodiscard]] const SharedTlbStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  struct SmPort {
    core::Link<PageMessage>* asks;
    core::Link<PageMessage>* pages;
  };
  struct Answer {
    uint64_t at;
    uint64_t order;  ///< of the requests; the earlier goes first
    uint64_t page;
    uint32_t sm;
    bool walked;
    [[nodiscard]] bool operator>(const Answer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void answer(uint64_t now);
  [[nodiscard]] bool look_up(uint64_t now);
  /// When the page will have been walked for.
  uint64_t walk(uint64_t page, uint64_t from);
  /// Of a walk for `page` that begins now; its line of the page table is read from now on.
  uint64_t latency_of_walk(uint64_t page);

  bool has_tags_;
  TagCache tags_;
  uint64_t latency_, walk_latency_, table_latency_;
  uint64_t table_bytes_;               ///< tlb.table
  std::vector<uint64_t> table_lines_;  ///< that have been read, in order
  std::vector<SmPort> sms_;
  uint32_t next_sm_ = 0;
  std::vector<Answer> answers_;        ///< heap, the next one first
  std::vector<uint64_t> walker_free_;  ///< when
  uint64_t requests_ = 0;
  SharedTlbStats stats_;
};

}  // namespace gpusim::comp
