#include "components/l2/l2_slice.h"

#include <fmt/format.h>

#include <utility>

#include "simcore/bits.h"

namespace gpusim::comp {

namespace {

using core::CacheResult;

CacheShape shape_of(const core::MachineConfig::Partition& c) {
  CacheShape s;
  s.bytes = c.bytes / c.partitions;
  s.line_bytes = c.line;
  s.sector_bytes = 32;
  s.ways = c.ways;
  s.index = c.index;
  s.replacement = c.replacement;
  s.policy_keys = c.policy_keys;
  return s;
}

MemoryReply reply_to(const MemoryRequest& r, MemoryLevel level) {
  return {r.address, r.bytes, r.kind, level, r.port, r.tag, r.kind != RequestKind::kWrite && r.wants_data};
}

}  // namespace

L2Slice::L2Slice(const core::MachineConfig::Partition& config, uint32_t partition, const L2Times& times,
                 std::vector<bool> far_ports)
    : map_(config),
      partition_(partition),
      tags_(shape_of(config)),
      dirty_(tags_.frames(), config.ways, static_cast<uint32_t>(config.dirty_share * config.ways)),
      mshrs_({config.mshrs, config.merges, 0, 0}),
      fetch_(config.sector / kSector),
      most_runs_((config.line / kSector + 1) / 2 * 2),
      atomics_(config),
      data_(config),
      waiting_(size_t{config.mshrs} * config.merges),
      free_waiting_(waiting_.size()),
      far_ports_(std::move(far_ports)),
      replicated_(config.replicated),
      kinds_(size_t{kAnswerKinds} * (far_ports_.empty() ? 1 : 2)),
      to_dram_(kQueue) {
  set_times(times);
}

void L2Slice::set_times(const L2Times& times) {
  for (size_t i = 0; i < kinds_; ++i) {
    const uint64_t far = i < kAnswerKinds ? 0 : times.far;
    const bool filled = i % kAnswerKinds == kFilled;
    const uint64_t own = i % kAnswerKinds == kHits ? times.hit : times.constant;
    answers_[i].cycles = filled ? far : std::max<uint64_t>(own, 1) + far;
    answers_[i].waiting.reserve(filled ? waiting_.size() : answers_[i].cycles + 1);
  }
}

SectorMask L2Slice::sectors_of(const MemoryRequest& r) const {
  const bool names_sectors = r.kind == RequestKind::kRead || r.kind == RequestKind::kWrite;
  const uint64_t local = map_.local(r.address);
  if (!names_sectors || r.parts == 0) return tags_.sectors_of(local, r.bytes);
  return SectorMask{r.parts} << core::lowest_bit(tags_.sectors_of(local, 1));
}

SectorMask L2Slice::fetched_with(SectorMask sectors) const {
  if (fetch_ == 1) return sectors;
  SectorMask all = 0;
  const auto unit = static_cast<SectorMask>((uint64_t{1} << fetch_) - 1);
  for (SectorMask left = sectors; left != 0; left &= ~all)
    all |= unit << core::lowest_bit(left) / fetch_ * fetch_;
  return all;
}

CacheResult L2Slice::take(const MemoryRequest& r, uint64_t now, bool again) {
  const Access a{r, tags_.line_of(map_.local(r.address)), sectors_of(r), again};
  if (r.kind == RequestKind::kWrite) return write(a, now);
  if (r.kind == RequestKind::kAtomic && atomics_.free_at() > now) return refuse(a, PartitionWait::kAtomics);
  const uint32_t frame = tags_.find(a.line);
  const SectorMask missing = frame == TagArray::kNoFrame ? a.sectors : a.sectors & ~tags_.frame(frame).valid;
  return missing == 0 ? hit(a, frame, now) : miss(a, frame, missing, now);
}

CacheResult L2Slice::write(const Access& a, uint64_t now) {
  if (data_.free_at() > now) return refuse(a, PartitionWait::kData);
  uint32_t frame = tags_.find(a.line);
  const bool found = frame != TagArray::kNoFrame;
  if (!can_answer(a.request, kHits)) return refuse(a, PartitionWait::kReply);
  if (!found) {
    if (!queue_has_room()) return refuse(a, PartitionWait::kDramQueue);
    frame = take_frame(a.line);
    if (frame == TagArray::kNoFrame) return refuse(a, PartitionWait::kWay);
  }
  if (found) tags_.touch(frame);
  modify(frame, a.sectors);
  data_.write(sectors_in(a.sectors), now);
  answer(a.request, kHits, MemoryLevel::kL2, now);
  count(a, found ? a.sectors : 0);
  return CacheResult::kWrite;
}

CacheResult L2Slice::hit(const Access& a, uint32_t frame, uint64_t now) {
  const bool atomic = a.request.kind == RequestKind::kAtomic;
  if (!atomic && data_.free_at() > now) return refuse(a, PartitionWait::kData);
  if (!can_answer(a.request, kHits)) return refuse(a, PartitionWait::kReply);
  tags_.touch(frame);
  if (atomic) {
    modify(frame, a.sectors);
    occupy_atomic_unit(a.request, now);
  } else {
    data_.read(sectors_in(a.sectors), now);
  }
  answer(a.request, kHits, MemoryLevel::kL2, now);
  count(a, a.sectors);
  return CacheResult::kHit;
}

CacheResult L2Slice::miss(const Access& a, uint32_t frame, SectorMask missing, uint64_t now) {
  uint32_t entry = mshrs_.find(a.line);
  const bool merges = entry != MshrTable::kNoEntry;
  const MshrRefusal refusal = merges ? mshrs_.can_merge(entry) : mshrs_.can_allocate(0);
  if (refusal != MshrRefusal::kNone)
    return refuse(a, refusal == MshrRefusal::kMerges ? PartitionWait::kMerge : PartitionWait::kMshr);
  const bool found = frame != TagArray::kNoFrame;
  SectorMask fetch = fetched_with(missing);
  if (found) fetch &= ~tags_.frame(frame).valid;
  const SectorMask request = merges ? fetch & ~mshrs_.asked(entry) : fetch;
  if (request != 0 && !queue_has_room()) return refuse(a, PartitionWait::kDramQueue);
  if (!found) frame = take_frame(a.line);
  if (frame == TagArray::kNoFrame) return refuse(a, PartitionWait::kWay);
  if (found) tags_.touch(frame);
  tags_.reserve(frame, request);
  const uint32_t waiter = free_waiting_.take();
  waiting_[waiter] = a.request;
  if (merges)
    mshrs_.merge(entry, waiter, fetch);
  else
    entry = mshrs_.allocate(a.line, 0, waiter, fetch), mshr_cycles_ -= now;
  ask_dram(RequestKind::kRead, a.line, request, entry);
  if (a.request.kind == RequestKind::kAtomic) occupy_atomic_unit(a.request, now);
  stats_.merged += merges;
  count(a, a.sectors & ~missing);
  return request == 0 ? CacheResult::kMissMerged : CacheResult::kMiss;
}

CacheResult L2Slice::refuse(const Access& a, PartitionWait why) {
  static constexpr core::EnumArray<uint64_t L2Stats::*, PartitionWait> kCounted = {nullptr,
                                                                                   &L2Stats::no_mshr,
                                                                                   &L2Stats::no_merge,
                                                                                   &L2Stats::no_way,
                                                                                   &L2Stats::no_queue,
                                                                                   &L2Stats::no_reply,
                                                                                   &L2Stats::no_atomic_unit,
                                                                                   &L2Stats::no_data};
  stats_.*kCounted[why] += !a.again;
  refusal_ = why;
  return CacheResult::kReservationFail;
}

bool L2Slice::take_constant_hit(const MemoryRequest& request, uint64_t now) {
  if (!can_answer(request, kConstantHits)) return false;
  answer(request, kConstantHits, MemoryLevel::kConstantL3, now);
  return true;
}

void L2Slice::answer(const MemoryRequest& r, AnswerKind kind, MemoryLevel level, uint64_t now) {
  Answers& answers = answers_to(r, kind);
  answers.waiting.push({now + answers.cycles, reply_to(r, level)});
  stats_.far += &answers >= &answers_[kAnswerKinds];
}

uint32_t L2Slice::take_frame(uint64_t line) {
  const TagArray::Allocation a = tags_.allocate(line);
  if (a.dirty != 0) {
    dirty_.removed(a.frame);
    write_back(a.evicted, a.dirty);
  }
  return a.frame;
}

void L2Slice::modify(uint32_t frame, SectorMask sectors) {
  tags_.write(frame, sectors);
  dirty_.written(frame);
  while (dirty_.too_many(frame) && queue_has_room()) {
    const uint32_t oldest = dirty_.oldest(frame);
    write_back(tags_.line_in(oldest), tags_.frame(oldest).dirty);
    tags_.clean(oldest);
    dirty_.removed(oldest);
  }
}

void L2Slice::write_back(uint64_t line, SectorMask sectors) {
  ask_dram(RequestKind::kWrite, line, sectors, 0);
  stats_.writebacks += sectors_in(sectors);
}

void L2Slice::occupy_atomic_unit(const MemoryRequest& r, uint64_t now) {
  atomics_.take(r.parts, r.floating, now);
}

void L2Slice::ask_dram(RequestKind kind, uint64_t line, SectorMask sectors, uint32_t tag) {
  const uint64_t address = map_.global(tags_.address_of(line), partition_);
  while (sectors != 0) {
    // Neighbours go together: those that a carry from the lowest on would pass.
    const SectorMask run = sectors & ~(sectors + (sectors & -sectors));
    to_dram_.push({address + uint64_t{kSector} * core::lowest_bit(run), bytes_of(run), kind, 0, 0,
                   static_cast<uint16_t>(tag), true});
    sectors &= ~run;
  }
}

void L2Slice::fill(const MemoryReply& reply, uint64_t now) {
  const uint32_t bytes = reply.bytes;
  if (reply.kind == RequestKind::kWrite) {
    stats_.written += bytes / kSector;
    return;
  }
  stats_.fills += bytes / kSector;
  const uint32_t entry = reply.tag;
  const SectorMask sectors = tags_.sectors_of(map_.local(reply.address), bytes);
  const uint32_t frame = tags_.find(mshrs_.line(entry));
  tags_.fill(frame, sectors);
  data_.fill(bytes / kSector, now);
  const bool done = mshrs_.fill(entry, sectors, [&](uint32_t waiter) {
    const MemoryRequest& r = waiting_[waiter];
    if (r.kind == RequestKind::kAtomic)
      modify(frame, sectors_of(r));
    else
      data_.read(sectors_in(sectors_of(r)), now);
    answer(r, kFilled, MemoryLevel::kDram, std::max(now, data_.free_at()));
    free_waiting_.give_back(waiter);
  });
  if (done) mshr_cycles_ += now;
}

size_t L2Slice::first_answers() const {
  const uint64_t at = answer_at();
  size_t i = 0;
  while (answers_[i].first_at() != at) ++i;
  return i;
}

const MemoryReply& L2Slice::next_answer() const { return answers_[first_answers()].waiting.front().reply; }

MemoryReply L2Slice::pop_answer() { return answers_[first_answers()].waiting.pop().reply; }

void L2Slice::count(const Access& a, SectorMask found) {
  const uint32_t sectors = sectors_in(a.sectors);
  const uint32_t hits = sectors_in(found);
  switch (a.request.kind) {
    case RequestKind::kRead:
      stats_.reads += sectors, stats_.read_hits += hits;
      break;
    case RequestKind::kWrite:
      stats_.writes += sectors, stats_.write_hits += hits;
      break;
    case RequestKind::kAtomic:
      stats_.atomics += sectors, stats_.atomic_hits += hits;
      break;
    case RequestKind::kConstant:
      stats_.constants += sectors, stats_.constant_hits += hits;
      break;
    case RequestKind::kTexture:
      stats_.textures += sectors, stats_.texture_hits += hits;
      break;
  }
}

uint64_t L2Slice::dirty_sectors() const {
  uint64_t sectors = 0;
  for (uint32_t f = 0; f < tags_.frames(); ++f) sectors += sectors_in(tags_.frame(f).dirty);
  return sectors;
}

std::string L2Slice::waiting_for() const {
  uint32_t answers = 0;
  for (const Answers& a : answers_) answers += a.waiting.size();
  if (answers == 0 && mshrs_.in_use() == 0 && to_dram_.size() == 0) return {};
  return fmt::format("{} lines on their way, {} requests to DRAM and {} answers held", mshrs_.in_use(),
                     to_dram_.size(), answers);
}

}  // namespace gpusim::comp
