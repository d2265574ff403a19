// Which lines a warp's access asks for, and which 32-byte sectors of each: its transactions, for the
// reuse-distance model. Lanes whose data is 128 bytes together are a group with transactions of its own. What
// a run of lanes needs follows from its ends where lanes leave no sector out. On compute capability 1.x the
// groups are half-warps, and a transaction is a segment of 32, 64 or 128 bytes.
#pragma once
#include <array>
#include <cstdint>

#include "analysis/recording/warp_trace.h"
#include "simcore/config/choices.h"
#include "simcore/divisor.h"

namespace gpusim::analysis {

struct LineTransaction {
  uint64_t line = 0;     ///< number: address / bytes of a line
  uint32_t sectors = 0;  ///< of 32 bytes, the lowest address first
};

class LineTransactions {
 public:
  void clear() { count_ = 0; }
  void append(uint64_t line, uint32_t sectors) { items_[count_++] = {line, sectors}; }
  [[nodiscard]] uint32_t size() const { return count_; }
  LineTransaction& operator[](uint32_t i) { return items_[i]; }
  const LineTransaction& operator[](uint32_t i) const { return items_[i]; }
  [[nodiscard]] const LineTransaction* begin() const { return items_.data(); }
  [[nodiscard]] const LineTransaction* end() const { return items_.data() + count_; }

 private:
  uint32_t count_ = 0;
  std::array<LineTransaction, WarpStep::kLanes> items_;  ///< a lane asks for one line
};

class ReuseCoalescer {
 public:
  /// `line_bytes`: at most 1024; 128 with the rules of 1.x.
  explicit ReuseCoalescer(uint32_t line_bytes, core::CoalescingRule rule = core::CoalescingRule::kCc20)
      : line_bytes_(line_bytes), rule_(rule) {}
  /// Lines in the order in which lanes ask for them; `base` is added to all addresses.
  void coalesce(const WarpStep& access, const LaneRuns& runs, uint64_t base, LineTransactions& out) const;

 private:
  /// Lanes of one group.
  void add_run(LaneRuns::Run run, uint32_t bytes, uint32_t group, LineTransactions& out) const;
  /// All bytes from `first` to `last`.
  void add_whole(uint64_t first, uint64_t last, uint32_t group, LineTransactions& out) const;

  /// Half a warp on 1.x: addresses of the lanes in `mask`.
  void add_segments(const WarpStep& access, const uint64_t* address, uint32_t mask,
                    LineTransactions& out) const;
  void add_words(const WarpStep& access, const uint64_t* address, uint32_t mask, LineTransactions& out) const;
  void add_bytes(uint64_t first, uint64_t bytes, LineTransactions& out) const;

  core::Divisor line_bytes_;
  core::CoalescingRule rule_;
};

}  // namespace gpusim::analysis
