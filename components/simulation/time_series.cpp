#include "components/simulation/time_series.h"

#include <fmt/format.h>

#include <utility>

namespace gpusim::comp {

core::TableSchema SeriesRow::make_schema() {
  using Self = SeriesRow;
  static_assert(alignof(Self) == 1);
  core::TableSchema schema{
      "timeseries",
      "differences between samples; cycle is the end of the interval, counted from the kernel's start",
      sizeof(Self),
      {GPUSIM_SERIES_ROW(GPUSIM_EVENT_COLUMN)}};
  for (size_t i = 0; i < kNumStallCauses; ++i)
    schema.columns.push_back({fmt::format("slots_{}", kStallCauseNames[i]), core::ColumnType::kU64,
                              static_cast<uint32_t>(offsetof(Self, slots) + i * sizeof(uint64_t)),
                              "issue slots",
                              "issue slots with this cause, booked when it is known: those of a wait when it "
                              "ends, those without a "
                              "warp when the kernel ends"});
  return schema;
}

/// Calls fn(member) for each of a row's differences that are whole numbers.
template <class Counts, class Fn>
static void for_each_count(Fn fn) {
  for (uint64_t Counts::*const member :
       {&Counts::warp_instructions, &Counts::inst_issued, &Counts::active_warp_cycles, &Counts::load_bytes,
        &Counts::store_bytes, &Counts::shared_steps, &Counts::noc_request_flits, &Counts::noc_reply_flits,
        &Counts::l2_read_sectors, &Counts::l2_read_hit_sectors, &Counts::dram_read_bytes,
        &Counts::dram_write_bytes, &Counts::dram_busy_clocks})
    fn(member);
}

TimeSeries::Counts& TimeSeries::Counts::operator+=(const Counts& other) {
  for_each_count<Counts>([&](uint64_t Counts::*member) { this->*member += other.*member; });
  for (size_t i = 0; i < kNumStallCauses; ++i) slots[i] += other.slots[i];
  energy += other.energy;
  return *this;
}

TimeSeries::Counts& TimeSeries::Counts::operator-=(const Counts& other) {
  for_each_count<Counts>([&](uint64_t Counts::*member) { this->*member -= other.*member; });
  for (size_t i = 0; i < kNumStallCauses; ++i) slots[i] -= other.slots[i];
  energy -= other.energy;
  return *this;
}

TimeSeries::TimeSeries(const KernelLaunch& run, const Gpu& gpu, const SeriesTables& tables, uint64_t interval)
    : run_(&run),
      gpu_(&gpu),
      tables_(tables),
      adapts_(interval == 0),
      interval_(adapts_ ? kShortest : interval),
      next_(run.start.count() + interval_),
      time_fs_(gpu.core_domain().time_of(run.start)),
      sms_(run.sm.size()) {
  if (tables_.all != nullptr) add_machine(before_);
}

void TimeSeries::add_machine(Counts& sum) const {
  const MachineStats machine = gpu_->stats();
  sum.noc_request_flits = machine.noc.request_flits;
  sum.noc_reply_flits = machine.noc.reply_flits;
  sum.l2_read_sectors = machine.l2.reads;
  sum.l2_read_hit_sectors = machine.l2.read_hits;
  sum.dram_read_bytes = machine.dram.read_bytes;
  sum.dram_write_bytes = machine.dram.write_bytes;
  sum.dram_busy_clocks = machine.dram.busy_clocks;
}

TimeSeries::Counts TimeSeries::totals(const PowerModel& power, core::Femtoseconds time) const {
  Counts sum;
  for (const SmStats& s : run_->sm) {
    sum.warp_instructions += s.warp_instructions;
    sum.inst_issued += s.inst_issued;
    sum.active_warp_cycles += s.active_warp_cycles;
    sum.load_bytes += s.load_bytes;
    sum.store_bytes += s.store_bytes;
    sum.shared_steps += s.shared_steps;
    for (size_t i = 0; i < kNumStallCauses; ++i) sum.slots[i] += s.slots[i];
  }
  add_machine(sum);
  sum.energy = total(power.reading(*run_, time));
  return sum;
}

void TimeSeries::sample_if_due(const PowerModel& power, uint64_t now) {
  // Nothing has happened between an interval's end and the edge at which it is seen to have ended.
  while (now >= due()) {
    take(power, next_);
    if (adapts_ && kept_.size() == kRows) halve();
    next_ += interval_;
  }
}

void TimeSeries::finish(const PowerModel& power, uint64_t now) {
  if (tables_.all == nullptr) return;
  sample_if_due(power, now);
  if (now + interval_ > next_) {
    take(power, now);
  } else if (last_ || !kept_.empty()) {
    // The last row ended with the kernel, before slots without a warp were booked.
    Counts rest = totals(power, time_fs_);
    rest -= before_;
    Interval& last = kept_.empty() ? *last_ : kept_.back();
    last.counts += rest;
  }
  for (const Interval& interval : kept_) append(interval);
  kept_.clear();
  if (last_) write(*last_);
  last_.reset();
  tables_ = {};
}

void TimeSeries::take(const PowerModel& power, uint64_t end) {
  const core::ClockDomain& core = gpu_->core_domain();
  const core::Femtoseconds time = core.time_of(core::Cycle(end));
  const Counts now = totals(power, time);
  Interval interval{end - run_->start.count(), core.khz(), time - time_fs_, now};
  interval.counts -= before_;
  before_ = now;
  time_fs_ = time;
  if (adapts_)
    kept_.push_back(interval);
  else
    append(interval);
  if (tables_.sms != nullptr) take_sms(interval.end);
}

void TimeSeries::take_sms(uint64_t cycle) {
  for (size_t i = 0; i < sms_.size(); ++i) {
    const SmStats& s = run_->sm[i];
    const SmCounts now{s.inst_issued,        s.slots[StallCause::kIssued],
                       s.active_warp_cycles, s.load_bytes,
                       s.store_bytes,        s.shared_steps};
    const SmCounts before = std::exchange(sms_[i], now);
    tables_.sms->append({.cycle = cycle,
                         .sm = i,
                         .inst_issued = now.inst_issued - before.inst_issued,
                         .slots_issued = now.slots_issued - before.slots_issued,
                         .active_warp_cycles = now.active_warp_cycles - before.active_warp_cycles,
                         .load_bytes = now.load_bytes - before.load_bytes,
                         .store_bytes = now.store_bytes - before.store_bytes,
                         .shared_steps = now.shared_steps - before.shared_steps});
  }
}

void TimeSeries::append(const Interval& interval) {
  if (last_) write(*last_);
  last_ = interval;
}

void TimeSeries::write(const Interval& interval) {
  const Counts& c = interval.counts;
  const double seconds = static_cast<double>(interval.length) * 1e-15;
  tables_.all->append({.cycle = interval.end,
                       .warp_instructions = c.warp_instructions,
                       .inst_issued = c.inst_issued,
                       .active_warp_cycles = c.active_warp_cycles,
                       .load_bytes = c.load_bytes,
                       .store_bytes = c.store_bytes,
                       .shared_steps = c.shared_steps,
                       .noc_request_flits = c.noc_request_flits,
                       .noc_reply_flits = c.noc_reply_flits,
                       .l2_read_sectors = c.l2_read_sectors,
                       .l2_read_hit_sectors = c.l2_read_hit_sectors,
                       .dram_read_bytes = c.dram_read_bytes,
                       .dram_write_bytes = c.dram_write_bytes,
                       .dram_busy_clocks = c.dram_busy_clocks,
                       .core_clock = interval.core_khz,
                       .energy = c.energy,
                       .power = seconds == 0 ? 0 : c.energy / seconds,
                       .slots = c.slots});
}

void TimeSeries::halve() {
  for (size_t i = 0; 2 * i + 1 < kept_.size(); ++i) {
    const Interval first = kept_[2 * i];
    kept_[i] = kept_[2 * i + 1];
    kept_[i].length += first.length;
    kept_[i].counts += first.counts;
  }
  kept_.resize(kept_.size() / 2);
  interval_ *= 2;
  adapts_ = interval_ < kLongest;
  if (adapts_) return;
  for (const Interval& interval : kept_) append(interval);
  kept_.clear();
}

}  // namespace gpusim::comp
