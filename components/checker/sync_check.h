// Misuse of barriers and of warp-wide operations in one block: who arrived where, with which count, and who
// is missing. PTX ISA, "Parallel Synchronization and Communication Instructions".
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "components/checker/finding.h"
#include "isa/exec/micro_op.h"

namespace gpusim::comp {

/// Lanes of one warp arrive at a barrier.
struct BarrierArrival {
  uint32_t number = 0;
  uint32_t warp = 0;  ///< in the block
  isa::LaneMask lanes;
  uint32_t threads = 0;  ///< explicit count; 0: all threads of the block
  bool waits = true;     ///< false: bar.arrive
  uint32_t statement = 0;
  bool aligned = true;  ///< all lanes of a warp must execute the same barrier statement
};

class SyncCheck {
 public:
  static constexpr uint32_t kBarriers = isa::kAllBarriers;
  /// Reports one occurrence: kind, statement, thread in the block, message.
  using Report = std::function<void(FindingKind, uint32_t, uint32_t, const std::string&)>;
  explicit SyncCheck(Report report) : report_(std::move(report)) {}

  /// `alive`: lanes of each warp that hold a thread. `independent`: lanes of a warp may arrive one by one.
  void reset(std::vector<isa::LaneMask> existing, bool independent);
  [[nodiscard]] isa::LaneMask alive(uint32_t warp) const { return alive_[warp]; }

  void arrive(const BarrierArrival& arrival);
  /// The barrier is complete.
  void open(uint32_t number);
  void exit(uint32_t warp, isa::LaneMask lanes) { alive_[warp] &= ~lanes; }
  /// `lanes` of `warp` come to a .sync operation; members[l] is what lane l names: itself too?
  void check_members(uint32_t warp, isa::LaneMask lanes, const uint32_t* members, uint32_t statement);
  /// They wait there until others have come; go_on(): they do no longer.
  void wait(uint32_t warp, isa::LaneMask lanes, const uint32_t* members, uint32_t statement);
  void go_on(uint32_t warp, isa::LaneMask lanes);
  /// `lanes` of `warp` execute it together. `exchanges`: they take values of each other. `past`: lanes that
  /// have executed something behind it, so that they do not come to it any more.
  void warp_operation(uint32_t warp, isa::LaneMask lanes, const uint32_t* members, uint32_t statement,
                      bool exchanges, isa::LaneMask past = {});
  /// Nothing goes on any more: reports every barrier at which threads wait.
  void report_stuck();

 private:
  void check_count(const BarrierArrival& arrival);
  void check_warp(const BarrierArrival& arrival);
  /// Have threads exited that a barrier without a count would have waited for?
  void check_exits(const std::vector<BarrierArrival>& arrivals);
  /// Have all come with the same count, and to the same statement? Asked when the last one has come, so that
  /// the answer does not depend on their order.
  void compare(const std::vector<BarrierArrival>& arrivals);
  [[nodiscard]] static bool earlier(const BarrierArrival& a, const BarrierArrival& b);
  [[nodiscard]] static uint32_t first_thread(const BarrierArrival& a) {
    return a.warp * isa::kWarpSize + static_cast<uint32_t>(a.lanes.lowest());
  }

  /// Lanes of a warp that wait at a .sync operation.
  struct Waiting {
    uint32_t warp = 0, statement = 0;
    isa::LaneMask lanes, named;
  };

  Report report_;
  bool independent_ = false;
  std::vector<isa::LaneMask> existing_, alive_;
  std::vector<Waiting> waiting_;
  std::array<std::vector<BarrierArrival>, kBarriers> arrivals_;  ///< since the barrier opened last
};

}  // namespace gpusim::comp
