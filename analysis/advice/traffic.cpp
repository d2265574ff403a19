#include "analysis/advice/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {

bool in_memory(std::string_view c) {
  return is_global(c) || c == "load_local" || c == "store_local" || c == "atom_global";
}

void add(Traffic& t, std::string_view op_class, double transactions, double moved, double asked) {
  const bool load = !op_class.starts_with("store_");
  (load ? t.load_transactions : t.store_transactions) += transactions;
  (load ? t.load_bytes : t.store_bytes) += moved;
  (load ? t.load_asked : t.store_asked) += asked;
  if (op_class != "store_local") return;
  t.local_stores += transactions;
  t.local_store_bytes += moved;
}

Traffic recorded_traffic(const Facts& f) {
  Traffic t;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (in_memory(c))
      add(t, c, f.count("transactions", pc), f.count("transferred_bytes", pc),
          f.count("requested_bytes", pc));
  }
  return t;
}

namespace {

/// Flits of packets that carry these bytes in so many transactions: one at least, whatever a packet carries.
double flits(double transactions, double bytes, double header, double flit) {
  if (transactions <= 0) return 0;
  return transactions * std::max(1.0, std::ceil((header + bytes / transactions) / flit));
}

}  // namespace

Traffic beyond_l1(const Facts& f, const Traffic& recorded, Traffic t) {
  const auto& l1 = f.machine().l1;
  if (l1.bytes == 0 || l1.write_local != core::WriteHit::kBack || recorded.local_stores <= 0) return t;
  const double left = t.local_stores / recorded.local_stores;
  t.store_transactions += left * f.counter("l1_writebacks") - t.local_stores;
  t.store_bytes += left * f.counter("l1_writeback_sectors") * kSector - t.local_store_bytes;
  return t;
}

double ratio(double after, double before) { return before > 0 ? std::min(1.0, after / before) : 1; }

void set_sm_traffic(const Traffic& before, const Traffic& after, Work& work) {
  for (const char* unit : {"lsu_port", "coalescer", "l1_tags", "l1_data"})
    work.scale(unit, ratio(after.transactions(), before.transactions()));
}

void set_network_traffic(const Facts& f, const Traffic& recorded, const Traffic& changed, Work& work) {
  const Traffic before = beyond_l1(f, recorded, recorded), after = beyond_l1(f, recorded, changed);
  const auto& net = f.machine().interconnect;
  const double reply_flit = net.reply_flit_bytes != 0 ? net.reply_flit_bytes : net.flit_bytes;
  const auto requests = [&](const Traffic& t) {
    return flits(t.load_transactions, 0, net.header_bytes, net.flit_bytes) +
           flits(t.store_transactions, t.store_bytes, net.header_bytes, net.flit_bytes);
  };
  const auto replies = [&](const Traffic& t) {
    return flits(t.load_transactions, t.load_bytes, net.header_bytes, reply_flit) +
           flits(t.store_transactions, 0, net.header_bytes, reply_flit);
  };
  const auto& l2 = f.machine().l2;
  const auto data = [&](const Traffic& t) {
    return t.load_bytes * (l2.read_cycles + l2.fill_cycles) + t.store_bytes * l2.write_cycles;
  };
  work.scale("l2_data", ratio(data(after), data(before)));
  const double asked = ratio(requests(after), requests(before));
  const double replied = ratio(replies(after), replies(before));
  for (const char* unit : {"l2_requests", "l2_replies", "tlb_l2", "tlb_walkers"})
    work.scale(unit, ratio(after.transactions(), before.transactions()));
  for (const char* unit : {"request_in", "request_links", "request_out"}) work.scale(unit, asked);
  for (const char* unit : {"reply_in", "reply_links", "reply_out"}) work.scale(unit, replied);
}

void set_traffic(const Facts& f, const Traffic& before, const Traffic& after, Work& work) {
  set_sm_traffic(before, after, work);
  set_network_traffic(f, before, after, work);
}

void spread_over_partitions(const Facts& f, Work& work) {
  for (auto& [unit, busy] : work.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && unit != "l2_atomics" && (u->place == "partition" || u->place == "channel"))
      busy = std::min(busy, u->mean() * static_cast<double>(f.kernel().cycles));
}

void add_operations(const Facts& f, const Operations& more, Work& work) {
  const auto add = [&](const std::string& unit, double cycles) {
    if (const UnitLoad* u = f.kernel().unit(unit))
      work.units[unit] += cycles / static_cast<double>(std::max<uint64_t>(1, u->instances));
  };
  for (const auto& [op_class, executed] : more) {
    add(f.pipe_of(op_class), executed * f.pipe_cycles(op_class));
    add("issue", executed * f.issue_cycles());
  }
}

void spread_over_sms(const Facts& f, Work& work) {
  for (auto& [unit, busy] : work.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && (u->place == "SM" || u->place == "scheduler" || u->place == "cluster") &&
        u->peak() > 0)
      busy *= std::min(1.0, u->mean() / u->peak());
}

void set_dram(const Facts& f, double read, double written, Work& work) {
  const double before = f.counter("dram_read_bytes") + f.counter("dram_write_bytes");
  for (const char* unit : {"dram_bus", "dram_activates"}) work.scale(unit, ratio(read + written, before));
}

void leave_out(const Facts& f, const std::function<bool(uint64_t)>& chosen, Work& work) {
  const Traffic before = recorded_traffic(f);
  Traffic after = before;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (chosen(pc) && in_memory(f.op_class(pc)))
      add(after, f.op_class(pc), -f.count("transactions", pc), -f.count("transferred_bytes", pc),
          -f.count("requested_bytes", pc));
  set_traffic(f, before, after, work);
  // DRAM moves no more than what is left: the rest were lines that the L2 did not keep.
  set_dram(f, std::min(f.counter("dram_read_bytes"), after.load_bytes),
           std::min(f.counter("dram_write_bytes"), after.store_bytes), work);
}

bool is_of_fragment(const Facts& f, uint64_t pc) {
  return pc < f.operations() && text_cell(f.kernel().per_pc, "ptx", pc).starts_with("wmma.");
}

namespace {

/// Of accesses to neighbouring records, in a loop that goes on by whole records or to one that lies so many
/// beside the thread's own: share that begin within a unit of so many bytes, where each field is an array,
/// and take one more than their bytes fill.
double begin_within(const AddressOrigin& o, uint64_t unit) {
  if (o.stride <= o.bytes || o.turn % o.stride != 0) return 0;
  const uint64_t beside = o.place_in_turn / o.stride * o.bytes, step = o.turn / o.stride * o.bytes;
  const uint64_t apart = step == 0 ? unit : std::gcd(step, unit);
  return beside % apart != 0 ? 1 : 1 - static_cast<double>(apart) / static_cast<double>(unit);
}

}  // namespace

Least least_of(const Facts& f, uint64_t pc) {
  const double asked = f.count("requested_bytes", pc), requests = f.executed(pc) * f.requests_per_warp();
  // Which bytes of a tile a lane of a tensor operation has is not the program's to say: of tiles that are
  // packed, each access uses as much of as many sectors, which then lie in few lines.
  if (is_of_fragment(f, pc)) {
    const double moved = f.count("transferred_bytes", pc);
    return {std::min(f.count("transactions", pc), std::max(requests, moved / kLine)), moved};
  }
  const double lines = requests * begin_within(f.origin(pc), static_cast<uint64_t>(kLine));
  const double sectors = requests * begin_within(f.origin(pc), static_cast<uint64_t>(kSector));
  return {std::min(f.count("transactions", pc), std::max(requests, asked / kLine) + lines),
          std::min(f.count("transferred_bytes", pc),
                   std::max(f.executed(pc) * kSector, asked) + sectors * kSector)};
}

void add_crowd(const Facts& f, double bytes, double blocks_per_sm, Work& work) {
  const core::MachineConfig& m = f.machine();
  const double reply_flit =
      m.interconnect.reply_flit_bytes != 0 ? m.interconnect.reply_flit_bytes : m.interconnect.flit_bytes;
  const double lines = std::ceil(bytes / kLine);
  const double partitions = std::clamp(bytes / m.l2.interleave, 1.0, static_cast<double>(m.l2.partitions));
  const double each = lines / partitions * std::ceil((kLine + m.interconnect.header_bytes) / reply_flit) *
                      static_cast<double>(m.clocks.core_khz) / static_cast<double>(m.clocks.interconnect_khz);
  const double together = std::min(f.blocks(), std::max(1.0, blocks_per_sm) * f.sms());
  work.tail += together * each;
  work.units["reply_in"] += (f.blocks() - together) * each;
}

}  // namespace gpusim::analysis::advice
