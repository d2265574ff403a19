// The energy method as printed: "A GPU parallel algorithm evaluation method based on power" (Wang, Cheng,
// Zhao, Computer Science 2014), equations 1 to 24. Energy of computation at the lowest clock that still ends
// in time, of memory by accesses, and of a host that waits.
#pragma once
#include <cstdint>

namespace gpusim::analysis::energy {

/// Steps on the critical path.
struct Steps {
  double computing = 0;  ///< core cycles
  double memory = 0;     ///< accesses
  double barriers = 0;
};

struct PemMachine {
  double core_hz = 0;        ///< F_g, the highest
  double access_cycles = 0;  ///< M_c: core cycles of an access or barrier at the highest clock
  double cycle_energy = 0;   ///< E_d F_g^2: J of a computing cycle at the highest clock
  double access_energy = 0;  ///< E_m: J of an access
  double idle_power = 0;     ///< P_cs: W of the waiting host
};

struct PemEnergy {
  double clock = 0;  ///< x', Hz; not a number if the accesses alone take longer than the deadline
  double computing = 0, memory = 0, idle = 0;  ///< J
  [[nodiscard]] double total() const { return computing + memory + idle; }
};
/// Equations 6 to 19 for a deadline of `seconds`.
[[nodiscard]] PemEnergy pem_energy(const Steps& steps, const PemMachine& machine, double seconds);

/// Table 1: steps of an up-sweep and a down-sweep.
[[nodiscard]] double tree_steps(double leaves);

/// Parallel prefix sums of `elements` by M blocks.
struct PrefixSum {
  double elements = 0;    ///< N
  double transfer = 16;   ///< B: elements of one transfer
  double add_cycles = 2;  ///< alpha: core cycles of an addition
  /// Table 1; `blocks` >= 1 need not be whole.
  [[nodiscard]] Steps steps(double blocks) const;
  /// d steps / d blocks.
  [[nodiscard]] Steps slope(double blocks) const;
};

/// Inputs of the paper's sensitivity study.
struct Sensitivity {
  double k = 500;                 ///< K = E_m / E_c: energy of an access by that of a computing cycle
  double access_cycles = 500;     ///< M_c
  double deadline_cycles = 50e3;  ///< T, core cycles at the highest clock
  /// E_idle / E_c: of a cycle that waits for an access or a barrier. The print gives E_c = 10 E_idle, but its
  /// equation 21 has no such term; only with it does the optimum first fall and then rise with M_c, as
  /// printed.
  double idle = 0.1;
};

/// E(M) = E_comp + E_mem of equations 21 to 24, and waiting cycles at E_idle, in units of the energy of a
/// computing cycle at the highest clock; not a number if M blocks cannot end in time.
[[nodiscard]] double prefix_sum_energy(const PrefixSum& sum, const Sensitivity& at, double blocks);

/// M in [1, most] with dE/dM = 0 and the least E; an end of the range if there is no such point. 0: none can
/// end in time.
[[nodiscard]] double optimal_blocks(const PrefixSum& sum, const Sensitivity& at, double most);
/// The whole M in [1, most] with the least E, found by trying each.
[[nodiscard]] uint64_t best_of_all_blocks(const PrefixSum& sum, const Sensitivity& at, uint64_t most);

}  // namespace gpusim::analysis::energy
