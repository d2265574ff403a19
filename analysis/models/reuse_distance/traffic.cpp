#include "analysis/models/reuse_distance/traffic.h"

#include <algorithm>
#include <cmath>

namespace gpusim::analysis {
namespace {

constexpr uint32_t kWindow = 256;   ///< requests per unit, of which the busiest unit is found
constexpr double kRemembered = 32;  ///< requests over which a channel's cost is the mean
constexpr double kLinkCycles = 4;   ///< to the second level of translation and back

uint64_t one_at_least(int64_t n) { return static_cast<uint64_t>(std::max<int64_t>(n, 1)); }

double core_cycles(const core::MachineConfig& m, double ns) {
  return ns * static_cast<double>(m.clocks.core_khz) / 1e6;
}

}  // namespace

void BusiestOf::clear() {
  std::ranges::fill(in_window_, 0u);
  left_ = kWindow * in_window_.size();
  to_busiest_ = most_ = 0;
}

void BusiestOf::end_window() {
  to_busiest_ += most_;
  most_ = 0;
  std::ranges::fill(in_window_, 0u);
  left_ = kWindow * in_window_.size();
}

PageBuffer::PageBuffer(uint32_t entries, uint32_t ways)
    : ways_(std::max(1u, ways)), sets_(one_at_least(entries / ways_)), entries_(sets_.value() * ways_) {}

double PageBuffer::find(uint64_t page) {
  Entry* const set = set_of(page);
  for (Entry* e = set; e != set + ways_; ++e)
    if (e->page == page) {
      e->used = ++clock_;
      return e->there;
    }
  return -1;
}

void PageBuffer::put(uint64_t page, double there) {
  Entry* const set = set_of(page);
  Entry* const oldest =
      std::min_element(set, set + ways_, [](const Entry& a, const Entry& b) { return a.used < b.used; });
  *oldest = {page, ++clock_, there};
}

RowWindow::RowWindow(const core::MachineConfig& m)
    : most_(std::max(1u, m.dram.queue)),
      write_high_(std::max(1u, m.dram.write_high)),
      write_low_(m.dram.write_low),
      closes_(m.dram.page == "closed"),
      in_order_(m.dram.scheduler == "fcfs"),
      banks_in_turn_(m.dram.refresh == "bank"),
      banks_(one_at_least(m.dram.banks)) {
  const auto cycles = [&](double ns) { return core_cycles(m, ns); };
  rcd_ = cycles(m.dram.rcd_ns), rp_ = cycles(m.dram.rp_ns), ras_ = cycles(m.dram.ras_ns);
  rc_ = cycles(m.dram.rc_ns), rrd_ = cycles(m.dram.rrd_ns), cl_ = cycles(m.dram.cl_ns);
  wl_ = cycles(m.dram.wl_ns), rtw_ = cycles(m.dram.rtw_ns), cdlr_ = cycles(m.dram.cdlr_ns);
  wr_ = cycles(m.dram.wr_ns), refi_ = cycles(m.dram.refi_ns), rfc_ = cycles(m.dram.rfc_ns);
  // Four activates and no more in this time, taken as evenly spread.
  rrd_ = std::max(rrd_, cycles(m.dram.faw_ns) / 4);
  window_.reserve(most_ + 1);
  next_refresh_ = first_refresh();
}

void RowWindow::reset() {
  for (Bank& b : banks_) b.next_activate = b.next_precharge = b.next_column = 0;
  bus_free_ = next_activate_ = cost_ = 0;
  in_turn_ = rows_opened_ = 0;
  next_refresh_ = first_refresh();
}

/// One bank after the other (components/dram/refresh/bank.cpp): the others go on.
void RowWindow::refresh_banks(double now) {
  const double interval = refi_ / static_cast<double>(banks_.size());
  const auto due = static_cast<uint64_t>((now - next_refresh_) / interval) + 1;
  for (uint64_t k = due > banks_.size() ? due - banks_.size() : 0; k < due; ++k) {
    Bank& b = banks_[(in_turn_ + k) % banks_.size()];
    const double idle = b.row == kNoRow ? b.next_activate : b.next_precharge + rp_;
    b.row = kNoRow;
    b.next_activate = std::max(next_refresh_ + static_cast<double>(k) * interval, idle) + rfc_;
  }
  in_turn_ = (in_turn_ + due) % banks_.size();
  next_refresh_ += static_cast<double>(due) * interval;
}

void RowWindow::refresh(double now) {
  if (refi_ <= 0 || now < next_refresh_) return;
  if (banks_in_turn_) return refresh_banks(now);
  const double last = next_refresh_ + std::floor((now - next_refresh_) / refi_) * refi_;
  next_refresh_ = last + refi_;
  const double end = std::max(last, bus_free_) + rfc_;
  for (Bank& b : banks_) {
    b.row = kNoRow;
    b.next_activate = std::max(b.next_activate, end);
  }
}

double RowWindow::ready(const Request& r) const {
  const Bank& b = banks_[r.bank];
  const double lead = r.write ? wl_ : cl_;
  if (b.row == r.row) return std::max(r.arrival, b.next_column) + lead;
  double at = r.arrival;
  if (b.row != kNoRow) at = std::max(at, b.next_precharge) + rp_;
  return std::max({at, b.next_activate, next_activate_}) + rcd_ + lead;
}

void RowWindow::serve_one() {
  double now = bus_free_;
  if (window_.front().arrival > now) now = window_.front().arrival;
  refresh(now);
  const auto others = static_cast<uint32_t>(window_.size()) - writes_;
  if (draining_ ? writes_ == 0 || (writes_ <= write_low_ && others != 0)
                : writes_ >= write_high_ || others == 0)
    draining_ = !draining_;
  // Those that hit go first; of the others the one whose row can be open first, and of equals the oldest.
  size_t chosen = window_.size();
  bool hits = false;
  double best = 0;
  for (size_t i = 0; i < window_.size(); ++i) {
    const Request& r = window_[i];
    if (r.arrival > now || (r.write != draining_ && !in_order_)) continue;
    const bool hit = banks_[r.bank].row == r.row;
    if (hit) {
      chosen = i;
      hits = true;
      break;
    }
    const double at = std::max(ready(r), bus_free_);
    if (chosen == window_.size() || at < best) {
      chosen = i;
      best = at;
    }
    if (in_order_) break;
  }
  if (chosen == window_.size()) chosen = 0;
  const Request r = window_[chosen];
  window_.erase(window_.begin() + static_cast<std::ptrdiff_t>(chosen));
  writes_ -= r.write;
  Bank& b = banks_[r.bank];
  double data = std::max(ready(r), bus_free_);
  if (r.write != last_was_write_) data = std::max(data, bus_free_ + (r.write ? rtw_ : wl_ + cdlr_));
  last_was_write_ = r.write;
  if (!hits && b.row != r.row) {
    const double activate = data - (r.write ? wl_ : cl_) - rcd_;
    ++rows_opened_;
    b.row = r.row;
    b.next_activate = activate + rc_;
    b.next_precharge = activate + ras_;
    next_activate_ = std::max(next_activate_, activate + rrd_);
  }
  const double end = data + r.cycles;
  b.next_column = data - (r.write ? wl_ : cl_) + r.cycles;
  b.next_precharge = std::max(b.next_precharge, r.write ? end + wr_ : b.next_column);
  cost_ += (end - std::max(bus_free_, r.arrival) - cost_) / kRemembered;
  bus_free_ = end;
  if (closes_ &&
      std::ranges::none_of(window_, [&](const Request& o) { return o.bank == r.bank && o.row == r.row; })) {
    b.row = kNoRow;
    b.next_activate = std::max(b.next_activate, b.next_precharge + rp_);
  }
}

double RowWindow::add(const Request& r) {
  while (!window_.empty() && (window_.size() >= most_ || bus_free_ <= r.arrival)) serve_one();
  window_.push_back(r);
  writes_ += r.write;
  if (window_.size() == 1) {
    refresh(r.arrival);
    return std::max(ready(r), bus_free_) + r.cycles;
  }
  return std::max(bus_free_, r.arrival) + static_cast<double>(window_.size()) * std::max(cost_, r.cycles) +
         (r.write ? wl_ : cl_);
}

void RowWindow::drain() {
  while (!window_.empty()) serve_one();
}

ReuseTraffic::ReuseTraffic(const core::MachineConfig& m, uint32_t sms)
    : page_bytes_(one_at_least(m.tlb.page_bytes)),
      pages_of_line_(std::max<uint64_t>(1, m.tlb.table_bytes / page_bytes_)),
      partitions_(one_at_least(m.l2.partitions)),
      busiest_channel_(one_at_least(m.l2.partitions) * one_at_least(m.dram.channels)),
      interleave_(one_at_least(m.l2.interleave)),
      channels_of_(one_at_least(m.dram.channels)),
      groups_(one_at_least(m.dram.bank_groups)),
      group_bytes_(one_at_least(m.dram.group_interleave == 0 ? m.dram.row_bytes : m.dram.group_interleave)),
      blocks_per_row_(one_at_least(m.dram.row_bytes / static_cast<uint32_t>(group_bytes_.value()))),
      banks_per_group_(one_at_least(m.dram.banks / m.dram.bank_groups)),
      banks_(one_at_least(m.dram.banks)),
      hash_(m.dram.bank_hash),
      burst_bytes_(static_cast<double>(one_at_least(m.dram.burst_bytes))) {
  if (m.tlb.l1_entries != 0) {
    sm_pages_.assign(sms, PageBuffer(m.tlb.l1_entries, m.tlb.l1_ways));
    has_second_level_ = m.tlb.l2_entries != 0;
    sms_per_buffer_ = m.tlb.l2_scope == core::TlbScope::kGpu
                          ? sms
                          : static_cast<uint32_t>(one_at_least(m.gpu.sms_per_cluster));
    shared_pages_.assign((sms + sms_per_buffer_ - 1) / sms_per_buffer_,
                         PageBuffer(std::max(m.tlb.l2_entries, m.tlb.l2_ways), m.tlb.l2_ways));
    second_latency_ = core_cycles(m, m.tlb.l2_latency_ns) + kLinkCycles;
    walk_ = core_cycles(m, m.tlb.walk_latency_ns);
    table_walk_ = m.tlb.table_bytes == 0 ? walk_ : core_cycles(m, m.tlb.table_latency_ns);
    walkers_.assign(shared_pages_.size() * one_at_least(m.tlb.walkers), 0);
  }
  burst_cycles_ = std::max(1.0, burst_bytes_ / (2.0 * m.dram.bus_bytes)) *
                  static_cast<double>(m.clocks.core_khz) / static_cast<double>(m.clocks.dram_khz);
  const uint64_t channels = one_at_least(m.l2.partitions) * channels_of_.value();
  channels_.reserve(channels);
  for (uint64_t c = 0; c < channels; ++c) channels_.emplace_back(m);
}

void ReuseTraffic::begin_kernel() {
  counts_ = TrafficCounts();
  partitions_.clear();
  busiest_channel_.clear();
  std::ranges::fill(walkers_, 0.0);
  for (RowWindow& c : channels_) c.reset();
}

void ReuseTraffic::end_kernel() {
  for (RowWindow& c : channels_) c.drain();
  partitions_.end();
  busiest_channel_.end();
}

TrafficCounts ReuseTraffic::counts() const {
  TrafficCounts all = counts_;
  all.to_busiest = partitions_.to_busiest();
  all.dram_to_busiest = busiest_channel_.to_busiest();
  for (const RowWindow& c : channels_) all.rows_opened += c.rows_opened();
  return all;
}

double ReuseTraffic::translate(double now, uint32_t sm, uint64_t page) {
  ++counts_.pages;
  if (const double known = sm_pages_[sm].find(page); known >= 0) return std::max(now, known);
  ++counts_.sm_page_misses;
  const uint32_t buffer = sm / sms_per_buffer_;
  const double at = now + second_latency_;
  const double known = has_second_level_ ? shared_pages_[buffer].find(page) : -1;
  double there = at;
  if (known < 0 || known > now) ++counts_.page_misses;
  if (known > now) there = std::max(at, known);
  if (known < 0) {
    const size_t each = walkers_.size() / shared_pages_.size();
    const auto first = walkers_.begin() + static_cast<std::ptrdiff_t>(buffer * each);
    double& free = *std::min_element(first, first + static_cast<std::ptrdiff_t>(each));
    free = there = std::max(free, at) + walk_of(page);
    if (has_second_level_) shared_pages_[buffer].put(page, there);
  }
  sm_pages_[sm].put(page, there);
  return there;
}

double ReuseTraffic::walk_of(uint64_t page) {
  if (table_walk_ == walk_) return walk_;
  const uint64_t line = page / pages_of_line_;
  const auto place = std::ranges::lower_bound(table_lines_, line);
  if (place != table_lines_.end() && *place == line) return table_walk_;
  table_lines_.insert(place, line);
  return walk_;
}

void ReuseTraffic::request(uint32_t partition) {
  ++counts_.requests;
  partitions_.add(partition);
}

double ReuseTraffic::move(double now, uint32_t channel, uint64_t local, uint32_t bytes, bool write) {
  ++counts_.dram_requests;
  busiest_channel_.add(channel);
  (write ? counts_.dram_written_bytes : counts_.dram_read_bytes) += bytes;
  const uint64_t offset = local / interleave_ / channels_of_ * interleave_.value() + local % interleave_;
  const uint64_t block = offset / group_bytes_;
  const uint64_t page = block / groups_ / blocks_per_row_;
  const uint64_t row = page / banks_per_group_;
  uint64_t bank = page % banks_per_group_ * groups_.value() + block % groups_;
  if (hash_) bank = (bank + row + row / banks_ + row / banks_ / banks_) % banks_;
  const double bursts = std::ceil(bytes / burst_bytes_);
  return channels_[channel].add({now, row, static_cast<uint32_t>(bank), bursts * burst_cycles_, write});
}

}  // namespace gpusim::analysis
