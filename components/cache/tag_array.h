// Tags of a set-associative, sectored cache: which lines and sectors are valid, dirty or on their way. Values
// live in device memory ("execute at issue"), so a cache is tags only. Plain class without time of its own;
// its owner adds latency, misses and policy.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/cache/replacement/replacement_policy.h"
#include "simcore/memory/sparse_array.h"
#include "simcore/set_index.h"

namespace gpusim::comp {

using core::SetIndex;
using core::SetIndexKind;

/// Sizes in bytes; line_bytes a multiple of sector_bytes (at most 32 sectors), bytes of line_bytes * ways.
struct CacheShape {
  uint64_t bytes = 0;
  uint32_t line_bytes = 128;
  uint32_t sector_bytes = 32;
  uint32_t ways = 1;
  SetIndexKind index = SetIndexKind::kModulo;
  std::string replacement = "lru";               ///< a policy of components/cache/replacement
  core::ReplacementPolicyKeys policy_keys = {};  ///< its own
};

class TagArray {
 public:
  static constexpr uint32_t kNoFrame = ~0u;
  using Frame = comp::Frame;
  struct Allocation {
    uint32_t frame = kNoFrame;  ///< kNoFrame: all lines of the set are pending
    bool replaced = false;      ///< a line was there
    uint64_t evicted = 0;       ///< that line
    SectorMask dirty = 0;       ///< its sectors to be written back
  };

  explicit TagArray(const CacheShape& shape);

  [[nodiscard]] const CacheShape& shape() const { return shape_; }
  [[nodiscard]] uint64_t line_of(uint64_t address) const { return address / line_bytes_; }
  [[nodiscard]] uint64_t address_of(uint64_t line) const { return line * line_bytes_.value(); }
  [[nodiscard]] SectorMask all_sectors() const { return all_sectors_; }
  /// Sectors that hold the `bytes` from `address` on, which lie in one line.
  [[nodiscard]] SectorMask sectors_of(uint64_t address, uint32_t bytes) const;
  [[nodiscard]] uint32_t set_of(uint64_t line) const { return index_(line); }

  /// The frame that holds the line or waits for it, kNoFrame if none does. Changes nothing.
  [[nodiscard]] uint32_t find(uint64_t line) const;
  [[nodiscard]] const Frame& frame(uint32_t f) const { return frames_[f]; }
  /// The line that a frame holds or waits for.
  [[nodiscard]] uint64_t line_in(uint32_t frame) const { return tags_[frame] - 1; }
  /// The line, which was there already, was used.
  void touch(uint32_t frame) { replacement_->used(frame); }
  /// A frame for a line that has none, over an empty one or the one that the policy picks. The new line has
  /// no sector yet.
  Allocation allocate(uint64_t line);
  void reserve(uint32_t frame, SectorMask sectors) { frames_[frame].pending |= sectors; }
  void fill(uint32_t frame, SectorMask sectors) {
    frames_[frame].pending &= ~sectors;
    frames_[frame].valid |= sectors;
  }
  /// Written here: valid and to be written back.
  void write(uint32_t frame, SectorMask sectors) {
    frames_[frame].valid |= sectors;
    frames_[frame].dirty |= sectors;
  }
  void clean(uint32_t frame) { frames_[frame].dirty = 0; }
  /// Forgets these sectors; the line keeps its frame while any are left or on their way.
  void invalidate(uint32_t frame, SectorMask sectors);
  /// Forgets all that is not on its way; nothing is written back.
  void invalidate_all();
  [[nodiscard]] uint32_t frames() const { return static_cast<uint32_t>(frames_.size()); }

 private:
  [[nodiscard]] uint32_t victim(uint32_t set);

  CacheShape shape_;
  core::Divisor line_bytes_, sector_bytes_;
  SectorMask all_sectors_;
  SetIndex index_;
  std::unique_ptr<ReplacementPolicy> replacement_;
  // Apart, because a look-up reads all tags of a set and nothing else.
  core::SparseArray<uint64_t> tags_;  ///< by frame: line number + 1; 0: empty
  core::SparseArray<Frame> frames_;
};

}  // namespace gpusim::comp
