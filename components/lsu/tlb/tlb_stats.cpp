#include "components/lsu/tlb/tlb_stats.h"

namespace gpusim::comp {

void TlbStats::add(const SmTlbStats& s) {
  sm.hits += s.hits, sm.misses += s.misses, sm.wait_cycles += s.wait_cycles;
}

void TlbStats::add(const SharedTlbStats& s) {
  shared.hits += s.hits, shared.misses += s.misses, shared.walks += s.walks;
}

void add_tlb_counters(std::vector<core::Counter>& counters, const TlbStats& now, const TlbStats& then) {
  const auto count = [&](const char* name, uint64_t value, const char* unit, const char* meaning) {
    counters.push_back({name, static_cast<double>(value), unit, meaning});
  };
  count("tlb_l1_hits", now.sm.hits - then.sm.hits, "1", "pages of warp accesses found in the SM's TLB");
  count("tlb_l1_misses", now.sm.misses - then.sm.misses, "1", "pages of warp accesses not found there");
  count("tlb_l1_wait_cycles", now.sm.wait_cycles - then.sm.wait_cycles, "core cycles",
        "in which an SM's oldest access waited for a page, all SMs");
  count("tlb_l2_hits", now.shared.hits - then.shared.hits, "1", "of these misses, found in the second level");
  count("tlb_l2_misses", now.shared.misses - then.shared.misses, "1", "not found there either");
  count("tlb_walks", now.shared.walks - then.shared.walks, "1",
        "walks through the page table; misses of one page share a walk");
}

}  // namespace gpusim::comp
