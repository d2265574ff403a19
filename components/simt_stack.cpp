#include "components/simt_stack.h"

namespace gpusim::comp {

void SimtStack::pop() {
  // Entries whose lanes all exited, or that already stand at their own reconvergence point, have nothing to
  // execute.
  mask_ = isa::LaneMask();
  while (!below_.empty() && mask_.none()) {
    const Entry e = below_.back();
    below_.pop_back();
    if (e.pc == e.reconverge) continue;
    pc_ = e.pc;
    reconverge_ = e.reconverge;
    mask_ = e.mask;
  }
}

void SimtStack::diverge(const isa::MicroOp& op, isa::LaneMask taken) {
  const isa::LaneMask fallen = mask_ & ~taken;
  const uint32_t join = op.reconverge;
  // A loop's exits share one join: the entry that waits there exists already when it is the current entry's
  // own.
  if (join != isa::kNoTarget && join != reconverge_) below_.push_back({join, reconverge_, mask_});
  const uint32_t side_join = join == isa::kNoTarget ? reconverge_ : join;
  const uint32_t next = pc_ + 1;
  if (op.target != side_join) {
    if (next == side_join) {
      pc_ = op.target;
      mask_ = taken;
      reconverge_ = side_join;
      return;
    }
    below_.push_back({op.target, side_join, taken});
  }
  pc_ = next;
  mask_ = fallen;
  reconverge_ = side_join;
  if (pc_ == reconverge_) pop();
}

}  // namespace gpusim::comp
