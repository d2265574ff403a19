#include "components/checker/sync_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "components/checker/lane_access.h"

namespace gpusim::comp {

using isa::LaneMask;

void SyncCheck::reset(std::vector<LaneMask> alive, bool independent) {
  alive_ = std::move(alive);
  independent_ = independent;
  for (auto& list : arrivals_) list.clear();
}

void SyncCheck::arrive(const BarrierArrival& arrival) {
  check_count(arrival);
  check_warp(arrival);
  arrivals_[arrival.number].push_back(arrival);
}

void SyncCheck::open(uint32_t number) {
  compare(arrivals_[number]);
  arrivals_[number].clear();
}

void SyncCheck::check_count(const BarrierArrival& a) {
  if (a.threads == 0) return;
  const auto slots = static_cast<uint32_t>(alive_.size()) * isa::kWarpSize;
  if (a.threads % isa::kWarpSize != 0)
    report_(
        FindingKind::kBarrierCount, a.statement, first_thread(a),
        fmt::format("the count {} of barrier {} is not a multiple of the warp size", a.threads, a.number));
  else if (a.threads > slots)
    report_(FindingKind::kBarrierCount, a.statement, first_thread(a),
            fmt::format("barrier {} waits for {} threads, the block has {} warps", a.number, a.threads,
                        alive_.size()));
}

void SyncCheck::check_warp(const BarrierArrival& a) {
  const LaneMask missing = alive_[a.warp] & ~a.lanes;
  if (independent_ || missing.none()) return;
  report_(FindingKind::kDivergentBarrier, a.statement, first_thread(a),
          fmt::format("lanes {:#010x} of the warp reach barrier {} without its lanes {:#010x}",
                      a.lanes.bits(), a.number, missing.bits()));
}

void SyncCheck::compare(const std::vector<BarrierArrival>& arrivals) {
  if (arrivals.empty()) return;
  const auto earlier = [](const BarrierArrival& a, const BarrierArrival& b) {
    return std::pair(a.statement, first_thread(a)) < std::pair(b.statement, first_thread(b));
  };
  const BarrierArrival& first = *std::min_element(arrivals.begin(), arrivals.end(), earlier);
  for (const BarrierArrival& a : arrivals) {
    if (a.threads != first.threads) {
      report_(FindingKind::kMixedBarrier, a.statement, first_thread(a),
              fmt::format("barrier {} has the count {} here and {} in thread {} of the block (0: all)",
                          a.number, a.threads, first.threads, first_thread(first)));
    } else if (a.statement != first.statement && independent_ && a.aligned && a.warp == first.warp) {
      report_(FindingKind::kDivergentBarrier, a.statement, first_thread(a),
              fmt::format("lanes {:#010x} of the warp reach barrier {} here, its lanes {:#010x} at another "
                          "statement",
                          a.lanes.bits(), a.number, first.lanes.bits()));
    } else if (a.statement != first.statement && a.threads == 0 && a.warp != first.warp &&
               (a.aligned || first.aligned)) {
      report_(FindingKind::kMixedBarrier, a.statement, first_thread(a),
              fmt::format("barrier {} is reached here and, by thread {} of the block, at another statement",
                          a.number, first_thread(first)));
    }
  }
}

void SyncCheck::warp_operation(uint32_t warp, LaneMask lanes, const uint32_t* members, uint32_t statement) {
  uint32_t outside = 0, named = 0;
  for_each_lane(lanes, [&](int lane) {
    const uint32_t m = members[lane];
    if (((m >> lane) & 1) == 0) outside |= uint32_t{1} << lane;
    named |= m;
  });
  const auto report = [&](FindingKind kind, uint32_t which, const char* what) {
    const auto thread =
        warp * isa::kWarpSize +
        static_cast<uint32_t>(kind == FindingKind::kMemberMask ? LaneMask(which).lowest() : lanes.lowest());
    report_(kind, statement, thread, fmt::format("{} {:#010x}", what, which));
  };
  if (outside != 0)
    report(FindingKind::kMemberMask, outside, "lanes execute it whose member mask does not name them:");
  if (const uint32_t missing = named & alive_[warp].bits() & ~lanes.bits(); missing != 0)
    report(FindingKind::kMissingMember, missing,
           "the member mask names live lanes that do not execute it with the others:");
}

void SyncCheck::report_stuck() {
  uint32_t live = 0;
  for (const LaneMask lanes : alive_) live += static_cast<uint32_t>(lanes.count());
  for (const auto& list : arrivals_) {
    compare(list);
    uint32_t arrived = 0;
    for (const BarrierArrival& a : list) arrived += static_cast<uint32_t>(a.lanes.count());
    for (const BarrierArrival& a : list) {
      if (!a.waits) continue;
      report_(FindingKind::kStuckBarrier, a.statement, first_thread(a),
              fmt::format("barrier {} never opens: it needs {} threads, {} have arrived, {} are alive",
                          a.number, a.threads == 0 ? "all" : fmt::to_string(a.threads), arrived, live));
    }
  }
}

}  // namespace gpusim::comp
