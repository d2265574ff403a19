// Dependency barriers of an SM's warps (machines with control codes): for each barrier of a warp, the results
// that have set it and are not there yet. A barrier is waited for as a whole. Plain class; the SM sets a
// barrier when an operation issues and asks before the next one does.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "components/stall_cause.h"

namespace gpusim::comp {

class DependencyBarriers {
 public:
  static constexpr uint32_t kMost = 8;
  explicit DependencyBarriers(uint32_t warps) : warps_(warps) {}

  /// Warp slot `w` starts anew.
  void reset(uint32_t w) {
    Warp& warp = warps_[w];
    warp.ready.fill({});
    warp.waits = 0;
    warp.loads.clear();
  }
  /// The warp's operation sets `barrier` until core cycle `cycle`.
  void set_until(uint32_t w, uint32_t barrier, uint64_t cycle, StallCause cause) {
    Ready& r = warps_[w].ready[barrier];
    if (cycle > r.cycle) r = {cycle, cause};
  }
  /// The same until the load with this record has its data.
  void set_by_load(uint32_t w, uint32_t barrier, uint32_t record) {
    warps_[w].loads.emplace_back(record, barrier);
  }
  /// The load's data came at `cycle`.
  void complete(uint32_t w, uint32_t record, uint64_t cycle, StallCause cause) {
    auto& loads = warps_[w].loads;
    const auto load = std::ranges::find(loads, record, &std::pair<uint32_t, uint32_t>::first);
    if (load == loads.end()) return;
    set_until(w, load->second, cycle, cause);
    loads.erase(load);
  }
  /// Barrier that the load set; kMost if it set none.
  [[nodiscard]] uint32_t barrier_of(uint32_t w, uint32_t record) const {
    const auto& loads = warps_[w].loads;
    const auto load = std::ranges::find(loads, record, &std::pair<uint32_t, uint32_t>::first);
    return load == loads.end() ? kMost : load->second;
  }

  /// The warp's next operation waits for these barriers too.
  void add_waits(uint32_t w, uint32_t barriers) { warps_[w].waits |= barriers; }
  void issued(uint32_t w) { warps_[w].waits = 0; }
  struct Wait {
    bool pending = false;  ///< for a load of unknown completion
    uint32_t load = 0;     ///< which
    uint64_t cycle = 0;    ///< else: free from here
    StallCause cause = StallCause::kAluDependency;
  };
  /// What the next operation waits for: the oldest load of its barriers, else the latest cycle.
  [[nodiscard]] Wait wait_of(uint32_t w) const {
    const Warp& warp = warps_[w];
    if (warp.waits == 0) return {};
    for (const auto& [record, barrier] : warp.loads)
      if ((warp.waits >> barrier & 1) != 0) return {true, record, 0, StallCause::kDram};
    Wait wait;
    for (uint32_t b = 0; b < kMost; ++b)
      if ((warp.waits >> b & 1) != 0 && warp.ready[b].cycle > wait.cycle)
        wait.cycle = warp.ready[b].cycle, wait.cause = warp.ready[b].cause;
    return wait;
  }

 private:
  struct Ready {
    uint64_t cycle = 0;
    StallCause cause = StallCause::kAluDependency;
  };
  struct Warp {
    std::array<Ready, kMost> ready{};
    uint32_t waits = 0;
    std::vector<std::pair<uint32_t, uint32_t>> loads;  ///< (record, barrier), oldest first
  };
  std::vector<Warp> warps_;
};

}  // namespace gpusim::comp
