#include "components/sm/warp_table.h"

#include "simcore/bits.h"

namespace gpusim::comp {

void WarpTable::set_next(uint32_t w, uint64_t ready_at, StallCause cause, uint8_t pipe, uint8_t other_pipe,
                         Gate gate, uint64_t now) {
  const uint64_t b = bit(w);
  PerWarp& warp = warps_[w];
  on_pipe_[warp.pipe] &= ~b;
  if (warp.pipe != warp.other_pipe) on_pipe_[warp.other_pipe] &= ~b;
  on_pipe_[pipe] |= b;
  two_pipes_ &= ~b;
  if (pipe != other_pipe) {
    on_pipe_[other_pipe] |= b;
    two_pipes_ |= b;
  }
  on_gate_[warp.gate] &= ~b;
  on_gate_[gate] |= b;
  warp.ready_at = ready_at;
  warp.pipe = pipe;
  warp.other_pipe = other_pipe;
  warp.gate = gate;
  warp.cause = cause;
  ready_ &= ~b;
  if (ready_at == kUnknownCycle) return;
  if (ready_at <= now) {
    ready_ |= b;
    return;
  }
  const uint64_t slot = issue_cycles_.up(ready_at);
  if (slot < next_slot_) {
    ready_ |= b;
  } else if (slot - next_slot_ < kSlots) {
    due_[slot % kSlots] |= b;
    occupied_ |= uint64_t{1} << (slot % kSlots);
  } else {
    far_.emplace_back(slot, w);
  }
}

void WarpTable::promote_buckets(uint64_t buckets, uint64_t now) {
  // A bucket may hold a warp that was given another operation since; its ready_at tells.
  occupied_ &= ~buckets;
  for (; buckets != 0; buckets &= buckets - 1) {
    const uint32_t slot = core::lowest_bit(buckets);
    for (const uint32_t w : core::Bits(due_[slot])) {
      if (warps_[w].ready_at <= now) ready_ |= bit(w);
    }
    due_[slot] = 0;
  }
}

void WarpTable::promote_far(uint64_t now) {
  std::erase_if(far_, [&](const std::pair<uint64_t, uint32_t>& e) {
    if (e.first >= next_slot_) return false;
    if (warps_[e.second].ready_at <= now) ready_ |= bit(e.second);
    return true;
  });
}

uint64_t WarpTable::next_of_waiting(uint64_t warps, uint64_t from, uint64_t earliest,
                                    uint32_t scheduler) const {
  const auto start = static_cast<int>(next_slot_ % kSlots);
  for (uint64_t buckets = std::rotr(occupied_, start); buckets != 0; buckets &= buckets - 1) {
    const uint64_t slot = next_slot_ + core::lowest_bit(buckets);
    const uint64_t cycle = slot * issue_cycles_.value();
    if (cycle >= earliest) break;
    earliest = std::min(earliest, next_of(due_[slot % kSlots] & warps, std::max(cycle, from), scheduler));
  }
  return std::min(earliest, next_of_far(warps, from, scheduler));
}

uint64_t WarpTable::next_of_far(uint64_t warps, uint64_t from, uint32_t scheduler) const {
  uint64_t earliest = kUnknownCycle;
  for (const auto& [slot, w] : far_)
    earliest =
        std::min(earliest, next_of(warps & bit(w), std::max(slot * issue_cycles_.value(), from), scheduler));
  return earliest;
}

}  // namespace gpusim::comp
