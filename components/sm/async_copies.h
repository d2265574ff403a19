// Asynchronous copies to shared memory (cp.async) that the warps of an SM have on their way, in the groups
// that they were committed in: what cp.async.wait_group and wait_all wait for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "components/sm/warp_table.h"
#include "isa/exec/async.h"

namespace gpusim::comp {

class AsyncCopies {
 public:
  /// Warp slot `w` starts anew.
  void reset_warp(uint32_t w) {
    if (!warps_.empty()) warps_[w] = {};
  }
  /// Warp `w` has issued the copy with this access record.
  void begin(uint32_t w, uint32_t record) {
    if (warps_.empty()) warps_.resize(kMaxWarps);
    warps_[w].copies.push_back({record, warps_[w].group});
  }
  void end(uint32_t w, uint32_t record) {
    if (!warps_.empty())
      std::erase_if(warps_[w].copies, [record](const Copy& c) { return c.record == record; });
  }
  /// The copies so far are a group.
  void commit(uint32_t w) {
    if (!warps_.empty()) ++warps_[w].group;
  }
  /// True if at most the latest `groups` committed groups have copies under way; kAsyncWaitAll: none, nor any
  /// that is not committed.
  [[nodiscard]] bool are_done(uint32_t w, uint32_t groups) const {
    if (warps_.empty()) return true;
    const Warp& warp = warps_[w];
    if (groups == isa::kAsyncWaitAll) return warp.copies.empty();
    return std::ranges::none_of(warp.copies,
                                [&](const Copy& c) { return uint64_t{c.group} + groups < warp.group; });
  }

 private:
  struct Copy {
    uint32_t record, group;
  };
  struct Warp {
    uint32_t group = 0;
    std::vector<Copy> copies;
  };
  std::vector<Warp> warps_;  ///< empty until the first copy
};

}  // namespace gpusim::comp
