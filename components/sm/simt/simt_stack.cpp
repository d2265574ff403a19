#include "components/sm/simt/simt_stack.h"

#include <algorithm>
#include <array>

namespace gpusim::comp {

void SimtStack::pop() {
  // Entries whose lanes all exited, or that already stand at their own reconvergence point, have nothing to
  // execute.
  mask_ = isa::LaneMask();
  while (!below_.empty() && mask_.none()) {
    const Entry e = below_.back();
    below_.pop_back();
    if (e.pc == e.reconverge) continue;
    pc_ = e.pc;
    reconverge_ = e.reconverge;
    mask_ = e.mask;
  }
}

void SimtStack::diverge(const isa::MicroOp& op, isa::LaneMask taken) {
  const isa::LaneMask fallen = mask_ & ~taken;
  const uint32_t join = op.reconverge;
  // A loop's exits share one join: the entry that waits there exists already when it is the current entry's
  // own.
  if (join != isa::kNoTarget && join != reconverge_) below_.push_back({join, reconverge_, mask_});
  const uint32_t side_join = join == isa::kNoTarget ? reconverge_ : join;
  const uint32_t next = pc_ + 1;
  if (op.target != side_join) {
    if (next == side_join) {
      pc_ = op.target;
      mask_ = taken;
      reconverge_ = side_join;
      return;
    }
    below_.push_back({op.target, side_join, taken});
  }
  pc_ = next;
  mask_ = fallen;
  reconverge_ = side_join;
  if (pc_ == reconverge_) pop();
}

SimtStack::Waiting SimtStack::waiting() const {
  for (auto e = below_.rbegin(); e != below_.rend(); ++e) {
    const isa::LaneMask lanes = e->mask & ~mask_;
    if (lanes.any()) return {e->pc, lanes};
  }
  return {};
}

SimtStack SimtStack::split(isa::LaneMask lanes) {
  SimtStack apart = *this;
  apart.mask_ = mask_ & lanes;
  for (Entry& e : apart.below_) e.mask = e.mask & lanes;
  for (Entry& e : below_) e.mask = e.mask & ~lanes;
  const auto empty = [](const Entry& e) { return e.mask.none(); };
  std::erase_if(apart.below_, empty);
  std::erase_if(below_, empty);
  mask_ = mask_ & ~lanes;
  if (mask_.none()) pop();
  return apart;
}

bool SimtStack::merge(const SimtStack& other) {
  const auto same_place = [](const Entry& a, const Entry& b) {
    return a.pc == b.pc && a.reconverge == b.reconverge;
  };
  if (pc_ != other.pc_ || reconverge_ != other.reconverge_ ||
      !std::equal(below_.begin(), below_.end(), other.below_.begin(), other.below_.end(), same_place))
    return false;
  mask_ |= other.mask_;
  for (size_t i = 0; i < below_.size(); ++i) below_[i].mask |= other.below_[i].mask;
  return true;
}

int SimtStack::push_places(const uint32_t* target, isa::LaneMask lanes, uint32_t reconverge) {
  std::array<Entry, isa::kWarpSize> places;
  int n = 0;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    if (!lanes.test(lane)) continue;
    Entry* const end = places.data() + n;
    Entry* const place =
        std::find_if(places.data(), end, [&](const Entry& e) { return e.pc == target[lane]; });
    if (place == end) *end = {target[lane], reconverge, isa::LaneMask()}, ++n;
    place->mask |= isa::LaneMask(1u << lane);
  }
  std::sort(places.data(), places.data() + n, [](const Entry& a, const Entry& b) { return a.pc > b.pc; });
  below_.insert(below_.end(), places.data(), places.data() + n);
  return n;
}

bool SimtStack::branch_many(const uint32_t* target, isa::LaneMask taken, uint32_t reconverge) {
  std::array<uint32_t, isa::kWarpSize> place;
  for (int lane = 0; lane < isa::kWarpSize; ++lane)
    place[static_cast<size_t>(lane)] = taken.test(lane) ? target[lane] : pc_ + 1;
  const uint32_t first = place[static_cast<size_t>(mask_.lowest())];
  bool same = true;
  for (int lane = 0; lane < isa::kWarpSize; ++lane)
    same = same && (!mask_.test(lane) || place[static_cast<size_t>(lane)] == first);
  if (same) {
    pc_ = first;
    if (pc_ == reconverge_) pop();
    return false;
  }
  const bool joins = reconverge != isa::kNoTarget;
  if (joins && reconverge != reconverge_) below_.push_back({reconverge, reconverge_, mask_});
  push_places(place.data(), mask_, joins ? reconverge : reconverge_);
  pop();
  return true;
}

bool SimtStack::call(const uint32_t* target) {
  below_.push_back({pc_ + 1, reconverge_, mask_});
  const int places = push_places(target, mask_, isa::kNoTarget);
  pop();
  return places > 1;
}

}  // namespace gpusim::comp
