// The main job, `gpusim --config MACHINE [options] FILE.ptx`: runs a program on a machine.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "simcore/launch/launch.h"

namespace CLI {
class App;
}

namespace gpusim::cli {

struct MainJobArguments {
  std::string config, ptx, launch, kernel, grid, block, out, events = "summary", lowering = "schedule",
                                                             checks, cache = "cold";
  std::string core_clock, interconnect_clock, dram_clock;
  std::vector<std::string> params, sets, args, dumps, linked, registers;
  uint64_t dynamic_shared = 0, seed = 0, max_cycles = 10'000'000'000, sample = 0;
  uint32_t sms = 0;
  int threads = 1;
  bool functional = false, strict_target = false, quiet = false, json = false, force = false;
};
void add_main_job(CLI::App& program, MainJobArguments& arguments);
/// Returns the exit code.
int run_main_job(const MainJobArguments& arguments);

/// From the launch file or the options that stand for one; throws core::InputError.
[[nodiscard]] core::LaunchDescription load_launch(const MainJobArguments& arguments);
/// Files that such a run reads.
[[nodiscard]] std::vector<std::string> inputs_of(const MainJobArguments& arguments,
                                                 const core::LaunchDescription& launch);

}  // namespace gpusim::cli
