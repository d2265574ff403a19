// The order in which the frames of a cache were brought or used, for policies that replace the oldest.
#pragma once
#include <cstdint>
#include <span>

#include "components/cache/replacement/replacement_policy.h"
#include "simcore/memory/sparse_array.h"

namespace gpusim::comp {

class Ages {
 public:
  explicit Ages(const CacheSets& sets) : order_(size_t{sets.sets} * sets.ways) {}
  /// The frame is the youngest.
  void renew(uint32_t frame) { order_[frame] = ++clock_; }
  /// The way of the oldest line that can be replaced; of equals the first.
  [[nodiscard]] uint32_t oldest(uint32_t first, std::span<const Frame> ways) const {
    uint32_t oldest = 0;
    for (uint32_t way = 0; way < ways.size(); ++way)
      if (ways[way].replaceable() &&
          (!ways[oldest].replaceable() || order_[first + way] < order_[first + oldest]))
        oldest = way;
    return oldest;
  }

 private:
  uint64_t clock_ = 0;
  core::SparseArray<uint64_t> order_;  ///< by frame
};

}  // namespace gpusim::comp
