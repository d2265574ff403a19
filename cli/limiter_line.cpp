#include "cli/limiter_line.h"

#include "analysis/profile/limiter.h"

namespace gpusim::cli {

std::string limiter_line(const comp::KernelResult& kernel, const core::MachineConfig& machine) {
  analysis::KernelRecord record;
  record.name = kernel.name;
  record.cycles = kernel.cycles;
  for (const core::Counter& c : kernel.counters) record.counters[std::string(c.name)] = c.value;
  for (size_t c = 0; c < comp::kNumStallCauses; ++c)
    record.causes.push_back(
        {std::string(comp::kStallCauseNames[c]), kernel.total.slots[static_cast<comp::StallCause>(c)]});
  for (const comp::UnitLoad& u : kernel.units)
    record.units.push_back(
        {u.name, u.place, u.meaning, u.instances, u.capacity, u.busy, u.most, u.busiest, u.near});
  return analysis::limiter_text(record, machine);
}

}  // namespace gpusim::cli
