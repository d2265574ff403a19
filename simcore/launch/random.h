// The random data of launch files: a counter-based generator, so that every element depends only on (seed,
// buffer name, index), and any part can be made anywhere in any order. Documented bit by bit in
// docs/launch_file.md; never change it.
#pragma once
#include <cstdint>
#include <string_view>

namespace gpusim::core {

class BufferRandom {
 public:
  BufferRandom(uint64_t seed, std::string_view buffer_name);
  /// 64 uniform bits of element `index`.
  [[nodiscard]] uint64_t bits(uint64_t index) const;
  /// [0, 1): the upper 53 bits times 2^-53.
  [[nodiscard]] double unit(uint64_t index) const;
  /// low .. high-1, by the upper half of a 128-bit product; `high` > `low`.
  [[nodiscard]] int64_t integer(uint64_t index, int64_t low, int64_t high) const;
  /// Standard normal, by Marsaglia's polar method with a logarithm of our own (no libm).
  [[nodiscard]] double normal(uint64_t index) const;

 private:
  uint64_t key_;
};

/// SplitMix64's output function.
[[nodiscard]] uint64_t mix64(uint64_t x);
/// FNV-1a, 64 bits.
[[nodiscard]] uint64_t fnv1a64(std::string_view text);
/// Natural logarithm from +, *, / only: the same bits on every IEEE machine (error below 2 ulp); x > 0 and
/// normal.
[[nodiscard]] double portable_log(double x);

}  // namespace gpusim::core
