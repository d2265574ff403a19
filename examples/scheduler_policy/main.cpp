// Runs a workload with policy gto and then with the policy of burst.cpp, and prints the core cycles of both:
//
//   scheduler_policy WORKLOAD.ptx [--machine FILE_OR_NAME] [--set scheduler.burst_length=8 ...] [--describe]
//
// --describe prints the keys of [scheduler] instead.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/launch/launch.h"
#include "simcore/text/text_file.h"

namespace {

struct Arguments {
  std::string workload, machine = "tesla_c1060";
  std::vector<std::string> sets;
  bool describe = false;
};

bool parse(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--machine" && i + 1 < argc)
      a.machine = argv[++i];
    else if (word == "--set" && i + 1 < argc)
      a.sets.emplace_back(argv[++i]);
    else if (word == "--describe")
      a.describe = true;
    else if (word[0] != '-' && a.workload.empty())
      a.workload = word;
    else
      return false;
  }
  return !a.workload.empty() || a.describe;
}

int run(const Arguments& a, const std::string& policy) {
  gpusim::comp::SimulationOptions options;
  const std::vector<std::string> folders = {GPUSIM_DATA "/configs"};
  std::vector<std::string> sets = a.sets;
  sets.push_back("scheduler.policy=" + policy);
  options.machine = gpusim::core::load_machine(a.machine, sets, folders);
  options.ptx_name = a.workload;
  options.ptx_text = gpusim::core::read_text_file(a.workload);
  options.launch = gpusim::core::load_launch(
      std::filesystem::path(a.workload).replace_extension(".toml").string(), {}, /*seed=*/1);
  gpusim::comp::Simulation simulation(std::move(options));
  const gpusim::comp::SimulationResult result = simulation.run();
  if (result.status != gpusim::comp::SimulationResult::Status::kComplete || !result.expectations_met()) {
    std::fprintf(stderr, "%s: error: %s\n", a.workload.c_str(),
                 result.reason.empty() ? "results are not as expected" : result.reason.c_str());
    return 1;
  }
  std::printf("%s: %llu core cycles\n", policy.c_str(), static_cast<unsigned long long>(result.cycles));
  return 0;
}

int guarded_run(const Arguments& a, const std::string& policy) {
  try {
    return run(a, policy);
  } catch (const gpusim::core::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

/// In a process of its own, for SystemC builds its modules once.
int run_apart(const Arguments& a, const std::string& policy) {
  const pid_t child = fork();
  if (child == 0) {
    const int code = guarded_run(a, policy);
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(
        stderr, "usage: scheduler_policy WORKLOAD.ptx [--machine NAME] [--set KEY=VALUE ...] [--describe]\n");
    return 2;
  }
  if (arguments.describe) {
    std::fputs(gpusim::core::describe_keys("scheduler").c_str(), stdout);
    return 0;
  }
  for (const char* const policy : {"gto", "burst"})
    if (const int code = run_apart(arguments, policy); code != 0) return code;
  return 0;
}
