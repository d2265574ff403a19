// Dependency barriers of an SM's warps (machines with control codes): for each barrier of a warp, the results
// that have set it and are not there yet. A barrier is waited for as a whole. Plain class; the SM sets a
// barrier when an operation issues and asks before the next one does.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "components/sm/stall_cause.h"
#include "simcore/bits.h"
#include "simcore/config/limits.h"

namespace gpusim::comp {

class DependencyBarriers {
 public:
  static constexpr uint32_t kMost = core::kMaxBarriers;
  explicit DependencyBarriers(uint32_t warps) : warps_(warps) {}

  /// Warp slot `w` starts anew.
  void reset(uint32_t w) {
    Warp& warp = warps_[w];
    warp.ready.fill(0);
    warp.loads.clear();
    warp.waits = 0;
  }
  /// The barriers (bits) that the warp's next operation waits for.
  [[nodiscard]] uint32_t waits(uint32_t w) const { return warps_[w].waits; }
  void add_waits(uint32_t w, uint32_t barriers) { warps_[w].waits |= static_cast<uint8_t>(barriers); }
  void forget_waits(uint32_t w) { warps_[w].waits = 0; }
  /// The warp's operation sets `barrier` until core cycle `cycle`.
  void set_until(uint32_t w, uint32_t barrier, uint64_t cycle, StallCause cause) {
    uint64_t& ready = warps_[w].ready[barrier];
    if (cycle > ready >> kCauseBits) ready = cycle << kCauseBits | static_cast<uint64_t>(cause);
  }
  /// Holds the barrier until the load with this record has its data.
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

  struct Wait {
    bool pending = false;  ///< for a load of unknown completion
    uint32_t load = 0;     ///< which
    uint64_t cycle = 0;    ///< else: free from here
    StallCause cause = StallCause::kAluDependency;
  };
  /// What an operation that waits for these barriers (bits) waits for: their oldest load, else the latest
  /// cycle.
  [[nodiscard]] Wait wait_of(uint32_t w, uint32_t barriers) const {
    const Warp& warp = warps_[w];
    for (const auto& [record, barrier] : warp.loads)
      if ((barriers >> barrier & 1) != 0) return {true, record, 0, StallCause::kDram};
    uint64_t latest = 0;
    for (; barriers != 0; barriers &= barriers - 1)
      latest = std::max(latest, warp.ready[core::lowest_bit(barriers)]);
    if (latest == 0) return {};
    return {false, 0, latest >> kCauseBits, static_cast<StallCause>(latest & ((1u << kCauseBits) - 1))};
  }

 private:
  static constexpr int kCauseBits = 5;
  static_assert(kNumStallCauses <= 1u << kCauseBits);
  struct alignas(64) Warp {
    /// By barrier: cycle from which it is free, and the cause until then.
    std::array<uint64_t, kMost> ready{};
    uint8_t waits = 0;
    std::vector<std::pair<uint32_t, uint32_t>> loads;  ///< (record, barrier), oldest first
  };
  std::vector<Warp> warps_;
};

}  // namespace gpusim::comp
