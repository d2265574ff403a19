// The link over which kernels access the host's memory where it lies (mapped, "zero-copy" memory): nothing of
// it is kept in the L2, requests go from the partitions to the link and back. A read takes the link's latency
// and its bytes' time on the way to the GPU, a write its bytes' time on the way to the host (it is posted:
// nobody waits for the host), an atomic both. At most host.mapped_requests reads are on their way, as PCI
// Express has tags for; requests of one line of 128 bytes that come while it is on its way go with it. With
// reads of single sectors that, not the rate, is the limit. Each direction carries host.link_rate; transfers
// of the copy engines are not slowed down by it. Clocked in the interconnect domain; asleep unless a request
// or an answer is due.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/noc/messages.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/ring.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

#define GPUSIM_SYSMEM_COUNTERS(COUNTER)                                                         \
  COUNTER(read_sectors, "sysmem_read_transactions", "1",                                        \
          "32-byte sectors that kernels read from the host's memory", {.reference = "nvprof"})  \
  COUNTER(write_sectors, "sysmem_write_transactions", "1",                                      \
          "32-byte sectors that kernels wrote to the host's memory", {.reference = "nvprof"})   \
  COUNTER(atomics, "sysmem_atomics", "1", "requests of atomic operations on the host's memory") \
  COUNTER(read_busy_ps, "", "ps", "in which the link carries data to the GPU")                  \
  COUNTER(write_busy_ps, "", "ps", "in which the link carries data to the host")

struct SysmemStats {
  GPUSIM_COUNTERS(SysmemStats, GPUSIM_SYSMEM_COUNTERS)
};

class HostLink : public core::Clocked {
 public:
  HostLink(const sc_core::sc_module_name& name, core::ClockDomain& domain,
           const core::MachineConfig& machine);

  /// The links of the next partition.
  void connect(core::Link<MemoryRequest>& from, core::Link<MemoryReply>& to);
  [[nodiscard]] const SysmemStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  static constexpr uint64_t kParts = 1024;  ///< of a cycle
  /// Posted writes that wait for the link; reads behind them wait only when there are so many.
  static constexpr uint32_t kMostWrites = 4096;
  struct Port {
    core::Link<MemoryRequest>* from;
    core::Link<MemoryReply>* to;
    core::Cycle next_request = core::kNever;
  };
  struct Answer {
    uint64_t at = 0;  ///< cycle
    uint32_t port = 0;
    MemoryReply reply;
  };
  void set_times();
  /// A read on its way, of a line.
  struct Tag {
    uint64_t line = 0;
    uint32_t requests = 0;  ///< that it answers; 0: free
  };
  /// The tag of the line, or a free one; null if there is neither.
  [[nodiscard]] Tag* tag_of(uint64_t address);
  [[nodiscard]] bool can_take(const MemoryRequest& request) {
    return request.kind == RequestKind::kWrite ? writes_.size() < kMostWrites
                                               : tag_of(request.address) != nullptr;
  }
  void take(uint32_t port, uint64_t now);
  /// Sends what is due; false if a partition has no room, whose link wakes this module then.
  [[nodiscard]] bool send(core::Ring<Answer>& answers, uint64_t now);

  const core::MachineConfig& machine_;
  uint32_t most_;
  uint64_t latency_ = 0;         ///< cycles
  uint64_t parts_per_byte_ = 0;  ///< of a cycle
  double ps_per_byte_;
  std::vector<Port> ports_;
  uint32_t first_port_ = 0;  ///< looked at first: the ports take turns
  core::Ring<Answer> reads_, writes_;
  std::vector<Tag> tags_;
  uint64_t to_gpu_free_ = 0, to_host_free_ = 0;  ///< in parts of a cycle
  SysmemStats stats_;
};

}  // namespace gpusim::comp
