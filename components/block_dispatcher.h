// Block dispatcher: runs the queued launches and copies one after another (compute capability 1.x has no
// concurrent kernels) and hands out each launch's thread blocks, at most one a core cycle, to the next SM in
// turn that has a free block slot. Slots per SM come from the occupancy calculation. Clocked in the core
// domain; asleep until a block can start or an SM reports.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "components/kernel_run.h"
#include "components/messages.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class BlockDispatcher : public core::Clocked {
 public:
  struct Hooks {
    std::function<void(KernelRun&)> begin;  ///< before the first block; run.start is set
    std::function<void(KernelRun&)> end;    ///< all blocks done, all SMs drained; run.end is set
    std::function<void()> all_done;
  };
  BlockDispatcher(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint64_t launch_cycles,
                  uint64_t issue_cycles);

  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }
  /// SMs in dispatch order; `sm` is the SM's index as its reports carry it.
  void connect_sm(uint32_t sm, core::Link<BlockStart>& starts, core::Link<SmReport>& reports);
  /// Appends a launch; only before the simulation starts.
  void enqueue(KernelRun& run) { queue_.push_back({&run, 0}); }
  /// Appends a host transfer that takes `cycles` core cycles; launches and copies run one after another.
  void enqueue_copy(uint64_t cycles) { queue_.push_back({nullptr, cycles}); }

  [[nodiscard]] uint64_t blocks_started() const { return next_block_; }
  [[nodiscard]] uint64_t blocks_finished() const { return finished_blocks_; }
  [[nodiscard]] const KernelRun* current() const { return current_; }
  [[nodiscard]] std::string waiting_for() const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  struct Port {
    uint32_t sm;
    core::Link<BlockStart>* starts;
    core::Link<SmReport>* reports;
    uint32_t resident = 0;
    bool drained = true;
  };
  void begin_next(uint64_t now);
  void collect_reports();
  bool dispatch_one();
  [[nodiscard]] bool finished() const;

  uint64_t launch_cycles_, issue_cycles_;
  Hooks hooks_;
  std::vector<Port> ports_;
  struct Item {
    KernelRun* run;  ///< null: a copy
    uint64_t copy_cycles;
  };
  std::vector<Item> queue_;
  uint64_t copy_until_ = 0;
  size_t next_launch_ = 0;
  KernelRun* current_ = nullptr;
  uint64_t next_block_ = 0, finished_blocks_ = 0;
  uint64_t dispatch_from_ = 0;
  uint32_t next_port_ = 0;
};

}  // namespace gpusim::comp
