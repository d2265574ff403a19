// What the model reads of a run besides the operations' own counts (Code): how alike warps are, and how
// memory took their accesses. Either a timed run recorded it, or it is predicted from a functional one.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/latency_hidden/code.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis::latency_hidden {

struct Counts {
  // Operations of warps.
  double executed = 0;     ///< of all
  double longest_sum = 0;  ///< of each block's longest warp, summed
  double longest = 0;      ///< of the longest of all
  double flops = 0;        ///< floating-point operations of lanes
  double accesses = 0;     ///< of warps to memory behind the SM
  // Pages of accesses, and those that the first and the second level of translation lacked.
  double pages = 0, sm_page_misses = 0, page_misses = 0;
  // Requests to partitions, and of each window of them those to the busiest.
  double requests = 0, to_busiest = 0;
  double rows = 0;  ///< that DRAM opened
  // Caches: loads of lines of L1; sectors of L2; bytes of DRAM.
  double l1_hits = 0, l1_loads = 0;
  double l2_reads = 0, l2_read_hits = 0, l2_sectors = 0;
  double l2_atomics = 0, l2_atomic_hits = 0;
  double dram_read = 0, dram_written = 0;
  /// Requests to channels of DRAM, and of each window of them those to the busiest. Timed runs have no such
  /// counts.
  double dram_requests = 0, dram_to_busiest = 0;
};

/// What files call a member.
struct CountField {
  std::string_view name;
  double Counts::*member;
};
[[nodiscard]] std::span<const CountField> count_fields();

[[nodiscard]] Counts recorded_counts(const KernelRecord& kernel);

/// What a prediction without a timed run has to find by itself, one thing after the other.
enum class Input : uint8_t { kOperations, kTransactions, kRows, kPartitions, kPages, kCaches, kCount };
inline constexpr std::array<std::string_view, static_cast<size_t>(Input::kCount)> kInputs{
    "operations", "transactions", "rows", "partitions", "pages", "caches"};

/// Takes one input from another run of the same operations.
void take_input(Input input, const std::vector<OpCounts>& ops, const Counts& from,
                std::vector<OpCounts>& to_ops, Counts& to);

}  // namespace gpusim::analysis::latency_hidden
