// Asynchronous copies (cp.async, cp.async.bulk) that the warps of an SM have on their way, in the groups that
// they were committed in: what cp.async.wait_group, cp.async.bulk.wait_group and wait_all wait for. Bulk
// copies of which an mbarrier is told belong to no group.
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
  enum class Kind : uint8_t { kPlain, kBulk };
  /// Warp `w` has issued the copy with this access record.
  void begin(uint32_t w, uint32_t record, Kind kind = Kind::kPlain, const isa::Arrival& arrival = {}) {
    if (warps_.empty()) warps_.resize(kMaxWarps);
    warps_[w].copies.push_back({record, warps_[w].group[index(kind)], kind, arrival});
  }
  /// The copy with this record is complete; gives what an mbarrier is to be told.
  isa::Arrival end(uint32_t w, uint32_t record) {
    isa::Arrival arrival;
    if (warps_.empty()) return arrival;
    std::erase_if(warps_[w].copies, [&](const Copy& c) {
      if (c.record != record) return false;
      arrival = c.arrival;
      return true;
    });
    return arrival;
  }
  /// Warp `w` has nothing on its way any more; tell(arrival) for each that an mbarrier waits for.
  template <class Tell>
  void end_all(uint32_t w, Tell&& tell) {
    if (warps_.empty()) return;
    for (const Copy& c : warps_[w].copies) tell(c.arrival);
    warps_[w] = {};
  }
  /// The copies of the kind so far are a group.
  void commit(uint32_t w, Kind kind = Kind::kPlain) {
    if (!warps_.empty()) ++warps_[w].group[index(kind)];
  }
  /// True if at most the latest `groups` committed groups have copies under way, with kAsyncBulk groups of
  /// bulk copies; kAsyncWaitAll: no plain copy is, nor any that is not committed.
  [[nodiscard]] bool are_done(uint32_t w, uint32_t groups) const {
    if (warps_.empty()) return true;
    const Warp& warp = warps_[w];
    const bool all = groups == isa::kAsyncWaitAll;
    const Kind kind = !all && (groups & isa::kAsyncBulk) != 0 ? Kind::kBulk : Kind::kPlain;
    const uint64_t may = groups & ~isa::kAsyncBulk;
    return std::ranges::none_of(warp.copies, [&](const Copy& c) {
      return c.kind == kind && c.arrival.ranks == 0 && (all || c.group + may < warp.group[index(kind)]);
    });
  }

 private:
  struct Copy {
    uint32_t record, group;
    Kind kind;
    isa::Arrival arrival;
  };
  struct Warp {
    uint32_t group[2] = {0, 0};
    std::vector<Copy> copies;
  };
  static size_t index(Kind kind) { return static_cast<size_t>(kind); }
  std::vector<Warp> warps_;  ///< empty until the first copy
};

}  // namespace gpusim::comp
