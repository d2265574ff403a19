// Counts of both levels of translation look-aside buffers, over the GPU.
#pragma once
#include <vector>

#include "components/lsu/tlb/shared_tlb.h"
#include "components/lsu/tlb/sm_tlb.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

struct TlbStats {
  SmTlbStats sm;
  SharedTlbStats shared;
  void add(const SmTlbStats& s);
  void add(const SharedTlbStats& s);
};

/// What happened from `then` to `now`.
void add_tlb_counters(std::vector<core::Counter>& counters, const TlbStats& now, const TlbStats& then);

}  // namespace gpusim::comp
