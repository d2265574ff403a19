// What blocks take of an SM, and what an SM has: for blocks of different kernels side by side. How many of
// one kernel fit alone is the occupancy calculation (isa/ptx/occupancy.h).
#pragma once
#include <cstdint>

namespace gpusim::comp {

struct SmShare {
  int64_t blocks = 0, warps = 0, threads = 0;
  int64_t registers = 0;  ///< 32-bit, as they are handed out
  int64_t shared = 0;     ///< bytes, as they are handed out

  friend SmShare operator*(const SmShare& s, int64_t n) {
    return {s.blocks * n, s.warps * n, s.threads * n, s.registers * n, s.shared * n};
  }
  friend SmShare operator+(const SmShare& a, const SmShare& b) {
    return {a.blocks + b.blocks, a.warps + b.warps, a.threads + b.threads, a.registers + b.registers,
            a.shared + b.shared};
  }
  friend SmShare operator-(const SmShare& a, const SmShare& b) { return a + b * -1; }
  [[nodiscard]] bool fits(const SmShare& whole) const {
    return blocks <= whole.blocks && warps <= whole.warps && threads <= whole.threads &&
           registers <= whole.registers && shared <= whole.shared;
  }
};

}  // namespace gpusim::comp
