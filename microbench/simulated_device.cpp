#include "microbench/simulated_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "components/simulation/simulation.h"
#include "simcore/memory/small_pages.h"
#include "simcore/process/child_process.h"

namespace gpusim::microbench {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw core::InputError(fmt::format("gpusim: error: microbenchmark: {}", what));
}

core::LaunchDescription describe(const Program& p) {
  core::LaunchDescription d;
  d.path = "microbenchmark";
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    core::BufferSpec b;
    b.name = fmt::format("buffer{}", i);
    b.type = core::ElementType::kU32;
    b.count = p.buffers[i].bytes / 4;
    if (!p.buffers[i].content.empty()) {
      b.init.given = true;
      b.init.kind = core::InitSpec::Kind::kArray;
      for (const uint32_t v : p.buffers[i].content) b.init.values.push_back(core::Number::of(v));
      b.init.values.resize(b.count, core::Number::of(0));
    }
    d.buffers.push_back(std::move(b));
  }
  for (const Launch& l : p.launches) {
    core::LaunchSpec s;
    s.kernel = l.kernel;
    s.grid[0] = l.blocks;
    s.block[0] = l.threads;
    s.dynamic_shared = l.shared_bytes;
    s.order = static_cast<uint32_t>(d.launches.size());
    for (const Argument& a : l.arguments) {
      core::ArgumentSpec argument;
      argument.kind = a.is_buffer ? core::ArgumentSpec::Kind::kBuffer : core::ArgumentSpec::Kind::kNumber;
      argument.buffer = static_cast<uint32_t>(a.value);
      argument.number = core::Number::of(static_cast<int64_t>(a.value));
      s.arguments.push_back(std::move(argument));
    }
    d.launches.push_back(std::move(s));
  }
  return d;
}

/// What a child answers: the launches' seconds, then the buffers that are read back.
std::string simulate(const Program& program, const core::MachineConfig& machine) {
  core::prefer_small_pages();  // probes touch a line here and there
  comp::SimulationOptions o;
  o.machine = machine;
  o.ptx_name = "microbenchmark";
  o.ptx_text = program.ptx;
  o.launch = describe(program);
  o.sms = program.sms;
  o.lowering = isa::LoweringLevel::kSchedule;  // what programs run with
  comp::Simulation simulation(std::move(o));
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete) throw core::InputError(result.reason);
  std::string answer;
  for (const comp::KernelResult& k : result.kernels)
    answer.append(reinterpret_cast<const char*>(&k.time_s), sizeof k.time_s);
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].read_back) continue;
    const auto content = simulation.buffer(i);
    answer.append(reinterpret_cast<const char*>(content.data()), content.size());
  }
  return answer;
}

Outcome outcome_of(const core::ChildAnswer& answer, const Program& program) {
  if (!answer.good) fail(answer.text);
  Outcome outcome;
  const char* p = answer.text.data();
  const char* const end = p + answer.text.size();
  const auto take = [&](void* to, size_t bytes) {
    if (bytes > static_cast<size_t>(end - p)) fail("the simulation's answer is cut off");
    if (bytes != 0) std::memcpy(to, p, bytes);
    p += bytes;
  };
  outcome.seconds.resize(program.launches.size());
  take(outcome.seconds.data(), outcome.seconds.size() * sizeof(double));
  for (const Buffer& b : program.buffers) {
    outcome.buffers.emplace_back(b.read_back ? b.bytes / 4 : 0);
    take(outcome.buffers.back().data(), outcome.buffers.back().size() * 4);
  }
  return outcome;
}

DeviceProperties properties_of(const core::MachineConfig& m) {
  DeviceProperties p;
  p.capability = static_cast<int>(m.gpu.compute_capability);
  p.sms = m.gpu.sms;
  p.threads_per_block = m.sm.max_threads_per_block;
  p.warps_per_sm = m.sm.max_warps;
  p.shared_bytes = m.shared.bytes;
  p.memory_bytes = static_cast<uint64_t>(m.memory_bytes);
  p.core_hz = static_cast<double>(m.clocks.core_khz) * 1e3;
  return p;
}

}  // namespace

SimulatedDevice::SimulatedDevice(core::MachineConfig machine, unsigned parallel)
    : machine_(std::move(machine)), properties_(properties_of(machine_)), parallel_(std::max(parallel, 1u)) {}

std::vector<Outcome> SimulatedDevice::run(std::span<const Program> programs) {
  std::vector<std::function<std::string()>> works;
  for (const Program& p : programs) works.emplace_back([&p, this] { return simulate(p, machine_); });
  const std::vector<core::ChildAnswer> answers = core::run_in_children(works, parallel_);
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < programs.size(); ++i) outcomes.push_back(outcome_of(answers[i], programs[i]));
  runs_ += programs.size();
  return outcomes;
}

}  // namespace gpusim::microbench
