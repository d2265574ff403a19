#include "components/lsu/constant_path.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gpusim::comp {

ConstantPath::ConstantPath(const core::MachineConfig::Constant& config, uint16_t sm, const Links& links,
                           AccessTable& accesses)
    : links_(links),
      accesses_(accesses),
      l1_(config.l1_bytes, config.l1_line, config.l1_ways),
      sm_(sm),
      mshrs_(config.mshrs) {
  links_.reply->publish_head(next_reply_);
}

void ConstantPath::prepare() {
  for (Miss& miss : mshrs_) miss.waiting.reserve(size_t{kMaxWarps} * 2);
  unsent_.reserve(mshrs_.size());
  deferred_.reserve(isa::kWarpSize);
}

uint32_t ConstantPath::submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                              const isa::MemoryAccess& access, uint32_t& distinct, uint64_t now) {
  // The constant cache serves one address a step; lanes of one address share it.
  std::array<uint64_t, isa::kWarpSize> addresses;
  distinct = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t a = access.address[std::countr_zero(bits)];
    if (std::find(addresses.begin(), addresses.begin() + distinct, a) == addresses.begin() + distinct)
      addresses[distinct++] = a;
  }
  uint32_t index = AccessTable::kNoRecord;
  std::array<uint64_t, isa::kWarpSize> missed;
  uint32_t lines = 0;
  for (uint32_t i = 0; i < distinct; ++i) {
    const uint64_t line = l1_.line_of(addresses[i]);
    const bool hit = l1_.access(line);
    if (events_ != nullptr && events_->cache != nullptr)
      record_cache_event(*events_->cache, now, line, sm_, 1, hit);
    if (hit) continue;
    if (index == AccessTable::kNoRecord) {
      index = accesses_.open(op, warp, pc, now);
      accesses_[index].awaited = true;
    }
    // Addresses that share a line wait for it once.
    if (std::find(missed.begin(), missed.begin() + lines, line) != missed.begin() + lines) continue;
    AccessRecord& r = accesses_[index];
    if (lines == 0) r.first_address = line;
    missed[lines++] = line;
    ++r.remaining;
    ++r.transactions;
    if (!deferred_.empty() || !wait_for_line(line, index)) deferred_.push_back({line, index});
    r.bytes += l1_.line_bytes();
  }
  return index;
}

bool ConstantPath::wait_for_line(uint64_t line, uint32_t record) {
  Miss* free = nullptr;
  for (Miss& miss : mshrs_) {
    if (miss.line == line) {
      miss.waiting.push_back(record);
      return true;
    }
    if (miss.line == kNone && free == nullptr) free = &miss;
  }
  if (free == nullptr) return false;
  free->line = line;
  free->waiting.push_back(record);
  ++outstanding_;
  unsent_.push_back(static_cast<uint16_t>(free - mshrs_.data()));
  return true;
}

void ConstantPath::take_lines() {
  while (links_.reply->front() != nullptr) {
    const MemoryReply r = links_.reply->pop();
    Miss& miss = mshrs_[r.tag];
    l1_.fill(miss.line);
    for (const uint32_t index : miss.waiting) accesses_.answer(index, r.level);
    miss.waiting.clear();
    miss.line = kNone;
    --outstanding_;
    while (!deferred_.empty() && wait_for_line(deferred_.front().line, deferred_.front().record))
      deferred_.erase(deferred_.begin());
  }
}

void ConstantPath::ask() {
  while (!unsent_.empty() && links_.request->can_push()) {
    const uint16_t slot = unsent_.front();
    unsent_.erase(unsent_.begin());
    links_.request->push({mshrs_[slot].line, static_cast<uint16_t>(l1_.line_bytes()), RequestKind::kConstant,
                          0, sm_, slot, true});
  }
}

}  // namespace gpusim::comp
