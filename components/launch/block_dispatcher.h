// Block dispatcher: starts launches and transfers as their streams allow (WorkQueue) and hands out the thread
// blocks of the kernels that run, at most one a core cycle (gpu.block_interval). The kernel that began first
// goes first: blocks of the next are not started before all of its blocks are (the "leftover" policy: Pai,
// Thazhuthaveetil and Govindarajan, ASPLOS 2013; Amert et al., RTSS 2017), or kernels take turns. A block
// goes to the next SM in turn that has room for it, or to the one that is being filled. How many blocks of
// one kernel an SM holds comes from the occupancy calculation; beside those of other kernels a block must
// also fit what they leave. Clocked in the core domain; asleep until a block can start, a transfer ends or an
// SM reports.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "components/launch/device_launches.h"
#include "components/launch/kernel_launch.h"
#include "components/launch/work_queue.h"
#include "components/noc/messages.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

struct DispatchRules {
  uint64_t launch_cycles = 0, issue_cycles = 2;
  uint64_t child_cycles = 1;  ///< from the call of a kernel that launches another until that may start
  /// Between two block starts, in parts of a core cycle.
  static constexpr uint64_t kParts = 256;
  uint64_t block_interval = kParts;
  bool depth_first = false;  ///< an SM is filled before the next
  bool in_turn = false;      ///< one block of each kernel in turn
  SmShare sm;                ///< what an SM has
  WorkQueue::Rules work;
};
/// Rules of the machine whose core clock is that of `domain`.
[[nodiscard]] DispatchRules dispatch_rules(const core::MachineConfig& machine,
                                           const core::ClockDomain& domain);

class BlockDispatcher : public core::Clocked {
 public:
  /// A transfer that has started: its rank among enqueue_copy() calls.
  struct Copy {
    uint32_t number = 0, engine = 0;
    uint64_t start = 0, end = 0;  ///< core cycles
  };
  struct ChildStart {
    KernelLaunch* run = nullptr;  ///< null: no kernel runs for it, it takes `cycles`
    uint64_t cycles = 0;
  };
  struct Hooks {
    std::function<void(KernelLaunch&)> begin;  ///< before the first block; run.start is set
    std::function<void(KernelLaunch&)> end;    ///< all its blocks done, drained from all SMs; run.end is set
    std::function<void()> all_done;
    std::function<void(const Copy&)> copy;  ///< again if its end moves
    /// Before begin(): sets the clocks that the kernel runs at. True if the core clock changes with the next
    /// cycle: the kernel begins then.
    std::function<bool(const KernelLaunch&)> set_clocks = {};
    std::function<void(uint32_t)> copied = {};  ///< the transfer of that number has ended
    std::function<void(uint32_t)> marker = {};  ///< the marker of that number has been reached
    std::function<void()> more = {};            ///< fewer items are left than call_below() has said
    /// What a kernel has launched starts.
    std::function<ChildStart(DeviceLaunches::Number)> child = {};
    /// Of what is no kernel: its time is over.
    std::function<void(DeviceLaunches::Number)> child_done = {};
  };
  BlockDispatcher(const sc_core::sc_module_name& name, core::ClockDomain& domain, const DispatchRules& rules);

  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }
  /// SMs in dispatch order; `sm` is the SM's index as its reports carry it.
  void connect_sm(uint32_t sm, core::Link<BlockStart>& starts, core::Link<SmReport>& reports,
                  uint32_t gpc = 0);
  /// Stream 0 waits for all streams, and they for it. Before the first enqueue().
  void use_legacy_default_stream() { work_.use_legacy_default_stream(); }
  /// Appends a launch; only before the simulation starts. `alone`: no other kernel runs beside it.
  void enqueue(KernelLaunch& run, uint32_t stream = 0, bool alone = false) {
    WorkQueue::Item item;
    item.run = &run;
    item.stream = stream;
    item.alone = alone;
    work_.add(item);
  }
  /// What is appended from now on waits for everything before it.
  void enqueue_barrier() { work_.add_barrier(); }
  /// Appends a host transfer that takes `cycles` cycles of the core clock at the start of the simulation.
  void enqueue_copy(uint64_t cycles, uint32_t stream = 0, bool to_device = true) {
    work_.add({nullptr, stream, cycles, to_device, copies_++});
  }

  // For a host that adds work from time to time: after all_done(), or in the hook `more`.
  struct Order {
    uint32_t stream = 0;
    std::vector<uint32_t> after;  ///< items that must have finished before
  };
  /// Each returns the item's number for Order::after.
  uint32_t add(KernelLaunch& run, Order order, bool alone);
  uint32_t add_copy(uint64_t cycles, Order order, bool to_device, uint32_t number);
  uint32_t add_marker(Order order, uint32_t number);
  /// After all_done(): the numbers of what was added so far mean nothing any more, and their memory is free.
  void forget_finished() { work_.forget_finished(); }
  /// Calls the hook `more`, once, as soon as fewer than `items` have not finished.
  void call_below(size_t items) { more_below_ = items; }
  [[nodiscard]] size_t unfinished() const { return work_.unfinished(); }
  /// Starts what has been added, in the cycle in which all before it was done.
  void resume();

  /// Work that a kernel launches now; where `item.from` is not 0, it starts in that many cycles at the
  /// earliest. `alone`: no other kernel runs beside one.
  DeviceLaunches::Number add_child(DeviceLaunches::Item item, bool alone);
  /// Cycles from the call of a kernel that launches another until that may start.
  [[nodiscard]] uint64_t child_cycles() const { return rules_.child_cycles; }
  [[nodiscard]] const DeviceLaunches& children() const { return children_; }

  /// Of the kernels that run, the one that began first; null if none does.
  [[nodiscard]] const KernelLaunch* current() const { return open_.empty() ? nullptr : open_.front().run; }
  /// Blocks of current() that have finished.
  [[nodiscard]] uint64_t blocks_finished() const { return open_.empty() ? 0 : open_.front().finished; }
  /// First cycle from `now` on in which a block can be sent to the SM unless it reports something.
  [[nodiscard]] uint64_t first_start(uint32_t sm, uint64_t now) const;
  /// True if no block starts and no transfer ends unless a block finishes.
  [[nodiscard]] bool nothing_to_come() const { return own_next_ == core::kNever.count(); }
  /// Core cycles, until `now`, in which a copy engine has carried transfers.
  [[nodiscard]] uint64_t copy_cycles(uint32_t engine, uint64_t now) const {
    const Transfer& t = transfers_[engine];
    return copied_[engine] + (t.end == kIdle || now <= t.start ? 0 : std::min(now, t.end) - t.start);
  }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  /// Blocks of one kernel on one SM.
  struct Held {
    uint32_t blocks = 0;
    bool drained = true;
    bool has_been = false;  ///< a block of this launch has been there
  };
  struct Port {
    uint32_t sm;
    uint32_t gpc;  ///< of a machine with thread block clusters
    core::Link<BlockStart>* starts;
    core::Link<SmReport>* reports;
    std::vector<Held> held;  ///< by KernelLaunch::slot
    uint32_t blocks = 0;     ///< of all kernels
    uint32_t undrained = 0;  ///< kernels that are
    SmShare used;
    uint64_t carved = 0;  ///< bytes of shared memory that the SM has now
  };
  struct Open {
    KernelLaunch* run = nullptr;
    uint32_t item = 0;  ///< kNoItem: another kernel has launched it
    uint64_t from = 0;  ///< cycle from which its blocks start
    uint64_t next_block = 0, finished = 0;
    [[nodiscard]] bool has_blocks(uint64_t now) const { return now >= from && next_block < run->num_blocks; }
  };
  struct Transfer {
    uint32_t item = 0;
    uint64_t start = 0, end = kIdle;
  };
  static constexpr uint64_t kIdle = ~0ull;
  static constexpr uint32_t kNoItem = ~0u;

  /// Kernels begin and end at whole issue slots, and what waits for them begins there too.
  [[nodiscard]] uint64_t whole_slots(uint64_t cycle) const {
    return (cycle + rules_.issue_cycles - 1) / rules_.issue_cycles * rules_.issue_cycles;
  }
  /// Starts what can start now.
  void start_items(uint64_t now);
  void begin(KernelLaunch& run, uint32_t item, uint64_t now);
  void start_children(uint64_t now);
  void finish_children(uint64_t now);
  /// Its blocks have ended, and what it has launched is complete.
  void complete(uint32_t item, uint64_t now);
  void begin_copy(uint32_t item, uint64_t now);
  /// The core clock has changed: transfers take the time that they take, in other cycles.
  void retime();
  void collect_reports();
  void finish(uint64_t now);
  bool dispatch_one(uint64_t now);
  /// True if the next block of the kernel, or the blocks of its next cluster, have started.
  bool start_block_of(Open& kernel);
  bool start_cluster_of(Open& kernel);
  /// Chooses SMs of one part of the chip for a cluster, as ports_ in cluster_ports_.
  [[nodiscard]] bool place_cluster(const KernelLaunch& run, uint32_t gpc);
  /// A block of the kernel goes to the SM. True if it finds it empty.
  static bool take(Port& p, const KernelLaunch& run);
  /// Room for one more block of the kernel beside `placed` ones of it that have not started yet.
  [[nodiscard]] bool has_room(const Port& p, const KernelLaunch& run, uint32_t placed = 0) const;
  [[nodiscard]] bool finished(const Open& kernel) const;
  [[nodiscard]] uint64_t next_event(uint64_t now, bool dispatched) const;

  DispatchRules rules_;
  const uint64_t first_khz_;  ///< core clock at the start of the simulation
  uint64_t khz_;              ///< and now
  Hooks hooks_;
  WorkQueue work_;
  std::vector<Port> ports_;
  std::vector<uint32_t> port_of_sm_;  ///< index in ports_
  std::vector<Open> open_;            ///< kernels that run, in the order in which they began
  std::vector<bool> slot_taken_;
  std::array<Transfer, WorkQueue::kEngines> transfers_;
  std::array<uint64_t, WorkQueue::kEngines> copied_{};  ///< cycles of transfers that have ended
  uint32_t copies_ = 0;
  size_t more_below_ = 0;  ///< unfinished items
  DeviceLaunches children_;
  bool children_alone_ = false;
  std::unordered_map<uint32_t, uint32_t> left_;  ///< items of kernels that wait for what they have launched
  struct ChildWork {
    DeviceLaunches::Number number = 0;
    uint64_t end = 0;
  };
  std::vector<ChildWork> child_work_;  ///< that runs and is no kernel
  uint64_t now_ = 0;                   ///< of the tick
  uint32_t next_port_ = 0, next_turn_ = 0;
  uint32_t next_gpc_ = 0, gpcs_ = 1;
  std::vector<uint32_t> cluster_ports_;  ///< of the cluster that is placed: scratch
  uint64_t start_from_ = 0;  ///< when the next block may start, in DispatchRules::kParts of a cycle
  uint64_t own_next_ = 0;
};

}  // namespace gpusim::comp
