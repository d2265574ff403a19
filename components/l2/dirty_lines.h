// The modified lines of an L2 slice, by frame: how many each set has, and which one was written longest ago.
// Without allocation; the look for the oldest goes over one set, and only where a line is to be written back.
#pragma once
#include <cstdint>

#include "simcore/memory/sparse_array.h"

namespace gpusim::comp {

class DirtyLines {
 public:
  /// `frames` in sets of `ways`, of which `most` may be modified in each set.
  DirtyLines(uint32_t frames, uint32_t ways, uint32_t most)
      : written_at_(frames), in_set_(frames / ways), ways_(ways), most_(most) {}

  void written(uint32_t frame) {
    if (written_at_[frame] == 0) ++in_set_[frame / ways_];
    written_at_[frame] = ++now_;
  }
  /// It is not modified any more. Nothing happens if it was not.
  void removed(uint32_t frame) {
    if (written_at_[frame] == 0) return;
    written_at_[frame] = 0;
    --in_set_[frame / ways_];
  }
  /// Too many are, in the set of `frame`.
  [[nodiscard]] bool too_many(uint32_t frame) const { return in_set_[frame / ways_] > most_; }
  /// The one of that set whose last write is longest ago. Requires that there is one.
  [[nodiscard]] uint32_t oldest(uint32_t frame) const {
    const uint32_t first = frame / ways_ * ways_;
    uint32_t oldest = first;
    uint64_t at = ~uint64_t{0};
    for (uint32_t f = first; f < first + ways_; ++f) {
      if (written_at_[f] == 0 || written_at_[f] >= at) continue;
      oldest = f;
      at = written_at_[f];
    }
    return oldest;
  }
  void clear() {
    written_at_ = core::SparseArray<uint64_t>(written_at_.size());
    in_set_ = core::SparseArray<uint32_t>(in_set_.size());
  }

 private:
  core::SparseArray<uint64_t> written_at_;  ///< 0: not modified
  core::SparseArray<uint32_t> in_set_;
  uint32_t ways_, most_;
  uint64_t now_ = 0;
};

}  // namespace gpusim::comp
