#include "analysis/advice/facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "analysis/advice/turns.h"
#include "analysis/profile/polling.h"
#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

/// The longest waits of a kind that make up so much of all of them are waits of their own; the others overlap
/// these.
constexpr double kOwnWaits = 0.95;
/// Units behind the interconnect, one for each partition: only these crowd.
constexpr std::array<std::string_view, 7> kPartitionUnits{
    "request_out", "reply_in", "l2_requests", "l2_replies", "l2_data", "l2_atomics", "dram_bus"};

double core_cycles(const core::MachineConfig& m, double ns) {
  return ns * 1e-6 * static_cast<double>(m.clocks.core_khz);
}

bool is_memory_load(std::string_view c) { return c == "load_global" || c == "load_local"; }

}  // namespace

bool is_global(std::string_view c) { return c == "load_global" || c == "store_global"; }
bool is_load(std::string_view c) { return c.starts_with("load_"); }
bool is_shared(std::string_view c) { return c.ends_with("_shared") || c == "shared_operand"; }
bool is_spill(const Facts& facts, uint64_t pc) { return analysis::is_spill(facts.kernel().per_pc, pc); }

Facts::Facts(const KernelRecord& kernel, const core::MachineConfig& machine, LaunchResources resources,
             std::string_view ptx, BlockLives lives)
    : kernel_(kernel),
      machine_(machine),
      resources_(resources),
      lives_(lives),
      ptx_(ptx),
      origins_(origins_of(kernel, ptx)),
      estimator_(recorded_work(ptx), static_cast<double>(kernel.cycles)) {
  find_uses(ptx);
  polls_.assign(operations(), false);
  for (const PollingLoop& loop : polling_loops(kernel))
    std::fill(polls_.begin() + static_cast<int64_t>(loop.first),
              polls_.begin() + static_cast<int64_t>(loop.last) + 1, true);
  turns_follow_ = turns_of(kernel, ptx).follow_each_other;
  shared_out_ =
      holds_up_ && !turns_of(kernel, ptx, [&](uint64_t pc) { return holds_up_block(pc); }).follow_each_other;
}

std::string_view Facts::op_class(uint64_t pc) const { return text_cell(kernel_.per_pc, "class", pc); }

PtxStatement Facts::statement(uint64_t pc) const {
  return parse_statement(text_cell(kernel_.per_pc, "ptx", pc));
}

double Facts::count(std::string_view column, uint64_t pc) const {
  return kernel_.per_pc.has(column) ? static_cast<double>(kernel_.per_pc[column][pc]) : 0;
}

double Facts::sum(std::string_view column, const std::function<bool(uint64_t)>& chosen) const {
  double all = 0;
  for (uint64_t pc = 0; pc < operations(); ++pc)
    if (chosen(pc)) all += count(column, pc);
  return all;
}

uint64_t Facts::largest(const std::function<double(uint64_t)>& value) const {
  uint64_t at = operations();
  double most = 0;
  for (uint64_t pc = 0; pc < operations(); ++pc)
    if (const double v = value(pc); v > most) most = v, at = pc;
  return at;
}

double Facts::counter(std::string_view name) const {
  const auto at = kernel_.counters.find(name);
  return at == kernel_.counters.end() ? 0 : at->second;
}

double Facts::warps() const { return std::max(1.0, counter("warps")); }
double Facts::warps_per_block() const { return std::ceil(static_cast<double>(resources_.threads) / 32); }
double Facts::blocks() const { return std::max(1.0, warps() / std::max(1.0, warps_per_block())); }

double Facts::block_width() const {
  uint64_t threads = 0;
  const std::string& block = kernel_.block;
  std::from_chars(block.data(), block.data() + block.size(), threads);
  return static_cast<double>(threads > 0 ? threads : resources_.threads);
}

double Facts::resident_warps() const {
  if (!kernel_.per_sm.has("active_cycles")) return 1;
  double warp_cycles = 0, cycles = 0;
  for (uint64_t row = 0; row < kernel_.per_sm.rows; ++row) {
    warp_cycles += static_cast<double>(kernel_.per_sm["active_warp_cycles"][row]);
    cycles += static_cast<double>(kernel_.per_sm["active_cycles"][row]);
  }
  return cycles > 0 ? std::max(1.0, warp_cycles / cycles) : 1;
}

double Facts::most_warps() const {
  double most = 0;
  for (uint64_t row = 0; kernel_.per_sm.has("warps") && row < kernel_.per_sm.rows; ++row)
    most = std::max(most, static_cast<double>(kernel_.per_sm["warps"][row]));
  return most > 0 ? most : warps() / std::max(1.0, sms());
}

double Facts::places() const {
  constexpr double kStarts = 0.5;
  const UnitLoad* dispatcher = kernel_.unit("dispatcher");
  const double held = blocks_per_sm(resources_) * warps_per_block();
  // Of the SMs that took most warps: others have places that nothing came for.
  const Table& of = kernel_.per_sm;
  double warp_cycles = 0, cycles = 0;
  for (uint64_t row = 0; of.has("warps") && of.has("active_cycles") && row < of.rows; ++row)
    if (static_cast<double>(of["warps"][row]) >= most_warps()) {
      warp_cycles += static_cast<double>(of["active_warp_cycles"][row]);
      cycles += static_cast<double>(of["active_cycles"][row]);
    }
  const double resident = cycles > 0 ? std::max(1.0, warp_cycles / cycles) : resident_warps();
  // Places are empty while blocks start one after the other: warps then follow each other at that pace, which
  // is work of the dispatcher, and not because an SM has no room.
  return dispatcher != nullptr && dispatcher->peak() > kStarts ? std::max(held, resident) : resident;
}

double Facts::memory_share() const {
  double memory = 0, lost = 0;
  for (const CauseSlots& c : kernel_.causes) {
    // While a pipe is busy, it does what the estimate counts as its work.
    if (c.name == "issued" || c.name == "no_warp" || c.name == "launch" || c.name == "pipe_busy") continue;
    lost += static_cast<double>(c.slots);
    if ((c.name.starts_with("memory_") && c.name != "memory_shared") || c.name == "drain")
      memory += static_cast<double>(c.slots);
  }
  return lost > 0 ? memory / lost : 0;
}

double Facts::behind_dram(const Work& work) const {
  constexpr double kNone = 0.01;  // too few waits to say what for
  const auto waits = [&](std::string_view unit) {
    const UnitLoad* u = kernel_.unit(unit);
    return u == nullptr ? 0 : std::sqrt(u->peak() * u->mean());
  };
  const double all = waits("lsu_wait_network");
  if (all <= kNone) return work.fullest_of_dram() >= work.fullest_of_ways() ? 1 : 0;
  const double passed_on = waits("l2_wait_dram_queue") + waits("l2_wait_mshr") + waits("l2_wait_merge");
  return std::min(1.0, passed_on / all);
}

double Facts::blocks_per_sm(const LaunchResources& other) const {
  return isa::compute_occupancy(core::occupancy_limits(machine_), static_cast<int>(other.threads),
                                static_cast<int>(other.registers), static_cast<int64_t>(other.shared_bytes))
      .blocks_per_sm;
}

double Facts::more_warps(const LaunchResources& other) const {
  const double threads = static_cast<double>(resources_.threads) * blocks_per_sm(resources_);
  const double changed = static_cast<double>(other.threads) * blocks_per_sm(other);
  if (threads <= 0 || changed <= 0) return 1;
  const double there = warps() / std::max(1.0, sms());
  return std::max(1.0, std::min(changed / threads, there / resident_warps()));
}

double Facts::busy(std::string_view unit) const {
  const auto at = estimator_.recorded().units.find(unit);
  if (at == estimator_.recorded().units.end()) return 0;
  const double at_the_end = unit == "l2_atomics" ? estimator_.recorded().tail : 0;
  return (at->second + at_the_end) / static_cast<double>(kernel_.cycles);
}

double Facts::work(std::string_view unit) const {
  const UnitLoad* u = kernel_.unit(unit);
  return u == nullptr ? 0 : static_cast<double>(u->busy);
}

double Facts::pipe_cycles(std::string_view op_class) const {
  for (const auto& pipe : machine_.pipes)
    if (const auto at = pipe.interval.find(std::string(op_class)); at != pipe.interval.end())
      return static_cast<double>(at->second);
  return 0;
}

std::string Facts::pipe_of(std::string_view op_class) const {
  for (const auto& pipe : machine_.pipes)
    if (pipe.interval.contains(std::string(op_class))) return "pipe_" + pipe.name;
  return {};
}

double Facts::latency(std::string_view op_class) const {
  const auto at = machine_.latency.find(std::string(op_class));
  return at == machine_.latency.end() ? 0 : static_cast<double>(at->second);
}

double Facts::crowding_with_atomics() const { return analysis::crowding(kernel_, machine_); }

double Facts::crowding() const { return requests_without_atomics(kernel_, machine_).crowding; }

bool Facts::awaited(uint64_t pc) const {
  return count("awaited_memory_l1", pc) + count("awaited_memory_l2", pc) + count("awaited_memory_dram", pc) >
         0;
}

bool Facts::merges(uint64_t pc) const {
  if (op_class(pc) != "atom_global" || origin(pc).of_data || executed(pc) <= 0) return false;
  // What an atomic returns is the place of something in a list: no result that could be added up first.
  if (awaited(pc)) return false;
  for (uint64_t later = pc + 1; later < operations(); ++later)
    if (executed(later) > 0 && (op_class(later) == "load_global" || op_class(later) == "barrier"))
      return false;
  const auto before = [&](uint64_t other) {
    return other < pc && (op_class(other) == "load_global" || is_shared(op_class(other)));
  };
  const auto is_atomic = [&](uint64_t other) { return op_class(other) == "atom_global"; };
  bool collects = false;
  for (uint64_t other = 0; other < pc && !collects; ++other)
    collects = executed(other) > 0 &&
               (op_class(other) == "barrier" || (before(other) && executed(other) >= 2 * executed(pc)));
  return collects && 2 * sum("executed", is_atomic) <= sum("executed", before);
}

double Facts::requests_per_warp() const {
  return machine_.coalescer.rule == core::CoalescingRule::kCc20 ? 1 : 2;
}

void Facts::find_own_waits() {
  for (const char* column :
       {"awaited_memory_l1", "awaited_memory_l2", "awaited_memory_dram", "slots_alu_dependency",
        "slots_memory_shared", "slots_barrier", "slots_fence", "slots_control"}) {
    std::vector<double> slots;
    for (uint64_t pc = 0; pc < operations(); ++pc) slots.push_back(count(column, pc));
    std::ranges::sort(slots, std::ranges::greater{});
    const double all = std::accumulate(slots.begin(), slots.end(), 0.0);
    double seen = 0, least = 0;
    for (size_t i = 0; i < slots.size() && seen < kOwnWaits * all; ++i) seen += least = slots[i];
    own_waits_[column] = least;
  }
}

double Facts::memory_wait(bool from_dram) const {
  const core::MachineConfig& m = machine_;
  const double network = core_cycles(m, m.interconnect.request_latency_ns + m.interconnect.reply_latency_ns);
  return network + m.l1.latency +
         core_cycles(m, from_dram ? m.l2.latency_ns + m.dram.latency_ns + m.dram.rcd_ns + m.dram.cl_ns
                                  : m.l2.hit_latency_ns);
}

void Facts::find_groups(std::string_view ptx) {
  const std::map<std::string, std::set<std::string>> unnamed = unnamed_results(kernel_, ptx);
  std::set<std::string> on_their_way;
  uint64_t group = 0;
  std::optional<uint64_t> leader;
  for (uint64_t pc = 0; pc < operations(); ++pc) {
    const std::string& text = text_cell(kernel_.per_pc, "ptx", pc);
    const size_t address = is_memory_load(op_class(pc)) ? text.find('[') : 0;
    // Of a load, only its address is a use of what was loaded before.
    std::set<std::string> read = registers_of(std::string_view(text).substr(std::min(address, text.size())));
    add_unnamed(unnamed, read);
    const size_t used = std::erase_if(on_their_way, [&](const std::string& r) { return read.contains(r); });
    if (op_class(pc) == "branch") on_their_way.clear();
    const bool loads = is_memory_load(op_class(pc)) && executed(pc) > 0;
    const bool next = used > 0 || op_class(pc) == "branch";
    group += next;
    groups_.push_back(group);
    if (next || !leader) leader = loads ? std::optional(pc) : std::nullopt;
    leaders_.push_back(leader.value_or(pc));
    if (loads) on_their_way.merge(registers_of(std::string_view(text).substr(0, address)));
  }
}

void Facts::find_uses(std::string_view ptx) {
  const std::map<std::string, std::set<std::string>> unnamed = unnamed_results(kernel_, ptx);
  uses_data_.assign(operations(), false);
  std::set<std::string> loaded;
  for (bool more = true; more;) {
    more = false;
    for (uint64_t pc = 0; pc < operations(); ++pc) {
      const std::string& text = text_cell(kernel_.per_pc, "ptx", pc);
      const bool load = op_class(pc) == "load_global", stores = op_class(pc).starts_with("store_");
      const size_t behind = text.find(stores ? ' ' : ',');
      if (!load && behind != std::string::npos) {
        std::set<std::string> read = registers_of(std::string_view(text).substr(behind));
        add_unnamed(unnamed, read);
        uses_data_[pc] = std::ranges::any_of(read, [&](const std::string& r) { return loaded.contains(r); });
      }
      if (!load && (!uses_data_[pc] || stores)) continue;
      for (const std::string& r :
           registers_of(std::string_view(text).substr(0, std::min(behind, text.find('[')))))
        more |= loaded.insert(r).second;
    }
  }
}

void Facts::find_result_latencies(std::string_view ptx) {
  constexpr double kAsOften = 0.5;  // what is computed once for all turns of a loop is there before them
  const std::map<std::string, std::set<std::string>> unnamed = unnamed_results(kernel_, ptx);
  std::map<std::string, std::vector<uint64_t>> definitions;
  std::vector<std::set<std::string>> read(operations());
  for (uint64_t pc = 0; pc < operations(); ++pc) {
    const std::string_view text = text_cell(kernel_.per_pc, "ptx", pc);
    const bool has_result = !op_class(pc).starts_with("store_") && op_class(pc) != "branch";
    const size_t behind = has_result ? std::min(text.find(','), text.size()) : 0;
    read[pc] = registers_of(text.substr(behind));
    add_unnamed(unnamed, read[pc]);
    if (has_result)
      for (const std::string& r : registers_of(text.substr(0, behind))) definitions[r].push_back(pc);
  }
  for (uint64_t pc = 0; pc < operations(); ++pc) {
    double longest = 0;
    for (const std::string& r : read[pc]) {
      const auto at = definitions.find(r);
      if (at == definitions.end()) continue;
      // The last one before it, or, of a value that a loop hands on, the last one of the turn before.
      const auto next = std::ranges::lower_bound(at->second, pc);
      const uint64_t from = next == at->second.begin() ? at->second.back() : *std::prev(next);
      if (is_memory_load(op_class(from)) || executed(from) < kAsOften * executed(pc)) continue;
      // What stands between them is executed meanwhile.
      const double between = from < pc ? static_cast<double>(pc - from - 1) : 0;
      longest = std::max(longest, latency(op_class(from)) - between * issue_cycles());
    }
    result_latencies_.push_back(longest > 0 ? longest : latency(op_class(pc > 0 ? pc - 1 : pc)));
  }
}

double Facts::share_of_wait(uint64_t pc) const {
  const auto slots = [&](uint64_t at) {
    return count("awaited_memory_dram", at) + count("awaited_memory_l2", at) + count("awaited_memory_l1", at);
  };
  if (!is_memory_load(op_class(pc))) return 1;
  double all = 0;
  const auto [first, last] = std::equal_range(groups_.begin(), groups_.end(), groups_[pc]);
  for (auto at = first; at != last; ++at)
    if (const auto other = static_cast<uint64_t>(at - groups_.begin()); is_memory_load(op_class(other)))
      all += slots(other);
  return all > 0 ? slots(pc) / all : 1;
}

double Facts::wait(uint64_t pc) const {
  const auto waited = [&](const char* column) {
    const double slots = count(column, pc);
    return slots > 0 && slots >= own_waits_.find(column)->second;
  };
  // Some executions find their data near, others far: each waited as long as it takes from there, so the
  // slots tell how many were which.
  double slots = 0, times = 0;
  const auto add = [&](const char* column, double once) {
    if (!waited(column) || once <= 0) return;
    slots += count(column, pc);
    times += count(column, pc) / once;
  };
  add("awaited_memory_dram", memory_wait(true));
  add("awaited_memory_l2", memory_wait(false));
  add("awaited_memory_l1", machine_.l1.latency);
  // No more waits than executions: what the L1 is said to have may be a line on its way, for which others
  // wait as well.
  if (waited("awaited_memory_l1"))
    times =
        std::min(times, executed(pc) / std::max(1.0, static_cast<double>(machine_.scheduler.issue_cycles)));
  double wait = times > 0 ? share_of_wait(pc) * slots / times : 0;
  if (wait > 0) wait += latency(op_class(pc));
  // Waits for results are counted where they are waited for.
  if (waited("slots_alu_dependency"))
    wait += result_latencies_[pc];
  else
    wait += machine_.scheduler.issue_cycles;
  if (waited("slots_memory_shared")) wait += latency("load_shared");
  if (waited("slots_barrier")) wait += latency("barrier");
  if (waited("slots_fence")) wait += fence_before(pc);
  if (waited("slots_control")) wait += latency("branch");
  return wait;
}

double Facts::fence_before(uint64_t pc) const {
  if (pc == 0 || !op_class(pc - 1).starts_with("fence") || count("slots_fence", pc) <= 0) return 0;
  return std::max(latency(op_class(pc - 1)), memory_wait(false));
}

double Facts::first_page() const {
  const UnitLoad* waits = kernel_.unit("lsu_wait_page");
  if (waits == nullptr) return 0;
  const double walk = core_cycles(machine_, machine_.tlb.l2_latency_ns + machine_.tlb.walk_latency_ns);
  return std::min(waits->mean() * static_cast<double>(kernel_.cycles), walk);
}

bool Facts::by_single_lanes(uint64_t pc) const {
  return executed(pc) > 0 && op_class(pc) != "branch" && count("active_lanes", pc) == executed(pc);
}

void Facts::find_held_up() {
  constexpr double kMuch = 0.1;
  double all = 0, single = 0;
  bool waited_for = false, one = false;
  for (uint64_t pc = 0; pc < operations(); ++pc) {
    all += executed(pc);
    waited_for = waited_for || (op_class(pc) == "barrier" && executed(pc) > 0);
    if (!by_single_lanes(pc)) continue;
    single += executed(pc);
    one = one || executed(pc) <= blocks();
  }
  holds_up_ = waited_for && one && single >= kMuch * all;
}

Work Facts::recorded_work(std::string_view ptx) {
  find_held_up();
  find_own_waits();
  find_groups(ptx);
  find_result_latencies(ptx);
  Work work;
  const double cycles = static_cast<double>(kernel_.cycles);
  work.start = std::min(cycles, machine_.gpu.launch_cycles +
                                    static_cast<double>(machine_.gpu.block_start_cycles) + first_page());
  const double crowded = crowding(), with_atomics = crowding_with_atomics();
  for (const UnitLoad& u : kernel_.units) {
    if (!does_work(u.unit) || u.unit == "dram_rows" || u.unit == "dram_turnarounds" ||
        u.unit == "dram_refresh" || u.unit == "copy_engine")
      continue;  // the last is beside the kernel
    double share = u.peak();
    if (std::ranges::find(kPartitionUnits, u.unit) != kPartitionUnits.end())
      share = std::max(share, u.mean() * (u.unit == "dram_bus" ? crowded : with_atomics));
    if (u.unit == "dram_bus")
      if (const UnitLoad* refresh = kernel_.unit("dram_refresh")) share /= std::max(0.5, 1 - refresh->mean());
    work.units[u.unit] = std::min(share * cycles, std::max(0.0, cycles - work.start));
  }
  // Rows that are opened: a bank at a time, and no more of them in a channel than its limits of current
  // allow.
  const auto& dram = machine_.dram;
  const double channels = std::max(1.0, static_cast<double>(machine_.l2.partitions) * dram.channels);
  const double each_row =
      std::max({dram.rc_ns / std::max<double>(1, dram.banks), dram.rrd_ns, dram.faw_ns / 4});
  const double rows = core_cycles(machine_, counter("dram_activates") / channels * each_row);
  work.units["dram_activates"] = std::min(rows, std::max(0.0, cycles - work.start));
  // An SM in which loads of constants have no room among the misses of their cache does nothing else: what
  // their results are needed for waits.
  const auto resident = static_cast<double>(kernel_.total_slots() - kernel_.idle_slots());
  if (const double no_room =
          sum("slots_memory_throttle", [&](uint64_t pc) { return op_class(pc) == "load_const"; });
      no_room > 0 && resident > 0)
    work.units["constant_misses"] = std::min(1.0, no_room / resident) * std::max(0.0, cycles - work.start);
  for (uint64_t pc = 0; pc < operations(); ++pc) {
    // A warp does its share of all operations. What one of its block does while the others stand at a
    // barrier they all wait for.
    const double once = wait(pc), each = executed(pc) / (holds_up_block(pc) ? blocks() : warps());
    work.chain.push_back(once * each);
    work.longest = std::max(work.longest, once * std::min(1.0, each));
  }
  const double most = most_warps();
  work.rounds = std::max(1.0, most / places());
  work.memory_share = memory_share();
  work.behind_dram = behind_dram(work);
  // Blocks that are done together add their results together, beside nothing else.
  const auto is_atomic = [&](uint64_t pc) { return op_class(pc) == "atom_global"; };
  if (const double all = sum("executed", is_atomic); all > 0) {
    const double merged = sum("executed", [&](uint64_t pc) { return merges(pc); });
    const double held = blocks_per_sm(resources_) * warps_per_block();
    work.tail = work.units["l2_atomics"] * merged / all / std::max(1.0, held > 0 ? most / held : work.rounds);
    // Where loads of other blocks go on meanwhile, the atomics run beside these: no more of them run beside
    // nothing than there is time in which SMs have no warp or warps that wait at these atomics, or in which
    // their load/store units wait for the interconnect.
    if (const auto slots = static_cast<double>(kernel_.total_slots()); slots > 0) {
      double idle = static_cast<double>(kernel_.slots_of("no_warp") + kernel_.slots_of("drain"));
      for (uint64_t pc = 0; pc < operations(); ++pc)
        if (merges(pc))
          idle += count("slots_memory_throttle", pc) + count("awaited_memory_l1", pc) +
                  count("awaited_memory_l2", pc) + count("awaited_memory_dram", pc);
      const UnitLoad* queued = kernel_.unit("lsu_wait_network");
      const double share = idle / slots + (queued != nullptr ? queued->mean() : 0);
      work.tail = std::min(work.tail, cycles * std::min(1.0, share));
    }
    if (const double atomics = work.units["l2_atomics"]; atomics > 0)
      for (const char* port : {"request_out", "reply_in", "l2_requests", "l2_replies"})
        // What the partition of the atomics has beyond others is theirs, and as much of that is in the tail.
        if (const UnitLoad* u = kernel_.unit(port)) {
          double& busy = work.units[port];
          busy -= std::max(0.0, busy - u->mean() * cycles) * work.tail / atomics;
        }
    work.units["l2_atomics"] -= work.tail;
  }
  const auto in_memory = [&](uint64_t pc) {
    return is_global(op_class(pc)) || op_class(pc) == "atom_global";
  };
  const double accesses = sum("executed", in_memory);
  if (accesses > 0) work.burst = std::max(1.0, sum("transactions", in_memory) / accesses);
  return work;
}

}  // namespace gpusim::analysis::advice
