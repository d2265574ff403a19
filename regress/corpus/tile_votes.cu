// Votes and matches of cooperative tiles: the lanes of a warp name different members in one instruction.
#include <cooperative_groups.h>

#include "corpus.h"

namespace cg = cooperative_groups;

extern "C" __global__ void tile_votes(unsigned* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  unsigned i = thread_index();
  unsigned m = mix(i) & 0xffff;
  out[4 * i] = tile.ballot(m & 1);
  out[4 * i + 1] = tile.any(m % 9 == 0);
  out[4 * i + 2] = tile.all(m % 5 != 0);
  out[4 * i + 3] = tile.match_any(m & 3);
}
