#include "correlate/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "components/simulation/simulation.h"
#include "correlate/profile_counters.h"
#include "simcore/power/energy_terms.h"
#include "simcore/process/child_process.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::correlate {

namespace {

constexpr size_t kClockWords = 3;  // per warp: before, after, unused

/// As many registers as the driver's code took: what is resident at once follows from that. The driver does
/// not read the launch file, so that its limit did not make that code spill.
void take_registers(const HardwareRun& run, core::LaunchDescription& launch) {
  if (!launch.loops.empty()) return;  // which launch of the file a kernel of the recording is, is not known
  size_t first = 0;
  for (core::LaunchSpec& spec : launch.launches) {
    if (first < run.kernels.size() && run.kernels[first].registers != 0) {
      spec.registers_taken = run.kernels[first].registers;
      spec.registers = 0;
    }
    first += spec.repeat;
  }
}

/// Clocks from the first warp's start to the last one's end, from the 32-bit words (before, after, unused) of
/// each warp. -1 if the kernel has no such buffer.
double clock_buffer_of(const comp::Simulation& simulation, const std::string& kernel) {
  const auto& buffers = simulation.options().launch.buffers;
  const auto at =
      std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.name == kernel; });
  if (at == buffers.end() || at->type != core::ElementType::kU32 || at->count == 0 ||
      at->count % kClockWords != 0)
    return -1;
  const std::span<const std::byte> content = simulation.buffer(static_cast<uint32_t>(at - buffers.begin()));
  std::vector<uint32_t> words(at->count);
  std::memcpy(words.data(), content.data(), content.size());
  int64_t first = 0, last = 0;
  for (size_t i = 0; i < words.size(); i += kClockWords) {
    // The counter may pass zero in between: distances from the first warp's start are small.
    first = std::min<int64_t>(first, static_cast<int32_t>(words[i] - words[0]));
    last = std::max<int64_t>(last, static_cast<int32_t>(words[i + 1] - words[0]));
  }
  return static_cast<double>(last - first);
}

double counter_of(const comp::KernelResult& k, std::string_view name) {
  const auto at = std::ranges::find(k.counters, name, &core::Counter::name);
  return at == k.counters.end() ? 0 : at->value;
}

/// What most issue slots of the kernel are lost to. Those without a warp count together, whether the kernel
/// had not begun, had none left or had none here: that is how the stored tables have them.
std::string lost_to(const comp::KernelResult& k) {
  comp::CauseCounts slots = k.total.slots;
  uint64_t all = 0;
  for (const uint64_t n : slots) all += n;
  uint64_t& idle = slots[comp::StallCause::kNoWarp];
  for (const comp::StallCause cause : {comp::StallCause::kLaunch, comp::StallCause::kDrain}) {
    idle += slots[cause];
    slots[cause] = 0;
  }
  slots[comp::StallCause::kIssued] = 0;
  const auto most = std::ranges::max_element(slots);
  if (*most == 0) return "";
  return fmt::format("{} {:.1f} %", comp::kStallCauseNames[static_cast<size_t>(most - slots.begin())],
                     100.0 * static_cast<double>(*most) / static_cast<double>(all));
}

/// What the board draws while nothing runs between two launches: what goes with time whether or not an SM has
/// work.
double standing_joules(const comp::KernelResult& k) {
  double joules = 0;
  for (const core::TermInfo& term : core::energy_terms())
    if (term.kind != core::TermKind::kEvents && term.kind != core::TermKind::kActive)
      joules += counter_of(k, term.counter);
  return joules;
}

/// W on average over the kernels and the pauses that were measured with them.
double average_power(const HardwareRun& run, const std::vector<comp::KernelResult>& kernels) {
  double energy = 0, standing = 0, seconds = 0;
  for (const comp::KernelResult& k : kernels) {
    energy += counter_of(k, "energy");
    standing += standing_joules(k);
    seconds += k.time_s;
  }
  if (seconds <= 0) return 0;
  // Beside a part of the work belongs that part of the pauses.
  const double pauses = run.whole ? run.whole->pause_seconds * run.whole->part : 0;
  return (energy + standing / seconds * pauses) / (seconds + pauses);
}

/// Members of the answer that concern the run as a whole.
std::string whole_members(const HardwareRun& run, const core::MachineConfig& machine,
                          const std::vector<comp::KernelResult>& kernels) {
  const comp::KernelResult* longest = nullptr;
  for (const comp::KernelResult& k : kernels)
    if (longest == nullptr || k.cycles > longest->cycles) longest = &k;
  std::string out = fmt::format(
      "\"core_hz\": {}, \"empty_cycles\": {}, \"gap_cycles\": {}, \"power\": {}, \"stall\": {}, "
      "\"counters\": [",
      1e3 * static_cast<double>(machine.clocks.core_khz),
      machine.gpu.launch_cycles + machine.gpu.block_start_cycles,
      machine.host.launch_gap_ns * 1e-6 * static_cast<double>(machine.clocks.core_khz),
      average_power(run, kernels), core::json_quoted(longest != nullptr ? lost_to(*longest) : ""));
  for (size_t i = 0; i < run.counters.size(); ++i) {
    double value = 0;
    for (const comp::KernelResult& k : kernels) value += profile_counter(run.counters[i].first, k.counters);
    out += fmt::format("{}{}", i == 0 ? "" : ", ", value);
  }
  return out + "]";
}

std::string extents(const comp::Dim3& d) { return fmt::format("[{}, {}, {}]", d.x, d.y, d.z); }

/// What a child answers: a JSON object.
std::string simulate(const HardwareRun& run, const core::MachineConfig& machine, comp::CacheState caches) {
  comp::SimulationOptions o;
  o.machine = machine;
  o.ptx_name = run.ptx;
  o.ptx_text = core::read_text_file(run.ptx, core::kMaxPtxBytes);
  if (!run.ptx_sha256.empty() && core::sha256_hex(o.ptx_text) != run.ptx_sha256)
    throw core::InputError(fmt::format("{} is not the PTX that was measured", run.ptx));
  o.launch = core::load_launch(run.launch, run.params, run.seed);
  for (const std::string& file : o.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  take_registers(run, o.launch);
  o.lowering = isa::LoweringLevel::kSchedule;
  o.caches = caches;
  comp::Simulation simulation(std::move(o));
  comp::SimulationResult result = simulation.run();
  // As the launch file lists them: kernels of several streams may begin in another order.
  std::ranges::stable_sort(result.kernels, {}, &comp::KernelResult::launch);
  if (result.status != comp::SimulationResult::Status::kComplete)
    return fmt::format("{{\"failed\": {}}}", core::json_quoted(result.reason));
  std::string out = "{\"kernels\": [";
  for (size_t i = 0; i < result.kernels.size(); ++i) {
    const comp::KernelResult& k = result.kernels[i];
    out += fmt::format("{}{{\"name\": {}, \"grid\": {}, \"block\": {}, \"cycles\": {}, \"clocks\": {}}}",
                       i == 0 ? "" : ", ", core::json_quoted(k.name), extents(k.grid), extents(k.block),
                       k.cycles, clock_buffer_of(simulation, k.name));
  }
  out += "], \"buffers\": [";
  const core::LaunchDescription& launch = simulation.options().launch;
  const char* separator = "";
  for (uint32_t i = 0; i < launch.buffers.size(); ++i) {
    if (!launch.buffers[i].init.addresses.empty()) continue;  // a real GPU has other addresses
    const auto content = simulation.buffer(i);
    out += fmt::format("{}{{\"name\": {}, \"sha256\": \"{}\"}}", separator,
                       core::json_quoted(launch.buffers[i].name),
                       core::sha256_hex({reinterpret_cast<const char*>(content.data()), content.size()}));
    separator = ", ";
  }
  double flops = 0;
  for (const auto& [name, value] : launch.flops)
    if (name == "total") flops = value;
  return out + fmt::format("], \"flops\": {}, {}}}", flops, whole_members(run, machine, result.kernels));
}

void read_extents(const core::JsonValue& v, std::array<uint32_t, 3>& extents) {
  for (size_t i = 0; i < extents.size(); ++i) extents[i] = static_cast<uint32_t>(v.items[i].number.integer);
}

SimulatedRun read_answer(const HardwareRun& hardware, const core::ChildAnswer& answer) {
  SimulatedRun run;
  if (!answer.good) {
    run.failure = answer.text;
    return run;
  }
  const core::JsonValue v = core::parse_json(answer.text, "simulation");
  if (const core::JsonValue* reason = v.find("failed")) {
    run.failure = reason->text;
    run.program_failed = true;
    return run;
  }
  for (const core::JsonValue& k : v.find("kernels")->items) {
    SimulatedKernel kernel;
    kernel.name = k.find("name")->text;
    read_extents(*k.find("grid"), kernel.grid);
    read_extents(*k.find("block"), kernel.block);
    kernel.cycles = k.find("cycles")->number.as_double();
    kernel.clock_buffer = k.find("clocks")->number.as_double();
    run.kernels.push_back(std::move(kernel));
  }
  for (const core::JsonValue& b : v.find("buffers")->items)
    run.buffers.push_back({b.find("name")->text, b.find("sha256")->text});
  const auto number = [&v](std::string_view name) { return v.find(name)->number.as_double(); };
  run.flops = number("flops");
  run.core_hz = number("core_hz");
  run.empty_cycles = number("empty_cycles");
  run.gap_cycles = number("gap_cycles");
  run.power_w = number("power");
  run.stall = v.find("stall")->text;
  for (size_t i = 0; i < hardware.counters.size(); ++i)
    run.counters.emplace_back(hardware.counters[i].first, v.find("counters")->items[i].number.as_double());
  return run;
}

}  // namespace

std::vector<SimulatedRun> simulate_runs(const HardwareFile& file,
                                        const std::vector<core::MachineConfig>& machines, unsigned parallel) {
  // Power may have been taken with other contents of the caches than the cycles: that is a simulation more.
  struct Job {
    size_t run;
    bool power;
  };
  std::vector<Job> jobs;
  std::vector<std::function<std::string()>> works;
  for (size_t i = 0; i < file.runs.size(); ++i) {
    const HardwareRun& run = file.runs[i];
    if (!run.not_run.empty()) continue;
    const auto add = [&, i](bool power, comp::CacheState caches) {
      jobs.push_back({i, power});
      works.emplace_back([&run, &machine = machines[i], caches] { return simulate(run, machine, caches); });
    };
    add(false, run.caches);
    if (run.power_caches != run.caches) add(true, run.power_caches);
  }
  const std::vector<core::ChildAnswer> answers = core::run_in_children(works, parallel);
  std::vector<SimulatedRun> runs(file.runs.size());
  for (size_t j = 0; j < jobs.size(); ++j) {
    SimulatedRun& run = runs[jobs[j].run];
    SimulatedRun answer = read_answer(file.runs[jobs[j].run], answers[j]);
    if (!jobs[j].power)
      run = std::move(answer);
    else if (run.failure.empty())
      run.power_w = answer.power_w;
  }
  return runs;
}

}  // namespace gpusim::correlate
