// The time series of a kernel: what has been counted between two samples.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/sm/sm_stats.h"
#include "simcore/record/event_table.h"

namespace gpusim::comp {

#define GPUSIM_SERIES_ROW(COLUMN)                                                                        \
  COLUMN(uint64_t, cycle, "core cycles", "end of the interval")                                          \
  COLUMN(uint64_t, warp_instructions, "1", "PTX instructions executed by warps")                         \
  COLUMN(uint64_t, inst_issued, "1", "machine operations issued, replays included")                      \
  COLUMN(uint64_t, active_warp_cycles, "core cycles",                                                    \
         "resident warps integrated over cycles, booked when a block starts or ends")                    \
  COLUMN(uint64_t, load_bytes, "bytes", "transferred by global and local load transactions")             \
  COLUMN(uint64_t, store_bytes, "bytes", "transferred by global and local store transactions")           \
  COLUMN(uint64_t, shared_steps, "1", "steps of shared-memory accesses")                                 \
  COLUMN(uint64_t, noc_request_flits, "1", "flits of requests through the interconnect")                 \
  COLUMN(uint64_t, noc_reply_flits, "1", "flits of replies through the interconnect")                    \
  COLUMN(uint64_t, l2_read_sectors, "1", "32-byte sectors that SMs read through the L2")                 \
  COLUMN(uint64_t, l2_read_hit_sectors, "1", "of these, those that were there")                          \
  COLUMN(uint64_t, dram_read_bytes, "bytes", "read from DRAM")                                           \
  COLUMN(uint64_t, dram_write_bytes, "bytes", "written to DRAM")                                         \
  COLUMN(uint64_t, dram_busy_clocks, "DRAM clocks", "in which a data bus moves data, over all channels") \
  COLUMN(uint64_t, core_clock, "kHz", "core clock at the end of the interval")                           \
  COLUMN(double, energy, "J", "of the board; 0 on a machine without [energy]")                           \
  COLUMN(double, power, "W", "the same by the interval's time")

#pragma pack(push, 1)
/// timeseries: one row of differences since the row before.
struct SeriesRow {
  [[no_unique_address]] core::ColumnsByName by_name{};
  GPUSIM_SERIES_ROW(GPUSIM_EVENT_MEMBER)
  std::array<uint64_t, kNumStallCauses> slots;  ///< by cause; a column each
  static constexpr core::EventLevel kLevel = core::EventLevel::kSummary;
  static core::TableSchema make_schema();
};
#pragma pack(pop)

#define GPUSIM_SM_SERIES_ROW(COLUMN)                                                           \
  COLUMN(uint64_t, cycle, "core cycles", "end of the interval")                                \
  COLUMN(uint64_t, sm, "1", "SM number")                                                       \
  COLUMN(uint64_t, inst_issued, "1", "machine operations issued, replays included")            \
  COLUMN(uint64_t, slots_issued, "issue slots", "in which an instruction issued")              \
  COLUMN(uint64_t, active_warp_cycles, "core cycles",                                          \
         "resident warps integrated over cycles, booked when a block starts or ends")          \
  COLUMN(uint64_t, load_bytes, "bytes", "transferred by global and local load transactions")   \
  COLUMN(uint64_t, store_bytes, "bytes", "transferred by global and local store transactions") \
  COLUMN(uint64_t, shared_steps, "1", "steps of shared-memory accesses")
/// timeseries_sm: the same of each SM.
struct SmSeriesRow {
  GPUSIM_EVENT(SmSeriesRow, "timeseries_sm",
               "differences between samples, of each SM; cycle is counted from the kernel's start",
               core::EventLevel::kSummary, GPUSIM_SM_SERIES_ROW)
};

/// The tables of a kernel's time series: null if the run does not record them.
struct SeriesTables {
  core::EventTable<SeriesRow>* all = nullptr;
  core::EventTable<SmSeriesRow>* sms = nullptr;
};

class TimeSeries {
 public:
  /// Rows of a kernel without a given interval: as long as it is short, their interval grows with it, so that
  /// there are kRows at most; then it stays at kLongest cycles. A kernel has kRows / 2 rows or more if it
  /// runs for kShortest x kRows / 2 cycles.
  static constexpr size_t kRows = 128;
  static constexpr uint64_t kShortest = 16, kLongest = 4096;

  /// Of a kernel that begins now. `interval`: core cycles between two rows; 0: as above.
  TimeSeries(const KernelLaunch& run, const Gpu& gpu, const SeriesTables& tables, uint64_t interval);

  /// Core cycle of the next row; never (~0), if there are no rows.
  [[nodiscard]] uint64_t due() const { return tables_.all == nullptr ? ~uint64_t{0} : next_; }
  /// The rows whose time has come at core cycle `now`.
  void sample_if_due(const PowerModel& power, uint64_t now);
  /// The last row, of the interval that ends at core cycle `now`, if that is later.
  void finish(const PowerModel& power, uint64_t now);

 private:
  /// What the rows have differences of.
  struct Counts {
    uint64_t warp_instructions = 0, inst_issued = 0, active_warp_cycles = 0, load_bytes = 0, store_bytes = 0,
             shared_steps = 0, noc_request_flits = 0, noc_reply_flits = 0, l2_read_sectors = 0,
             l2_read_hit_sectors = 0, dram_read_bytes = 0, dram_write_bytes = 0, dram_busy_clocks = 0;
    CauseCounts slots{};
    double energy = 0;
    Counts& operator+=(const Counts& other);
    Counts& operator-=(const Counts& other);
  };
  /// An interval.
  struct Interval {
    uint64_t end = 0;  ///< core cycles since the kernel's start
    uint64_t core_khz = 0;
    core::Femtoseconds length = 0;
    Counts counts;
  };
  struct SmCounts {
    uint64_t inst_issued = 0, slots_issued = 0, active_warp_cycles = 0, load_bytes = 0, store_bytes = 0,
             shared_steps = 0;
  };
  void add_machine(Counts& sum) const;
  /// Of the kernel since its start, and of what all kernels share since the start of the simulation.
  [[nodiscard]] Counts totals(const PowerModel& power, core::Femtoseconds time) const;
  /// The interval from the last one to core cycle `end`.
  void take(const PowerModel& power, uint64_t end);
  void take_sms(uint64_t cycle);
  /// Writes the interval before, and keeps this one until the next or the kernel's end.
  void append(const Interval& interval);
  void write(const Interval& interval);
  /// The intervals that are kept back become half as many of twice the length.
  void halve();

  const KernelLaunch* run_;
  const Gpu* gpu_;
  SeriesTables tables_;
  bool adapts_;  ///< the interval may still grow
  uint64_t interval_, next_;
  Counts before_;               ///< totals at the end of the last interval
  core::Femtoseconds time_fs_;  ///< its end
  std::vector<Interval> kept_;  ///< while the interval grows
  /// Behind kept_: not written before the next one, because the kernel's end may add to it.
  std::optional<Interval> last_;
  std::vector<SmCounts> sms_;  ///< at the end of the last interval
};

}  // namespace gpusim::comp
