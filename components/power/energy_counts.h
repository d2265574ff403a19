// Reads from what the components count anyway the events that cost energy: operations by class and lanes,
// registers, accesses by level, flits, DRAM commands. Nothing is counted for it as the simulation runs; it
// goes over the counts when it is asked. What SMs do is counted by kernel; what they share is everybody's.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/power/energy_terms.h"
#include "components/sm/timing.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class Gpu;

/// Which term an operation's lanes belong to, and how often they count: what takes its pipe as long as two
/// of the operation that the coefficient is for, counts twice.
struct ClassEnergy {
  EnergyTerm term = EnergyTerm::kCount;  ///< kCount: the operation costs no more than its issue
  double weight = 1;
};
[[nodiscard]] std::array<ClassEnergy, kNumOpClasses> class_energies(const core::MachineConfig& machine);

/// 32-bit registers that one lane reads and writes in the operation; literals and predicates are none.
[[nodiscard]] uint32_t register_words(const isa::MicroOp& op);

class EnergyCounts {
 public:
  EnergyCounts(const Gpu& gpu, const core::MachineConfig& machine);

  void begin_kernel(const KernelLaunch& run);
  void end_kernel(const KernelLaunch& run);
  /// Events of the kernel, which is open, in the SMs, and of the whole GPU since the start of the simulation
  /// in what these share.
  [[nodiscard]] EnergyAmounts events(const KernelLaunch& run) const;

 private:
  struct Kernel {
    const KernelLaunch* run = nullptr;
    std::vector<uint32_t> words;        ///< by micro-op
    std::vector<bool> reads_constants;  ///< by micro-op: constant memory as an operand
  };
  /// Counts that kernels have for themselves.
  struct Own {
    std::array<uint64_t, kNumOpClasses> lanes{};
    uint64_t issued = 0, words = 0, shared_steps = 0, l1_lines = 0, constant_lines = 0, active_cycles = 0;
  };
  /// At the core cycle `now`.
  [[nodiscard]] static Own own(const Kernel& kernel, uint64_t now);

  const Gpu& gpu_;
  std::array<ClassEnergy, kNumOpClasses> classes_;
  double reply_flit_;  ///< width of a flit of replies, of one of requests
  std::vector<Kernel> open_;
};

}  // namespace gpusim::comp
