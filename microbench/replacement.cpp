// Telling replacement policies apart by their misses.
#include <algorithm>

#include "components/cache/tag_array.h"
#include "microbench/cache_structure.h"

namespace gpusim::microbench {

namespace {

/// What a set of `ways` lines misses with this policy, from empty.
std::vector<bool> misses_of(const std::string& policy, uint32_t ways, const std::vector<uint32_t>& picks) {
  comp::CacheShape shape;
  shape.line_bytes = shape.sector_bytes = 32;
  shape.bytes = uint64_t{ways} * shape.line_bytes;
  shape.ways = ways;
  shape.replacement = policy;
  comp::TagArray set(shape);
  std::vector<bool> missed;
  for (const uint32_t line : picks) {
    uint32_t frame = set.find(line);
    missed.push_back(frame == comp::TagArray::kNoFrame);
    if (missed.back()) frame = set.allocate(line).frame;
    set.fill(frame, 1);
    set.touch(frame);
  }
  return missed;
}

}  // namespace

std::string replacement_of(uint32_t ways, const std::vector<uint32_t>& picks,
                           const std::vector<bool>& missed) {
  if (ways == 1) return "one way";
  // What the set held before is gone after a while.
  const auto settled = static_cast<std::ptrdiff_t>(picks.size() / 3);
  for (const char* const policy : {"lru", "plru", "fifo"}) {
    const std::vector<bool> model = misses_of(policy, ways, picks);
    if (std::equal(model.begin() + settled, model.end(), missed.begin() + settled, missed.end()))
      return policy;
  }
  return {};
}

}  // namespace gpusim::microbench
