// Cache-conscious wavefront scheduling (Rogers, O'Connor and Aamodt, MICRO 2012): greedy then oldest, and
// loads of fewer warps at a time where warps take lines of the L1 from each other that they would have used
// again. A line that goes is noted in the victim tags of the warp that brought it. If that warp misses a line
// that is noted there, it has lost locality: its score rises, and by more the more often that happens per
// operation. Scores are at the base or above it, and fall by one in each cycle. Warps are ranked by score, of
// equals the older one first. A warp may load if the scores down to its own add up to no more than the base
// times the number of warps; the first one always may. So all may where no score is above the base.
// In the paper an SM has one such unit; here each scheduler of an SM has one for its own warps.
#include <algorithm>
#include <array>
#include <vector>

#include "components/sm/policies/issue_policy.h"
#include "simcore/bits.h"

POLICY_INTEGER(ccws_victims, "lines", 16, 1, 4096, "victim tags of a warp, with policy ccws");
POLICY_INTEGER(ccws_base, "points", 100, 1, 1000000,
               "score of a warp that has lost no locality, with policy ccws");
POLICY_REAL(ccws_throttle, "", 8, 0, 1000000,
            "score after a lost line, per lost line per operation and sum of bases, with policy ccws");

namespace gpusim::comp {

namespace {

class CacheConscious final : public IssuePolicy {
 public:
  explicit CacheConscious(const core::SchedulerPolicyKeys& keys)
      : victims_(static_cast<size_t>(keys.ccws_victims)),
        base_(static_cast<uint64_t>(keys.ccws_base)),
        throttle_(keys.ccws_throttle),
        tags_(kMaxWarps * victims_, kNoLine) {}

  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable& table) const override {
    return (warps >> last_ & 1) != 0 ? last_ : oldest_of(warps, table);
  }
  void issued(uint32_t warp) override {
    last_ = warp;
    ++operations_;
  }
  void reset() override {
    last_ = kMaxWarps - 1;
    operations_ = lost_ = 0;
    raised_ = 0;
    known_ = false;
    std::ranges::fill(tags_, kNoLine);
  }
  void started(uint32_t warp) override {
    raised_ &= ~(uint64_t{1} << warp);
    known_ = false;
    std::fill_n(tags_of(warp), victims_, kNoLine);
  }

  [[nodiscard]] bool watches_l1() const override { return true; }
  void line_evicted(uint32_t warp, uint64_t line) override {
    tags_of(warp)[oldest_tag_[warp]] = line;
    oldest_tag_[warp] = oldest_tag_[warp] + 1 == victims_ ? 0 : oldest_tag_[warp] + 1;
  }
  void line_missed(uint32_t warp, uint64_t line, uint64_t now) override {
    uint64_t* const tags = tags_of(warp);
    uint64_t* const found = std::find(tags, tags + victims_, line);
    if (found == tags + victims_) return;
    *found = kNoLine;
    ++lost_;
    const double sum = static_cast<double>(base_) * std::popcount(warps_);
    const double rate = static_cast<double>(lost_) / static_cast<double>(std::max<uint64_t>(operations_, 1));
    const double points = std::min(rate * throttle_ * sum, kMostPoints);
    zero_at_[warp] = now + std::max(base_, static_cast<uint64_t>(points));
    raised_ |= uint64_t{1} << warp;
    known_ = false;
  }

  Hold held_back(uint64_t warps, const WarpTable& table, uint64_t now) override {
    if (known_ && warps == warps_ && now < hold_.until) return hold_;
    known_ = true;
    warps_ = warps;
    forget_fallen(now);
    hold_ = (raised_ & warps) == 0 ? Hold{} : rank(warps, table, now);
    return hold_;
  }

 private:
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  static constexpr double kMostPoints = 1e12;
  struct Ranked {
    uint64_t score, age;
    uint32_t warp;
  };
  [[nodiscard]] uint64_t* tags_of(uint32_t warp) { return &tags_[warp * victims_]; }
  /// Scores that have fallen to the base.
  void forget_fallen(uint64_t now) {
    for (uint64_t bits = raised_; bits != 0; bits &= bits - 1)
      if (const uint32_t w = core::lowest_bit(bits); zero_at_[w] <= now + base_)
        raised_ &= ~(uint64_t{1} << w);
  }
  [[nodiscard]] Hold rank(uint64_t warps, const WarpTable& table, uint64_t now) const {
    std::array<Ranked, kMaxWarps> ranked;
    uint32_t count = 0;
    for (const uint32_t w : core::Bits(warps)) {
      ranked[count++] = {(raised_ >> w & 1) != 0 ? zero_at_[w] - now : base_, table.age(w), w};
    }
    std::sort(ranked.begin(), ranked.begin() + count, [](const Ranked& a, const Ranked& b) {
      return a.score != b.score ? a.score > b.score : a.age < b.age;
    });
    Hold hold;
    const uint64_t most = base_ * count;
    uint64_t sum = ranked[0].score, falling = 1;
    for (uint32_t i = 1; i < count; ++i) {
      const bool raised = ranked[i].score > base_;
      sum += ranked[i].score;
      falling += raised;
      if (sum <= most) continue;
      // Those in front fall by one a cycle, each of them.
      if (hold.warps == 0) hold.until = now + (sum - most + falling - 1) / falling;
      hold.warps |= uint64_t{1} << ranked[i].warp;
    }
    if (hold.warps == 0) return hold;
    // A score that has come to the base leaves its rank to an older warp.
    for (uint64_t bits = raised_ & warps; bits != 0; bits &= bits - 1)
      hold.until = std::min(hold.until, zero_at_[core::lowest_bit(bits)] - base_);
    return hold;
  }

  size_t victims_;
  uint64_t base_;
  double throttle_;
  uint32_t last_ = kMaxWarps - 1;
  uint64_t operations_ = 0, lost_ = 0;          ///< in the kernel
  uint64_t raised_ = 0;                         ///< warps whose score is above the base
  std::array<uint64_t, kMaxWarps> zero_at_{};   ///< of these: the cycle at which it would have fallen to 0
  std::vector<uint64_t> tags_;                  ///< by warp: lines that have gone
  std::array<size_t, kMaxWarps> oldest_tag_{};  ///< of a warp's: the next one to be overwritten
  bool known_ = false;                          ///< hold_ holds for warps_ until its end
  uint64_t warps_ = 0;
  Hold hold_;
};

}  // namespace

std::unique_ptr<IssuePolicy> make_ccws(const core::MachineConfig::Scheduler& config) {
  return std::make_unique<CacheConscious>(config.policy_keys);
}

}  // namespace gpusim::comp
