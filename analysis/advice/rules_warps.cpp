#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "analysis/advice/advise.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/ptx_registers.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

constexpr uint64_t kUsualBlock = 256;  ///< threads

/// How much more the busiest scheduler has to do than the mean one, when warps have loops of different length
/// instead of the lanes of a warp. `full`: active lanes of an operation in the loop, as a share. The lengths
/// are taken to be spread evenly up to the longest, to which the mean one is as `full` to 1.
double uneven_schedulers(const Facts& f, double full) {
  const double schedulers = f.sms() * f.machine().scheduler.count;
  const double deviation = (1 - full) / (full * std::sqrt(3.0));
  const double each = f.warps() / schedulers;
  if (each <= 0 || schedulers < 2) return 1;
  // Blocks start where others have ended, which evens out all but the last round.
  const double alike =
      std::max(1.0, each / std::max(1.0, std::min(each, f.resident_warps() / f.machine().scheduler.count)));
  // The largest of so many normally distributed sums lies so many deviations above their mean.
  const double logs = std::sqrt(2 * std::log(schedulers));
  const double largest =
      logs - (std::log(std::log(schedulers)) + std::log(4 * std::numbers::pi)) / (2 * logs);
  return std::min(1 / full, 1 + largest * deviation / std::sqrt(each) / alike);
}

/// Of each operation the lanes that come there, as a share of 32: the most that are active in one of those
/// that are executed with it, one after another. Fewer are active where a predicate of their own leaves some
/// out.
std::vector<double> lanes_there(const Facts& f) {
  const auto parts = [&](uint64_t pc) { return f.op_class(pc) == "branch" || f.op_class(pc) == "exit"; };
  std::vector<double> lanes(f.operations(), 0);
  for (uint64_t first = 0, end = 0; first < f.operations(); first = end) {
    double most = 0;
    for (end = first; end < f.operations() && f.executed(end) == f.executed(first); ++end) {
      if (end > first && parts(end - 1)) break;
      if (!parts(end))
        most = std::max(most, f.count("active_lanes", end) / 32 / std::max(1.0, f.executed(end)));
    }
    std::fill(lanes.begin() + static_cast<int64_t>(first), lanes.begin() + static_cast<int64_t>(end),
              std::min(1.0, most));
  }
  return lanes;
}

/// Waits of a warp that goes one way through the kernel, the longest one, and through its loops as often as
/// now; those of all operations where the program's text is not there.
std::vector<double> chain_of_longest_way(const Facts& f) {
  const std::vector<double>& chain = f.estimator().recorded().chain;
  const std::vector<std::string> statements = statements_of(f.ptx(), f.kernel().name);
  const auto labels = labels_of(f.ptx(), f.kernel().name);
  std::map<std::string_view, double> waits;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    waits[text_cell(f.kernel().per_pc, "ptx", pc)] += chain[pc];
  // From the end: what is left to wait from each statement on, and which way that is.
  const size_t n = statements.size();
  std::vector<double> left(n + 1, 0);
  std::vector<size_t> next(n, n);
  for (size_t i = n; i-- > 0;) {
    const std::string_view text = statements[i];
    const std::string_view bare = text.starts_with('@') ? text.substr(text.find(' ') + 1) : text;
    const bool branches = bare.starts_with("bra"), ends = bare.starts_with("ret") || bare.starts_with("exit");
    const auto target = branches ? labels.find(text.substr(text.rfind(' ') + 1)) : labels.end();
    const bool ahead = target != labels.end() && target->second > i;
    // A branch back closes a loop, which goes on behind it in the end.
    next[i] = ends && bare == text ? n : ahead && bare == text ? target->second : i + 1;
    if (ahead && left[target->second] > left[next[i]]) next[i] = target->second;
    const auto own = waits.find(text);
    left[i] = left[next[i]] + (own == waits.end() ? 0 : own->second);
  }
  if (n == 0 || left[0] <= 0) return chain;
  std::set<std::string_view> on_way;
  for (size_t i = 0; i < n; i = next[i]) on_way.insert(statements[i]);
  const std::set<std::string_view> known(statements.begin(), statements.end());
  std::vector<double> longest = chain;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (const std::string_view text = text_cell(f.kernel().per_pc, "ptx", pc);
        known.contains(text) && !on_way.contains(text))
      longest[pc] = 0;
  return longest;
}

/// Active lanes, as a share, in front of the branch at which most warps diverge. Few lanes come to the branch
/// of a loop that the others have left; all come to one between two ways.
double lanes_at_branch(const Facts& f, uint64_t branch, const std::vector<double>& lanes) {
  for (uint64_t pc = branch; pc-- > 0;)
    if (f.op_class(pc) != "branch" && f.executed(pc) > 0) return std::clamp(lanes[pc], 1.0 / 32, 1.0);
  return 1;
}

std::optional<Proposal> more_blocks(const Facts& f, const LaunchResources& other) {
  const double more = f.more_warps(other);
  Proposal p;
  p.pc = f.operations();
  p.counter = "resident warps of an SM";
  p.unit = fmt::format("warps (limited by {}; an SM holds {})", f.kernel().occupancy_limiter,
                       f.machine().sm.max_warps);
  p.value = f.resident_warps();
  p.after = f.estimator().recorded();
  p.after.rounds = std::max(1.0, p.after.rounds / more);
  if (p.after.rounds >= f.estimator().recorded().rounds) return std::nullopt;
  return p;
}

/// Turns of the loop of one thread of a block that the compiler has made one: it stores at as many places
/// beside each other.
double unrolled_turns(const Facts& f) {
  std::map<std::string, double> stores;  // by the register of the place
  double most = 1;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!f.op_class(pc).starts_with("store_") || !f.holds_up_block(pc)) continue;
    for (const std::string_view r : registers_in(f.statement(pc).address))
      most = std::max(most, ++stores[std::string(r)]);
  }
  return most;
}

}  // namespace

std::optional<Proposal> occupancy(const Facts& f) {
  const std::string& limiter = f.kernel().occupancy_limiter;
  LaunchResources other = f.resources();
  if (limiter == "registers")
    other.registers = 1;
  else if (limiter == "shared memory")
    other.shared_bytes = 0;
  else
    return std::nullopt;
  auto p = more_blocks(f, other);
  if (p)
    p->what = fmt::format(
        "let a block take less of the SM's {}: {:.0f} blocks of {} threads fit beside each "
        "other, and {:.0f} without this limit",
        limiter, f.blocks_per_sm(f.resources()), other.threads, f.blocks_per_sm(other));
  return p;
}

std::optional<Proposal> more_warps(const Facts& f) {
  // Warps that wait leave slots that others would use, if the launch had them: one for each operation's wait.
  // Where a unit has much to do, it takes a good estimate to say what more warps leave of it.
  const double full = std::abs(f.estimator().own_error()) > kRough ? 0.5 : 0.8;
  constexpr double kLoop = 2;
  const double resident = f.resident_warps();
  const double places = static_cast<double>(f.blocks_per_sm(f.resources())) * f.warps_per_block();
  const double launched = f.warps() / std::max(1.0, f.sms());
  // Another rule speaks of what keeps warps that there are off an SM.
  if (places <= 0 || launched > places || resident <= 0 || f.turns_follow()) return std::nullopt;
  // Loops are those of one thread of a block, which divergence speaks of.
  if (f.can_be_shared_out()) return std::nullopt;
  // More of those that ask for a lock or a flag make no turn shorter.
  if (left_aside_blocks(f)) return std::nullopt;
  const Work& now = f.estimator().recorded();
  const double active = static_cast<double>(f.kernel().cycles) - now.start;
  if (active <= 0 || now.fullest().second > full * active) return std::nullopt;
  const auto issued = static_cast<double>(f.kernel().slots_of("issued"));
  const auto with_warps = static_cast<double>(f.kernel().total_slots() - f.kernel().idle_slots());
  if (issued <= 0) return std::nullopt;
  const double wanted = std::ceil(resident * with_warps / issued);
  // A barrier in a loop keeps a block's threads in the same turn: more threads do not divide those.
  double together = 1;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.op_class(pc) == "barrier") together = std::max(together, f.executed(pc) / f.warps());
  const auto turns = [&](uint64_t pc) { return f.executed(pc) / f.warps() / together; };
  double most = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) most = std::max(most, turns(pc));
  const double warps = std::min(wanted, places), more = std::floor(std::min(warps / launched, most));
  if (more < 2) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return now.chain[pc]; });
  p.after = now;
  double shorter = 0;
  // A thread does so many times fewer turns of its loops; what it does once, so many more do.
  Operations once;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (turns(pc) < kLoop) once[f.op_class(pc)] += f.executed(pc) * (more - 1);
    // What a thread keeps in local memory is fetched again however many threads there are.
    if (turns(pc) < kLoop || f.op_class(pc) == "load_local") continue;
    p.after.chain[pc] *= std::max(1 / more, 1 / turns(pc));
    shorter += now.chain[pc] - p.after.chain[pc];
  }
  if (shorter <= 0) return std::nullopt;
  // Blocks that add results at their end add as many times more if there are more of them.
  std::string larger_blocks;
  double blocks = f.blocks() * more;
  if (f.sum("executed", [&](uint64_t pc) { return f.merges(pc); }) > 0) {
    const auto threads = static_cast<double>(f.resources().threads);
    const double larger =
        std::min(more, std::floor(f.machine().sm.max_threads_per_block / std::max(1.0, threads)));
    larger_blocks = fmt::format(" in blocks of {:.0f}, which each add their results once,", larger * threads);
    blocks /= larger;
    p.after.tail *= more / larger;
    p.after.scale("l2_atomics", more / larger);
  }
  if (blocks >= f.sms()) spread_over_sms(f, p.after);
  add_operations(f, once, p.after);
  p.after.scale("dispatcher", blocks / f.blocks());
  p.what = fmt::format(
      "launch {:.0f} times as many threads,{} each with as many times fewer turns of its loop (or let a "
      "thread "
      "have several independent loads on their way): {:.0f} warps an SM would hide the latency{}",
      more, larger_blocks, wanted, wanted > places ? fmt::format(", and it holds {:.0f}", places) : "");
  p.counter = "warps of the launch for an SM";
  p.unit = fmt::format("warps ({:.0f} fit)", places);
  p.value = launched;
  return p;
}

namespace {

/// Blocks of a usual size, but so many that starting them takes most of the time: each can do the work of
/// several in a loop.
std::optional<Proposal> fewer_blocks(const Facts& f) {
  constexpr double kBusy = 0.5, kRounds = 2;
  const double held = f.sms() * f.blocks_per_sm(f.resources());
  if (f.busy("dispatcher") < kBusy || held <= 0 || f.blocks() < kRounds * held) return std::nullopt;
  Proposal p;
  p.pc = f.operations();
  p.what = fmt::format(
      "start {:.0f} blocks, as many as the SMs hold at a time, and let each take the work of {:.0f} of the "
      "present ones in a loop",
      held, std::ceil(f.blocks() / held));
  p.counter = "starts of blocks";
  p.unit = "% of the time";
  p.value = 100 * f.busy("dispatcher");
  p.after = f.estimator().recorded();
  p.after.scale("dispatcher", held / f.blocks());
  return p;
}

}  // namespace

std::optional<Proposal> block_size(const Facts& f) {
  const double dispatcher = f.busy("dispatcher");
  constexpr double kBusy = 0.3;
  if (f.resources().threads >= kUsualBlock) return fewer_blocks(f);
  if (f.resources().threads == 0) return std::nullopt;
  if (f.kernel().occupancy_limiter != "blocks" && dispatcher < kBusy) return std::nullopt;
  LaunchResources other = f.resources();
  const double larger = static_cast<double>(kUsualBlock) / static_cast<double>(other.threads);
  other.threads = kUsualBlock;
  other.shared_bytes = static_cast<uint64_t>(static_cast<double>(other.shared_bytes) * larger);
  if (f.blocks_per_sm(other) < 1) return std::nullopt;
  auto p = more_blocks(f, other);
  if (!p) {
    p = Proposal{};
    p->pc = f.operations();
    p->after = f.estimator().recorded();
  }
  if (dispatcher >= kBusy) {
    p->counter = "starts of blocks";
    p->unit = "% of the time";
    p->value = 100 * dispatcher;
  }
  p->what = fmt::format("use blocks of {} threads instead of {}", kUsualBlock, f.resources().threads);
  p->after.scale("dispatcher", 1 / larger);
  return p;
}

std::optional<Proposal> wave_quantisation(const Facts& f) {
  constexpr double kUneven = 0.9;
  const Table& sms = f.kernel().per_sm;
  if (!sms.has("inst_executed") || !sms.has("warps") || sms.rows == 0) return std::nullopt;
  double all = 0, most = 0;
  for (uint64_t row = 0; row < sms.rows; ++row) {
    const auto executed = static_cast<double>(sms["inst_executed"][row]);
    all += executed;
    most = std::max(most, executed);
  }
  const double even = most > 0 ? all / static_cast<double>(sms.rows) / most : 1;
  if (even >= kUneven) return std::nullopt;
  Proposal p;
  p.pc = f.operations();
  p.what = f.blocks() < f.sms()
               ? fmt::format("launch at least a block for each of the {:.0f} SMs (there are {:.0f})", f.sms(),
                             f.blocks())
               : fmt::format(
                     "divide the work into smaller blocks, or into a multiple of what all SMs hold "
                     "({:.0f} blocks; {:.0f} at a time)",
                     f.blocks(), f.sms() * f.blocks_per_sm(f.resources()));
  p.counter = "operations of the mean SM, for those of the busiest";
  p.unit = "%";
  p.value = 100 * even;
  p.after = f.estimator().recorded();
  // Whole warps: the busiest of so many places has one more than others.
  const auto best = [&](double places) {
    const double mean = f.warps() / places;
    return std::min(1.0, even * std::ceil(mean) / mean);
  };
  for (auto& [unit, work] : p.after.units) {
    const UnitLoad* u = f.kernel().unit(unit);
    if (u == nullptr) continue;
    if (u->place == "SM") work *= best(f.sms());
    if (u->place == "scheduler") work *= best(f.sms() * f.machine().scheduler.count);
    // A port of several SMs has what they all send.
    if (u->place == "cluster") work = std::min(work, u->mean() * static_cast<double>(f.kernel().cycles));
  }
  // A warp takes as long as before: those that are resident together are no fewer rounds elsewhere.
  p.after.rounds = std::max(1.0, p.after.rounds * best(f.sms()));
  // One block that is much longer than others takes as long as well, but for its waits for pipes that others
  // of its SM use. Blocks that are alike are long because of each other, and of their own warps; where each
  // has an SM of its own, because of their own warps alone, and smaller ones are quicker by what these wait
  // for pipes and issue slots of each other.
  constexpr double kLong = 2;
  const bool apart = f.blocks() <= f.sms();
  if (!apart && f.lives().longest < kLong * f.lives().mean) return p;
  const auto slots = [&](uint64_t n) { return static_cast<double>(n); };
  const double resident = slots(f.kernel().total_slots() - f.kernel().idle_slots());
  const double each = apart ? std::max(1.0, f.warps_per_block() / f.machine().scheduler.count) : 1;
  const double shared =
      slots(f.kernel().slots_of("pipe_busy")) + slots(f.kernel().slots_of("issued")) * (1 - 1 / each);
  const double alone = resident > 0 ? 1 - shared / resident : 1;
  p.after.least = std::min(slots(f.kernel().cycles), p.after.start + f.lives().longest * alone);
  return p;
}

namespace {

/// Without a branch that parts warps lanes are idle under predicates: short branches became these, and all
/// warps execute both of their ways; or lanes have left early.
std::optional<Proposal> idle_under_predicates(const Facts& f) {
  // Lanes without a thread are idle whatever the data are.
  const double threads = static_cast<double>(f.resources().threads) / std::max(1.0, f.warps_per_block());
  const double width = threads > 0 ? threads : 32;
  const auto used = [&](uint64_t pc) {
    const std::string_view c = f.op_class(pc);
    const double executed = f.executed(pc), active = f.count("active_lanes", pc);
    // What one lane does for its warp is done once for each warp in any order of the data.
    if (active <= executed || c == "branch" || c == "exit" || c == "barrier") return 1.0;
    return std::min(1.0, active / width / executed);
  };
  double executed = 0, idle = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    executed += f.executed(pc);
    idle += (1 - used(pc)) * f.executed(pc);
  }
  if (executed <= 0 || idle < kWorthwhile * executed) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return (1 - used(pc)) * f.executed(pc); });
  p.what =
      "let all lanes of a warp have the same to do, and branch around the rest by the warp: order the data "
      "by "
      "what is to be done with them. No branch parts warps here, but operations of both ways are executed "
      "under predicates, or lanes have left early";
  p.counter = "lanes with work in an operation";
  p.unit = fmt::format("of {:.0f}", width);
  p.value = width * (1 - idle / executed);
  p.after = f.estimator().recorded();
  std::map<std::string, double> less;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    less[f.pipe_of(f.op_class(pc))] += (1 - used(pc)) * f.executed(pc) * f.pipe_cycles(f.op_class(pc));
    less["issue"] += (1 - used(pc)) * f.count("slots_issued", pc) * f.issue_cycles();
    p.after.chain[pc] *= used(pc);
  }
  // A branch goes around each piece of code that few lanes are in.
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (used(pc) >= 1 || (pc > 0 && used(pc - 1) < 1)) continue;
    less[f.pipe_of("branch")] -= f.executed(pc) * f.pipe_cycles("branch");
    less["issue"] -= f.executed(pc) * f.issue_cycles();
    p.after.chain[pc] += f.executed(pc) / f.warps() * f.latency("branch");
  }
  for (const auto& [unit, work] : less)
    if (f.work(unit) > 0) p.after.scale(unit, 1 - work / f.work(unit));
  return p;
}

}  // namespace

std::optional<Proposal> divergence(const Facts& f) {
  constexpr double kFull = 0.9;
  // Branches count the lanes that take them, and operations without a lane were not to be executed.
  const auto counted = [&](uint64_t pc) {
    const std::string_view c = f.op_class(pc);
    return f.count("active_lanes", pc) > 0 && c != "branch" && c != "exit" && c != "barrier" && !f.polls(pc);
  };
  if (f.counter("divergent_branch") <= 0) return idle_under_predicates(f);
  // Lanes part where some get a lock and others do not.
  if (const auto blocks = left_aside_blocks(f); blocks && tries_to_lock(f, blocks->pc)) return std::nullopt;
  const std::vector<double> there = lanes_there(f);
  double executed = 0, lanes = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (counted(pc)) executed += f.executed(pc), lanes += f.executed(pc) * there[pc];
  if (executed <= 0 || lanes > kFull * executed) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return f.polls(pc) ? 0.0 : f.count("divergent", pc); });
  p.what =
      "let all lanes of a warp take the same way: order the data by what is to be done with them, or "
      "decide by the warp instead of the lane";
  p.counter = "lanes that come to an operation";
  p.unit = "of 32";
  p.value = 32 * lanes / executed;
  p.after = f.estimator().recorded();
  // Turns of a loop that one thread of a block goes through for all can be turns of as many threads.
  const double threads = 32 * f.warps_per_block(), together = unrolled_turns(f);
  const auto left_of_turns = [&](uint64_t pc) {
    if (!f.can_be_shared_out() || !f.holds_up_block(pc)) return 1.0;
    return 1 / std::clamp(together * f.executed(pc) / f.blocks(), 1.0, threads);
  };
  double held_up = 0;
  // Shares of what the operations need by themselves: that their registers lie in one bank goes with them.
  std::map<std::string, double> less, all;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const double turns = left_of_turns(pc);
    const double full = turns < 1     ? std::max(turns, 1.0 / 32)
                        : counted(pc) ? there[pc]
                        : f.polls(pc) ? 1
                                      : lanes / executed;
    if (turns < 1) held_up += f.executed(pc);
    const double cycles = f.executed(pc) * f.pipe_cycles(f.op_class(pc)), slots = f.count("slots_issued", pc);
    less[f.pipe_of(f.op_class(pc))] += (1 - full) * cycles;
    all[f.pipe_of(f.op_class(pc))] += cycles;
    less["issue"] += (1 - full) * slots;
    all["issue"] += slots;
    p.after.chain[pc] *= std::min(full, turns);
  }
  if (held_up > executed / 2)
    p.what =
        "let all threads of a block take part in what one of them does while the others wait at a barrier, "
        "such as each another turn of its loop";
  const double uneven = p.pc < f.operations() ? uneven_schedulers(f, lanes_at_branch(f, p.pc, there)) : 1;
  for (const auto& [unit, work] : less)
    if (all.at(unit) > 0) p.after.scale(unit, (1 - work / all.at(unit)) * uneven);
  // However the data are ordered, a warp that goes the longest way waits as often as now.
  Work alone = f.estimator().recorded();
  alone.units.clear();
  alone.chain = chain_of_longest_way(f);
  for (uint64_t pc = 0; pc < f.operations(); ++pc) alone.chain[pc] *= left_of_turns(pc);
  alone.rounds = 1;
  alone.tail = 0;
  p.after.least = f.estimator().cycles(alone);
  return p;
}

}  // namespace gpusim::analysis::advice
