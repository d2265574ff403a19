// Runs a workload once, with gpusim's own DRAM or with the memory of fixed_latency_memory.h in its place, and
// prints how many core cycles it took:
//
//   outside_memory WORKLOAD.ptx [--machine NAME] [--outside LATENCY_NS]
//
// One run for each process, for SystemC builds its modules once.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "components/dram/tlm_memory.h"
#include "components/simulation/simulation.h"
#include "fixed_latency_memory.h"
#include "simcore/config/load.h"
#include "simcore/launch/launch.h"
#include "simcore/text/text_file.h"

namespace {

struct Arguments {
  std::string workload, machine = "tesla_c1060";
  double outside_ns = 0;  ///< 0: gpusim's own DRAM
};

bool parse(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--machine" && i + 1 < argc) {
      a.machine = argv[++i];
    } else if (word == "--outside" && i + 1 < argc) {
      a.outside_ns = std::strtod(argv[++i], nullptr);
      if (!(a.outside_ns >= 1 && a.outside_ns <= 1e6)) return false;
    } else if (word[0] != '-' && a.workload.empty()) {
      a.workload = word;
    } else {
      return false;
    }
  }
  return !a.workload.empty();
}

using Memories = std::vector<std::unique_ptr<FixedLatencyMemory>>;

gpusim::comp::SimulationOptions options_of(const Arguments& a, Memories& memories) {
  gpusim::comp::SimulationOptions options;
  const std::vector<std::string> folders = {GPUSIM_DATA "/configs"};
  options.machine = gpusim::core::load_machine(a.machine, {}, folders);
  options.ptx_name = a.workload;
  options.ptx_text = gpusim::core::read_text_file(a.workload);
  options.launch = gpusim::core::load_launch(
      std::filesystem::path(a.workload).replace_extension(".toml").string(), {}, /*seed=*/1);
  if (a.outside_ns > 0) {
    // Called once for each DRAM channel, before the simulation starts.
    options.attach_memory = [&memories, latency = a.outside_ns](gpusim::comp::TlmMemory& channel) {
      const std::string name = "outside" + std::to_string(channel.index());
      memories.push_back(std::make_unique<FixedLatencyMemory>(
          name.c_str(), sc_core::sc_time(latency, sc_core::SC_NS), /*queue=*/32));
      channel.socket.bind(memories.back()->socket);
    };
  }
  return options;
}

int run(const Arguments& a) {
  Memories memories;  // outlive the simulation, whose channels are bound to them
  gpusim::comp::Simulation simulation(options_of(a, memories));
  const gpusim::comp::SimulationResult result = simulation.run();
  if (result.status != gpusim::comp::SimulationResult::Status::kComplete) {
    std::fprintf(stderr, "%s: error: %s\n", a.workload.c_str(), result.reason.c_str());
    return 1;
  }
  for (const gpusim::core::ExpectResult& expected : result.expects)
    if (!expected.pass) std::fprintf(stderr, "%s: error: %s\n", a.workload.c_str(), expected.message.c_str());
  if (!result.expectations_met()) return 1;
  uint64_t requests = 0;
  for (const auto& memory : memories) requests += memory->requests();
  if (memories.empty())
    std::printf("DRAM of %s: ", a.machine.c_str());
  else
    std::printf("outside memory of %g ns, %zu channels, %llu requests: ", a.outside_ns, memories.size(),
                static_cast<unsigned long long>(requests));
  std::printf("%llu core cycles, %zu results as expected\n", static_cast<unsigned long long>(result.cycles),
              result.expects.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: outside_memory WORKLOAD.ptx [--machine NAME] [--outside LATENCY_NS]\n"
                 "  LATENCY_NS: from 1 to 1000000\n");
    return 2;
  }
  try {
    return run(arguments);
  } catch (const gpusim::core::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
