#include "microbench/simulated_device.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "components/simulation.h"

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

/// What a child writes: a byte for success, then the answer or a message.
class Pipe {
 public:
  explicit Pipe(int file) : file_(file) {}
  void write(const void* data, size_t bytes) const {
    const char* p = static_cast<const char*>(data);
    while (bytes != 0) {
      const ssize_t n = ::write(file_, p, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) _exit(1);
      p += n, bytes -= static_cast<size_t>(n);
    }
  }
  [[nodiscard]] std::string read_all() const {
    std::string all;
    char piece[65536];
    for (;;) {
      const ssize_t n = ::read(file_, piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return all;
      all.append(piece, static_cast<size_t>(n));
    }
  }

 private:
  int file_;
};

void answer(const Pipe& pipe, const Program& program, const core::MachineConfig& machine) {
  comp::SimulationOptions o;
  o.machine = machine;
  o.ptx_name = "microbenchmark";
  o.ptx_text = program.ptx;
  o.launch = describe(program);
  o.sms = program.sms;
  comp::Simulation simulation(std::move(o));
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete) throw core::InputError(result.reason);
  pipe.write("1", 1);
  for (const comp::KernelResult& k : result.kernels) pipe.write(&k.time_s, sizeof k.time_s);
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].read_back) continue;
    const auto content = simulation.buffer(i);
    pipe.write(content.data(), content.size());
  }
}

struct Child {
  pid_t id = 0;
  int file = -1;
};

Child start(const Program& program, const core::MachineConfig& machine) {
  int ends[2];
  if (pipe(ends) != 0) fail(std::strerror(errno));
  const pid_t id = fork();
  if (id < 0) fail(std::strerror(errno));
  if (id != 0) {
    close(ends[1]);
    return {id, ends[0]};
  }
  close(ends[0]);
  const Pipe out(ends[1]);
  try {
    answer(out, program, machine);
  } catch (const std::exception& e) {
    out.write("0", 1);
    out.write(e.what(), std::strlen(e.what()));
  }
  _exit(0);
}

Outcome finish(const Child& child, const Program& program) {
  const std::string text = Pipe(child.file).read_all();
  close(child.file);
  int status = 0;
  while (waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
  }
  if (text.empty()) fail(fmt::format("the simulation ended with status {}", status));
  if (text[0] != '1') fail(text.substr(1));
  Outcome outcome;
  const char* p = text.data() + 1;
  const char* const end = text.data() + text.size();
  const auto take = [&](void* to, size_t bytes) {
    if (bytes > static_cast<size_t>(end - p)) fail("the simulation's answer is cut off");
    std::memcpy(to, p, bytes);
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
  p.sms = static_cast<uint32_t>(m.gpu.sms);
  p.threads_per_block = static_cast<uint32_t>(m.sm.max_threads_per_block);
  p.warps_per_sm = static_cast<uint32_t>(m.sm.max_warps);
  p.shared_bytes = static_cast<uint64_t>(m.shared.bytes);
  p.memory_bytes = static_cast<uint64_t>(m.memory_bytes);
  p.core_hz = static_cast<double>(m.clocks.core_khz) * 1e3;
  return p;
}

}  // namespace

SimulatedDevice::SimulatedDevice(core::MachineConfig machine, unsigned parallel)
    : machine_(std::move(machine)), properties_(properties_of(machine_)), parallel_(std::max(parallel, 1u)) {}

std::vector<Outcome> SimulatedDevice::run(std::span<const Program> programs) {
  std::vector<Outcome> outcomes;
  std::deque<Child> children;
  size_t next = 0;
  while (outcomes.size() < programs.size()) {
    while (children.size() < parallel_ && next < programs.size())
      children.push_back(start(programs[next++], machine_));
    const Child child = children.front();
    children.pop_front();
    outcomes.push_back(finish(child, programs[outcomes.size()]));
    ++runs_;
  }
  return outcomes;
}

}  // namespace gpusim::microbench
