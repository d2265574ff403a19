#include "components/sm/instruction_fetch.h"

#include <algorithm>

namespace gpusim::comp {

InstructionFetch::InstructionFetch(const core::MachineConfig& machine, uint16_t sm, const Links& links,
                                   const EventSink* events)
    : links_(links),
      events_(events),
      bytes_(machine.instruction.bytes),
      line_mask_(machine.instruction.l1_line - 1),
      prefetch_(machine.instruction.prefetch),
      mshrs_(machine.instruction.mshrs),
      sm_(sm) {
  const auto& i = machine.instruction;
  const int64_t caches = i.per_scheduler ? machine.scheduler.count : 1;
  for (int64_t c = 0; c < caches; ++c)
    caches_.emplace_back(static_cast<uint64_t>(i.l1_bytes), static_cast<uint32_t>(i.l1_line),
                         static_cast<uint32_t>(i.l1_ways));
  // A warp waits for one line; prefetches take only what mshrs leaves.
  misses_.resize(kMaxWarps + mshrs_);
  unsent_.reserve(misses_.size());
  line_of_warp_.fill(kNone);
}

bool InstructionFetch::look_up(uint32_t w, uint64_t address, uint64_t end, uint64_t now) {
  uint64_t line = line_of(address);
  const auto c = static_cast<uint32_t>(w % caches_.size());
  const bool hit = caches_[c].access(line);
  if (events_ != nullptr && events_->cache != nullptr)
    record_cache_event(*events_->cache, now, line, sm_, kInstructionCache, hit);
  if (hit) {
    line_of_warp_[w] = line;
    return true;
  }
  miss(c, line, uint64_t{1} << w, now);
  for (uint32_t p = 0; p < prefetch_; ++p) {
    line += line_mask_ + 1;
    if (line >= end || on_the_way_ + unsent_.size() >= mshrs_) break;
    if (!caches_[c].holds(line)) miss(c, line, 0, now);
  }
  return false;
}

void InstructionFetch::miss(uint32_t cache, uint64_t line, uint64_t warps, uint64_t now) {
  for (Miss& m : misses_) {
    if (m.line == line && m.cache == cache) {
      m.warps |= warps;
      return;
    }
  }
  const auto free = std::ranges::find(misses_, kNone, &Miss::line);
  *free = {line, warps, now + 1, cache};
  unsent_.push_back(static_cast<uint16_t>(free - misses_.begin()));
}

void InstructionFetch::send(uint64_t now) {
  blocked_ = false;
  if (now < next_send()) return;
  blocked_ = !links_.request->can_push();
  if (blocked_) return;
  const uint16_t entry = unsent_.front();
  unsent_.erase(unsent_.begin());
  const auto bytes = static_cast<uint16_t>(line_mask_ + 1);
  links_.request->push({misses_[entry].line, bytes, RequestKind::kConstant, 0, sm_, entry, true});
  ++on_the_way_;
}

}  // namespace gpusim::comp
