#include "analysis/models/reuse_distance/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gpusim::analysis {
namespace {

constexpr uint64_t kSector = 32;

uint64_t at_least_one(int64_t n) { return static_cast<uint64_t>(std::max<int64_t>(n, 1)); }

/// Takes a unit for so many cycles; when it begins.
double take(double& free_from, double now, double cycles) {
  const double from = std::max(free_from, now);
  free_from = from + cycles;
  return from;
}

}  // namespace

ReuseMemory::Shape ReuseMemory::share_of(const core::MachineConfig& m, double parts) {
  const auto ways = static_cast<uint32_t>(m.l2.ways);
  const auto sets = static_cast<uint32_t>(at_least_one(m.l2.bytes / m.l2.partitions / m.l2.line / m.l2.ways));
  if (parts <= 1) return {sets, ways};
  // Fewer sets rather than ways: lines of many SMs are spread over all sets.
  const auto fewer = static_cast<uint32_t>(std::max(1.0, sets / parts));
  return {fewer,
          static_cast<uint32_t>(std::max(1.0, std::round(static_cast<double>(sets) * ways / parts / fewer)))};
}

ReuseMemory::ReuseMemory(const core::MachineConfig& m, uint32_t sms, const ReuseNeighbours& neighbours,
                         ReuseTraffic* traffic)
    : map_(m.l2),
      interleave_(at_least_one(m.l2.interleave)),
      partitions_(at_least_one(m.l2.partitions)),
      channels_(at_least_one(m.dram.channels)),
      line_bytes_(at_least_one(m.l2.line)),
      shape_(share_of(m, neighbours.copies * neighbours.own)),
      fetch_sectors_(static_cast<uint32_t>(at_least_one(m.l2.sector) / kSector)),
      cached_(m.l2.bytes != 0),
      index_(m.l2.index, shape_.sets),
      port_sms_(core::sms_per_port(m)),
      port_out_(sms, 0),
      port_back_(sms, 0),
      partition_in_{std::vector<double>(partitions_.value(), 0)},
      partition_out_{std::vector<double>(partitions_.value(), 0)},
      channel_{std::vector<double>(partitions_.value() * channels_.value(), 0)},
      last_sent_(sms, 0),
      lines_(cached_ ? partitions_.value() * shape_.sets * shape_.ways : 0),
      copies_(neighbours.copies),
      foreign_(1 - neighbours.own),
      traffic_(traffic) {
  const double core_mhz = static_cast<double>(m.clocks.core_khz) / 1e3;
  const auto cycles = [core_mhz](double ns) { return ns * core_mhz / 1e3; };
  request_ = cycles(m.interconnect.request_latency_ns);
  reply_ = cycles(m.interconnect.reply_latency_ns);
  hit_ = cycles(m.l2.hit_latency_ns);
  dram_ = cycles(m.l2.latency_ns + m.dram.latency_ns + m.dram.rcd_ns + m.dram.cl_ns);
  if (traffic == nullptr && copies_ <= 1) rows_.emplace(m, sms);
  // Channels with rows have the time of rows and columns themselves.
  if (dram() != nullptr) dram_ -= cycles(m.dram.rcd_ns + m.dram.cl_ns);
  column_ = cycles(m.dram.cl_ns);
  flit_bytes_ = static_cast<double>(m.interconnect.flit_bytes);
  flit_cycles_ = static_cast<double>(m.clocks.core_khz) / static_cast<double>(m.clocks.interconnect_khz);
  partition_cycles_ = flit_cycles_;
  reply_flit_bytes_ = m.interconnect.reply_flit_bytes == 0
                          ? flit_bytes_
                          : static_cast<double>(m.interconnect.reply_flit_bytes);
  header_bytes_ = static_cast<double>(m.interconnect.header_bytes);
  if (sms == 1) port_sharers_ = std::clamp(copies_, 1.0, static_cast<double>(port_sms_.value()));
  make_queues(m, sms);
  // Two transfers of the bus a clock, but for the time that refreshes take.
  const double refreshed = m.dram.refi_ns > 0 ? 1 - m.dram.rfc_ns / m.dram.refi_ns : 1;
  const double bytes_per_cycle = 2 * static_cast<double>(m.dram.bus_bytes) *
                                 static_cast<double>(m.clocks.dram_khz) /
                                 static_cast<double>(m.clocks.core_khz) * refreshed;
  burst_cycles_ = static_cast<double>(m.dram.burst_bytes) / bytes_per_cycle;
}

/// What is on its way through a link has room in it beside what waits at its end. How full the requests of
/// SMs that are not modelled keep the queues of partitions is not known: then these have no end.
void ReuseMemory::make_queues(const core::MachineConfig& m, uint32_t sms) {
  const auto room = [this](double entries) {
    return QueueRoom(copies_ > 1 ? 0 : static_cast<uint32_t>(std::max(1.0, entries)));
  };
  const auto stages = [this](double core_cycles) { return core_cycles / flit_cycles_; };
  const auto queue = static_cast<double>(m.interconnect.queue);
  const uint64_t partitions = partitions_.value();
  // Several queues of requests are behind the link, and each is as long as it.
  const uint32_t behind_link = m.interconnect.request_queues > 1 ? m.interconnect.request_queues : 0;
  sent_.assign(sms, QueueRoom(static_cast<uint32_t>(m.interconnect.queue) * (1 + behind_link)));
  taken_.assign(partitions, room(queue + stages(request_)));
  answered_.assign(partitions, room(queue * static_cast<double>(m.interconnect.reply_queues) + stages(hit_)));
  fetched_.assign(partitions, room(static_cast<double>(m.l2.mshrs)));
  dram_queue_.assign(partitions * channels_.value(),
                     room(static_cast<double>(m.l2.queue) + static_cast<double>(m.dram.queue)));
}

double ReuseMemory::serve(Units& units, size_t unit, double now, double cycles) const {
  if (copies_ <= 1) return take(units.free_from[unit], now, cycles);
  units.busy += cycles;
  const double load = units.busy / static_cast<double>(units.free_from.size()) / std::max(now, 1.0);
  const double left = std::max(1 / copies_, 1 - (copies_ - 1) * load);
  return take(units.free_from[unit], now, cycles / left) + cycles * (1 / left - 1);
}

void ReuseMemory::begin_kernel() {
  std::ranges::fill(port_out_, 0.0);
  std::ranges::fill(port_back_, 0.0);
  for (Units* units : {&partition_in_, &partition_out_, &channel_}) {
    std::ranges::fill(units->free_from, 0.0);
    units->busy = 0;
  }
  for (Line& line : lines_) line.there = 0;
  std::ranges::fill(last_sent_, 0.0);
  for (auto* queues : {&sent_, &taken_, &answered_, &fetched_, &dram_queue_})
    for (QueueRoom& q : *queues) q.clear();
  if (dram() != nullptr) dram()->begin_kernel();
  counts_ = Counts();
}

ReuseMemory::Place ReuseMemory::place_of(uint64_t address) const {
  return place_at(map_.partition(address), map_.local(address));
}

ReuseMemory::Place ReuseMemory::place_at(uint64_t partition, uint64_t local) const {
  const uint64_t channel = partition * channels_.value() + local / interleave_ % channels_;
  return {static_cast<uint32_t>(partition), static_cast<uint32_t>(channel), local};
}

double ReuseMemory::translate(double now, uint32_t sm, const LineTransactions& transactions,
                              uint32_t line_bytes) {
  std::array<uint64_t, WarpStep::kLanes> pages;
  uint32_t count = 0;
  double there = now;
  for (const LineTransaction& t : transactions) {
    const uint64_t page = dram()->page_of(t.line * line_bytes);
    const auto end = pages.begin() + count;
    if (std::find(pages.begin(), end, page) != end) continue;
    pages[count++] = page;
    there = std::max(there, dram()->translate(now, sm, page));
  }
  return there;
}

void ReuseMemory::end_kernel() {
  if (dram() != nullptr) dram()->end_kernel();
}

double ReuseMemory::arrive(double now, uint32_t sm, const Place& place, uint32_t bytes_out,
                           uint32_t bytes_back) {
  const auto flits = [this](uint32_t bytes, double flit) {
    return std::max(1.0, std::ceil((static_cast<double>(bytes) + header_bytes_) / flit));
  };
  const double out = flits(bytes_out, flit_bytes_), back = flits(bytes_back, reply_flit_bytes_);
  if (traffic_ != nullptr) traffic_->request(place.partition);
  // Each rate as if nothing waited but for it; what waits for room lets other SMs' requests pass.
  const uint64_t its_port = sm / port_sms_;
  const double port = take(port_out_[its_port], now, out * flit_cycles_ * port_sharers_);
  const double in = serve(partition_in_, place.partition, port + request_, out * partition_cycles_);
  const double reply = serve(partition_out_, place.partition, in, back * partition_cycles_);
  const double last = take(port_back_[its_port], reply, back * flit_cycles_ * port_sharers_);
  QueueRoom& taken = taken_[place.partition];
  double& sent = last_sent_[sm];
  sent = std::max({sent, port, taken.from()});
  sent_[sm].put(sent);
  const double at = std::max({in, sent + request_, answered_[place.partition].from()});
  taken.put(at);
  answered_[place.partition].put(std::max(at, reply));
  return std::max(at, last);
}

ReuseMemory::Line& ReuseMemory::line_of(const Place& place, double now, bool& found) {
  const uint64_t line = place.local / line_bytes_;
  Line* const set = &lines_[(size_t{place.partition} * shape_.sets + index_(line)) * shape_.ways];
  Line* chosen = set;
  for (Line* l = set; l != set + shape_.ways; ++l) {
    if (l->line == line + 1) {
      l->used = ++clock_;
      found = true;
      return *l;
    }
    if (l->used < chosen->used) chosen = l;
  }
  found = false;
  if (chosen->dirty != 0) put_back(*chosen, place, now);
  *chosen = {line + 1, ++clock_, 0, 0, 0};
  return *chosen;
}

void ReuseMemory::put_back(const Line& line, const Place& place, double now) {
  const auto sectors = static_cast<uint32_t>(std::popcount(line.dirty));
  if (dram() == nullptr) {
    serve(channel_, place.channel, now, sectors * burst_cycles_);
    return;
  }
  const Place its = place_at(place.partition, (line.line - 1) * line_bytes_.value());
  dram()->move(now, its.channel, its.local, sectors * static_cast<uint32_t>(kSector), true);
}

double ReuseMemory::fetch(double now, const Place& place, uint32_t bytes, bool write) {
  if (traffic_ != nullptr) return traffic_->move(now, place.channel, place.local, bytes, write) + dram_;
  if (rows_) {
    const double there = rows_->move(now, place.channel, place.local, bytes, write);
    dram_queue_[place.channel].put(there - column_);
    return there + dram_;
  }
  const double cycles = static_cast<double>(bytes) / kSector * burst_cycles_;
  const double begins = serve(channel_, place.channel, now, cycles);
  dram_queue_[place.channel].put(begins);
  return begins + cycles + dram_;
}

double ReuseMemory::access(double arrived, const Place& place, uint32_t sectors, bool atomic) {
  const auto count = static_cast<uint32_t>(std::popcount(sectors));
  (atomic ? counts_.atomics : counts_.reads) += count;
  uint64_t& hits = atomic ? counts_.atomic_hits : counts_.read_hits;
  if (!cached_) return fetch(arrived, place, count * kSector);
  bool found = false;
  Line& line = line_of(place, arrived, found);
  const auto shift = static_cast<uint32_t>(place.local % line_bytes_ / kSector);
  const uint32_t wanted = sectors << shift;
  uint32_t missing = wanted & ~line.valid;
  // Sectors on their way count as misses.
  const bool waits = line.there > arrived;
  if (!waits) hits += static_cast<uint64_t>(std::popcount(wanted & line.valid));
  if (!found && (brought_ += foreign_) >= 1) {
    brought_ -= 1;
    line.valid |= wanted;
    hits += count;
    return arrived + hit_;
  }
  if (missing == 0) return std::max(arrived + hit_, line.there);
  if (fetch_sectors_ > 1) {
    uint32_t whole = 0;
    const uint32_t unit = (1u << fetch_sectors_) - 1;
    for (uint32_t s = 0; s < 32; s += fetch_sectors_)
      if ((missing >> s & unit) != 0) whole |= unit << s;
    missing = whole & ~line.valid;
  }
  line.valid |= missing;
  // While it has no entry for a line on its way, or no room in the queue to its channel, a partition takes
  // nothing.
  QueueRoom& fetched = fetched_[place.partition];
  const double from = std::max({arrived, fetched.from(), dram_queue_[place.channel].from()});
  if (from > arrived) {
    double& free = partition_in_.free_from[place.partition];
    free = std::max(free, from);
  }
  line.there = fetch(from, place, static_cast<uint32_t>(std::popcount(missing)) * kSector);
  fetched.put(line.there);
  return line.there;
}

double ReuseMemory::read(double now, uint32_t sm, uint64_t address, uint32_t sectors) {
  const Place place = place_of(address);
  const uint32_t bytes = static_cast<uint32_t>(std::popcount(sectors)) * kSector;
  return access(arrive(now, sm, place, 0, bytes), place, sectors, false) + reply_;
}

double ReuseMemory::write(double now, uint32_t sm, uint64_t address, uint32_t sectors) {
  const Place place = place_of(address);
  const uint32_t bytes = static_cast<uint32_t>(std::popcount(sectors)) * kSector;
  const double at = arrive(now, sm, place, bytes, 0);
  counts_.others += bytes / kSector;
  if (!cached_) return fetch(at, place, bytes, true) + reply_;
  bool found = false;
  Line& line = line_of(place, at, found);
  const uint32_t written = sectors << static_cast<uint32_t>(place.local % line_bytes_ / kSector);
  line.valid |= written;
  line.dirty |= written;
  return at + hit_ + reply_;
}

double ReuseMemory::atomic(double now, uint32_t sm, uint64_t address, uint32_t sectors) {
  const Place place = place_of(address);
  const uint32_t bytes = static_cast<uint32_t>(std::popcount(sectors)) * kSector;
  counts_.others += bytes / kSector;
  const double there = access(arrive(now, sm, place, bytes, bytes), place, sectors, true) + reply_;
  if (cached_) {
    bool found = false;
    line_of(place, now, found).dirty |= sectors << static_cast<uint32_t>(place.local % line_bytes_ / kSector);
  }
  return there;
}

}  // namespace gpusim::analysis
