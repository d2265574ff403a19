// --check in a whole run: what the checks know of device memory, and what they found.
#include <algorithm>

#include "components/simulation/simulation.h"

namespace gpusim::comp {

void Simulation::make_checker() {
  checker_ =
      std::make_unique<Checker>(options_.checks, options_.ptx_name, options_.machine.gpu.compute_capability);
  const auto add = [this](uint64_t address, GlobalObject::Kind kind, bool initialised) {
    const core::Allocation* a = memory_.find(address);
    if (a == nullptr) return;  // nothing in it
    checker_->globals().add({a->name, kind, a->base, a->end(), initialised, {}});
  };
  for (uint32_t b = 0; b < options_.launch.buffers.size(); ++b) {
    if (options_.launch.buffers[b].variable) continue;
    const bool copied = std::any_of(options_.launch.copies.begin(), options_.launch.copies.end(),
                                    [b](const core::CopySpec& c) { return c.buffer == b && c.to_device; });
    add(buffer_address_[b], GlobalObject::Kind::kBuffer,
        !options_.checks.init || copied || options_.launch.buffers[b].init.given);
  }
  // Variables without an initial value hold zeros.
  for (const auto& [variable, address] : variable_address_)
    add(address,
        variable->space == isa::Space::kConst ? GlobalObject::Kind::kConstant : GlobalObject::Kind::kVariable,
        true);
}

void Simulation::collect_findings(SimulationResult& result) const {
  result.findings = checker_->log().sorted();
  result.finding_occurrences = checker_->log().occurrences();
  result.findings_overflowed = checker_->log().overflowed();
}

}  // namespace gpusim::comp
