// Governor of the core clock: once a period it looks at the issue slots of the period before and goes one
// step up or down among its clocks (dvfs.governor, docs/configuration.md). "utilisation" follows the share of
// slots that issued: busy SMs get a higher clock. "memory_stall" follows the share that was lost to memory: a
// core that waits for memory loses little by a lower one. An alarm of the core domain, not work: it neither
// keeps a simulation going nor hides a deadlock. Without a governor there is no such module.
#pragma once
#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "components/power/power_model.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {

/// Issue slots since the start of the simulation.
struct SlotUse {
  uint64_t issued = 0;
  uint64_t memory = 0;   ///< lost to memory, as far as they are booked
  uint64_t kernels = 0;  ///< that run
  /// Those of one SM in one kernel.
  void add(const SmStats& stats);
};

class Governor : public sc_core::sc_module {
 public:
  /// `slots_per_cycle`: issue slots of all SMs in use per core cycle. `use` is asked at each decision.
  Governor(const sc_core::sc_module_name& name, core::ClockDomain& core, PowerModel& power,
           const core::MachineConfig& machine, double slots_per_cycle, std::function<SlotUse()> use);

  /// Step from `level` of `levels` clocks, when that share of the slots was used, or lost to memory.
  [[nodiscard]] static size_t next_level(size_t level, size_t levels, double share, bool by_memory,
                                         double low, double high);

 private:
  core::Cycle decide(core::Cycle now);

  PowerModel& power_;
  const bool by_memory_;
  const double low_, high_, period_ns_, slots_per_cycle_;
  const std::vector<int64_t> clocks_;
  const std::function<SlotUse()> use_;
  size_t level_ = 0;
  SlotUse last_;
  core::Cycle last_cycle_{0};
};

}  // namespace gpusim::comp
