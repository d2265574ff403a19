// Finds addresses of other rows of one bank of DRAM, wherever a hash has put them: loaded at once, two of
// them take longer than each alone by what it takes to close a row and open another.
#pragma once
#include <cstdint>
#include <vector>

#include "microbench/device.h"

namespace gpusim::microbench {

/// Less than any DRAM needs to close a row and open another.
inline constexpr double kLeastRowConflict = 15e-9;
/// Surely in the row of an aligned address, and another load.
inline constexpr uint32_t kNextInRow = 32;

/// Asks about the bank of one address, the anchor, which is loaded again and again.
class BankMates {
 public:
  /// `crowd`: lines that share the anchor's set of the last cache and together push it out of it; the anchor
  /// is the first of them. Without such a cache, the anchor alone.
  BankMates(Device& device, std::vector<uint32_t> crowd);

  /// Of each address, whether it is in another row of the anchor's bank.
  [[nodiscard]] std::vector<bool> conflicts(const std::vector<uint32_t>& addresses) const;
  /// Of each address, whether it is in another row of the bank of `with`, which is in that bank too. Dearer:
  /// a program for each.
  [[nodiscard]] std::vector<bool> conflicts_with(uint32_t with, const std::vector<uint32_t>& addresses) const;
  /// An address that conflicts with the anchor, drawn by lot from below `reach`; 0 if none was found.
  [[nodiscard]] uint32_t find(uint64_t reach) const;

 private:
  /// Clocks of each address with the anchor, or alone, in the order given, the least of so many trials.
  [[nodiscard]] std::vector<double> times(const std::vector<uint32_t>& addresses, bool with_anchor,
                                          uint32_t trials) const;
  [[nodiscard]] Program program(const std::vector<uint32_t>& addresses, bool with_anchor,
                                uint32_t trial) const;

  Device* device_;
  std::vector<uint32_t> crowd_;
  double least_conflict_;  ///< in clocks
  double anchor_alone_ = 0;
};

}  // namespace gpusim::microbench
