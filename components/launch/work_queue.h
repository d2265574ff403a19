// What the host hands to the GPU: kernel launches and transfers in streams, and which of them may start. The
// host issues them in the order of the launch file. Items of one stream run one after another, those of
// different streams at the same time, as far as there are kernel slots and copy engines. Streams are mapped
// to hardware queues; in each, kernels start in order, and the transfers of an engine, so that one that has
// to wait holds up those behind it (CUDA C Best Practices Guide, "Concurrent Kernel Execution"; one queue
// before compute capability 3.5). Plain class; what takes how long is the block dispatcher's business.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "components/noc/messages.h"

namespace gpusim::comp {

class WorkQueue {
 public:
  struct Rules {
    uint32_t concurrent_kernels = 1;
    uint32_t copy_engines = 1;  ///< 1: all transfers take the same; 2: one for each direction
    uint32_t launch_queues = 1;
    uint64_t launch_interval = 0;  ///< core cycles from one item that the host issues to the next
    uint64_t launch_gap = 0;       ///< and from the end of a kernel to the start of the next of its stream
  };
  struct Item {
    KernelLaunch* run = nullptr;  ///< null: a transfer
    uint32_t stream = 0;
    // Of a transfer:
    uint64_t cycles = 0;  ///< at least 1
    bool to_device = true;
    uint32_t number = 0;               ///< among the transfers
    bool alone = false;                ///< of a kernel: no other runs at the same time
    bool marker = false;               ///< neither: it is reached in its stream, and takes no time
    std::vector<uint32_t> after = {};  ///< items, of any streams, that must have finished before
  };
  static constexpr uint32_t kEngines = 2;

  explicit WorkQueue(const Rules& rules) : rules_(rules) {}

  /// Stream 0 waits for all streams, and they for it. Before the first add().
  void use_legacy_default_stream() { legacy_default_stream_ = true; }
  /// Appends an item. Returns its index.
  uint32_t add(const Item& item);
  /// The host issues what is added from now on at core cycle `now` at the earliest.
  void issue_no_sooner(uint64_t now) { issue_ = std::max(issue_, now); }
  /// What is added from now on waits for everything that has been added before.
  void add_barrier() { after_barrier_ = static_cast<uint32_t>(items_.size()); }
  [[nodiscard]] const Item& item(uint32_t index) const { return items_[index]; }
  /// The engine that carries a transfer.
  [[nodiscard]] uint32_t engine_of(const Item& item) const {
    return rules_.copy_engines == kEngines && !item.to_device ? 1 : 0;
  }
  /// The first item, in the order of the launch file, that can start at core cycle `now`: it has started
  /// then.
  [[nodiscard]] std::optional<uint32_t> start_next(uint64_t now);
  void finish(uint32_t index, uint64_t now = 0);
  /// The kernel has ended and makes room for another, but it is not finished: what it has launched runs.
  void leave(uint32_t index);
  /// A kernel that no item stands for may start beside those that run; `alone`: only where none does.
  [[nodiscard]] bool has_room(bool alone) const {
    return running_kernels_ < rules_.concurrent_kernels && !one_runs_alone_ &&
           !(alone && running_kernels_ != 0);
  }
  void take_room(bool alone);
  void give_room();
  [[nodiscard]] bool all_done() const { return first_unfinished_ == items_.size(); }
  /// When all are done: what is added from now on gets indices from 0 again.
  void forget_finished();
  /// Items that have not finished.
  [[nodiscard]] size_t unfinished() const { return items_.size() - finished_; }
  /// When the item can start that start_next() was too early for; kNothing if there is none.
  static constexpr uint64_t kNothing = ~0ull;
  [[nodiscard]] uint64_t next_issue() const { return next_issue_; }

 private:
  struct Stream {
    uint32_t number = 0;
    std::vector<uint32_t> items;
    uint32_t next = 0;  ///< to start
    bool busy = false;
    uint64_t kernel_from = 0;  ///< cycle from which its next kernel may start
  };
  /// Starts of one kind in a hardware queue: kernels, or transfers of one engine.
  struct Lane {
    std::vector<uint32_t> items;
    uint32_t next = 0;
  };
  struct Place {
    uint32_t stream = 0, lane = 0;  ///< indices of streams_ and lanes_
    uint32_t after = 0;             ///< items before this one must have finished
    uint64_t from = 0;              ///< core cycle in which the host issues it
    bool finished = false, left = false;
  };
  [[nodiscard]] bool can_start(uint32_t index, uint64_t now);

  Rules rules_;
  std::vector<Item> items_;
  std::vector<Place> places_;    ///< of items_
  std::vector<Stream> streams_;  ///< in the order of their first items
  std::vector<Lane> lanes_;
  uint32_t running_kernels_ = 0;
  bool one_runs_alone_ = false;
  bool engine_busy_[kEngines] = {};
  bool legacy_default_stream_ = false;
  uint32_t after_default_ = 0;  ///< legacy: one past the last item of stream 0 so far
  uint32_t after_barrier_ = 0;  ///< items before the last barrier
  size_t first_unfinished_ = 0, finished_ = 0;
  uint64_t issue_ = 0;  ///< of the next item
  uint64_t next_issue_ = kNothing;
};

}  // namespace gpusim::comp
