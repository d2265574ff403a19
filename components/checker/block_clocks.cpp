#include "components/checker/block_clocks.h"

#include <algorithm>
#include <bit>

#include "simcore/bits.h"

namespace gpusim::comp {

namespace {
constexpr size_t kLanes = isa::kWarpSize;
}

void BlockClocks::reset(uint32_t warps, bool independent) {
  independent_ = independent;
  now_.assign(warps, 1);
  clocks_.assign(warps, Clock(warps, 0));
  lanes_.assign(warps, Lanes{});
  barriers_.fill(Meeting{Clock(warps, 0), 0});
  cluster_.assign(warps, 0);
  published_.clear();
}

bool BlockClocks::ordered(uint32_t warp_then, uint32_t lane_then, uint32_t stamp, uint32_t warp,
                          uint32_t lane) const {
  if (warp_then != warp) return stamp < clocks_[warp][warp_then];
  if (!independent_ || lane_then == lane) return true;
  const Lanes& l = lanes_[warp];
  return stamp < l.all || (!l.known.empty() && stamp < l.known[lane * kLanes + lane_then]);
}

void BlockClocks::join(Clock& into, const Clock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

std::vector<uint32_t>& BlockClocks::known_of(uint32_t warp) {
  std::vector<uint32_t>& known = lanes_[warp].known;
  if (known.empty()) known.assign(kLanes * kLanes, 0);
  return known;
}

void BlockClocks::arrive(uint32_t barrier, uint32_t warp, bool waits) {
  ++now_[warp];
  Meeting& m = barriers_[barrier];
  join(m.clock, clocks_[warp]);
  m.clock[warp] = now_[warp];
  if (waits) m.waiting |= uint64_t{1} << warp;
}

void BlockClocks::open(uint32_t barrier) {
  Meeting& m = barriers_[barrier];
  for (uint64_t bits = m.waiting; bits != 0; bits &= bits - 1) {
    const uint32_t warp = core::lowest_bit(bits);
    join(clocks_[warp], m.clock);
    lanes_[warp].all = std::max(lanes_[warp].all, m.clock[warp]);
  }
  std::fill(m.clock.begin(), m.clock.end(), 0u);
  m.waiting = 0;
}

void BlockClocks::open_cluster() {
  Meeting& m = barriers_[kOfCluster];
  cluster_ = m.clock;
  std::fill(m.clock.begin(), m.clock.end(), 0u);
}

void BlockClocks::pass_cluster(uint32_t warp) {
  join(clocks_[warp], cluster_);
  lanes_[warp].all = std::max(lanes_[warp].all, cluster_[warp]);
}

void BlockClocks::meet(uint32_t warp, isa::LaneMask lanes) {
  if (!independent_) return;
  const uint32_t now = ++now_[warp];
  Lanes& l = lanes_[warp];
  if (lanes.full()) {
    l.all = now;
    return;
  }
  std::vector<uint32_t>& known = known_of(warp);
  for (size_t other = 0; other < kLanes; ++other) {
    uint32_t most = 0;
    if (lanes.test(static_cast<int>(other))) most = now;
    for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1)
      most = std::max(most, known[core::lowest_bit(bits) * kLanes + other]);
    for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1)
      known[core::lowest_bit(bits) * kLanes + other] = most;
  }
}

void BlockClocks::acquire(uint32_t warp, isa::LaneMask lanes, uint64_t address) {
  const auto it = published_.find(address);
  if (it == published_.end()) return;
  join(clocks_[warp], it->second);
  if (!independent_ || it->second[warp] == 0) return;
  std::vector<uint32_t>& known = known_of(warp);
  for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint32_t lane = core::lowest_bit(bits);
    for (size_t other = 0; other < kLanes; ++other)
      known[lane * kLanes + other] = std::max(known[lane * kLanes + other], it->second[warp]);
  }
}

void BlockClocks::publish(uint32_t warp, uint64_t address) {
  Clock& clock = published_.try_emplace(address, now_.size(), 0u).first->second;
  join(clock, clocks_[warp]);
  clock[warp] = now_[warp];
}

}  // namespace gpusim::comp
