// Where the host's memory lies that kernels may access: mapped, pinned and registered memory. A GPU maps
// whole pages of it. Changes between kernels only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpusim::comp {

inline constexpr uint64_t kHostPage = 4096;

class HostRanges {
 public:
  void add(uint64_t begin, uint64_t end) {
    const Range range{begin, end};
    ranges_.insert(std::ranges::upper_bound(ranges_, begin, {}, &Range::begin), range);
  }
  void remove(uint64_t begin) {
    std::erase_if(ranges_, [begin](const Range& r) { return r.begin == begin; });
  }
  void clear() { ranges_.clear(); }
  /// The page of `address` is the host's.
  [[nodiscard]] bool holds(uint64_t address) const {
    if (ranges_.empty()) return false;
    const uint64_t page = address / kHostPage * kHostPage;
    const auto after = std::ranges::upper_bound(ranges_, page + kHostPage - 1, {}, &Range::begin);
    return after != ranges_.begin() && page < std::prev(after)->end;
  }

 private:
  struct Range {
    uint64_t begin, end;
  };
  std::vector<Range> ranges_;  ///< by address
};

}  // namespace gpusim::comp
