#include "study/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/process/child_process.h"
#include "simcore/text/units.h"
#include "study/prove_meaning.h"

namespace gpusim::study {

namespace {

/// Keys that change together; "latency.*" stands for all keys of a section.
struct Resource {
  std::string_view name;
  double factor;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> otherwise{};  ///< keys instead, where the machine cannot have the others
  double least = 0;                           ///< no value becomes smaller: the range of the keys ends there
  /// Times that are so many cycles of a clock, and are written as times: they change with it.
  std::vector<std::string_view> cycles{};
};

constexpr double kTwice = 2, kHalf = 0.5;

const std::vector<Resource>& resources() {
  // A rate is doubled where the machine has one: the clock of a domain (times in ns stay what they are), the
  // width of a port, the cycles of a pipe. Caches keep their sets, so that their index reaches all of them.
  static const std::vector<Resource> all = {
      {"cycles between issue slots", kHalf, {"scheduler.issue_cycles"}},
      {"schedulers with their pipes", kTwice, {"scheduler.count"}},
      {"registers", kTwice, {"sm.registers"}},
      {"resident warps with their registers",
       kTwice,
       {"sm.max_warps", "sm.max_threads", "sm.max_blocks", "sm.registers"}},
      {"arithmetic latencies",
       kHalf,
       {"latency.int",
        "latency.int64",
        "latency.int_mul24",
        "latency.int_mul",
        "latency.int_mul_wide",
        "latency.int_mul64",
        "latency.int_div_u32",
        "latency.int_div_s32",
        "latency.int_div64",
        "latency.bit_count",
        "latency.fp32",
        "latency.fp32_mul",
        "latency.half",
        "latency.fp32_div",
        "latency.fp32_div_rn",
        "latency.fp32_sqrt_rn",
        "latency.fp32_rcp_rn",
        "latency.sfu_rcp",
        "latency.sfu_rsqrt",
        "latency.sfu_sqrt",
        "latency.sfu_sin",
        "latency.fp64",
        "latency.fp64_div",
        "latency.fp64_sqrt",
        "latency.cvt",
        "latency.cvt64",
        "latency.mma_half",
        "latency.warp",
        "latency.shared_operand",
        "scheduler.guard_latency",
        "scheduler.memory_latency",
        "scheduler.sfu_latency",
        "scheduler.other_pipe_latency"}},
      {"latency of branches", kHalf, {"latency.branch", "latency.call", "latency.reconverge"}},
      {"time of barriers", kHalf, {"latency.barrier"}},
      {"time of fences", kHalf, {"latency.fence", "latency.fence_block"}},
      {"latency of shared memory",
       kHalf,
       {"latency.load_shared", "latency.store_shared", "latency.atom_shared"}},
      {"banks of shared memory", kTwice, {"shared.banks"}},
      {"cycles of an access to shared memory", kHalf, {"shared.cycles_per_access"}},
      {"cycles of a transaction in the coalescer", kHalf, {"coalescer.cycles_per_transaction"}},
      {"load/store queue", kTwice, {"lsu.queue"}},
      {"store buffer", kTwice, {"lsu.store_buffer"}},
      {"misses on their way (MSHRs)", kTwice, {"lsu.mshrs", "l1.mshrs", "l1.merges"}},
      {"L1 size", kTwice, {"l1.size", "l1.ways"}, {"l1.size"}},
      {"L1 lines looked up at once", kTwice, {"l1.tag_lines"}},
      {"L1 latency", kHalf, {"l1.latency"}},
      {"constant caches",
       kTwice,
       {"constant.l1_size", "constant.l1_ways", "constant.l2_size", "constant.l2_ways", "constant.mshrs"}},
      {"texture caches",
       kTwice,
       {"texture.l1_size", "texture.l1_ways", "texture.l2_size", "texture.l2_ways"}},
      {"interconnect and L2 clock", kTwice, {"clocks.interconnect"}},
      {"width of interconnect ports", kTwice, {"interconnect.flit", "interconnect.reply_flit"}},
      {"interconnect latency", kHalf, {"interconnect.request_latency", "interconnect.reply_latency"}},
      {"L2 size", kTwice, {"l2.size", "l2.ways"}, {"l2.size"}},
      {"L2 misses on their way", kTwice, {"l2.mshrs", "l2.merges"}},
      {"cycles of an atomic operation in L2",
       kHalf,
       {"l2.atomic_cycles", "l2.atomic_float_cycles", "l2.atomic_access_cycles"},
       {},
       0.1},
      {"cycles of a sector in the data of the L2",
       kHalf,
       {"l2.read_cycles", "l2.write_cycles", "l2.fill_cycles"}},
      {"L2 latency", kHalf, {"l2.latency", "l2.hit_latency"}},
      {"TLB reach", kTwice, {"tlb.l1_entries", "tlb.l2_entries"}},
      {"latency of translation", kHalf, {"tlb.l2_latency", "tlb.walk_latency", "tlb.table_latency"}},
      // As soon as the bus has passed a burst, it takes the next one.
      {"DRAM clock", kTwice, {"clocks.dram"}, {}, 0, {"dram.ccd", "dram.ccd_l"}},
      {"times of DRAM rows",
       kHalf,
       {"dram.rcd", "dram.rp", "dram.ras", "dram.rc", "dram.rrd", "dram.rrd_l", "dram.faw"}},
      {"DRAM banks", kTwice, {"dram.banks"}},
      {"DRAM queue", kTwice, {"dram.queue"}},
      {"DRAM latency", kHalf, {"dram.latency"}},
      {"overhead of starting the kernel and its blocks",
       kHalf,
       {"gpu.launch_cycles", "gpu.block_start_cycles", "gpu.block_interval"},
       {"gpu.launch_cycles", "gpu.block_start_cycles"}},
      {"SMs", kTwice, {"gpu.sms"}},
  };
  return all;
}

/// section.key -> value, of all keys that the machine has.
std::map<std::string, std::string> values_of(const core::MachineConfig& machine) {
  std::map<std::string, std::string> values;
  const std::string text = core::show_machine(machine, false);
  std::string section;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1);
    const size_t equals = line.find(" = ");
    if (equals == std::string_view::npos) continue;
    std::string_view key = line.substr(0, equals), value = line.substr(equals + 3);
    while (key.ends_with(' ')) key.remove_suffix(1);
    if (value.starts_with('"') && value.size() >= 2) value = value.substr(1, value.rfind('"') - 1);
    values[section.empty() ? std::string(key) : section + "." + std::string(key)] = value;
  }
  return values;
}

std::vector<std::string> sets_of(const std::map<std::string, std::string>& values, double factor,
                                 const std::vector<std::string>& keys, double least = 0) {
  std::vector<std::string> sets;
  for (const std::string& key : keys) {
    const auto at = values.find(key);
    if (at == values.end()) continue;
    if (at->second == "0" && key == keys.front()) return {};  // the machine does not have it
    std::string value = scaled(at->second, factor);
    if (value == at->second) continue;
    double number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number); number < least)
      value = core::format_real(least);
    if (value != at->second) sets.push_back(key + "=" + value);
  }
  return sets;
}

/// Times in ns, at another clock.
std::vector<std::string> times_at_clock(const std::map<std::string, std::string>& values, double factor,
                                        const std::vector<std::string_view>& keys) {
  std::vector<std::string> sets;
  for (const std::string_view key : keys) {
    const auto at = values.find(std::string(key));
    double ns = 0;
    if (at == values.end()) continue;
    std::from_chars(at->second.data(), at->second.data() + at->second.size(), ns);
    if (ns > 0) sets.push_back(fmt::format("{}={}ns", key, core::format_real(ns / factor)));
  }
  return sets;
}

std::vector<std::string> texts(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

void add_change(std::vector<Change>& changes, Change change) {
  if (!change.sets.empty()) changes.push_back(std::move(change));
}

/// Operations of each pipe: "pipes.lsu" -> keys of their cycles.
std::map<std::string, std::vector<std::string>> pipes_of(const std::map<std::string, std::string>& values) {
  std::map<std::string, std::vector<std::string>> pipes;
  for (const auto& [key, value] : values)
    if (key.starts_with("pipes.")) {
      const std::string section = key.substr(0, key.rfind('.'));
      if (key != section + ".per_scheduler") pipes[section].push_back(key);
    }
  return pipes;
}

std::string effect(double factor) { return std::string(factor > 1 ? kTwiceAsMuch : kHalfAsMuch); }

/// Takes the alternative where the machine cannot have the change itself.
void choose_possible(Change& change, const std::string& text, const std::string& name) {
  if (change.otherwise.empty()) return;
  try {
    (void)core::parse_machine(text, name, change.sets);
  } catch (const core::InputError&) {
    change.sets = change.otherwise;
  }
}

/// Why a change is refused, in one line and without the option that nobody has given.
std::string reason_of(std::string_view text) {
  constexpr std::string_view kError = "error: ", kHint = "\n  hint: ";
  if (const size_t at = text.find(kError); at != std::string_view::npos)
    text.remove_prefix(at + kError.size());
  std::string reason = core::first_line(text);
  if (const size_t at = text.find(kHint); at != std::string_view::npos)
    reason += fmt::format("; {}", core::first_line(text.substr(at + kHint.size())));
  return reason;
}

uint64_t run_cycles(comp::SimulationOptions options) {
  options.events = core::EventLevel::kOff;
  options.out.clear();
  options.threads = 0;
  options.on_progress = {};
  options.on_warning = {};
  comp::Simulation simulation(std::move(options));
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete)
    throw core::InputError(result.reason.empty() ? "interrupted" : result.reason);
  uint64_t cycles = 0;
  for (const comp::KernelResult& k : result.kernels) cycles += k.cycles;
  return cycles;
}

}  // namespace

std::string scaled(std::string_view text, double factor) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return std::string(text);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const bool whole = std::string_view(text.data(), end).find_first_of(".eE") == std::string_view::npos;
  if (factor < 1 && whole && unit.empty()) {
    // Cycles: there is none shorter than one.
    const double less = std::max(1.0, std::floor(number * factor));
    return less == number ? std::string(text) : fmt::format("{}", static_cast<int64_t>(less));
  }
  const double value = number * factor;
  if (whole && value == std::floor(value)) return fmt::format("{}{}", static_cast<int64_t>(value), unit);
  return core::format_real(value) + std::string(unit);
}

std::vector<Change> changes_of(const core::MachineConfig& machine) {
  const std::map<std::string, std::string> values = values_of(machine);
  std::vector<Change> changes;
  // Each pipe: all operations of it take half as long.
  for (const auto& [section, keys] : pipes_of(values)) {
    add_change(changes, {pipe_change(section.substr(section.find('.') + 1)),
                         effect(kHalf),
                         sets_of(values, kHalf, keys),
                         {}});
    // No operation takes less than a cycle. A pipe that all schedulers share can be there for each of them.
    const bool quick = std::ranges::any_of(keys, [&](const auto& key) { return values.at(key) == "1"; });
    const bool shared = !values.contains(section + ".per_scheduler");
    if (quick && shared && machine.scheduler.count > 1)
      add_change(changes, {fmt::format("{} pipe for each scheduler", section.substr(6)),
                           fmt::format("x {}", machine.scheduler.count),
                           {section + ".per_scheduler=true"},
                           {}});
  }
  for (const Resource& r : resources()) {
    if (machine.l1.bytes == 0 && r.keys.front().starts_with("l1.")) continue;
    std::vector<std::string> sets = sets_of(values, r.factor, texts(r.keys), r.least);
    if (!sets.empty())
      std::ranges::move(times_at_clock(values, r.factor, r.cycles), std::back_inserter(sets));
    add_change(changes, {std::string(r.name), effect(r.factor), std::move(sets),
                         sets_of(values, r.factor, texts(r.otherwise))});
  }
  const bool some_bits = machine.l2.hash == core::PartitionHash::kModulo || machine.l2.hash_bits != 0;
  if (some_bits && machine.l2.partitions > 1)
    add_change(changes,
               {"partitions of addresses", std::string(kAnotherHash), {"l2.hash=xor", "l2.hash_bits=0"}, {}});
  return changes;
}

std::vector<Shortest> shortest_of(const core::MachineConfig& machine) {
  const std::map<std::string, std::string> values = values_of(machine);
  std::vector<Shortest> shortest;
  const auto is_one = [&](const std::string& key) {
    const auto at = values.find(key);
    return at != values.end() && at->second == "1";
  };
  for (const auto& [section, keys] : pipes_of(values))
    if (std::ranges::any_of(keys, is_one))
      shortest.push_back(
          {pipe_change(section.substr(section.find('.') + 1)), std::ranges::all_of(keys, is_one)});
  for (const Resource& r : resources())
    if (r.factor < 1 && r.least == 0 && is_one(std::string(r.keys.front())) &&
        sets_of(values, r.factor, texts(r.keys)).empty())
      shortest.push_back({std::string(r.name), true});
  return shortest;
}

Proof prove(const comp::SimulationOptions& run, unsigned parallel, std::optional<uint64_t> recorded,
            const OnProved& on_proved, const std::function<bool()>& stop) {
  Proof proof;
  proof.shortest = shortest_of(run.machine);
  std::vector<Change> changes = changes_of(run.machine);
  const std::string text = core::show_machine(run.machine, false);
  for (Change& change : changes) choose_possible(change, text, run.machine.gpu.name);
  std::vector<std::function<std::string()>> works;
  works.emplace_back([&run] { return std::to_string(run_cycles(run)); });
  for (const Change& change : changes)
    works.emplace_back([&run, &text, &change] {
      comp::SimulationOptions options = run;
      options.machine = core::parse_machine(text, run.machine.gpu.name, change.sets);
      // Of a machine with more SMs all take part; a run that was limited to some keeps to twice as many.
      if (options.machine.gpu.sms != run.machine.gpu.sms && options.sms != 0) options.sms *= 2;
      return std::to_string(run_cycles(std::move(options)));
    });
  size_t done = 0;
  // An unchanged run that is another one makes the others worthless: it ends them.
  const auto check_unchanged = [&](size_t work, const core::ChildAnswer& answer) {
    if (on_proved) on_proved(++done, works.size());
    if (work != 0) return;
    if (!answer.good) throw core::InputError(fmt::format("the run cannot be repeated: {}", answer.text));
    proof.cycles = std::stoull(answer.text);
    if (recorded && proof.cycles != *recorded)
      throw core::InputError(fmt::format(
          "gpusim: error: --prove: the repeated run takes {} cycles where {} are recorded\n  hint: "
          "files that the launch file reads have changed since, or another build of gpusim "
          "recorded it: record it again",
          proof.cycles, *recorded));
  };
  const std::vector<core::ChildAnswer> answers =
      core::run_in_children(works, parallel, check_unchanged, stop);
  if (!answers.front().ended) {
    proof.missing = changes.size();
    return proof;
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!answers[i + 1].ended) {
      ++proof.missing;
      continue;
    }
    Gain gain{changes[i], {}, 0, 1};
    if (answers[i + 1].good) {
      gain.cycles = std::stoull(answers[i + 1].text);
      gain.factor =
          static_cast<double>(gain.cycles) / static_cast<double>(std::max<uint64_t>(proof.cycles, 1));
    } else {
      gain.refused = reason_of(answers[i + 1].text);
    }
    proof.gains.push_back(std::move(gain));
  }
  std::ranges::stable_sort(proof.gains, [](const Gain& a, const Gain& b) {
    if (a.refused.empty() != b.refused.empty()) return a.refused.empty();
    return a.refused.empty() && a.cycles < b.cycles;
  });
  return proof;
}

}  // namespace gpusim::study
