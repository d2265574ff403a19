// What the parts of the machine that all kernels share have counted since the start of the simulation.
#pragma once
#include "components/dram/dram_stats.h"
#include "components/host/host_link.h"
#include "components/l2/l2_stats.h"
#include "components/lsu/tlb/shared_tlb.h"
#include "components/lsu/tlb/sm_tlb.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

inline bool has_texture_caches(const core::MachineConfig& machine) {
  return machine.texture.cache == core::TextureCache::kOwn;
}
/// A second texture level that is not the L2.
inline bool has_texture_l2(const core::MachineConfig& machine) {
  return has_texture_caches(machine) && machine.texture.l2_bytes != 0 && machine.l2.bytes == 0;
}

#define GPUSIM_TEXTURE_COUNTERS(COUNTER)                                                                    \
  COUNTER(hits, "tex_cache_hit", "1", "lines of texture reads found in the texture caches",                 \
          {.present = has_texture_caches})                                                                  \
  COUNTER(misses, "tex_cache_miss", "1", "the same, not found there or still on their way",                 \
          {.present = has_texture_caches})                                                                  \
  COUNTER(fill_sectors, "tex_fill_sectors", "1", "32-byte sectors asked of the partitions by these misses", \
          {.present = has_texture_caches})                                                                  \
  COUNTER(l2_hits, "tex_l2_hit", "1", "texture lines found in the second texture level",                    \
          {.present = has_texture_l2})                                                                      \
  COUNTER(l2_misses, "tex_l2_miss", "1", "texture lines read from DRAM", {.present = has_texture_l2})

struct TextureStats {
  GPUSIM_COUNTERS(TextureStats, GPUSIM_TEXTURE_COUNTERS)
};

#define GPUSIM_NOC_COUNTERS(COUNTER)                                                             \
  COUNTER(request_flits, "noc_request_flits", "1", "flits of requests through the interconnect") \
  COUNTER(reply_flits, "noc_reply_flits", "1", "flits of replies through the interconnect")      \
  COUNTER(requests, "noc_requests", "1", "requests through the interconnect")                    \
  COUNTER(requests_to_busiest, "noc_requests_to_busiest", "1",                                   \
          "of these, to the partition that is busiest at the time (docs/statistics.md)")

struct NocStats {
  GPUSIM_COUNTERS(NocStats, GPUSIM_NOC_COUNTERS)
};

struct MachineStats {
  DramStats dram;        ///< all channels
  L2Stats l2;            ///< all slices; zeros without an L2
  SmTlbStats sm_tlb;     ///< all SMs
  SharedTlbStats tlb;    ///< their second levels
  TextureStats texture;  ///< all texture caches
  NocStats noc;
  SysmemStats sysmem;  ///< zeros where no program has host memory
};

/// What was counted from `then` to `now`.
[[nodiscard]] inline MachineStats difference(const MachineStats& now, const MachineStats& then) {
  return {core::difference(now.dram, then.dram),       core::difference(now.l2, then.l2),
          core::difference(now.sm_tlb, then.sm_tlb),   core::difference(now.tlb, then.tlb),
          core::difference(now.texture, then.texture), core::difference(now.noc, then.noc),
          core::difference(now.sysmem, then.sysmem)};
}

}  // namespace gpusim::comp
