// Read-only cache of whole lines with least-recently-used replacement (constant, instruction and texture
// caches), by address. Plain class; its owner adds latency and misses.
#pragma once
#include <cstdint>

#include "components/cache/tag_array.h"

namespace gpusim::comp {

class TagCache {
 public:
  /// `bytes` divisible by line_bytes * ways; both sizes powers of two or not, sets by modulo.
  TagCache(uint64_t bytes, uint32_t line_bytes, uint32_t ways)
      : tags_({bytes, line_bytes, line_bytes, ways}) {}

  /// Address of the line that `address` lies in.
  [[nodiscard]] uint64_t line_of(uint64_t address) const { return tags_.address_of(tags_.line_of(address)); }
  [[nodiscard]] uint32_t line_bytes() const { return tags_.shape().line_bytes; }

  /// True on a hit, which becomes the most recently used line of its set.
  bool access(uint64_t address) {
    const uint32_t frame = tags_.find(tags_.line_of(address));
    if (frame == TagArray::kNoFrame) return false;
    tags_.touch(frame);
    return true;
  }
  /// Where the line of `address` is, or kNowhere; changes nothing.
  static constexpr uint32_t kNowhere = TagArray::kNoFrame;
  [[nodiscard]] uint32_t find(uint64_t address) const { return tags_.find(tags_.line_of(address)); }
  [[nodiscard]] bool holds(uint64_t address) const { return find(address) != kNowhere; }
  /// As access() does on a hit.
  void touch(uint32_t where) { tags_.touch(where); }
  /// Installs the line of `address` over the least recently used one.
  void fill(uint64_t address) {
    if (!access(address)) tags_.fill(tags_.allocate(tags_.line_of(address)).frame, tags_.all_sectors());
  }
  /// Forgets everything (constant caches are invalidated between launches).
  void invalidate() { tags_.invalidate_all(); }

 private:
  TagArray tags_;
};

}  // namespace gpusim::comp
