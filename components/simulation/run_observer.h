// Looks at a run while it goes on: rows of its time series when they are due, and from time to time its
// limits. And what can be said of a run that does not end.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "components/simulation/gpu.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {

struct RunObserver {
  std::function<void(uint64_t core_cycle)> sample;
  std::function<uint64_t()> next_sample;           ///< core cycle at which sample() is due; ~0: never
  std::function<void(uint64_t core_cycle)> tell;   ///< progress, and whether the file can still be written
  std::function<void(uint64_t core_cycle)> watch;  ///< stops the engine if the user or a limit wants it
};

/// Before the simulation starts. tell() and watch() are called every few thousand cycles, and not later than
/// `max_cycles` after the start.
void observe(core::Engine& engine, Gpu& gpu, uint64_t max_cycles, RunObserver observer);

/// "still running after N cycles (--max-cycles): ...", with a warp that still runs.
[[nodiscard]] std::string still_running(const Gpu& gpu, uint64_t max_cycles);
/// What every module waits for, of an engine on which nothing is scheduled any more.
[[nodiscard]] std::string deadlock_report(const core::Engine& engine);

}  // namespace gpusim::comp
