// The GPU: clock domains, SMs in clusters, constant clusters, request and reply crossbars, memory partitions,
// DRAM channels and the block dispatcher, wired by links as the machine configuration says. Not a module
// itself; it only builds and binds.
//   SM -> request crossbar -> partition -> DRAM channel -> partition -> reply crossbar -> SM
//   SM -> constant cluster -> request crossbar -> partition (level 3) -> ... -> constant cluster -> SM
//   SM -> texture cache -> request crossbar -> partition (texture level 2) -> ... -> texture cache -> SM
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/dram/dram_channel.h"
#include "components/dram/tlm_memory.h"
#include "components/host/host_link.h"
#include "components/host/host_ranges.h"
#include "components/l2/memory_partition.h"
#include "components/launch/block_dispatcher.h"
#include "components/lsu/cluster_cache.h"
#include "components/noc/network.h"
#include "components/simulation/machine_stats.h"
#include "components/simulation/unit_use.h"
#include "components/sm/sm.h"
#include "components/sm/timing.h"

namespace gpusim::comp {

class Gpu {
 public:
  /// Builds the machine with its `sms` lowest-numbered SMs (spread over the clusters if gpu.sms_spread).
  /// `on_error` is called with a program error; the engine is stopped already then. Throws
  /// std::invalid_argument if the timing tables are incomplete. `run_ahead` false makes SMs issue once per
  /// activation (tests). `checker`: of a run with --check. `attach`: binds an outside memory to each channel,
  /// in place of our DRAM; such a machine runs through the SystemC kernel only. `host_memory`: what kernels
  /// may access of the host's; null if there is no host.
  Gpu(core::Engine& engine, const core::MachineConfig& machine, const isa::GlobalMemory& memory, uint32_t sms,
      std::function<void(ProgramError)> on_error, bool run_ahead = true, Checker* checker = nullptr,
      AttachMemory attach = {}, const HostRanges* host_memory = nullptr);

  [[nodiscard]] BlockDispatcher& dispatcher() { return *dispatcher_; }
  [[nodiscard]] const BlockDispatcher& dispatcher() const { return *dispatcher_; }
  [[nodiscard]] EventSink& events() { return events_; }
  [[nodiscard]] core::ClockDomain& core_domain() { return core_; }
  [[nodiscard]] const core::ClockDomain& core_domain() const { return core_; }
  [[nodiscard]] core::ClockDomain& interconnect_domain() { return interconnect_; }
  [[nodiscard]] core::ClockDomain& dram_domain() { return dram_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Sm>>& sms() const { return sms_; }
  [[nodiscard]] const TimingTables& timing() const { return timing_; }
  /// Sums over all channels since the start of the simulation.
  [[nodiscard]] DramStats dram_stats() const;
  /// Sums over everything that kernels share, since the start of the simulation.
  [[nodiscard]] MachineStats stats() const;
  /// How busy each unit has been since the start of the simulation.
  [[nodiscard]] std::vector<UnitCount> unit_counts() const;
  /// Cycles of the clocks between two times.
  [[nodiscard]] UnitCycles cycles_between(core::Femtoseconds start, core::Femtoseconds end) const;
  [[nodiscard]] uint64_t l2_dirty_sectors() const;
  /// Lines looked up in the constant caches of the clusters, and in their third level in the partitions.
  [[nodiscard]] uint64_t cluster_constant_lines() const;
  [[nodiscard]] uint64_t partition_constant_lines() const;
  [[nodiscard]] uint32_t num_channels() const {
    return static_cast<uint32_t>(channels_.size() + outside_.size());
  }
  /// The tables in which a kernel is counted, and books of every SM, at the borders of a kernel.
  void open_kernel(KernelLaunch& run);
  void close_kernel(const KernelLaunch& run);
  /// Gives the tables of a kernel that has ended, and whose counts nobody needs any more, back to the next
  /// ones.
  void forget_kernel(KernelLaunch& run);
  /// All caches and translation look-aside buffers forget what they hold. Requires that no kernel runs.
  void empty_caches();

 private:
  [[nodiscard]] TextureStats texture_stats() const;
  template <class T, class... Args>
  core::Link<T>& link(std::vector<std::unique_ptr<core::Link<T>>>& store, Args&&... args) {
    store.push_back(std::make_unique<core::Link<T>>(std::forward<Args>(args)...));
    return *store.back();
  }
  /// A link with room for `queue` messages behind a latency that is a time, of the stages of domain `of`: in
  /// cycles of the reader's domain, whatever its frequency. A latency is a pipeline, its stages hold messages
  /// too.
  template <class T>
  core::Link<T>& timed_link(std::vector<std::unique_ptr<core::Link<T>>>& store, core::Clocked& writer,
                            core::Clocked& reader, core::ClockDomain& of, uint32_t queue, double latency_ns) {
    core::ClockDomain& domain = reader.domain();
    const auto cycles = [&domain, &of, latency_ns] { return domain.cycles_of_ns(of.latency_ns(latency_ns)); };
    core::Link<T>& made = link(store, writer, reader, queue + static_cast<uint32_t>(cycles()), cycles());
    const auto retime = [&made, cycles] { made.set_latency(cycles()); };
    domain.on_change(retime);
    if (&of != &domain && machine_.clocks.latencies_follow) of.on_change(retime);
    return made;
  }
  void build_memory();
  void build_channel(MemoryPartition& partition);
  void build_host_link(const HostRanges& host_memory);
  template <class Channel>
  void connect_channel(MemoryPartition& partition, Channel& channel);
  /// True if no warp can ever change anything: all have gone round unchanged, or waited, for long.
  [[nodiscard]] bool nobody_moves() const;
  void build_tlbs();
  /// The links of SM `number` to its L2 TLB.
  void connect_tlb(uint32_t number, Sm& sm, LoadStoreUnit::Links& links);
  /// The caches of machine.texture, if textures have caches of their own.
  void build_textures();
  /// The links of SM `number` to its texture cache.
  void connect_texture(uint32_t number, Sm& sm, LoadStoreUnit::Links& links);
  /// The links of SM `number` to the second level of its instructions, if it has a first.
  void connect_fetch(uint32_t number, Sm& sm);
  /// Both ways between a cache of `cluster` and the networks; its port is the next of the replies' outputs.
  void connect_to_network(ClusterCache& cache, uint32_t port);
  void build_sms(const std::vector<uint32_t>& numbers, const isa::GlobalMemory& memory);

  const core::MachineConfig& machine_;
  const isa::GlobalMemory& memory_;
  core::ClockDomain core_, interconnect_, dram_;
  TimingTables timing_;
  EventSink events_;
  core::PageArena arena_;     ///< registers and shared memory of the SMs
  isa::MemoryAccess access_;  ///< scratch of the SMs
  std::vector<uint64_t> shared_ports_;
  std::vector<Sm*> sm_of_;  ///< by number; null: not used
  std::function<void(ProgramError)> on_error_;
  uint32_t clusters_ = 1;
  uint32_t num_sms_ = 1;
  bool run_ahead_;
  Checker* checker_ = nullptr;
  std::unique_ptr<RequestNetwork> requests_;
  std::unique_ptr<ReplyNetwork> replies_;
  std::vector<std::unique_ptr<MemoryPartition>> partitions_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::vector<std::unique_ptr<TlmMemory>> outside_;  ///< instead of channels_
  AttachMemory attach_;
  std::unique_ptr<HostLink> host_;  ///< null without host memory
  std::vector<std::unique_ptr<ClusterCache>> constants_;
  std::vector<std::unique_ptr<ClusterCache>> textures_;  ///< of the SMs, or of the clusters
  std::vector<std::unique_ptr<SharedTlb>> tlbs_;         ///< of the GPU, or of each cluster
  std::vector<std::unique_ptr<Sm>> sms_;
  std::unique_ptr<BlockDispatcher> dispatcher_;
  std::vector<std::unique_ptr<core::Link<MemoryRequest>>> request_links_;
  std::vector<std::unique_ptr<core::Link<MemoryReply>>> reply_links_;
  std::vector<std::unique_ptr<core::Link<PageMessage>>> page_links_;
  std::vector<std::unique_ptr<core::Link<BlockStart>>> start_links_;
  std::vector<std::unique_ptr<core::Link<SmReport>>> report_links_;
};

}  // namespace gpusim::comp
