#include "components/cache/tag_array.h"

#include <stdexcept>

namespace gpusim::comp {

// The build lists the policies, GPUSIM_POLICY(name) for each.
std::unique_ptr<ReplacementPolicy> make_replacement(const std::string& name, const CacheSets& sets) {
#define GPUSIM_POLICY(word)                                                       \
  std::unique_ptr<ReplacementPolicy> make_##word##_replacement(const CacheSets&); \
  if (name == #word) return make_##word##_replacement(sets);
#include "policies/replacement.inc"
#undef GPUSIM_POLICY
  throw std::invalid_argument("no replacement policy '" + name + "'");
}

TagArray::TagArray(const CacheShape& shape)
    : shape_(shape),
      line_bytes_(shape.line_bytes),
      sector_bytes_(shape.sector_bytes),
      all_sectors_(static_cast<SectorMask>((uint64_t{1} << shape.line_bytes / shape.sector_bytes) - 1)),
      index_(shape.index, shape.bytes / shape.line_bytes / shape.ways),
      replacement_(make_replacement(shape.replacement, {index_.sets(), shape.ways, shape.policy_keys})),
      tags_(size_t{index_.sets()} * shape.ways),
      frames_(tags_.size()) {}

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
  replacement_->brought(a.frame);
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
  bool some = false;
  for (uint32_t f = first; f < end; ++f) {
    if (tags_[f] == 0) return f;
    some |= frames_[f].replaceable();
  }
  if (!some) return kNoFrame;
  uint32_t way = replacement_->victim(first, {&frames_[first], shape_.ways});
  while (!frames_[first + way].replaceable()) way = (way + 1) % shape_.ways;
  return first + way;
}

}  // namespace gpusim::comp
