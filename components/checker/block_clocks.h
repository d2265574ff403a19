// What is known to happen before what among the threads of one block: vector clocks, one per warp for the
// other warps and, where lanes are independent, one per lane for the other lanes of its warp (Lamport 1978;
// Mattern 1988; read and write epochs as in FastTrack, PLDI 2009). Every warp has a clock that moves on when
// the warp tells others what it has done: at barriers, at .sync operations, at atomics and at volatile
// stores. An access is stamped with its warp's clock; it is ordered before another if the other's warp (or
// lane) has heard of a later time.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isa/exec/micro_op.h"
#include "isa/ptx/types.h"

namespace gpusim::comp {

class BlockClocks {
 public:
  static constexpr uint32_t kBarriers = isa::kAllBarriers;
  static constexpr uint32_t kOfCluster =
      isa::kNumBarriers;  ///< the number of the barrier of the block's cluster
  /// `independent`: lanes of one warp are ordered by .sync operations only, not by being in one warp.
  void reset(uint32_t warps, bool independent);

  /// Stamp of what `warp` does now; never 0.
  [[nodiscard]] uint32_t now(uint32_t warp) const { return now_[warp]; }
  /// True if what lane `lane_then` of `warp_then` did at `stamp` comes before what `lane` of `warp` does now.
  [[nodiscard]] bool ordered(uint32_t warp_then, uint32_t lane_then, uint32_t stamp, uint32_t warp,
                             uint32_t lane) const;

  /// Lanes of `warp` arrive at a barrier; if they wait, they will hear at open() of all that arrived.
  void arrive(uint32_t barrier, uint32_t warp, bool waits);
  void open(uint32_t barrier);
  /// A phase of the barrier kOfCluster is over: who passes it from now on hears of all that had arrived.
  void open_cluster();
  void pass_cluster(uint32_t warp);
  /// Lanes of one warp meet at a .sync operation.
  void meet(uint32_t warp, isa::LaneMask lanes);
  /// The lanes hear of all that was published at `address`.
  void acquire(uint32_t warp, isa::LaneMask lanes, uint64_t address);
  /// The warp moves on, so that what it did until now can be published.
  void advance(uint32_t warp) { ++now_[warp]; }
  void publish(uint32_t warp, uint64_t address);

 private:
  using Clock = std::vector<uint32_t>;  // by warp: all that has an earlier stamp is known
  struct Lanes {
    uint32_t all = 0;             ///< all lanes know of each other what has an earlier stamp
    std::vector<uint32_t> known;  ///< [lane that knows][lane], beyond that; empty: nothing
  };
  struct Meeting {
    Clock clock;
    uint64_t waiting = 0;  ///< warps
  };
  static void join(Clock& into, const Clock& from);
  std::vector<uint32_t>& known_of(uint32_t warp);

  bool independent_ = false;
  std::vector<uint32_t> now_;
  std::vector<Clock> clocks_;
  std::vector<Lanes> lanes_;
  std::array<Meeting, kBarriers> barriers_;
  Clock cluster_;  ///< of its last phase that is over
  std::unordered_map<uint64_t, Clock> published_;
};

}  // namespace gpusim::comp
