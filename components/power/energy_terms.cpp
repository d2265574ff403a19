#include "components/power/energy_terms.h"

namespace gpusim::comp {

void add_energy_counters(std::vector<core::Counter>& counters, const EnergyAmounts& joules, double seconds) {
  for (size_t i = 0; i < kNumEnergyTerms; ++i)
    counters.push_back({energy_terms()[i].counter, joules[i], "J", energy_terms()[i].meaning});
  const auto sum = [&](const char* name, PowerDomain domain, const char* meaning) {
    counters.push_back({name, total(joules, domain), "J", meaning});
  };
  sum("energy_core_domain", PowerDomain::kCore, "all of the SMs");
  sum("energy_interconnect_domain", PowerDomain::kInterconnect, "all of interconnect and L2");
  sum("energy_dram_domain", PowerDomain::kDram, "all of the memory");
  const double all = total(joules);
  counters.push_back({"energy", all, "J", "of the board while the kernel ran"});
  counters.push_back({"average_power", seconds == 0 ? 0 : all / seconds, "W", "the same by its time"});
  counters.push_back({"energy_delay_product", all * seconds, "J s", "energy times time"});
}

}  // namespace gpusim::comp
