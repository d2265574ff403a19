// The analytical prediction of a point's time: a functional run counts what each warp does, and the
// reuse-distance model (analysis/models/reuse_distance) plays its accesses through the caches, queues and
// bandwidths of the machine, with one SM of each kind. No cycle is simulated.
#pragma once
#include <cstdint>

#include "study/points.h"

namespace gpusim::study {

/// What a prediction may take: warp operations of a kernel, and bytes of the traces of all its launches.
inline constexpr uint64_t kMostPredicted = 100'000'000;
inline constexpr size_t kMostTraceBytes = size_t{1} << 30;

/// Seconds of all kernels, one after the other, without copies. Runs a simulation: once in a process. Throws
/// core::InputError with the reason if there is no prediction: the machine has no L1, the program fails, or
/// it does more than the limits above.
[[nodiscard]] double predicted_seconds(PreparedPoint point);

}  // namespace gpusim::study
