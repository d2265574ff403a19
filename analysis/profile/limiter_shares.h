// A kernel's counts as shares of its time, and its waits for memory by the part of the way: what the
// estimates of the limiter (limiter_estimate.h) and their words are made of.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// Issue slots at memory fences, by the fence: a warp that waits at one loses them at the operation behind
/// it. Of warps that sleep there are none among them.
[[nodiscard]] std::vector<uint64_t> slots_of_fences(const Table& per_pc);

/// A kernel's counts as shares of its time.
class KernelShares {
 public:
  KernelShares(const KernelRecord& kernel, const core::MachineConfig& machine);
  /// Of the time that it takes to start the kernel, and of the rest.
  [[nodiscard]] double start() const { return start_; }
  [[nodiscard]] double active() const { return 1 - start_; }
  /// Of the time after the last block, in which stores and atomics are on their way.
  [[nodiscard]] double drain() const { return drain_; }
  [[nodiscard]] double mean(std::string_view unit) const;
  [[nodiscard]] double peak(std::string_view unit) const;
  /// Of the partition, port or channel that is the busiest at a time: which one that is may change.
  [[nodiscard]] double at_a_time(std::string_view unit) const;
  /// Of the requests of one time, the share of the partition that gets most.
  [[nodiscard]] double to_busiest() const { return crowding_ / static_cast<double>(machine_.l2.partitions); }
  /// Of the interconnect's ports and links, over the whole time: which partition gets most requests changes,
  /// and queues last until it does.
  [[nodiscard]] double fullest_port() const;
  /// Between the mean and the busiest one: few that wait hold up some of the others.
  [[nodiscard]] double wait(std::string_view unit) const;
  [[nodiscard]] double wait_of_sms(std::string_view unit) const;
  [[nodiscard]] double slots(std::initializer_list<const char*> causes) const;
  /// A share of the slots that had a warp, as a share of the time: the SMs that have warps decide how long
  /// the kernel takes, until its last block ends.
  [[nodiscard]] double of_resident(double share) const;
  /// Of all cycles of SMs, those in which the oldest access waited for a page of the TLBs or the page table.
  [[nodiscard]] double translation() const;
  /// Of all slots, those at memory fences that faster fences would save: a fence takes its own time, or that
  /// of the warp's stores that are on their way, whichever is longer.
  [[nodiscard]] double fences() const { return fences_; }
  /// Of all slots, those at memory fences that wait for these stores.
  [[nodiscard]] double fenced_stores() const { return fenced_stores_; }
  /// Of the time in which the load/store units wait, that for MSHRs, room in one or in a set of the L1, and
  /// the store buffer.
  [[nodiscard]] double buffers_full() const { return buffers_full_; }
  /// Of a wait for data of DRAM, the share that requests queued there: an entry among the misses of the L2 is
  /// held from a request's arrival until its data are there, so that entries x time for a request is how long
  /// that took (Little's law), and the rest of it is what it takes without queues. 0 without an L2.
  [[nodiscard]] double queue_at_dram() const { return queue_at_dram_; }
  /// Of all slots, those that waited for what an atomic of the L2 returns and beyond one trip there and back:
  /// its request queued. How long an atomic took is the share of the slots with warps that waited for it,
  /// times the time of all warps, by its executions (Little's law).
  [[nodiscard]] double queue_at_atomics() const { return queue_at_atomics_; }

 private:
  void find_fences();
  void find_queue_at_atomics();
  void find_queue_at_dram();
  void find_crowding_at_dram();
  /// Requests to the partition that gets most at a time, by the mean: of those that go on to DRAM only as far
  /// as the L2 does not answer them.
  [[nodiscard]] double crowding(std::string_view unit) const;

  const KernelRecord& kernel_;
  const core::MachineConfig& machine_;
  double start_ = 0, drain_ = 0, crowding_ = 1, crowding_at_dram_ = 1, slots_ = 0, buffers_full_ = 0;
  double fences_ = 0, fenced_stores_ = 0, queue_at_dram_ = 0, queue_at_atomics_ = 0;
};

/// Parts of the time from a request to its reply, without queues, in ns.
struct MemoryWay {
  double network, l2, dram, l1;
  [[nodiscard]] double all() const { return network + l2 + dram + l1; }
};
[[nodiscard]] MemoryWay way_to_dram(const core::MachineConfig& m);
[[nodiscard]] MemoryWay way_to_l2(const core::MachineConfig& m);

/// Slots that waited for memory, by the part of the way that they waited for. Translation is no part of it.
[[nodiscard]] MemoryWay memory_waits(const KernelShares& s, const core::MachineConfig& machine);

/// Core cycles to the L2 and back, without queues; of a machine without one, to DRAM.
[[nodiscard]] double trip_cycles(const core::MachineConfig& m);

}  // namespace gpusim::analysis
