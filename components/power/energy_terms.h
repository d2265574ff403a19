// The energy terms as the components use them, and as counters of a kernel.
#pragma once
#include <vector>

#include "simcore/power/energy_terms.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

using core::energy_terms;
using core::EnergyAmounts;
using core::EnergyTerm;
using core::kNumEnergyTerms;
using core::kNumPowerDomains;
using core::kPowerDomainNames;
using core::PowerDomain;
using core::TermInfo;
using core::TermKind;
using core::total;

/// A kernel's counters: its terms, their sums by domain and in all, average power, energy-delay product.
void add_energy_counters(std::vector<core::Counter>& counters, const EnergyAmounts& joules, double seconds);

}  // namespace gpusim::comp
