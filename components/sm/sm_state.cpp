#include "components/sm/sm_state.h"

#include <fmt/format.h>

namespace gpusim::comp {

void ResidentBlock::end_phase(uint64_t now) {
  if (kernel->events->phase != nullptr) {
    kernel->events->phase->append({.start = phase_start, .end = now, .block = index, .interval = phase});
  }
  ++phase;
  phase_start = now;
}

SmState::SmState(uint32_t sm, core::ClockDomain& core, const SmEnvironment& environment)
    : index(sm),
      domain(core),
      scheduler_count(environment.machine->scheduler.count),
      independent(environment.machine->gpu.compute_capability >= 70),
      slot_cycles(environment.machine->scheduler.issue_cycles),
      issue_cycles(environment.machine->scheduler.issue_cycles),
      issue_width(environment.machine->scheduler.issue_width),
      warps(core::PageAllocator<ResidentWarp>(*environment.arena)),
      dependences(environment.machine->scheduler.dependences, environment.machine->scheduler.warp_loads),
      table(issue_cycles, environment.timing->shared_pipes, environment.timing->own_pipes),
      pipes(table),
      access(*environment.access),
      shared_rules(shared_memory_rules(*environment.machine)),
      barrier_awaits_stores(environment.machine->scheduler.barrier_awaits_stores),
      idle_constants(environment.machine->constant.idle_loads),
      shared_step_cycles(environment.machine->shared.cycles_per_access),
      env(environment) {}

void SmState::fault(uint32_t w, uint32_t pc, int lane, const std::string& what, isa::FaultKind kind) {
  const ResidentWarp& warp = warps[w];
  table.set_blocked(w);
  env.on_error({fmt::format("{}: {}",
                            describe_location(*warp.kernel->run, pc, block_of(warp).index,
                                              warp.context.warp_in_block, lane),
                            what),
                kind});
}

}  // namespace gpusim::comp
