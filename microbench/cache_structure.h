// How a cache is built: line, sector, ways, sets, which set a line is in, and which line goes. Everything
// follows from which groups of addresses fit together (conflicts.h) and from single loads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "microbench/conflicts.h"
#include "microbench/data_sheet.h"
#include "microbench/hierarchy.h"

namespace gpusim::microbench {

struct CacheStructure {
  std::vector<uint32_t> conflicting;  ///< addresses of one set, one more than `ways`; empty: not found
  uint32_t ways = 0, line = 0, sector = 0;
  uint64_t sets = 0;  ///< of all slices
  std::string index, replacement;
  std::string stride_misses;  ///< "128:0 256:0 ... 8192:100": stride, percent
};

/// `level` is present and its capacity known; `conflicting` is the smallest group of lines that overflows it,
/// empty if none was found.
[[nodiscard]] CacheStructure find_structure(const Probe& probe, const Level& level,
                                            std::vector<uint32_t> conflicting);

/// Policy whose model misses where the cache missed: "lru", "plru", "fifo"; empty if none does. `picks`:
/// lines of one set by number; `missed`: of each pick.
[[nodiscard]] std::string replacement_of(uint32_t ways, const std::vector<uint32_t>& picks,
                                         const std::vector<bool>& missed);

/// Figures PREFIX.size, .ways, .line, .sector, .index, .replacement, .stride_misses.
void add_structure(const std::string& prefix, const Probe& probe, const Level& level,
                   const CacheStructure& structure, DataSheet& sheet);

}  // namespace gpusim::microbench
