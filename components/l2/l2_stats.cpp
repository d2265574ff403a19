#include "components/l2/l2_stats.h"

namespace gpusim::comp {

namespace {

struct L2Counter {
  const char* name;
  uint64_t L2Stats::*value;
  const char* meaning;
};
constexpr L2Counter kL2Counters[] = {
    {"l2_read_sectors", &L2Stats::reads, "32-byte sectors that SMs read through the second-level cache"},
    {"l2_read_hit_sectors", &L2Stats::read_hits, "of these, those that were there"},
    {"l2_write_sectors", &L2Stats::writes, "sectors that SMs wrote to the second-level cache"},
    {"l2_write_hit_sectors", &L2Stats::write_hits, "of these, those whose line was there"},
    {"l2_atomic_sectors", &L2Stats::atomics, "sectors of atomic operations at the second-level cache"},
    {"l2_atomic_hit_sectors", &L2Stats::atomic_hits, "of these, those that were there"},
    {"l2_constant_sectors", &L2Stats::constants,
     "sectors that the third-level constant cache asked the second-level cache for"},
    {"l2_constant_hit_sectors", &L2Stats::constant_hits, "of these, those that were there"},
    {"l2_texture_sectors", &L2Stats::textures,
     "sectors that texture caches asked the second-level cache for"},
    {"l2_texture_hit_sectors", &L2Stats::texture_hits, "of these, those that were there"},
    {"l2_far_replies", &L2Stats::far, "replies to SMs of the other half of the chip"},
    {"l2_merged_misses", &L2Stats::merged, "requests that waited for a line already on its way from DRAM"},
    {"l2_fill_sectors", &L2Stats::fills, "sectors read from DRAM into the second-level cache"},
    {"l2_writeback_sectors", &L2Stats::writebacks,
     "dirty sectors that lost their place and were sent to DRAM"},
    {"l2_wait_mshr", &L2Stats::no_mshr, "requests that waited for a free MSHR"},
    {"l2_wait_merge", &L2Stats::no_merge,
     "requests that waited because their line's MSHR had no room for one more"},
    {"l2_wait_way", &L2Stats::no_way,
     "requests that waited because all lines of their set were on their way"},
    {"l2_wait_dram_queue", &L2Stats::no_queue, "requests that waited for room in the queue to DRAM"},
    {"l2_wait_reply", &L2Stats::no_reply, "hits that waited because replies could not leave"},
    {"l2_wait_atomic_unit", &L2Stats::no_atomic_unit, "atomics that waited for those before them"},
};

}  // namespace

void add(L2Stats& sum, const L2Stats& s) {
  for (const L2Counter& c : kL2Counters) sum.*c.value += s.*c.value;
  sum.written += s.written;
}

void add_l2_counters(std::vector<core::Counter>& counters, const L2Stats& now, const L2Stats& then,
                     uint64_t dirty_sectors) {
  const auto count = [&](const char* name, uint64_t value, const char* meaning) {
    counters.push_back({name, static_cast<double>(value), "1", meaning});
  };
  for (const L2Counter& c : kL2Counters) count(c.name, now.*c.value - then.*c.value, c.meaning);
  count("l2_writeback_sectors_on_the_way", now.writebacks - now.written,
        "at the kernel's end: sent to DRAM, not acknowledged yet");
  count("l2_dirty_sectors", dirty_sectors, "at the kernel's end: sectors that have not been written back");
}

}  // namespace gpusim::comp
