#include "analysis/models/latency_hidden/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/models/latency_hidden/own_reuse.h"
#include "analysis/source/data_addresses.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::MicroOp;
using isa::OpKind;
using isa::Space;

constexpr double kWorthwhile = 0.01;  ///< of the time
constexpr double kLine = 128, kSectorBytes = 32;

/// Loads, stores and atomics whose places a program can choose.
bool can_be_ordered(const MicroOp& op) {
  return is_access(op) && (op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric);
}

/// Of all warps' accesses to memory.
struct Moved {
  double transactions = 0, loads = 0, read = 0, written = 0;
};

Moved moved_by(const Code& code) {
  Moved m;
  for (size_t pc = 0; pc < code.counts.size(); ++pc) {
    const OpCounts& c = code.counts[pc];
    const MicroOp& op = code.image.ops[pc];
    if (!is_long(op)) continue;
    m.transactions += c.transactions;
    if (op.kind == OpKind::kStore) {
      m.written += c.transferred;
    } else {
      m.loads += c.transactions;
      m.read += c.transferred;
    }
  }
  return m;
}

double ratio(double after, double before) { return before > 0 ? after / before : 1; }

/// Changes what the memory system counted as its accesses changed. `warps`: of the launch, for the counts of
/// operations are those of one warp.
void follow(const Moved& before, const Moved& after, double warps, Counts& c) {
  const double requests = ratio(after.transactions, before.transactions);
  c.requests *= requests;
  c.to_busiest *= requests;
  c.dram_requests *= requests;
  c.dram_to_busiest *= requests;
  c.rows *= requests;
  const double pages = std::min(c.pages, std::max(c.accesses, c.pages * requests));
  c.sm_page_misses *= ratio(pages, c.pages);
  c.page_misses *= ratio(pages, c.pages);
  c.pages = pages;
  // Misses stay as far as there are accesses for them: what warps no longer ask for again was a hit. No level
  // moves more than it is asked for.
  const double lines = c.l1_loads * ratio(after.loads, before.loads);
  c.l1_hits = std::max(0.0, lines - (c.l1_loads - c.l1_hits));
  c.l1_loads = lines;
  const double stored = c.l2_sectors - c.l2_reads, missing = c.l2_reads - c.l2_read_hits;
  const double stores = std::min(stored, warps * after.written / kSectorBytes);
  c.l2_reads = std::min(c.l2_reads, warps * after.read / kSectorBytes);
  c.l2_read_hits = std::max(0.0, c.l2_reads - missing);
  c.l2_sectors = c.l2_reads + stores;
  if (c.l2_reads > 0) c.dram_read = std::min(c.dram_read, kSectorBytes * c.l2_reads);
  if (stores > 0) c.dram_written = std::min(c.dram_written, kSectorBytes * stores);
}

/// For each operation, whether loaded data say where it accesses memory.
std::vector<bool> places_of_data(const Code& code) {
  std::vector<std::string> statements, operations;
  for (const isa::PtxStatement& s : code.image.ptx) statements.push_back(s.text);
  for (const MicroOp& op : code.image.ops) operations.push_back(code.image.ptx[op.ptx_index].text);
  return addresses_of_data(std::move(statements), operations);
}

double warps_of(const LaunchShape& shape) {
  return static_cast<double>(shape.blocks) * shape.warps_per_block;
}

/// An occurrence of the segment is only such a part of one: its work, not its wait.
void do_part(double part, Segment& s) {
  s.shorten(s.chain * part, s.wait);
  for (double& b : s.busy) b *= part;
  for (double& b : s.behind) b *= part;
  for (double* of : {&s.operations, &s.walked, &s.loop_walked, &s.issue, &s.in_turn, &s.sooner, &s.asks,
                     &s.requested, &s.read, &s.written, &s.second})
    *of *= part;
  if (s.stored > 0) s.stored *= part;
}

}  // namespace

void coalesce(int capability, double partitions, double channels, Code& code, Counts& counts) {
  const Moved before = moved_by(code);
  const std::vector<bool> scattered = places_of_data(code);
  const double requests = capability < 20 ? 2 : 1;  // of an access: half-warps come one after the other
  double kept = 0;                                  // transactions of accesses that stay as they are
  for (size_t pc = 0; pc < code.counts.size(); ++pc) {
    OpCounts& c = code.counts[pc];
    const double least = can_be_ordered(code.image.ops[pc]) && !scattered[pc]
                             ? std::max(requests * c.executed, c.requested / kLine)
                             : c.transactions;
    if (c.transactions <= least) {
      if (is_long(code.image.ops[pc])) kept += c.transactions;
      continue;
    }
    c.transactions = least;
    c.transferred = std::min(c.transferred, std::max(kSectorBytes * c.executed, c.requested));
  }
  const Moved after = moved_by(code);
  follow(before, after, warps_of(code.shape), counts);
  // Requests of accesses that are coalesced now go to all partitions and channels alike, the others where
  // they went.
  const auto spread = [&](double even, double& to_busiest) {
    if (to_busiest > even) to_busiest = even + (to_busiest - even) * ratio(kept, after.transactions);
  };
  spread(counts.requests / std::max(1.0, partitions), counts.to_busiest);
  spread(counts.dram_requests / std::max(1.0, channels), counts.dram_to_busiest);
}

bool keep_what_is_read_again(Code& code, Counts& counts) {
  const Moved before = moved_by(code);
  Code kept = code;
  for (const auto& [pc, is_again] : own_reuse(code, kSectorBytes).again) {
    if (!is_again) continue;
    MicroOp& op = kept.image.ops[pc];
    op.kind = OpKind::kNop;
    op.op_class = isa::OpClass::kNop;
    op.num_sb_writes = 0;
    const double executed = kept.counts[pc].executed;
    kept.counts[pc] = {executed};
  }
  const Moved after = moved_by(kept);
  constexpr double kRounding = 1e-9;
  if (after.read > before.read * (0.5 + kRounding)) return false;
  follow(before, after, warps_of(code.shape), counts);
  code = std::move(kept);
  return true;
}

void reuse_half(Code& code, Counts& counts) {
  const Moved before = moved_by(code);
  for (size_t pc = 0; pc < code.counts.size(); ++pc) {
    if (!can_be_ordered(code.image.ops[pc]) || code.image.ops[pc].kind != OpKind::kLoad) continue;
    OpCounts& c = code.counts[pc];
    c.transactions /= 2;
    c.requested /= 2;
    c.transferred /= 2;
  }
  counts.dram_read /= 2;
  counts.l2_read_hits /= 2;
  counts.l1_hits /= 2;
  follow(before, moved_by(code), warps_of(code.shape), counts);
}

void give_to(const LaunchShape& launch, Subject& s) {
  Workload& w = s.workload;
  const double part = warps_of(w.shape) / warps_of(launch);
  w.shape.blocks = launch.blocks;
  w.shape.threads_per_block = launch.threads_per_block;
  w.shape.warps_per_block = launch.warps_per_block;
  w.shape.shared_bytes = launch.shared_bytes;
  use_sms(static_cast<double>(launch.blocks), s.parameters);
  s.occupancy =
      isa::compute_occupancy(s.parameters.limits, static_cast<int>(launch.threads_per_block),
                             static_cast<int>(w.shape.registers), static_cast<int64_t>(launch.shared_bytes));
  w.blocks_per_sm = static_cast<uint32_t>(std::max(1, s.occupancy.blocks_per_sm));
  w.longest_path *= part;
  if (w.segments.empty()) return;
  const auto waits = std::ranges::max_element(w.segments, {}, &Segment::wait);
  for (Segment& seg : w.segments) {
    const double before = seg.passes;
    seg.weight *= part;
    seg.passes *= part;
    if (&seg != &*waits || before <= 0 || seg.passes >= std::min(1.0, before)) continue;
    const double once = std::min(1.0, before) / seg.passes;
    seg.weight *= once;
    seg.passes *= once;
    do_part(1 / once, seg);
  }
}

void without_conflicts(Code& code) {
  for (size_t pc = 0; pc < code.counts.size(); ++pc) {
    if (!is_shared(code.image.ops[pc])) continue;
    OpCounts& c = code.counts[pc];
    c.transactions -= c.replays;
    c.replays = 0;
  }
}

std::vector<Change> changes_that_help(const Read& read, const Subject& subject, const Estimate& now) {
  const Parameters& p = subject.parameters;
  const Workload& w = subject.workload;
  std::vector<Change> changes;
  const auto consider = [&](const char* name, std::string what, const Estimate& e) {
    if (e.cycles < now.cycles * (1 - kWorthwhile))
      changes.push_back({name, std::move(what), e.cycles, e.factor()});
  };
  const auto subject_with = [&](Code code, const Counts& counts) {
    return subject_of(read.machine, std::move(code), counts, read.sheet, read.sms);
  };
  // A change of what is accessed may come with a launch of its own.
  const bool other_launch = read.launch && (read.launch->blocks != w.shape.blocks ||
                                            read.launch->warps_per_block != w.shape.warps_per_block);
  const std::string by_launch =
      other_launch
          ? fmt::format(", by {} blocks of {} threads", read.launch->blocks, read.launch->threads_per_block)
          : "";
  const auto estimated = [&](Code code, const Counts& counts) {
    Subject s = subject_with(std::move(code), counts);
    if (other_launch) give_to(*read.launch, s);
    return estimate(s.workload, s.parameters);
  };

  const isa::Occupancy free =
      isa::compute_occupancy(p.limits, static_cast<int>(w.shape.threads_per_block), 0, 0);
  if (free.blocks_per_sm > subject.occupancy.blocks_per_sm) {
    Code more = subject.code;
    more.shape.registers = 0;
    more.shape.shared_bytes = 0;
    const Subject fuller = subject_with(std::move(more), read.counts);
    consider("occupancy",
             fmt::format("{} blocks on an SM instead of {}: limited by {}", free.blocks_per_sm,
                         subject.occupancy.blocks_per_sm, subject.occupancy.limiter),
             estimate(fuller.workload, fuller.parameters));
  }

  Workload independent = w;
  for (Segment& s : independent.segments) {
    s.shorten(s.chain - std::max(0.0, s.chain - s.compute()) / 2, s.wait / 2);
  }
  consider("independent work", "twice the loads and operations between two waits that depend on them",
           estimate(independent, p));

  Code changed = subject.code;
  Counts counts = read.counts;
  const auto partitions = static_cast<double>(read.machine.l2.partitions);
  coalesce(p.capability, partitions, partitions * static_cast<double>(read.machine.dram.channels), changed,
           counts);
  consider("coalescing", "transactions that move only the bytes that threads ask for" + by_launch,
           estimated(std::move(changed), counts));

  changed = subject.code;
  counts = read.counts;
  const bool again = keep_what_is_read_again(changed, counts);
  if (!again) reuse_half(changed, counts);
  consider("reuse",
           (again ? "values that threads read again kept in registers"
                  : "half the bytes read from memory: values kept in shared memory or registers") +
               by_launch,
           estimated(std::move(changed), counts));

  changed = subject.code;
  without_conflicts(changed);
  consider("bank conflicts", "shared-memory accesses without conflicts" + by_launch,
           estimated(std::move(changed), read.counts));

  if (other_launch) {
    Subject given = subject;
    give_to(*read.launch, given);
    consider("grid", "as much work" + by_launch.substr(1), estimate(given.workload, given.parameters));
  } else {
    Workload even = w;
    const double rounds = std::ceil(now.rounds);
    even.shape.blocks = static_cast<uint64_t>(rounds * now.resident * p.sms);
    Estimate full = estimate(even, p);
    full.cycles = full.overhead + (full.cycles - full.overhead) * static_cast<double>(w.shape.blocks) /
                                      static_cast<double>(even.shape.blocks);
    consider("grid", fmt::format("as much work in blocks that fill every round ({:.2f} now)", now.rounds),
             full);
  }
  std::ranges::sort(changes, {}, &Change::cycles);
  return changes;
}

}  // namespace gpusim::analysis::latency_hidden
