// Cost of one activation through a clock domain (compare with the figures in docs/architecture.md).
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "simcore/engine/clock_domain.h"

namespace {

using namespace gpusim::core;

class Busy : public Clocked {
 public:
  Busy(const sc_core::sc_module_name& name, ClockDomain& domain) : Clocked(name, domain) {
    wake_at(Cycle(1));
  }
  uint64_t ticks = 0;

 protected:
  Cycle tick(Cycle now) override {
    ++ticks;
    return now + 1;
  }
};

/// One SystemC simulation per process: the benchmark runs once and reports time per activation.
void activations(benchmark::State& state) {
  static Engine engine;
  static ClockDomain domain("domain", engine, 1'296'000);
  static std::vector<std::unique_ptr<Busy>> modules;
  modules.reserve(128);
  for (int i = 0; i < 128; ++i)
    modules.push_back(std::make_unique<Busy>(("m" + std::to_string(i)).c_str(), domain));
  for ([[maybe_unused]] auto _ : state) {
    domain.set_observer(Cycle(10'000), [](Cycle) {
      engine.stop();
      return kNever;
    });
    engine.run();
  }
  uint64_t ticks = 0;
  for (const auto& m : modules) ticks += m->ticks;
  state.counters["activation_time"] = benchmark::Counter(
      static_cast<double>(ticks), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(activations)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
