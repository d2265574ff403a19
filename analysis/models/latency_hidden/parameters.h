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

/// Core cycles from an arithmetic result to readers of some kinds, at least, on machines whose dependences
/// the compiler writes; 0: as to any other.
struct ReaderLatencies {
  double guard = 0, memory = 0, special = 0, other_unit = 0;
};

struct Parameters {
  double sms = 0, core_hz = 0;
  isa::OccupancyLimits limits;
  int capability = 13;
  double issue = 0;       ///< core cycles per issued operation, all schedulers of an SM together
  double warp_issue = 0;  ///< core cycles between two operations of one warp
  double in_order = 1;    ///< schedulers of which the first one's warps have the units first that they share
  ReaderLatencies least;
  bool barrier_awaits_stores = false;  ///< to shared memory
  double launch = 0;                   ///< core cycles from the launch to the first block
  double block_start = 0;              ///< from when an SM gets a block to its first operation
  double block_interval = 0;           ///< from one block that an SM gets to the next that any gets
  std::vector<std::string> units;
  std::vector<double> copies;  ///< of each unit in an SM: schedulers that have one each
  std::array<ClassCost, static_cast<size_t>(isa::OpClass::kCount)> classes;
  double shared_step = 0;   ///< core cycles of one step of a shared-memory access
  double shared_steps = 0;  ///< of an access of a warp without conflict
  double shared_latency = 0;
  double cache_sector = 0;                ///< bytes that an SM's cache asks for at a time; 0: there is none
  double cache_lines = 0;                 ///< that it can have on their way; 0: not limited
  size_t warp_loads = 0;                  ///< loads that a warp can have on their way; 0: not limited
  double lookup = 0;                      ///< core cycles in which that cache takes one transaction
  double memory_latency = 0;              ///< core cycles, of one warp alone
  double l1_latency = 0, l2_latency = 0;  ///< 0: there is none
  /// More core cycles of an access whose page the SM's TLB lacks, and of one that the second level lacks too.
  double tlb_l1_miss = 0, tlb_l2_miss = 0;
  /// Core cycles until a page is known that no translation buffer has: the first of a launch, and those
  /// behind it, whose translations lie beside it. 0: not known, or in tlb_l2_miss.
  double new_page = 0, next_page = 0;
  /// Of memory, per core cycle, all SMs: reads alone; a write to two reads; as many writes as reads.
  double read_bytes = 0, triad_bytes = 0, copy_bytes = 0;
  double l2_bytes = 0;  ///< per core cycle, all SMs; 0: there is none
  double l1_bytes = 0;  ///< per core cycle and SM; 0: there is none
  double row = 0;       ///< core cycles of all memory that a row costs which has to be opened; 0: not known
  double refresh = 0, refreshed = 0;  ///< core cycles of a bank's refresh, and its share of the time
  double request = 0;       ///< core cycles of an SM that one of its transactions takes; 0: not known
  size_t request_unit = 0;  ///< index into units: what an SM can have on its way
  // Ports of SMs to the interconnect: core cycles of a flit, bytes of one, and of its header.
  double flit = 0, request_flit = 0, reply_flit = 0, header = 0;
  double port_sms = 1;                          ///< SMs that share a port
  double partitions = 0;                        ///< of memory, each with a port of its own; 0: not known
  double request_queues = 1, reply_queues = 1;  ///< of a port of SMs, and of a partition
  /// Core cycles of a partition for an atomic access, and for each of its words that wait for each other.
  double atomic_access = 0, atomic_word = 0, atomic_float = 0;
  double ports = 1, used_sms = 1;  ///< that have a block
  // What the run counted.
  double turns = 0;            ///< turns_of() all bytes of the kernel, whose warps read while others write
  double uneven = 1;           ///< requests to the partition that is busiest at the time, for one to the mean
  double uneven_atomics = 1;   ///< the same of atomics
  double uneven_bytes = 1;     ///< of what memory and L2 move: what atomics on few words are not the cause of
  double uneven_channels = 1;  ///< the same of bytes and channels of DRAM, from a functional run
  double rows = 1;             ///< memory's time with opening rows, for one without
  double translation = 0;      ///< core cycles that an access waits for its pages

  [[nodiscard]] const ClassCost& of(isa::OpClass c) const { return classes[static_cast<size_t>(c)]; }
};

/// How likely it is that all transactions of loads are served by the SM's cache, and that none is by memory;
/// and what share of them hits in that cache.
struct Served {
  double all_l1 = 0, none_memory = 0, hits = 0;
  double missed = 1;  ///< transactions that memory serves, of loads that it serves any of
  double later = 0;   ///< core cycles by which its slowest transaction of memory comes after one alone
};

/// How much longer than one access of memory, which the latency is of, the slowest of `accesses` takes that
/// go to banks of their own: a bank is refreshed for so many core cycles, and for such a share of the time.
/// Each access waits for what is left of a refresh, with that probability.
[[nodiscard]] double wait_for_refresh(double accesses, double cycles, double share);

/// Which level serves a transaction of a load, and how long that takes one warp alone.
struct LoadLevels {
  double l1_share = 0, l2_share = 0;  ///< of all transactions; memory serves the rest
  double l1 = 0, l2 = 0, memory = 0;  ///< core cycles
  /// Share of the rounds in which data are new to all warps of the machine, which begin together; and bytes
  /// that memory read, per warp.
  double first_round = 0, of_memory = 0;
  double beyond_l2 = 0;            ///< bytes per warp that the L2 lacked when they were asked for
  double sent = 1;                 ///< of what the SM's cache lacks: the rest waits for data on their way
  double l2_share_of_atomics = 0;  ///< which the L2 performs: of their sectors, those that it has
  /// Mean latency of a load that waits for the slowest of so many transactions.
  [[nodiscard]] double latency(double transactions) const;
  [[nodiscard]] double latency(const Served& by) const;
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
