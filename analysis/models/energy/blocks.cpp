#include "analysis/models/energy/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/models/energy/clock_parts.h"
#include "analysis/models/energy/pem.h"
#include "analysis/models/reuse_distance/coalescer.h"

namespace gpusim::analysis::energy {
namespace {

constexpr uint64_t kWord = 4;  ///< bytes of an element

double divide_up(uint64_t a, uint64_t b) {
  const uint64_t quotient = (a + b - 1) / b;
  return static_cast<double>(quotient);
}

double counter(const KernelRecord& kernel, std::string_view name) {
  const auto at = kernel.counters.find(name);
  return at == kernel.counters.end() ? 0 : at->second;
}

/// Words and transactions that operations of a class move.
struct Moved {
  double words = 0, transactions = 0;
};

Moved moved_by(const KernelRecord& kernel, std::string_view op_class) {
  Moved sum;
  const auto classes = kernel.per_pc.texts.find("class");
  if (classes == kernel.per_pc.texts.end()) return sum;
  for (uint64_t i = 0; i < kernel.per_pc.rows; ++i) {
    if (classes->second[i] != op_class) continue;
    sum.words += static_cast<double>(kernel.per_pc["requested_bytes"][i]) / 4;
    sum.transactions += static_cast<double>(kernel.per_pc["transactions"][i]);
  }
  return sum;
}

/// Share of the operations that warps execute less often than there are tiles.
double fixed_share(const KernelRecord& kernel, double tiles) {
  const double warps = counter(kernel, "warps");
  double fixed = 0, all = 0;
  for (const uint64_t executed : kernel.per_pc["executed"]) {
    const double each = static_cast<double>(executed) / warps;
    all += each;
    // Some warps of the last tile may have nothing to do.
    if (each < tiles / 2) fixed += each;
  }
  return all > 0 ? fixed / all : 1;
}

/// Bytes of the transactions in which a warp gets neighbouring words from `first` on.
double bytes_of_words(core::CoalescingRule rule, uint64_t first) {
  constexpr uint32_t kLine = 128, kSector = 32;
  WarpStep access;
  access.kind = WarpStep::Kind::kAccess;
  access.bytes = kWord;
  access.lanes = ~0U;
  LaneRuns runs;
  runs.append((first - 1) * kWord, kWord, WarpStep::kLanes);
  LineTransactions list;
  ReuseCoalescer(kLine, rule).coalesce(access, runs, 0, list);
  double bytes = 0;
  for (const LineTransaction& t : list) bytes += kSector * std::popcount(t.sectors);
  return bytes;
}

/// The same for one byte that is asked for, where `n` blocks have pieces of `elements` words.
double bytes_of_pieces(core::CoalescingRule rule, uint64_t elements, uint64_t n) {
  // After so many pieces the next ones begin in the same places of transactions.
  constexpr uint64_t kPlaces = 32;
  const uint64_t piece = (elements + n - 1) / n, pieces = std::min(n, kPlaces);
  double sum = 0;
  for (uint64_t block = 0; block < pieces; ++block) sum += bytes_of_words(rule, block * piece);
  return sum / static_cast<double>(pieces * WarpStep::kLanes * kWord);
}

/// Bytes of a kernel's transactions, for one that its threads ask for.
double bytes_moved(const KernelRecord& kernel) {
  double requested = 0, transferred = 0;
  for (uint64_t i = 0; i < kernel.per_pc.rows; ++i) {
    const std::string& of = kernel.per_pc.texts.at("class")[i];
    if (of != "load_global" && of != "store_global") continue;
    requested += static_cast<double>(kernel.per_pc["requested_bytes"][i]);
    transferred += static_cast<double>(kernel.per_pc["transferred_bytes"][i]);
  }
  return requested > 0 ? transferred / requested : 0;
}

}  // namespace

double BlockParts::tiles_with(uint64_t m) const { return divide_up((elements + m - 1) / m, threads); }

double BlockParts::tree_ratio(uint64_t m) const {
  return tree_steps(static_cast<double>(m)) / tree_steps(static_cast<double>(blocks));
}

double BlockParts::occupied_ratio(uint64_t m) const {
  return divided ? static_cast<double>(std::min(m, sms)) / static_cast<double>(std::min(blocks, sms)) : 1;
}

double BlockParts::bytes_ratio(uint64_t m) const {
  if (!in_pieces) return 1;
  return bytes_of_pieces(coalescing, elements, m) / bytes_of_pieces(coalescing, elements, blocks);
}

double BlockParts::seconds_with(uint64_t m) const {
  if (!divided) return launch + fixed_path * tree_ratio(m);
  const double tiles = tiles_with(m);
  const double path = tiles * tile_path + fixed_path, work = tiles * tile_work + fixed_work;
  const double moved = memory * bytes_ratio(m) / static_cast<double>(m);  // by a block
  const auto together = [&](double rounds, uint64_t n) {
    return joint_bound(rounds * path, rounds * work * divide_up(n, sms),
                       rounds * static_cast<double>(n) * moved);
  };
  // What is left for a last round has the SMs for itself.
  const uint64_t left = m % resident;
  const double last = left == 0 ? 0 : together(1, left);
  return launch + scale * (together(static_cast<double>(m / resident), resident) + last);
}

double BlockParts::work_ratio(uint64_t m) const {
  const auto work = [this](uint64_t n) {
    return static_cast<double>(n) * (tiles_with(n) * tile_work + fixed_work);
  };
  return divided ? work(m) / work(blocks) : tree_ratio(m);
}

bool moves_pieces(const KernelRecord& kernel, core::CoalescingRule rule, uint64_t elements, uint64_t blocks) {
  constexpr double kAlike = 0.05;  // a block's sum is read and stored besides
  return std::abs(bytes_moved(kernel) / bytes_of_pieces(rule, elements, blocks) - 1) < kAlike;
}

BlockParts block_parts(const KernelLaunch& run, const Recording& recording, uint64_t m, uint64_t elements) {
  const ClockParts c = clock_parts(recording, run.kernel);
  BlockParts p;
  p.blocks = m;
  p.divided = run.blocks == m;
  p.elements = elements;
  p.threads = recording.attribute(run.kernel.index, "threads_per_block");
  p.sms = std::max<uint64_t>(1, run.kernel.per_sm.rows);
  p.resident = p.sms * std::max<uint64_t>(1, run.kernel.blocks_per_sm);
  p.launch = run.seconds * (c.launch + c.drain);
  p.coalescing = recording.machine().coalescer.rule;
  const bool cached = recording.machine().l1.bytes != 0 || recording.machine().l2.bytes != 0;
  p.in_pieces = p.divided && !cached && moves_pieces(run.kernel, p.coalescing, elements, m);
  p.memory = run.seconds * counter(run.kernel, "dram_bus_utilization");
  // Blocks that begin together live side by side: the time between launch and drain is one life of each
  // round.
  const double life = (run.seconds - p.launch) / divide_up(run.blocks, p.resident);
  const double tiles = p.divided ? p.tiles_with(m) : 0;
  const double fixed = p.divided ? fixed_share(run.kernel, tiles) : 1;
  const double work =
      busiest_unit(run.kernel, recording.machine()) / c.core_hz / static_cast<double>(run.blocks);
  p.fixed_path = fixed * life, p.fixed_work = fixed * work;
  if (tiles > 0) p.tile_path = (1 - fixed) * life / tiles, p.tile_work = (1 - fixed) * work / tiles;
  const double own = p.seconds_with(m) - p.launch;
  if (own > 0) p.scale = (run.seconds - p.launch) / own;
  return p;
}

uint64_t blocks_of(const Run& run) {
  uint64_t most = 0;
  for (const KernelLaunch& k : run.kernels) most = std::max(most, k.blocks);
  if (most < 2)
    throw core::RecordError(fmt::format("'{}': no kernel has more than one block", run.recording->path()));
  return most;
}

BlockPrediction predict_blocks(const Run& base, uint64_t m) {
  const uint64_t own = blocks_of(base);
  const auto elements = static_cast<uint64_t>(counted_steps(base).elements);
  BlockPrediction sum;
  for (const KernelLaunch& k : base.kernels) {
    const BlockParts parts = block_parts(k, *base.recording, own, elements);
    const double seconds = parts.seconds_with(m);
    const core::EnergyAmounts joules =
        scaled_energy(k.joules, base.recording->machine(), {base.clocks, k.seconds}, {base.clocks, seconds});
    for (size_t i = 0; i < joules.size(); ++i) {
      const core::TermInfo& term = core::energy_terms()[i];
      const bool by_work = term.domain == core::PowerDomain::kCore && term.kind == core::TermKind::kEvents;
      const double occupied = term.kind == core::TermKind::kActive ? parts.occupied_ratio(m) : 1;
      const bool by_bytes = term.domain != core::PowerDomain::kCore && term.kind == core::TermKind::kEvents;
      sum.joules[i] +=
          joules[i] * occupied * (by_work ? parts.work_ratio(m) : 1) * (by_bytes ? parts.bytes_ratio(m) : 1);
    }
    sum.seconds += seconds;
  }
  return sum;
}

CountedSteps counted_steps(const Run& run) {
  const uint64_t m = blocks_of(run);
  CountedSteps s;
  for (const KernelLaunch& k : run.kernels) {
    if (k.blocks == m) {
      const Moved read = moved_by(k.kernel, "load_global");
      s.computing += read.words / static_cast<double>(m);
      s.memory += read.transactions / static_cast<double>(m);
      s.elements = moved_by(k.kernel, "store_global").words;
      continue;
    }
    const Table phases = run.recording->events(k.kernel.index, "phase", "summary", {"block"});
    const auto intervals = static_cast<double>(phases.rows) / static_cast<double>(k.blocks);
    s.computing += intervals, s.memory += intervals, s.barriers += intervals - 1;
  }
  return s;
}

}  // namespace gpusim::analysis::energy
