// The latency-hidden factor (Yuan et al., "A GPU computational model based on latency hidden factor", Journal
// of Software 21, 2010): the share of a segment's memory latency that stays exposed for warp j of the W warps
// of an SM, because what the other warps compute in the meantime does not cover it. All times in core cycles.
#pragma once
#include <cstdint>

namespace gpusim::analysis::latency_hidden {

/// What the factor of one segment depends on.
struct FactorInput {
  double ilp = 0;        ///< time in which a warp issues the segment
  double next_ilp = 0;   ///< time in which a warp issues the segment after it
  double latency = 0;    ///< of the memory level that the segment accesses
  double bandwidth = 0;  ///< time that the segment's data of one warp takes of the SM's share of bandwidth
};

/// Latency of warp j, and the part of it that stays exposed.
struct ExposedLatency {
  double latency = 0;
  double factor = 0;  ///< 0: hidden, 1: exposed
  [[nodiscard]] double exposed() const { return latency * factor; }
};

/// Warp `j` (from 1) of `warps`, no barrier behind the segment: the form that unites the paper's four cases.
[[nodiscard]] ExposedLatency continuous_factor(const FactorInput& in, uint32_t j, uint32_t warps);
/// With a barrier of blocks of `block_warps` warps behind the segment: a warp's data count as arrived when
/// those of its whole block have (rounded up), and only whole other blocks hide latency with the next segment
/// (rounded down).
[[nodiscard]] ExposedLatency barrier_factor(const FactorInput& in, uint32_t j, uint32_t warps,
                                            uint32_t block_warps);

}  // namespace gpusim::analysis::latency_hidden
