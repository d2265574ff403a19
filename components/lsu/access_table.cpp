#include "components/lsu/access_table.h"

namespace gpusim::comp {

void AccessTable::prepare(size_t records, size_t announced) {
  records_.resize(records);
  free_ = FreeList<uint32_t>(records);
  completed_.reserve(records);
  wakes_.reserve(announced);
}

uint32_t AccessTable::open(const isa::MicroOp& op, uint32_t warp, uint32_t pc, uint64_t now) {
  const uint32_t index = free_.take();
  ++of_warp_[warp];
  AccessRecord& r = records_[index];
  r = AccessRecord{};
  r.op = &op;
  r.warp = static_cast<uint16_t>(warp);
  r.pc = pc;
  r.issued = now;
  r.kernel = kernel_of_warp_[warp];
  ++of_kernel_[r.kernel];
  return index;
}

void AccessTable::await_all(uint32_t warp) {
  if (of_warp_[warp] == stores_of_warp_[warp]) return;  // stores are awaited already
  for (uint32_t i = 0; i < records_.size(); ++i)
    if (records_[i].remaining != 0 && records_[i].warp == warp) await(i);
}

}  // namespace gpusim::comp
