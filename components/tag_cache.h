// Tags of a set-associative read-only cache with least-recently-used replacement (constant cache levels).
// Values live in device memory ("execute at issue"), so a cache is tags only. Plain class; its owner adds
// latency and misses.
#pragma once
#include <cstdint>
#include <vector>

#include "simcore/divisor.h"

namespace gpusim::comp {

class TagCache {
 public:
  /// `bytes` divisible by line_bytes * ways; both sizes powers of two or not, sets by modulo.
  TagCache(uint64_t bytes, uint32_t line_bytes, uint32_t ways)
      : line_bytes_(line_bytes), ways_(ways), sets_(bytes / line_bytes / ways) {
    lines_.resize(sets_.value() * ways_);
  }
  [[nodiscard]] uint64_t line_of(uint64_t address) const {
    return address / line_bytes_ * line_bytes_.value();
  }
  [[nodiscard]] uint32_t line_bytes() const { return static_cast<uint32_t>(line_bytes_.value()); }

  /// True on a hit, which becomes the most recently used line of its set.
  bool access(uint64_t address) {
    Line* set = set_of(address);
    const uint64_t tag = address / line_bytes_ + 1;
    for (uint32_t w = 0; w < ways_; ++w)
      if (set[w].tag == tag) {
        set[w].last_use = ++clock_;
        return true;
      }
    return false;
  }
  /// Installs the line of `address` over the least recently used one.
  void fill(uint64_t address) {
    if (access(address)) return;
    Line* set = set_of(address);
    Line* victim = set;
    for (uint32_t w = 1; w < ways_; ++w)
      if (set[w].last_use < victim->last_use) victim = &set[w];
    *victim = {address / line_bytes_ + 1, ++clock_};
  }
  /// Forgets everything (constant caches are invalidated between launches).
  void invalidate() {
    for (Line& line : lines_) line = {};
  }

 private:
  struct Line {
    uint64_t tag = 0;  ///< line number + 1; 0 is empty
    uint64_t last_use = 0;
  };
  Line* set_of(uint64_t address) { return &lines_[size_t{(address / line_bytes_) % sets_} * ways_]; }

  core::Divisor line_bytes_;
  uint32_t ways_;
  core::Divisor sets_;
  uint64_t clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace gpusim::comp
