// What the model knows about a machine. `paper`: the printed figures of the Tesla C1060. `extended`: figures
// of a data sheet, which microbenchmarks found, and of the configuration only what a driver or a manual
// tells: number of SMs, clocks, limits of occupancy, how many operations can issue in a cycle, which unit
// executes which class of operations, the time of a launch.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/data_sheet.h"
#include "isa/exec/micro_op.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::analysis::latency_hidden {

/// Of a class of operations, in core cycles.
struct ClassCost {
  double busy = 0;     ///< time of its unit that one warp operation takes, over all units of the SM
  double latency = 0;  ///< until a dependent operation can issue
  size_t unit = 0;     ///< index into Parameters::units
};

struct Parameters {
  double sms = 0, core_hz = 0;
  isa::OccupancyLimits limits;
  int capability = 13;
  double issue = 0;            ///< core cycles per issued operation, all schedulers of an SM together
  double warp_issue = 0;       ///< core cycles between two operations of one warp
  double units_per_class = 1;  ///< units of one kind (schedulers that have one each)
  double launch = 0;           ///< core cycles from the launch to the first block
  std::vector<std::string> units;
  std::array<ClassCost, static_cast<size_t>(isa::OpClass::kCount)> classes;
  double shared_step = 0;   ///< core cycles of one step of a shared-memory access
  double shared_steps = 0;  ///< of an access of a warp without conflict
  double shared_latency = 0;
  double memory_latency = 0;              ///< core cycles, of one warp alone
  double l1_latency = 0, l2_latency = 0;  ///< 0: there is none
  /// More core cycles of an access whose page the SM's TLB lacks, and of one that the second level lacks too.
  double tlb_l1_miss = 0, tlb_l2_miss = 0;
  double read_bytes = 0,
         copy_bytes = 0;  ///< of memory, per core cycle, all SMs: reads alone; as many writes as reads
  double l2_bytes = 0;    ///< per core cycle, all SMs; 0: there is none
  double l1_bytes = 0;    ///< per core cycle and SM; 0: there is none
  double row = 0;         ///< core cycles of all memory that a row costs which has to be opened; 0: not known
  double request = 0;     ///< core cycles of an SM that one of its transactions takes; 0: not known
  size_t request_unit = 0;  ///< index into units: what an SM can have on its way
  // What the run counted.
  double uneven = 1;       ///< requests to the partition that is busiest at the time, for one to the mean
  double rows = 1;         ///< memory's time with opening rows, for one without
  double translation = 0;  ///< core cycles that an access waits for its pages

  [[nodiscard]] const ClassCost& of(isa::OpClass c) const { return classes[static_cast<size_t>(c)]; }
};

/// Which level serves a transaction of a load, and how long that takes one warp alone.
struct LoadLevels {
  double l1_share = 0, l2_share = 0;  ///< of all transactions; memory serves the rest
  double l1 = 0, l2 = 0, memory = 0;  ///< core cycles
  /// Mean latency of a load that waits for the slowest of so many transactions.
  [[nodiscard]] double latency(double transactions) const;
};

/// Limits of occupancy that a machine's configuration gives.
[[nodiscard]] Parameters measured_parameters(const core::MachineConfig& machine, const DataSheet& sheet);

/// Table 2 of the paper.
struct PaperParameters {
  double operation = 4, shared_operand = 6;  ///< core cycles per warp
  double memory_latency = 550, shared_latency = 36;
  double bytes_per_second = 102e9;
};

}  // namespace gpusim::analysis::latency_hidden
