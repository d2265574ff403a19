#include "components/lsu/l1_cache.h"

#include <algorithm>
#include <string>

namespace gpusim::comp {

namespace {

constexpr uint32_t kSector = 32;

CacheShape shape_of(const core::MachineConfig::FirstLevel& c) {
  CacheShape s;
  s.bytes = c.bytes;
  s.line_bytes = c.line;
  s.sector_bytes = c.sector;
  s.ways = c.ways;
  s.index = c.index;
  s.replacement = c.replacement;
  s.policy_keys = c.policy_keys;
  return s;
}

}  // namespace

L1Cache::L1Cache(const sc_core::sc_module_name& name, const core::MachineConfig::FirstLevel& config,
                 uint32_t warps)
    : sc_module(name),
      tags_(shape_of(config)),
      mshrs_({config.mshrs, config.merges, config.warp_mshrs, warps}),
      latency_(config.latency),
      ways_(config.ways),
      parts_(config.sector / kSector),
      cache_global_(config.cache_global),
      allocate_(config.allocate),
      write_global_(config.write_global),
      write_local_(config.write_local) {
  writebacks_.reserve(size_t{config.mshrs} + 1);
}

SectorMask L1Cache::own(SectorMask of_32) const {
  if (parts_ == 1) return of_32;
  SectorMask mask = 0;
  const SectorMask one = (SectorMask{1} << parts_) - 1;
  for (uint32_t s = 0; of_32 >> s * parts_ != 0; ++s)
    if ((of_32 >> s * parts_ & one) != 0) mask |= SectorMask{1} << s;
  return mask;
}

SectorMask L1Cache::of_32(SectorMask own) const {
  if (parts_ == 1) return own;
  SectorMask mask = 0;
  const SectorMask one = (SectorMask{1} << parts_) - 1;
  for (uint32_t s = 0; own >> s != 0; ++s)
    if ((own >> s & 1) != 0) mask |= one << s * parts_;
  return mask;
}

L1Cache::Result L1Cache::refuse(const Access& a, MshrRefusal why) {
  if (!a.again) {
    stats_->no_mshr += why == MshrRefusal::kEntries;
    stats_->no_merge += why == MshrRefusal::kMerges;
    stats_->no_warp_mshr += why == MshrRefusal::kWarp;
  }
  refusal_ = why;
  return {Answer::kRefused, 0, 0};
}

void L1Cache::watch() {
  brought_by_.resize(tags_.frames());
  line_events_.reserve(64);
}

uint32_t L1Cache::take_frame(uint64_t line, uint32_t warp) {
  const TagArray::Allocation a = tags_.allocate(line);
  if (a.dirty != 0) {
    writebacks_.push_back({tags_.address_of(a.evicted), of_32(a.dirty)});
    ++stats_->writebacks;
    stats_->writeback_sectors += sectors_in(writebacks_.back().sectors);
  }
  if (!brought_by_.empty() && a.frame != TagArray::kNoFrame) {
    uint8_t& brought_by = brought_by_[a.frame];
    if (a.replaced) line_events_.push_back({a.evicted, brought_by, true});
    brought_by = static_cast<uint8_t>(warp);
  }
  return a.frame;
}

L1Cache::Result L1Cache::load(const Access& a, bool can_send) {
  const uint64_t line = tags_.line_of(a.address);
  const SectorMask wanted = own(a.sectors);
  refusal_ = MshrRefusal::kNone;
  uint32_t frame = tags_.find(line);
  const bool absent = frame == TagArray::kNoFrame;
  const SectorMask missing = frame == TagArray::kNoFrame ? wanted : wanted & ~tags_.frame(frame).valid;
  if (missing == 0) {
    tags_.touch(frame);
    ++(a.local ? stats_->local_load_hits : stats_->load_hits);
    return {};
  }
  uint32_t entry = mshrs_.find(line);
  const bool merges = entry != MshrTable::kNoEntry;
  const MshrRefusal refusal = merges ? mshrs_.can_merge(entry) : mshrs_.can_allocate(a.warp);
  if (refusal != MshrRefusal::kNone) return refuse(a, refusal);
  SectorMask request = merges ? missing & ~mshrs_.asked(entry) : missing;
  if (request != 0 && !can_send) return {Answer::kRefused, 0, 0};
  if (frame == TagArray::kNoFrame && allocate_ != core::AllocateOn::kFill) {
    frame = take_frame(line, a.warp);
    if (frame == TagArray::kNoFrame && allocate_ == core::AllocateOn::kMiss) {
      stats_->no_way += !a.again;
      return {Answer::kRefused, 0, 0};
    }
  }
  if (frame != TagArray::kNoFrame) {
    if (!absent) tags_.touch(frame);
    tags_.reserve(frame, request);
  }
  if (merges)
    request = mshrs_.merge(entry, a.record, missing);
  else
    entry = mshrs_.allocate(line, a.warp, a.record, missing);
  if (absent && !merges && !brought_by_.empty()) line_events_.push_back({line, a.warp, false});
  stats_->merged += merges;
  stats_->fill_sectors += sectors_in(of_32(request));
  ++(a.local ? stats_->local_load_misses : stats_->load_misses);
  return {Answer::kWait, of_32(request), entry, !merges};
}

L1Cache::Stored L1Cache::store(const Access& a, bool can_send) {
  const uint64_t line = tags_.line_of(a.address);
  const Write policy = a.local ? write_local_ : write_global_;
  refusal_ = MshrRefusal::kNone;
  if (policy != Write::kBack) {
    if (!can_send) return Stored::kRefused;
    if (policy == Write::kEvict) forget(line, own(a.sectors));
    if (policy == Write::kBoth) keep_copy(line, a);
    stats_->store_sectors += sectors_in(a.sectors);
    return Stored::kGoesOn;
  }
  uint32_t frame = tags_.find(line);
  const bool hit = frame != TagArray::kNoFrame;
  if (!hit) {
    if (has_writeback()) return Stored::kRefused;
    frame = take_frame(line, a.warp);
    if (frame == TagArray::kNoFrame) {
      stats_->no_way += !a.again;
      return Stored::kRefused;
    }
  }
  if (hit) tags_.touch(frame);
  tags_.write(frame, own(a.sectors));
  ++(hit ? stats_->local_store_hits : stats_->local_store_misses);
  return Stored::kKept;
}

void L1Cache::keep_copy(uint64_t line, const Access& a) {
  uint32_t frame = tags_.find(line);
  const bool hit = frame != TagArray::kNoFrame;
  ++(hit ? stats_->local_store_hits : stats_->local_store_misses);
  if (!hit) frame = take_frame(line, a.warp);
  if (frame == TagArray::kNoFrame) return;
  if (hit) tags_.touch(frame);
  tags_.write(frame, own(a.sectors));
  tags_.clean(frame);
}

void L1Cache::drop(const Access& a) {
  forget(tags_.line_of(a.address), own(a.sectors));
  stats_->atomic_sectors += sectors_in(a.sectors);
}

void L1Cache::forget(uint64_t line, SectorMask own) {
  if (const uint32_t frame = tags_.find(line); frame != TagArray::kNoFrame) tags_.invalidate(frame, own);
  if (const uint32_t entry = mshrs_.find(line); entry != MshrTable::kNoEntry) mshrs_.spoil(entry, own);
}

bool L1Cache::take_writeback(Writeback& w) {
  if (writebacks_.empty()) return false;
  w = writebacks_.front();
  writebacks_.erase(writebacks_.begin());
  return true;
}

void L1Cache::invalidate(uint32_t ways) {
  CacheShape shape = tags_.shape();
  ways = std::min(ways, ways_);
  if (ways == shape.ways) {
    tags_.invalidate_all();
  } else {
    shape.bytes = shape.bytes / shape.ways * ways;
    shape.ways = ways;
    tags_ = TagArray(shape);
  }
  writebacks_.clear();
}

}  // namespace gpusim::comp
