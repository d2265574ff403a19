// Runs of one kernel over a buffer `data` of 64 words that are zero at first, in cycles or with values only:
// for tests whose lanes and warps wait for each other.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "components/testing/run_program.h"

namespace gpusim::comp::test {

inline constexpr size_t kDataWords = 64;
/// Settings of a machine whose warps have one SIMT stack each, and of one whose lanes are independent.
inline constexpr const char* kOneStack = "gpu.compute_capability=3.0";
inline constexpr const char* kIndependent = "gpu.compute_capability=7.0";

inline std::string launch(const std::string& kernel, int blocks, int threads) {
  return fmt::format(R"(
[[buffer]]
name = "data"
type = "u32"
count = {}
init = "zeros"
[[launch]]
kernel = "{}"
grid = [{}]
block = [{}]
args = ["data"]
)",
                     kDataWords, kernel, blocks, threads);
}

inline Outcome run(const std::string& ptx, const std::string& launch_file, bool functional,
                   std::vector<std::string> sets) {
  SimulationOptions o = program(ptx, launch_file, std::move(sets));
  o.functional = functional;
  return run_apart(o);
}

/// Outcome::values of a run that leaves these words at the start of `data`.
inline std::string values_of(std::vector<uint32_t> words) {
  words.resize(kDataWords);
  return fmt::format("data: {:x}\n", digest(words.data(), words.size() * sizeof words[0]));
}

/// The kernel ends with these words at the start of `data`, in cycles and with values only.
inline void expect_values(const std::string& ptx, const std::string& kernel, int blocks, int threads,
                          const std::vector<uint32_t>& expected,
                          const std::vector<std::string>& sets = {kIndependent}) {
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch(kernel, blocks, threads), functional, sets);
    EXPECT_EQ(o.status, "complete") << o.reason;
    EXPECT_EQ(o.values, values_of(expected))
        << "functional: " << functional << ", settings: " << fmt::to_string(fmt::join(sets, " "));
  }
}

}  // namespace gpusim::comp::test
