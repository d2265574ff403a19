// How full the units of the machine were while a kernel ran, in words: what `gpusim explain` and `gpusim
// metrics` print of the table `units` of a recorded file (docs/metrics.md).
#pragma once
#include <string>
#include <string_view>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// "data bus of DRAM" for "dram_bus"; the name itself for a unit that has no words.
[[nodiscard]] std::string unit_words(std::string_view unit);
/// What is done in such a unit costs others nothing else: a wait, or a place that is held, is not work.
[[nodiscard]] bool does_work(std::string_view unit);
/// "SM 3, scheduler 1", "partition 7": the busiest one.
[[nodiscard]] std::string busiest_place(const UnitLoad& unit, const core::MachineConfig& machine);

/// Units that do work and are busy, the busiest first, then waits and full buffers; `limit` of each at most.
/// Empty if the recording has no units.
[[nodiscard]] std::string utilization_text(const KernelRecord& kernel, const core::MachineConfig& machine,
                                           size_t limit);
/// Requests to the memory partition that is the busiest at a time, by the mean of all partitions; 1 for too
/// few requests to say.
[[nodiscard]] double busiest_by_mean(const KernelRecord& kernel, const core::MachineConfig& machine);
/// The same by what the busiest one gets of requests that are spread by lot; 1 at least.
[[nodiscard]] double crowding(const KernelRecord& kernel, const core::MachineConfig& machine);
/// Whether long strides can meet in few memory partitions. Where a hash of all bits of an address chooses the
/// partition, only a few words that many ask for can, wherever they lie.
[[nodiscard]] bool strides_can_camp(const core::MachineConfig& machine);
/// Of requests other than atomics, which go to few partitions if they are for few words.
struct OtherRequests {
  double share = 1;     ///< of all requests
  double crowding = 1;  ///< as above
};
[[nodiscard]] OtherRequests requests_without_atomics(const KernelRecord& kernel,
                                                     const core::MachineConfig& machine);
/// The list of all units, as JSON: unit, place, instances, mean and busiest share, busiest, near.
[[nodiscard]] std::string utilization_json(const KernelRecord& kernel);

}  // namespace gpusim::analysis
