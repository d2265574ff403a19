#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/advice/gathers.h"
#include "analysis/advice/rules.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

constexpr double kSector = 32, kLine = 128;
/// A share of a kernel's transactions or bytes below which no rule speaks of it.
constexpr double kWorthwhile = 0.1;

/// What goes through the memory system in a kernel's accesses to global and local memory.
struct Traffic {
  double load_transactions = 0, store_transactions = 0;  ///< and atomic ones, among the loads
  double load_bytes = 0, store_bytes = 0;                ///< moved
  double load_asked = 0, store_asked = 0;

  [[nodiscard]] double transactions() const { return load_transactions + store_transactions; }
};

bool in_memory(std::string_view c) {
  return is_global(c) || c == "load_local" || c == "store_local" || c == "atom_global";
}

void add(Traffic& t, bool load, double transactions, double moved, double asked) {
  (load ? t.load_transactions : t.store_transactions) += transactions;
  (load ? t.load_bytes : t.store_bytes) += moved;
  (load ? t.load_asked : t.store_asked) += asked;
}

Traffic recorded_traffic(const Facts& f) {
  Traffic t;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (in_memory(c))
      add(t, !c.starts_with("store_"), f.count("transactions", pc), f.count("transferred_bytes", pc),
          f.count("requested_bytes", pc));
  }
  return t;
}

/// Flits of packets that carry these bytes in so many transactions.
double flits(double transactions, double bytes, double header, double flit) {
  if (transactions <= 0) return 0;
  return transactions * std::ceil((header + bytes / transactions) / flit);
}

double ratio(double after, double before) { return before > 0 ? std::min(1.0, after / before) : 1; }

/// Work of the units of memory with other traffic. What an L1 keeps is kept of the rest as well.
void set_traffic(const Facts& f, const Traffic& before, const Traffic& after, Work& work) {
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
  const double asked = ratio(requests(after), requests(before));
  const double replied = ratio(replies(after), replies(before));
  const double transactions = ratio(after.transactions(), before.transactions());
  for (const char* unit :
       {"lsu_port", "coalescer", "l1_tags", "l1_data", "l2_requests", "l2_replies", "tlb_l2", "tlb_walkers"})
    work.scale(unit, transactions);
  for (const char* unit : {"request_in", "request_links", "request_out"}) work.scale(unit, asked);
  for (const char* unit : {"reply_in", "reply_links", "reply_out"}) work.scale(unit, replied);
}

/// Requests that no longer crowd: each partition has as much work as the mean.
void spread_over_partitions(const Facts& f, Work& work) {
  for (auto& [unit, busy] : work.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && (u->place == "partition" || u->place == "channel"))
      busy = std::min(busy, u->mean() * static_cast<double>(f.kernel().cycles));
}

/// DRAM's data bus and rows with other bytes read and written.
void set_dram(const Facts& f, double read, double written, Work& work) {
  const double before = f.counter("dram_read_bytes") + f.counter("dram_write_bytes");
  for (const char* unit : {"dram_bus", "dram_activates"}) work.scale(unit, ratio(read + written, before));
}

/// Transactions and bytes that an operation's accesses need at least.
struct Least {
  double transactions = 0, bytes = 0;
};
Least least_of(const Facts& f, uint64_t pc) {
  const double asked = f.count("requested_bytes", pc), requests = f.executed(pc) * f.requests_per_warp();
  return {std::min(f.count("transactions", pc), std::max(requests, asked / kLine)),
          std::min(f.count("transferred_bytes", pc), std::max(f.executed(pc) * kSector, asked))};
}

}  // namespace

std::optional<Proposal> coalescing(const Facts& f) {
  const Traffic before = recorded_traffic(f);
  const std::vector<bool> scattered = gathers(f);
  const auto can_be_ordered = [&](uint64_t pc) { return is_global(f.op_class(pc)) && !scattered[pc]; };
  Traffic after;
  double requests = 0, moved = 0, sectors = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (!in_memory(c)) continue;
    const double asked = f.count("requested_bytes", pc);
    Least least{f.count("transactions", pc), f.count("transferred_bytes", pc)};
    if (can_be_ordered(pc)) {
      least = least_of(f, pc);
      requests += f.executed(pc);
      sectors += f.count("transferred_bytes", pc) / kSector;
      moved += f.count("transferred_bytes", pc) - least.bytes;
    }
    add(after, !c.starts_with("store_"), least.transactions, least.bytes, asked);
  }
  const double all = before.load_bytes + before.store_bytes;
  if (requests <= 0 ||
      (moved < kWorthwhile * all && after.transactions() > (1 - kWorthwhile) * before.transactions()))
    return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) {
    return can_be_ordered(pc) ? f.count("transactions", pc) - least_of(f, pc).transactions +
                                    (f.count("transferred_bytes", pc) - least_of(f, pc).bytes) / kSector
                              : 0.0;
  });
  if (p.pc == f.operations()) return std::nullopt;
  p.what =
      "let neighbouring lanes access neighbouring words: arrays of fields instead of structures, rows "
      "instead of columns, or a tile in shared memory that turns one into the other";
  p.counter = "sectors per request";
  p.unit = fmt::format("sectors of 32 bytes (at least {:.1f} needed)",
                       least_of(f, p.pc).bytes / kSector / std::max(1.0, f.executed(p.pc)));
  p.value = f.count("transferred_bytes", p.pc) / kSector / std::max(1.0, f.executed(p.pc));
  p.after = f.estimator().recorded();
  set_traffic(f, before, after, p.after);
  p.after.burst = std::max(1.0, p.after.burst * ratio(after.transactions(), before.transactions()));
  // Bytes that DRAM moved beyond those that threads ask for came with sectors that nobody asked for.
  set_dram(f, std::min(f.counter("dram_read_bytes"), std::max(after.load_asked, after.load_bytes)),
           std::min(f.counter("dram_write_bytes"), std::max(after.store_asked, after.store_bytes)), p.after);
  return p;
}

std::optional<Proposal> partition_camping(const Facts& f) {
  constexpr double kCrowded = 1.3;
  const double crowding = f.crowding();
  if (crowding < kCrowded) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) {
    return is_global(f.op_class(pc)) || f.op_class(pc) == "atom_global" ? f.count("transactions", pc) : 0.0;
  });
  if (p.pc == f.operations() || f.op_class(p.pc) == "atom_global") return std::nullopt;
  p.what =
      "make rows longer than a multiple of the partitions' interleaving, or number blocks along a "
      "diagonal, so that all partitions have work at any time";
  p.counter = "requests to the partition that is the busiest at a time";
  p.unit = "times those to the mean one";
  p.value = crowding;
  p.after = f.estimator().recorded();
  spread_over_partitions(f, p.after);
  // SMs take blocks as they are done with others: those that wait for a crowded partition leave theirs to the
  // others, and no longer do then.
  for (auto& [unit, busy] : p.after.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && (u->place == "SM" || u->place == "scheduler"))
      busy = std::min(busy, u->mean() * static_cast<double>(f.kernel().cycles));
  const double even = f.warps() / std::max(1.0, f.sms()) / f.resident_warps();
  p.after.rounds = std::min(p.after.rounds, std::max(1.0, even));
  return p;
}

std::optional<Proposal> shared_reuse(const Facts& f) {
  // A thread that loads so often has neighbours that load the same.
  constexpr double kLoads = 8;
  const bool cached = f.machine().l1.bytes != 0 && f.machine().l1.cache_global;
  const double loads = f.sum("executed", [&](uint64_t pc) { return f.op_class(pc) == "load_global"; });
  const double asked = f.sum("requested_bytes", [&](uint64_t pc) { return f.op_class(pc) == "load_global"; });
  // Values that go on to shared memory are shared already.
  const double stored = f.sum("executed", [&](uint64_t pc) { return f.op_class(pc) == "store_shared"; });
  const double per_warp = std::max(0.0, loads - stored) / f.warps();
  if (per_warp < kLoads || f.warps_per_block() < 2) return std::nullopt;
  // With caches, DRAM reads each value once: if threads ask for no more than that, nothing is reused.
  if (f.machine().l2.bytes != 0 && asked < 4 * f.counter("dram_read_bytes")) return std::nullopt;
  const double reuse = std::min(f.warps_per_block(), per_warp);
  Proposal p;
  p.pc = f.largest(
      [&](uint64_t pc) { return f.op_class(pc) == "load_global" ? f.count("transferred_bytes", pc) : 0.0; });
  p.what = fmt::format(
      "load what the warps of a block have in common once, into a tile in shared memory "
      "(here a value can serve {:.0f} warps)",
      reuse);
  p.counter = "loads of global memory by a warp";
  p.unit = "loads";
  p.value = per_warp;
  p.after = f.estimator().recorded();
  const Traffic before = recorded_traffic(f);
  Traffic after = before;
  const auto of_loads = [&](std::string_view column) {
    return f.sum(column, [&](uint64_t pc) { return f.op_class(pc) == "load_global"; });
  };
  after.load_transactions -= of_loads("transactions") * (1 - 1 / reuse);
  after.load_bytes -= of_loads("transferred_bytes") * (1 - 1 / reuse);
  set_traffic(f, before, after, p.after);
  if (!cached && f.machine().l2.bytes == 0)
    set_dram(f, f.counter("dram_read_bytes") / reuse, f.counter("dram_write_bytes"), p.after);
  // Every load is one of shared memory then, in as many steps as a warp needs there.
  const double steps =
      loads * 32.0 / f.machine().shared.lanes_per_access * f.machine().shared.cycles_per_access;
  if (const UnitLoad* shared = f.kernel().unit("shared"))
    p.after.units["shared"] += steps / static_cast<double>(std::max<uint64_t>(1, shared->instances));
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.op_class(pc) == "load_global")
      p.after.chain[pc] =
          std::min(p.after.chain[pc],
                   p.after.chain[pc] / reuse + f.executed(pc) / f.warps() * f.latency("load_shared"));
  return p;
}

namespace {

/// Sectors over which `lanes` random accesses are spread if they use `distinct` of them on average.
double sectors_of_random(double distinct, double lanes) {
  constexpr double kMost = 1 << 20;
  constexpr int kSteps = 60;
  double least = distinct, most = kMost;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = std::sqrt(least * most);
    (middle * (1 - std::pow(1 - 1 / middle, lanes)) < distinct ? least : most) = middle;
  }
  return least;
}

/// Sectors that all atomics of a kernel use: what random accesses would need to spread so over the sectors of
/// a request, and no fewer than there are partitions that have as much to do as the busiest.
double sectors_of_results(const Facts& f, double executed, double lanes, double sectors) {
  const UnitLoad* unit = f.kernel().unit("l2_atomics");
  const double partitions = unit == nullptr || unit->peak() <= 0
                                ? 1
                                : static_cast<double>(unit->instances) * unit->mean() / unit->peak();
  return std::max({1.0, partitions, sectors_of_random(std::max(1.0, sectors / executed), lanes / executed)});
}

}  // namespace

std::optional<Proposal> atomics(const Facts& f) {
  constexpr double kBusy = 0.3;
  if (f.busy("l2_atomics") < kBusy) return std::nullopt;
  const auto is_atomic = [&](uint64_t pc) { return f.op_class(pc) == "atom_global"; };
  const double executed = f.sum("executed", is_atomic), lanes = f.sum("active_lanes", is_atomic);
  const double sectors = f.sum("transferred_bytes", is_atomic) / kSector;
  if (executed <= 0 || lanes <= 0) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return is_atomic(pc) ? f.count("active_lanes", pc) : 0.0; });
  p.counter = "atomics in the busiest memory partition";
  p.unit = "% of the time";
  p.value = 100 * f.busy("l2_atomics");
  p.after = f.estimator().recorded();
  const double lanes_each = lanes / executed;
  constexpr double kOneWord = 1.1;
  if (sectors <= kOneWord * executed && lanes_each > 2) {
    p.what = fmt::format(
        "add up the {:.0f} lanes of a warp first, by shuffles, and let one of them do the "
        "atomic operation",
        lanes_each);
    p.after.scale("l2_atomics", 1 / lanes_each);
    p.after.chain[p.pc] +=
        executed / f.warps() * std::log2(lanes_each) * (f.latency("warp") + f.latency("fp32"));
    return p;
  }
  // Each word of the results has a place in the shared memory of each block.
  const double results = sectors_of_results(f, executed, lanes, sectors);
  const double shared_bytes = static_cast<double>(f.resources().shared_bytes) + results * kSector;
  if (shared_bytes > static_cast<double>(f.machine().shared.bytes)) return std::nullopt;
  p.what =
      "collect each block's results in shared memory with its atomics, and add them to global memory "
      "once, at the block's end";
  // Where that is not much less than there is now, it takes as few blocks as use all SMs: blocks that end
  // together also add the same words at the same time.
  constexpr double kWorth = 0.5;
  const double now = std::max(sectors, f.sum("atomic_words", is_atomic));
  double blocks = f.blocks();
  if (blocks * results > kWorth * now) {
    if (f.sms() * results > kWorth * now) return std::nullopt;
    blocks = f.sms();
    p.what += fmt::format(
        ", with one large block for each of the {:.0f} SMs, which does the work of several of the present "
        "ones "
        "in a loop",
        f.sms());
  }
  const Traffic before = recorded_traffic(f);
  Traffic after = before;
  after.load_transactions -= f.sum("transactions", is_atomic);
  after.load_bytes -= f.sum("transferred_bytes", is_atomic);
  const double atomics_of_busiest = p.after.units["l2_atomics"];
  spread_over_partitions(f, p.after);  // it is the atomics that crowd
  p.after.units["l2_atomics"] = atomics_of_busiest;
  set_traffic(f, before, after, p.after);
  // A partition takes a step for each sector, and one more for each lane that finds its word taken. At its
  // end a block adds its results, which lie side by side.
  p.after.scale("l2_atomics", std::min(1.0, blocks * results / now));
  // Those of the last blocks, which end together, run beside nothing.
  p.after.tail = p.after.units["l2_atomics"] / p.after.rounds;
  p.after.units["l2_atomics"] -= p.after.tail;
  // A step for each lane whose bank another one uses as well: for random words some three of 32.
  constexpr double kRandomSteps = 3;
  const double instances = f.kernel().unit("shared") != nullptr
                               ? static_cast<double>(f.kernel().unit("shared")->instances)
                               : f.sms();
  p.after.units["shared"] += executed * kRandomSteps * f.machine().shared.cycles_per_access / instances;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (is_atomic(pc)) p.after.chain[pc] = executed / f.warps() * f.latency("atom_shared");
  return p;
}

std::optional<Proposal> bank_conflicts(const Facts& f) {
  const auto shared = [&](uint64_t pc) { return is_shared(f.op_class(pc)); };
  const double replays = f.sum("replays", shared), accesses = f.sum("executed", shared);
  if (accesses <= 0 || replays < kWorthwhile * accesses) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return shared(pc) ? f.count("replays", pc) : 0.0; });
  p.what =
      "let the lanes of a warp use words of different banks: rows of an odd number of words, or "
      "neighbouring words for neighbouring lanes";
  p.counter = "further steps of shared memory for each access";
  p.unit = "steps";
  p.value = f.count("replays", p.pc) / std::max(1.0, f.executed(p.pc));
  p.after = f.estimator().recorded();
  const double steps = replays * f.machine().shared.cycles_per_access;
  const std::string pipe = f.pipe_of(f.op_class(p.pc));
  p.after.scale("shared", 1 - steps / std::max(1.0, f.work("shared")));
  if (f.work(pipe) > steps) p.after.scale(pipe, 1 - steps / f.work(pipe));
  return p;
}

std::optional<Proposal> spills(const Facts& f) {
  const auto spilled = [&](uint64_t pc) { return is_spill(f, pc); };
  const double accesses = f.sum("executed", spilled);
  if (accesses <= 0) return std::nullopt;
  Proposal p;
  // The line with most of them: there may be hundreds, and code around them that has no line.
  std::map<SourceLine, double> by_line;
  const auto line_of = [&](uint64_t pc) { return user_line(f.kernel().per_pc, pc); };
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (spilled(pc)) by_line[line_of(pc)] += f.executed(pc);
  if (by_line.size() > 1) by_line[SourceLine{}] = 0;
  p.pc = f.largest([&](uint64_t pc) { return spilled(pc) ? by_line[line_of(pc)] : 0.0; });
  p.what = fmt::format(
      "give a thread more registers (it has {}, and {} values of it are in local memory), "
      "or fewer values that live at the same time",
      f.resources().registers, f.resources().spilled_registers);
  p.counter = "local traffic of spills";
  p.unit = "bytes";
  p.value = f.sum("transferred_bytes", spilled);
  p.after = f.estimator().recorded();
  const Traffic before = recorded_traffic(f);
  Traffic after = before;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!spilled(pc)) continue;
    const bool load = is_load(f.op_class(pc));
    add(after, load, -f.count("transactions", pc), -f.count("transferred_bytes", pc),
        -f.count("requested_bytes", pc));
    p.after.chain[pc] = 0;
    const std::string pipe = f.pipe_of(f.op_class(pc));
    if (f.work(pipe) > 0)
      p.after.scale(pipe, 1 - f.executed(pc) * f.pipe_cycles(f.op_class(pc)) / f.work(pipe));
  }
  set_traffic(f, before, after, p.after);
  p.after.scale("issue", 1 - f.sum("slots_issued", spilled) / std::max(1.0, f.work("issue")));
  LaunchResources more = f.resources();
  more.registers =
      std::min<uint64_t>(f.machine().sm.max_registers_per_thread, more.registers + more.spilled_registers);
  const double before_blocks = f.blocks_per_sm(f.resources()), after_blocks = f.blocks_per_sm(more);
  const double held = f.warps() / std::max(1.0, f.sms());
  if (before_blocks > after_blocks && after_blocks > 0)
    p.after.rounds *=
        std::max(1.0, std::min(f.resident_warps(), held) / (after_blocks * f.warps_per_block()));
  return p;
}

}  // namespace gpusim::analysis::advice
