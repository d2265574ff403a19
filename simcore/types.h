// Strong integer types of the simulation engine. Cycle counts one domain's cycles; mixing domains is a bug
// that only ClockDomain's conversions may commit.
#pragma once
#include <compare>
#include <cstdint>
#include <limits>

namespace gpusim::core {

/// Cycle number of one clock domain. Adding a distance gives a Cycle; subtracting two gives a distance.
class Cycle {
 public:
  constexpr Cycle() = default;
  constexpr explicit Cycle(uint64_t n) : n_(n) {}
  [[nodiscard]] constexpr uint64_t count() const { return n_; }
  // clang-tidy 14 takes the 0 that the result is compared with for a pointer.
  friend constexpr auto operator<=>(Cycle, Cycle) = default;  // NOLINT(modernize-use-nullptr)
  friend constexpr Cycle operator+(Cycle c, uint64_t d) { return Cycle(c.n_ + d); }
  friend constexpr uint64_t operator-(Cycle a, Cycle b) { return a.n_ - b.n_; }
  Cycle& operator++() {
    ++n_;
    return *this;
  }

 private:
  uint64_t n_ = 0;
};
/// "No cycle wanted": asleep until woken.
inline constexpr Cycle kNever{std::numeric_limits<uint64_t>::max()};

/// Simulated time in femtoseconds (2^64 fs is 5.1 hours).
using Femtoseconds = uint64_t;

}  // namespace gpusim::core
