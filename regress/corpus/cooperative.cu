// Cooperative groups: thread blocks, tiles of several sizes, coalesced groups, collectives.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "corpus.h"

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(unsigned* out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  auto pair = cg::tiled_partition<2>(tile);
  unsigned i = thread_index();
  unsigned m = mix(i) & 0xffff;
  unsigned* o = out + 10 * i;
  o[0] = cg::reduce(warp, m, cg::plus<unsigned>());
  o[1] = cg::reduce(tile, m, cg::greater<unsigned>());
  o[2] = cg::reduce(tile, m, cg::bit_xor<unsigned>());
  o[3] = cg::reduce(pair, static_cast<int>(m) - 30000, cg::less<int>());
  o[4] = tile.shfl(m, 5) + tile.shfl_xor(m, 3);
  o[5] = warp.shfl_down(m, 7) ^ tile.shfl_up(m, 2);
  o[6] = tile.thread_rank() << 16 | tile.meta_group_rank() << 8 | warp.meta_group_size();
  o[7] = cg::inclusive_scan(tile, m);
  o[8] = cg::exclusive_scan(warp, m);
  o[9] = block.thread_rank() + block.size() * 1000 + block.group_index().x * 100000;
}

extern "C" __global__ void coalesced(unsigned* out, unsigned* counter) {
  unsigned i = thread_index();
  unsigned m = mix(i);
  if (m % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    unsigned first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    active.shfl(first, 0);
    out[i] = active.size() * 100 + active.thread_rank() + active.shfl(m % 1000, 0) * 10000;
  } else {
    out[i] = cg::reduce(cg::coalesced_threads(), m % 1000, cg::plus<unsigned>());
  }
}

extern "C" __global__ void block_sum(unsigned* out) {
  extern __shared__ unsigned data[];
  cg::thread_block block = cg::this_thread_block();
  unsigned t = block.thread_rank();
  data[t] = mix(thread_index());
  for (unsigned half = block.num_threads() / 2; half; half /= 2) {
    cg::sync(block);
    if (t < half) data[t] += data[t + half];
  }
  block.sync();
  if (t == 0) out[block.group_index().x] = data[0];
}
