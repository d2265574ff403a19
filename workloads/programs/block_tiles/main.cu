// Tiles of several warps: from 8.0 on they meet in the shared memory that the system keeps of each block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <vector>

#include "../common/check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kResults = 5;

template <int kTile>
__global__ void collect(const int* in, int* out, int spare) {
  extern __shared__ int behind[];
  __shared__ int own[kThreads];
  __shared__ cg::block_tile_memory<kThreads> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<kTile>(block);
  const int t = threadIdx.x, value = in[t];
  own[t] = value;
  if (t < spare) behind[t] = -value;
  int* const row = out + t * kResults;
  row[0] = cg::reduce(tile, value, cg::plus<int>());
  row[1] = cg::inclusive_scan(tile, value, cg::plus<int>());
  row[2] = tile.shfl(value, 5);
  row[3] = tile.any(value == 3);
  tile.sync();
  // The block's own variables are untouched, those of the other threads of the tile written.
  const int other = t / kTile * kTile + (t + 1) % kTile;
  row[4] = own[other] + (other < spare ? behind[other] : 0);
}

template <int kTile>
bool is_right(const int* in, int* out, const std::vector<int>& values) {
  constexpr int kSpare = 100;
  collect<kTile><<<1, kThreads, kSpare * sizeof(int)>>>(in, out, kSpare);
  std::vector<int> got(kThreads * kResults);
  MUST(cudaMemcpy(got.data(), out, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int t = 0; t < kThreads; ++t) {
    const int first = t / kTile * kTile, other = first + (t + 1) % kTile;
    int sum = 0, scan = 0, any = 0;
    for (int i = first; i < first + kTile; ++i) {
      sum += values[i];
      if (i <= t) scan += values[i];
      any |= values[i] == 3;
    }
    const int expected[kResults] = {sum, scan, values[first + 5], any, other < kSpare ? 0 : values[other]};
    for (int i = 0; i < kResults; ++i) good = good && got[t * kResults + i] == expected[i];
  }
  return good;
}

int main() {
  std::vector<int> values(kThreads);
  for (int i = 0; i < kThreads; ++i) values[i] = i * 37 % 101;
  int *in, *out;
  MUST(cudaMalloc(&in, kThreads * sizeof(int)));
  MUST(cudaMalloc(&out, kThreads * kResults * sizeof(int)));
  MUST(cudaMemcpy(in, values.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice));
  return verdict(is_right<64>(in, out, values) && is_right<128>(in, out, values) && is_right<256>(in, out, values));
}
