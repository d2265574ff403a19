#include "study/warp_steps.h"

#include <algorithm>
#include <bit>

#include "components/launch/kernel_launch.h"
#include "components/sm/warp_tracer.h"

namespace gpusim::study {

analysis::WarpTraceHeader trace_header(const comp::KernelLaunch& run, const std::string& machine) {
  analysis::WarpTraceHeader h;
  h.kernel = run.image->name;
  h.machine = machine;
  h.block_threads = run.threads_per_block;
  h.block_warps = run.warps_per_block;
  h.blocks = run.num_blocks;
  h.registers = run.image->registers;
  h.shared_bytes = run.taken_shared_bytes;
  h.local_bytes = run.image->local_bytes;
  return h;
}

bool WarpSteps::take(const comp::TracedStep& t) {
  using Kind = analysis::WarpStep::Kind;
  using Traced = comp::TracedStep::Kind;
  static_assert(static_cast<int>(Kind::kAccess) == static_cast<int>(Traced::kAccess) &&
                static_cast<int>(Kind::kEnd) == static_cast<int>(Traced::kEnd) &&
                analysis::WarpStep::kWorkUnits == comp::TracedStep::kWorkUnits);
  step_.kind = static_cast<Kind>(t.kind);
  step_.cycles = t.cycles;
  step_.work = t.work;
  step_.own = t.own;
  if (step_.kind == Kind::kWait) step_.back = loads_[t.warp] - 1 - t.load;
  if (step_.kind == Kind::kAccess) describe(t);
  warps_[t.warp].append(step_);
  return step_.kind == Kind::kEnd && t.warp + 1 == warps_.size();
}

void WarpSteps::clear() {
  for (analysis::WarpEncoder& w : warps_) w.clear();
  std::ranges::fill(loads_, 0);
}

void WarpSteps::describe(const comp::TracedStep& t) {
  using Access = analysis::WarpStep::Access;
  analysis::WarpStep& s = step_;
  s.access = t.op->kind == isa::OpKind::kStore    ? Access::kStore
             : t.op->kind == isa::OpKind::kAtomic ? Access::kAtomic
                                                  : Access::kLoad;
  s.local = t.access->space == isa::Space::kLocal;
  s.bypasses = t.op->memory.bypasses_l1;
  s.read_only = t.op->memory.read_only;
  s.returns = s.access != Access::kStore && t.op->num_sb_writes != 0;
  s.pc = t.pc;
  s.bytes = t.access->bytes;
  s.lanes = t.access->lanes.bits();
  for (uint32_t bits = s.lanes; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
    s.address[lane] = t.access->address[lane];
    // Equal offsets of a warp's lanes are neighbours (CUDA C Programming Guide, local memory).
    if (s.local) s.address[lane] = s.address[lane] * isa::kWarpSize + uint64_t{s.bytes} * lane;
  }
  loads_[t.warp] += s.returns;
  accesses_ += static_cast<uint64_t>(std::popcount(s.lanes));
}

}  // namespace gpusim::study
