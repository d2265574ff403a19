// Speed of the cycle-level model as a whole: a small tiled matrix multiplication, and one block on a machine
// of 30 SMs against a machine of one (idle SMs must cost nothing). Modules are called directly, because
// SystemC elaborates once per process; the time of SystemC's own events is in engine_bench.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/text/text_file.h"

namespace {

using namespace gpusim;

comp::SimulationOptions matmul(const std::string& n) {
  const std::string root = GPUSIM_SOURCE_DIR;
  const std::vector<std::string> folders = {root + "/configs"}, params = {"N=" + n};
  comp::SimulationOptions o;
  o.machine = core::load_machine("tesla_c1060", {}, folders);
  o.ptx_name = root + "/workloads/matmul/tiled_16x16.ptx";
  o.ptx_text = core::read_text_file(o.ptx_name);
  o.launch = core::load_launch(root + "/workloads/matmul/tiled_16x16.toml", params, 1);
  o.launch.expects.clear();
  o.direct_driver = true;
  return o;
}

void run(benchmark::State& state, const comp::SimulationOptions& options) {
  uint64_t instructions = 0, cycles = 0;
  for ([[maybe_unused]] auto _ : state) {
    comp::Simulation simulation(options);
    const comp::SimulationResult r = simulation.run();
    if (r.status != comp::SimulationResult::Status::kComplete) state.SkipWithError(r.reason.c_str());
    instructions += r.warp_instructions;
    cycles += r.cycles;
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.counters["core_cycles"] =
      benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
}

void tiled_matmul(benchmark::State& state) { run(state, matmul(std::to_string(state.range(0)))); }
BENCHMARK(tiled_matmul)->Arg(64)->Arg(192)->Unit(benchmark::kMillisecond);

/// 16 x 16 elements: one block, whatever the number of SMs.
void one_block(benchmark::State& state) {
  comp::SimulationOptions o = matmul("16");
  o.sms = static_cast<uint32_t>(state.range(0));
  run(state, o);
}
BENCHMARK(one_block)->Arg(1)->Arg(30)->Unit(benchmark::kMicrosecond);

}  // namespace
