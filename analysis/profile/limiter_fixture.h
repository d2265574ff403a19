// A recorded kernel whose limiter is known by construction, for tests.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/profile/limiter.h"
#include "simcore/config/load.h"

namespace gpusim::analysis {

class Limiter : public testing::Test {
 protected:
  Limiter() {
    kernel.cycles = 100'000;
    kernel.causes = {
        {"issued", 10}, {"no_warp", 0}, {"memory_dram", 0}, {"alu_dependency", 0}, {"pipe_busy", 0}};
    kernel.counters = {{"noc_requests", 0}, {"noc_requests_to_busiest", 0}};
  }
  /// `instances` of which the busiest is busy for `peak`, and all for `mean` on average.
  void unit(const char* name, const char* place, uint64_t instances, double peak, double mean) {
    const auto of = [&](double share) { return static_cast<uint64_t>(share * 100'000); };
    kernel.units.push_back(
        {name, place, "", instances, 100'000, of(mean * static_cast<double>(instances)), of(peak), 3, 1});
  }
  void slots(const char* cause, uint64_t n) {
    for (CauseSlots& c : kernel.causes)
      if (c.name == cause) c.slots = n;
  }
  [[nodiscard]] std::string name() const {
    return limiter_name(limiter_candidates(kernel, machine), kernel.cycles);
  }
  core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", {}, {});
  KernelRecord kernel;
};

}  // namespace gpusim::analysis
