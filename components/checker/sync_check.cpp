#include "components/checker/sync_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "components/checker/lane_access.h"

namespace gpusim::comp {

using isa::LaneMask;

void SyncCheck::reset(std::vector<LaneMask> existing, bool independent) {
  alive_ = existing;
  existing_ = std::move(existing);
  independent_ = independent;
  for (auto& list : arrivals_) list.clear();
  waiting_.clear();
}

void SyncCheck::arrive(const BarrierArrival& arrival) {
  check_count(arrival);
  check_warp(arrival);
  arrivals_[arrival.number].push_back(arrival);
}

void SyncCheck::open(uint32_t number) {
  compare(arrivals_[number]);
  check_exits(arrivals_[number]);
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

bool SyncCheck::earlier(const BarrierArrival& a, const BarrierArrival& b) {
  return std::pair(a.statement, first_thread(a)) < std::pair(b.statement, first_thread(b));
}

void SyncCheck::check_exits(const std::vector<BarrierArrival>& arrivals) {
  if (arrivals.empty() || arrivals.front().threads != 0) return;
  uint32_t exited = 0, first = 0;
  for (size_t w = existing_.size(); w-- > 0;) {
    const LaneMask gone = existing_[w] & ~alive_[w];
    if (gone.none()) continue;
    exited += static_cast<uint32_t>(gone.count());
    first = static_cast<uint32_t>(w) * isa::kWarpSize + static_cast<uint32_t>(gone.lowest());
  }
  if (exited == 0) return;
  const BarrierArrival& at = *std::min_element(arrivals.begin(), arrivals.end(), earlier);
  report_(FindingKind::kSkippedBarrier, at.statement, first_thread(at),
          fmt::format("barrier {} opens without {} threads of the block that have exited, the first of them "
                      "thread {}",
                      at.number, exited, first));
}

void SyncCheck::compare(const std::vector<BarrierArrival>& arrivals) {
  if (arrivals.empty()) return;
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

void SyncCheck::check_members(uint32_t warp, LaneMask lanes, const uint32_t* members, uint32_t statement) {
  uint32_t outside = 0;
  for_each_lane(lanes, [&](uint32_t lane) {
    if (((members[lane] >> lane) & 1) == 0) outside |= uint32_t{1} << lane;
  });
  if (outside == 0) return;
  report_(FindingKind::kMemberMask, statement,
          warp * isa::kWarpSize + static_cast<uint32_t>(LaneMask(outside).lowest()),
          fmt::format("lanes execute it whose member mask does not name them: {:#010x}", outside));
}

namespace {
LaneMask named_by(LaneMask lanes, const uint32_t* members) {
  LaneMask named;
  for_each_lane(lanes, [&](uint32_t lane) { named |= LaneMask(members[lane]); });
  return named;
}
}  // namespace

void SyncCheck::wait(uint32_t warp, LaneMask lanes, const uint32_t* members, uint32_t statement) {
  const auto there = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
    return w.warp == warp && w.statement == statement;
  });
  Waiting& w = there != waiting_.end() ? *there : waiting_.emplace_back(Waiting{warp, statement, {}, {}});
  w.lanes |= lanes;
  w.named |= named_by(lanes, members);
}

void SyncCheck::go_on(uint32_t warp, LaneMask lanes) {
  for (Waiting& w : waiting_)
    if (w.warp == warp) w.lanes &= ~lanes;
  std::erase_if(waiting_, [](const Waiting& w) { return w.lanes.none(); });
}

void SyncCheck::warp_operation(uint32_t warp, LaneMask lanes, const uint32_t* members, uint32_t statement,
                               bool exchanges, LaneMask past) {
  const LaneMask named = named_by(lanes, members);
  const auto report = [&](FindingKind kind, LaneMask which, const char* what) {
    if (which.none()) return;
    report_(kind, statement, warp * isa::kWarpSize + static_cast<uint32_t>(lanes.lowest()),
            fmt::format("{}: {:#010x}", what, which.bits()));
  };
  report(FindingKind::kMissingMember, named & alive_[warp] & ~lanes,
         "the member mask names live lanes that do not execute it with the others");
  const LaneMask exited = named & existing_[warp] & ~alive_[warp];
  report(FindingKind::kMissingMember, exited & past,
         "the member mask names lanes that have gone past it without executing it");
  if (exchanges)
    report(FindingKind::kExitedMember, exited & ~past, "the member mask names lanes that have exited");
}

void SyncCheck::report_stuck() {
  for (const Waiting& w : waiting_)
    if (const LaneMask missing = w.named & alive_[w.warp] & ~w.lanes; missing.any())
      report_(FindingKind::kMissingMember, w.statement,
              w.warp * isa::kWarpSize + static_cast<uint32_t>(w.lanes.lowest()),
              fmt::format("it never goes on: its member mask names live lanes that do not come: {:#010x}",
                          missing.bits()));
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
