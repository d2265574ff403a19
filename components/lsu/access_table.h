// The warp accesses of an SM that are in flight: a record each, from issue until the last reply has been
// taken, with what the SM counts by warp and by kernel. The paths of the load/store unit (global, constant,
// texture) open records' transactions and answer them; the unit hands the records that are complete to the
// SM. Plain class without time of its own.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "components/cache/free_list.h"
#include "components/noc/messages.h"
#include "components/sm/warp_table.h"
#include "isa/exec/executor.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {

/// A warp access in flight: from issue until its last transaction is answered.
struct alignas(64) AccessRecord {
  const isa::MicroOp* op = nullptr;
  uint32_t pc = 0;
  uint32_t bytes = 0;
  uint16_t warp = 0;
  uint16_t transactions = 0;
  uint16_t remaining = 0;    ///< transactions whose reply has not been taken yet
  uint16_t unannounced = 0;  ///< transactions whose reply has not been sent yet
  uint64_t first_address = 0;
  uint64_t issued = 0;                 ///< core cycle
  uint64_t stall_slots = 0;            ///< issue slots lost to waiting for it; booked when its level is known
  core::Cycle done_at = core::kNever;  ///< when its last reply is visible, once that has been sent
  MemoryLevel level{};                 ///< the farthest that has answered; at first the nearest of all
  bool is_store = false;               ///< no warp waits for it, except at a fence
  bool awaited = false;                ///< the SM must be awake at done_at
  uint8_t kernel = 0;                  ///< KernelLaunch::slot
  uint16_t atomic_words = 0;           ///< of its atomics: what units of memory partitions do one by one
};
static_assert(sizeof(AccessRecord) == 64);

class AccessTable {
 public:
  static constexpr uint32_t kNoRecord = ~0u;

  /// Takes memory for `records` accesses, of whose replies `announced` at most are known before they come.
  void prepare(size_t records, size_t announced);
  [[nodiscard]] bool prepared() const { return !records_.empty(); }

  [[nodiscard]] size_t free_records() const { return free_.size(); }
  [[nodiscard]] bool all_free() const { return free_.size() == records_.size(); }
  [[nodiscard]] AccessRecord& operator[](uint32_t index) { return records_[index]; }
  [[nodiscard]] const AccessRecord& operator[](uint32_t index) const { return records_[index]; }
  /// A record for an access of `warp`, issued at `now`. Requires a free one.
  uint32_t open(const isa::MicroOp& op, uint32_t warp, uint32_t pc, uint64_t now);
  /// No warp waits for the access; fences count it.
  void mark_store(uint32_t index) {
    AccessRecord& r = records_[index];
    r.is_store = r.awaited = true;
    ++stores_of_warp_[r.warp];
  }
  /// A transaction of the access was answered from `level`.
  void answer(uint32_t index, MemoryLevel level) {
    AccessRecord& r = records_[index];
    r.level = std::max(r.level, level);
    if (--r.remaining == 0) completed_.push_back(index);
  }
  /// Calls done(index) for each access that is complete, in the order of their last replies, and frees its
  /// record after that.
  template <class Done>
  void retire(uint64_t now, Done&& done);

  /// Something waits for the access: the SM must be awake when it completes.
  void await(uint32_t index) {
    AccessRecord& r = records_[index];
    if (!r.awaited && r.done_at != core::kNever) wake_at(r.done_at);
    r.awaited = true;
  }
  void await_all(uint32_t warp);
  /// The SM must be awake at `at`, when a reply that is known already is visible.
  void wake_at(core::Cycle at) {
    wakes_.insert(std::upper_bound(wakes_.begin(), wakes_.end(), at, std::greater<>{}), at);
  }
  /// The first of these cycles.
  [[nodiscard]] core::Cycle next_wake() const { return wakes_.empty() ? core::kNever : wakes_.back(); }

  /// The warp slot belongs to the kernel in slot `kernel` from now on.
  void set_kernel(uint32_t warp, uint32_t kernel) { kernel_of_warp_[warp] = static_cast<uint8_t>(kernel); }
  [[nodiscard]] uint32_t of_kernel(uint32_t kernel) const { return of_kernel_[kernel]; }
  [[nodiscard]] uint32_t stores_of_warp(uint32_t warp) const { return stores_of_warp_[warp]; }

 private:
  std::vector<core::Cycle> wakes_;  ///< the next one last
  std::vector<uint32_t> completed_;
  FreeList<uint32_t> free_;
  std::vector<AccessRecord> records_;
  // Accesses under way.
  std::array<uint32_t, kMaxWarps> stores_of_warp_{}, of_warp_{};
  std::array<uint32_t, kMaxKernels> of_kernel_{};
  std::array<uint8_t, kMaxWarps> kernel_of_warp_{};
};

template <class Done>
void AccessTable::retire(uint64_t now, Done&& done) {
  for (const uint32_t index : completed_) {
    const AccessRecord& r = records_[index];
    if (r.is_store) --stores_of_warp_[r.warp];
    done(index);
    --of_kernel_[r.kernel];
    --of_warp_[r.warp];
    free_.give_back(index);
  }
  completed_.clear();
  while (!wakes_.empty() && wakes_.back().count() <= now) wakes_.pop_back();
}

}  // namespace gpusim::comp
