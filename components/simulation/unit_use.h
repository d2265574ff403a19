// How busy each unit of the machine was while a kernel ran: what every instance of it has counted between the
// kernel's start and its end, against what it could have done.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gpusim::comp {

/// Which clock counts a unit's cycles.
enum class UnitClock : uint8_t { kCore, kInterconnect, kDram };

/// All units of one kind, since the start of the simulation.
struct UnitCount {
  std::string name;
  const char* place;    ///< what has one: "SM", "scheduler", "partition", "channel", ...
  const char* meaning;  ///< of `busy`
  UnitClock clock;
  uint64_t entries;               ///< of an instance: 1, or how many can be in use at the same time
  std::vector<uint32_t> numbers;  ///< of the instances
  std::vector<uint64_t> busy;     ///< of each, in entries x cycles
};

/// The same during a kernel, over the instances.
struct UnitLoad {
  std::string name;
  const char* place = "";
  const char* meaning = "";
  uint64_t instances = 0;
  uint64_t capacity = 0;  ///< of an instance in that time, in entries x cycles
  uint64_t busy = 0;      ///< of all
  uint64_t most = 0;      ///< of the busiest
  uint32_t busiest = 0;   ///< its number
  uint64_t near = 0;      ///< instances that were busy for 9/10 of that at least
};

/// Clock cycles that have passed.
struct UnitCycles {
  uint64_t core = 0, interconnect = 0, dram = 0;
};

/// What was counted from `then` to `now`, which have the same units. `cycles`: between them.
[[nodiscard]] std::vector<UnitLoad> unit_loads(const std::vector<UnitCount>& now,
                                               const std::vector<UnitCount>& then, const UnitCycles& cycles);

}  // namespace gpusim::comp
