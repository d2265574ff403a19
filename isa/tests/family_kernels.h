// Kernels of one warp for the tests of instruction families: 64 words of input and output for each lane.
#pragma once
#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa::test {

/// Runs `text` (a kernel of in, out) for one warp at every lowering level; 64 words of input and output per
/// lane, which `input` fills. All levels must agree.
inline std::vector<uint32_t> run_warp(const std::string& text, const std::vector<uint32_t>& input,
                                      uint32_t threads = 32) {
  std::vector<uint32_t> first;
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    TestMemory memory;
    std::vector<uint32_t> words = input;
    words.resize(threads * 64ul);
    const uint64_t in = memory.add_values(words), out = memory.add(threads * 64ul * 4);
    const KernelImage image = lower_ok(text, level(l, 0, 90));
    BlockRunner runner(image, memory, pack_params({in, out}), threads);
    EXPECT_TRUE(runner.run(2'000'000).finished) << text;
    const auto result = memory.read<uint32_t>(out, threads * 64ul);
    if (first.empty()) first = result;
    EXPECT_EQ(result, first) << "level " << static_cast<int>(l);
  }
  return first;
}

inline std::string warp_kernel(std::string_view declarations, std::string_view body) {
  return thread_kernel(declarations, body, "sm_90");
}

/// An f16; exact for whole numbers of up to eleven bits, and those with zeros behind eleven.
inline uint16_t half_of(int v) {
  if (v == 0) return 0;
  const auto magnitude = static_cast<unsigned>(std::abs(v));
  const int exponent = static_cast<int>(std::bit_width(magnitude)) - 1;
  const unsigned fraction =
      (exponent <= 10 ? magnitude << (10 - exponent) : magnitude >> (exponent - 10)) & 0x3ff;
  return static_cast<uint16_t>((v < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + 15) << 10 |
                               fraction);
}

/// 32 rows of eight halves: element j of row i is 8 i + j.
inline std::vector<uint32_t> numbered_rows() {
  std::vector<uint32_t> input(32 * 64);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t w = 0; w < 4; ++w) input[64 * lane + w] = (8 * lane + 2 * w) | (8 * lane + 2 * w + 1) << 16;
  return input;
}

}  // namespace gpusim::isa::test
