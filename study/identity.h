// What identifies a simulation: everything that its results depend on, in words and as hashes. Points of
// studies and single runs have the same identity if they simulate the same.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/simulation/simulation_options.h"

namespace gpusim::study {

/// What a run is, in words and hashes: everything that its results depend on. Two runs with equal keys have
/// equal results.
struct Identity {
  std::string program;  ///< version and hash of the simulator
  std::string machine;  ///< name of its configuration
  std::vector<std::string> sets, params;
  uint32_t sms = 0;  ///< 0: all
  std::string core_clock, interconnect_clock, dram_clock;
  std::string lowering, cache;
  std::vector<std::string> registers;  ///< KERNEL=N, of --registers
  bool functional = false;
  uint64_t seed = 0, max_cycles = 10'000'000'000;
  /// SHA-256 of the resolved configuration, the PTX with what is linked to it, the launch file, and the files
  /// that it reads.
  std::string machine_sha256, ptx_sha256, launch_sha256, data_sha256;
  std::string key;  ///< SHA-256 of all of the above but names of machines and sets, which the hash covers
};
/// Sets the hashes and the key from what is simulated. Throws core::InputError if a file cannot be read.
void complete(Identity& identity, const comp::SimulationOptions& options);
[[nodiscard]] std::string identity_json(const Identity& identity);

}  // namespace gpusim::study
