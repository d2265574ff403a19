#include "components/warp_table.h"

namespace gpusim::comp {

void WarpTable::set_next(uint32_t w, uint64_t ready_at, StallCause cause, uint8_t pipe, uint8_t other_pipe,
                         Gate gate, uint64_t now) {
  const uint64_t b = bit(w);
  on_pipe_[pipe_[w]] &= ~b;
  on_pipe_[other_pipe_[w]] &= ~b;
  on_gate_[gate_[w]] &= ~b;
  pipe_[w] = pipe;
  other_pipe_[w] = other_pipe;
  gate_[w] = gate;
  on_pipe_[pipe] |= b;
  on_pipe_[other_pipe] |= b;
  on_gate_[gate] |= b;
  cause_[w] = cause;
  ready_at_[w] = ready_at;
  ready_ &= ~b;
  if (ready_at == kUnknownCycle) return;
  if (ready_at <= now) {
    ready_ |= b;
    return;
  }
  const uint64_t slot = (ready_at + issue_cycles_ - 1) / issue_cycles_;
  if (slot < next_slot_) {
    ready_ |= b;
  } else if (slot - next_slot_ < kSlots) {
    due_[slot % kSlots] |= b;
    occupied_ |= uint64_t{1} << (slot % kSlots);
  } else {
    far_.emplace_back(slot, w);
  }
}

void WarpTable::promote(uint64_t now) {
  const uint64_t end = now / issue_cycles_ + 1;
  if (end <= next_slot_) return;
  // A bucket may hold a warp that was given another operation since; its ready_at tells.
  uint64_t buckets = occupied_;
  if (end - next_slot_ < kSlots) {
    const uint64_t span = (uint64_t{1} << (end - next_slot_)) - 1;
    buckets &= std::rotl(span, static_cast<int>(next_slot_ % kSlots));
  }
  occupied_ &= ~buckets;
  for (; buckets != 0; buckets &= buckets - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(buckets));
    for (uint64_t warps = due_[slot]; warps != 0; warps &= warps - 1) {
      const auto w = static_cast<uint32_t>(std::countr_zero(warps));
      if (ready_at_[w] <= now) ready_ |= bit(w);
    }
    due_[slot] = 0;
  }
  next_slot_ = end;
  std::erase_if(far_, [&](const std::pair<uint64_t, uint32_t>& e) {
    if (e.first >= end) return false;
    if (ready_at_[e.second] <= now) ready_ |= bit(e.second);
    return true;
  });
}

uint64_t WarpTable::next_issuable(uint64_t warps) const {
  uint64_t first = kUnknownCycle;
  const uint64_t waiting = ready_ & warps & ~blocked_by_gates();
  if (waiting != 0)
    for (uint32_t p = 0; p < kMaxPipes; ++p)
      if ((waiting & on_pipe_[p]) != 0) first = std::min(first, pipe_free_[p]);
  if (occupied_ != 0) {
    const auto start = static_cast<int>(next_slot_ % kSlots);
    for (uint64_t buckets = std::rotr(occupied_, start); buckets != 0; buckets &= buckets - 1) {
      const uint64_t distance = static_cast<uint64_t>(std::countr_zero(buckets));
      const uint64_t slot = next_slot_ + distance;
      if (slot * issue_cycles_ >= first) break;
      if ((due_[slot % kSlots] & warps) == 0) continue;
      first = slot * issue_cycles_;
      break;
    }
  }
  for (const auto& [slot, w] : far_)
    if ((warps >> w & 1) != 0) first = std::min(first, slot * issue_cycles_);
  return first;
}

}  // namespace gpusim::comp
