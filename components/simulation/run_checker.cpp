#include "components/simulation/run_checker.h"

#include <algorithm>

namespace gpusim::comp {

std::unique_ptr<Checker> make_checker(const SimulationOptions& options, const DeviceContents& contents) {
  if (!options.checks.any()) return nullptr;
  auto checker =
      std::make_unique<Checker>(options.checks, options.ptx_name, options.machine.gpu.compute_capability);
  const auto add = [&](uint64_t address, GlobalObject::Kind kind, bool initialised) {
    const core::Allocation* a = contents.memory().find(address);
    if (a == nullptr) return;  // nothing in it
    checker->globals().add({a->name, kind, a->base, a->end(), initialised, {}});
  };
  const core::LaunchDescription& launch = options.launch;
  for (uint32_t b = 0; b < launch.buffers.size(); ++b) {
    if (launch.buffers[b].variable) continue;
    const bool copied = std::ranges::any_of(launch.copies, [b](const core::CopySpec& c) {
      return c.buffer == b && c.to_device && !c.moves_data();
    });
    add(contents.buffer_address(b), GlobalObject::Kind::kBuffer,
        !options.checks.init || copied || launch.buffers[b].init.given);
  }
  // Variables without an initial value hold zeros.
  contents.for_each_variable([&add](const isa::Variable& variable, uint64_t address) {
    add(address,
        variable.space == isa::Space::kConst ? GlobalObject::Kind::kConstant : GlobalObject::Kind::kVariable,
        true);
  });
  return checker;
}

void note_written(Checker* checker, uint64_t address, uint64_t bytes) {
  if (checker != nullptr) checker->globals().mark_written(address, bytes);
}

void note_copied(Checker* checker, uint64_t from, uint64_t to, uint64_t bytes) {
  if (checker != nullptr) checker->globals().mark_copied(from, to, bytes);
}

void collect_findings(const Checker& checker, SimulationResult& result) {
  result.findings = checker.log().sorted();
  result.check_counts = checker.log().counts();
}

}  // namespace gpusim::comp
