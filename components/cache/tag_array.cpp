#include "components/cache/tag_array.h"

#include <algorithm>
#include <bit>

#include "simcore/config/limits.h"

namespace gpusim::comp {

static_assert(core::kMaxTreeWays <= 64, "a word holds the tree of a set");

ReplacementKind replacement_kind(std::string_view name) {
  if (name == "plru") return ReplacementKind::kTreePlru;
  if (name == "fifo") return ReplacementKind::kFifo;
  return name == "random" ? ReplacementKind::kRandom : ReplacementKind::kLru;
}

TagArray::TagArray(const CacheShape& shape)
    : shape_(shape),
      line_bytes_(shape.line_bytes),
      sector_bytes_(shape.sector_bytes),
      ways_(shape.ways),
      all_sectors_(static_cast<SectorMask>((uint64_t{1} << shape.line_bytes / shape.sector_bytes) - 1)),
      index_(shape.index, shape.bytes / shape.line_bytes / shape.ways),
      tags_(size_t{index_.sets()} * shape.ways),
      order_(tags_.size()),
      frames_(tags_.size()),
      tree_ways_(std::bit_ceil(shape.ways)) {
  if (shape.replacement == ReplacementKind::kTreePlru) tree_.resize(index_.sets());
}

SectorMask TagArray::sectors_of(uint64_t address, uint32_t bytes) const {
  const uint64_t first = address % line_bytes_ / sector_bytes_;
  const uint64_t last = (address % line_bytes_ + bytes - 1) / sector_bytes_;
  return static_cast<SectorMask>((uint64_t{2} << last) - (uint64_t{1} << first)) & all_sectors_;
}

uint32_t TagArray::find(uint64_t line) const {
  const uint32_t first = index_(line) * shape_.ways;
  for (uint32_t f = first; f < first + shape_.ways; ++f)
    if (tags_[f] == line + 1) return f;
  return kNoFrame;
}

void TagArray::touch(uint32_t frame) {
  if (shape_.replacement == ReplacementKind::kLru) order_[frame] = ++clock_;
  if (shape_.replacement == ReplacementKind::kTreePlru)
    plru_touch(static_cast<uint32_t>(frame / ways_), static_cast<uint32_t>(frame % ways_));
}

TagArray::Allocation TagArray::allocate(uint64_t line) {
  Allocation a;
  a.frame = victim(index_(line));
  if (a.frame == kNoFrame) return a;
  Frame& f = frames_[a.frame];
  a.replaced = tags_[a.frame] != 0;
  a.evicted = tags_[a.frame] - 1;
  a.dirty = f.dirty;
  f = Frame{};
  tags_[a.frame] = line + 1;
  order_[a.frame] = ++clock_;
  touch(a.frame);
  return a;
}

void TagArray::invalidate(uint32_t frame, SectorMask sectors) {
  Frame& f = frames_[frame];
  f.valid &= ~sectors;
  f.dirty &= ~sectors;
  if (f.valid == 0 && f.pending == 0) tags_[frame] = 0;
}

void TagArray::invalidate_all() {
  for (uint32_t f = 0; f < frames_.size(); ++f) invalidate(f, all_sectors_);
}

uint32_t TagArray::victim(uint32_t set) {
  const uint32_t first = set * shape_.ways, end = first + shape_.ways;
  uint32_t oldest = kNoFrame, free = 0;
  for (uint32_t f = first; f < end; ++f) {
    if (tags_[f] == 0) return f;
    if (frames_[f].pending != 0) continue;
    ++free;
    if (oldest == kNoFrame || order_[f] < order_[oldest]) oldest = f;
  }
  if (free == 0) return kNoFrame;
  uint32_t way = oldest - first;
  if (shape_.replacement == ReplacementKind::kTreePlru) way = plru_way(set);
  if (shape_.replacement == ReplacementKind::kRandom) way = random_way();
  // The next one, if that one cannot be replaced.
  while (frames_[first + way].pending != 0) way = (way + 1) % shape_.ways;
  return first + way;
}

uint32_t TagArray::plru_way(uint32_t set) const {
  // Node 1 is the root, the children of n are 2n and 2n + 1; ways beyond the last do not exist.
  uint32_t node = 1, first = 0;
  for (uint32_t half = tree_ways_ / 2; half != 0; half /= 2) {
    const bool right = (tree_[set] >> node & 1) != 0 && first + half < shape_.ways;
    node = 2 * node + (right ? 1 : 0);
    first += right ? half : 0;
  }
  return first;
}

void TagArray::plru_touch(uint32_t set, uint32_t way) {
  uint32_t node = 1, first = 0;
  for (uint32_t half = tree_ways_ / 2; half != 0; half /= 2) {
    const bool right = way >= first + half;
    const uint64_t bit = uint64_t{1} << node;
    tree_[set] = right ? tree_[set] & ~bit : tree_[set] | bit;
    node = 2 * node + (right ? 1 : 0);
    first += right ? half : 0;
  }
}

uint32_t TagArray::random_way() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<uint32_t>((random_ >> 32) % ways_);
}

}  // namespace gpusim::comp
