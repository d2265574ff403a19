// Transpose through a tile in shared memory: transposeCoalesced of the CUDA samples, as timed on a V100
// (blackjack2015/NV-DVFS-Benchmark). The same: tiles of 16 x 16 in blocks of 16 x 16 (an element a thread),
// no padding in the tile, so reads of its columns have conflicts.
constexpr int kTile = 16;

extern "C" __global__ void transpose_tiles(float* to, float* from, int width, int height) {
  __shared__ float tile[kTile][kTile];
  const int from_x = kTile * blockIdx.x + threadIdx.x;
  const int from_y = kTile * blockIdx.y + threadIdx.y;
  const int to_x = kTile * blockIdx.y + threadIdx.x;
  const int to_y = kTile * blockIdx.x + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = from[from_y * width + from_x];
  __syncthreads();
  to[to_y * height + to_x] = tile[threadIdx.x][threadIdx.y];
}
