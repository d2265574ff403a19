// A streaming multiprocessor as the reuse-distance model sees it: resident blocks whose warps run until they
// have to wait, an issue bandwidth that they share, and one path to the L1 on which a refused
// access holds up those behind it. Nothing happens but at events: the end of a warp's stretch of operations,
// the arrival of data, an access. Time goes with accesses, not with cycles.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/reuse_distance/coalescer.h"
#include "analysis/models/reuse_distance/l1.h"
#include "analysis/models/reuse_distance/machine.h"
#include "analysis/models/reuse_distance/memory.h"
#include "analysis/recording/event_queue.h"
#include "analysis/recording/warp_trace.h"

namespace gpusim::analysis {

class ReuseSm {
 public:
  static constexpr double kNever = 1e300;
  /// `index`: of the SM, for memory's ports and the addresses of local memory.
  ReuseSm(const ReuseMachine& machine, const WarpTrace& trace, ReuseMemory& memory, uint32_t index);

  [[nodiscard]] bool has_room() const { return !free_slots_.empty(); }
  /// A block begins at time `at`, not before now.
  void start(uint64_t block, double at);
  /// When something happens next.
  [[nodiscard]] double next_event() const { return next_.at; }
  /// Lets it happen, and what follows before `until`; true if a block has ended, after which nothing does.
  bool run(double until);
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const ReuseL1& l1() const { return l1_; }
  [[nodiscard]] uint64_t accesses() const { return accesses_; }  ///< of warps

 private:
  static constexpr uint32_t kLoads = 256;  ///< of a warp whose arrival is remembered
  static constexpr uint64_t kNoLoad = ~uint64_t{0};
  static constexpr int64_t kWhole = int64_t{1} << 20;  ///< all of the SM's time
  enum class State : uint8_t { kNone, kRuns, kWaits, kAsks, kAtBarrier, kDrains, kHeld };
  /// Of the time of the SM's busiest unit, and of the busiest one that a scheduler has for itself.
  struct Shares {
    int64_t all = 0, own = 0;
  };
  struct Warp {
    WarpCursor cursor;
    WarpStep step;
    LaneRuns runs;
    State state = State::kNone;
    uint32_t slot = 0;  ///< of its block
    uint64_t age = 0;   ///< order of starts
    Shares wants;       ///< while it runs
    uint64_t loads = 0;
    double stores_done = 0;
    uint32_t queued = 0;           ///< accesses on their way to the cache
    uint64_t awaited = kNoLoad;    ///< load whose arrival is not known yet
    std::vector<double> arrivals;  ///< kNever: not known yet
  };
  struct Block {
    uint64_t index = 0;
    uint32_t live = 0, at_barrier = 0, next_warp = 0;
    double data_there = 0;
  };
  struct Event {
    double at;
    uint32_t what;  ///< a warp, or a block's slot and kBlock
  };
  static constexpr uint32_t kBlock = 1u << 31;
  struct Done {
    double at;
  };
  /// Warps that run and are slowed down alike: those of a scheduler, or of all if these take turns.
  struct Runners {
    EventQueue<Event> stretches;  ///< by virtual time
    double virtual_now = 0;
    Shares wanted;
    double slowdown = 1;  ///< kNever: they stand still
  };
  /// An access on its way to the cache.
  struct Access {
    uint32_t warp = 0;
    uint64_t load = 0;  ///< number among the warp's
    WarpStep::Access kind = WarpStep::Access::kLoad;
    bool local = false, cached = true, returns = true;
    double there = 0;  ///< when all that has been sent is
    uint32_t next = 0;
    bool translated = false;
    double known = 0;  ///< when its pages are, if they have been asked for before its turn
    LineTransactions transactions;
  };

  /// What happens next.
  struct Next {
    enum class What : uint8_t { kTimed, kStretch, kTransaction, kIssue } what = What::kTimed;
    double at = kNever;
    uint32_t runners = 0;  ///< kStretch: whose
  };
  [[nodiscard]] Next find_next() const;
  bool happen();
  [[nodiscard]] uint32_t runners_of(uint32_t warp) const {
    return runners_.size() == 1 ? 0 : machine_.scheduler_of(warp);
  }
  /// Warps that run want so much more of the SM's time, or less (`sign`).
  void want(Runners& runners, const Shares& shares, int64_t sign);
  [[nodiscard]] double end_of_stretch(const Runners& runners) const;
  [[nodiscard]] double next_issue() const;
  [[nodiscard]] double next_transaction() const { return queued_ == 0 ? kNever : std::max(now_, next_send_); }
  /// Fixed turns: the next warp, or the number of warps if it does not ask yet.
  [[nodiscard]] uint32_t warp_in_turn() const;
  /// Of the warps that ask, the one that the machine's schedulers let go first.
  [[nodiscard]] uint32_t first_asking() const;
  void advance(double at);
  void wake_at(double at, uint32_t what) { timed_.push({at, what}); }
  /// The warp's next stretch begins now.
  void go_on(uint32_t w);
  /// What the warp's stretch led to; true if it goes on at once.
  bool perform(uint32_t w);
  void begin_warp(uint32_t w, double at);
  void end_warp(uint32_t w);
  void open_barrier(uint32_t slot);
  /// True if the warp has as many loads on their way as it may: it asks again when the oldest is there.
  [[nodiscard]] bool held(uint32_t w);
  /// True if accesses of the warp are on their way to the cache: it looks again when they are not.
  static bool drains(Warp& warp);
  void issue(uint32_t w);
  /// The next transaction of the oldest access goes to the cache, or has to come again later.
  void send();
  /// When its data is there or it is done; ReuseL1::kRefused if it has to come again at `next_send_`.
  double load(const Access& a, const LineTransaction& t);
  double store(const Access& a, const LineTransaction& t);
  void finish(const Access& a);
  /// True if so many are on their way that the next one waits for the first of them: until next_send_.
  bool is_full(EventQueue<Done>& on_the_way, uint32_t most);
  /// True if the queue to the interconnect is full: until next_send_.
  bool waits_for_room();

  const ReuseMachine machine_;
  const WarpTrace& trace_;
  ReuseMemory& memory_;
  uint32_t index_, block_warps_;
  ReuseL1 l1_;
  ReuseCoalescer coalescer_;
  double now_ = 0;
  Next next_;
  std::vector<Runners> runners_;
  uint64_t starts_ = 0;
  EventQueue<Event> timed_;
  std::vector<Warp> warps_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> free_slots_;
  uint64_t asking_ = 0;          ///< warps that want to issue an access, bit per warp
  std::vector<uint64_t> owned_;  ///< the warps of each scheduler
  uint32_t served_ = 0;          ///< the last that did
  std::vector<uint32_t> last_;   ///< the last that did, of each scheduler
  std::vector<Access> queue_;    ///< a ring
  size_t first_ = 0, queued_ = 0;
  double next_send_ = 0;
  EventQueue<Done> stores_;  ///< on their way
  EventQueue<Done> reads_;   ///< the same, without an L1
  uint64_t accesses_ = 0;
};

}  // namespace gpusim::analysis
