// Clusters of thread blocks: a histogram whose bins lie in the shared memories of a cluster's blocks, a ring in
// which every block writes to the next, a kernel compiled for its cluster, one that arrives and waits apart,
// places in two dimensions, and what the manual says of sizes that cannot be.
#include <cooperative_groups.h>

#include <vector>

#include "../common/check.h"

namespace cg = cooperative_groups;

__global__ void histogram(unsigned* bins, int per_block, const int* values, int n) {
  extern __shared__ unsigned own[];
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = cluster.block_rank(), blocks = cluster.num_blocks(), all = per_block * blocks;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) own[i] = 0;
  cluster.sync();
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    int bin = values[i];
    bin = bin < 0 ? 0 : bin >= all ? all - 1 : bin;
    unsigned* const there = cluster.map_shared_rank(own, bin / per_block);
    atomicAdd(there + bin % per_block, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(&bins[rank * per_block + i], own[i]);
}

__global__ void __cluster_dims__(4, 1, 1) ring(int* out, int rounds) {
  __shared__ int box[2][128];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  box[0][threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  cluster.sync();
  for (int r = 0; r < rounds; ++r) {
    int* const to = cluster.map_shared_rank(box[(r + 1) % 2], next);
    to[threadIdx.x] = box[r % 2][threadIdx.x] + 1;
    cluster.sync();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = box[rounds % 2][threadIdx.x];
}

// Every block adds up what it has, tells all, and prepares something else before it looks.
__global__ void split(const float* values, float* sums, int per_block) {
  __shared__ float mine;
  __shared__ float table[128];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) sum += values[blockIdx.x * per_block + i];
  atomicAdd(&mine, sum);
  auto token = cluster.barrier_arrive();
  table[threadIdx.x] = threadIdx.x + 3;
  cluster.barrier_wait(std::move(token));
  if (threadIdx.x < cluster.num_blocks() && threadIdx.x == cluster.block_rank()) {
    float all = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) all += *cluster.map_shared_rank(&mine, r);
    sums[blockIdx.x] = all + table[threadIdx.x] - threadIdx.x;
  }
  cluster.sync();  // nobody leaves while others read
}

struct Place {
  unsigned rank, blocks, x, y, across, down, of_mapped, explicitly;
};
__global__ void places(Place* out) {
  __shared__ int here;
  cg::cluster_group cluster = cg::this_cluster();
  const dim3 index = cluster.block_index(), dims = cluster.dim_blocks();
  cluster.sync();
  if (threadIdx.x != 0) return;
  const unsigned last = cluster.num_blocks() - 1;
  out[blockIdx.y * gridDim.x + blockIdx.x] = {cluster.block_rank(),
                                              cluster.num_blocks(),
                                              index.x,
                                              index.y,
                                              dims.x,
                                              dims.y,
                                              cluster.query_shared_rank(cluster.map_shared_rank(&here, last)),
                                              cluster.num_threads()};
}

template <class... Arguments, class... Given>
static cudaError_t launch(void (*kernel)(Arguments...), dim3 grid, dim3 block, dim3 cluster, size_t shared, Given... given) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x, attribute.val.clusterDim.y = cluster.y, attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Arguments(given)...);
}

static bool check_histogram(int blocks_of_cluster, int per_block) {
  constexpr int kCount = 20000;
  const int all = blocks_of_cluster * per_block;
  std::vector<int> values(kCount);
  std::vector<unsigned> expected(all), result(all);
  unsigned state = 12345;
  for (int& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<int>(state >> 8) % (all + 20) - 10;
    ++expected[v < 0 ? 0 : v >= all ? all - 1 : v];
  }
  unsigned* bins;
  int* data;
  MUST(cudaMalloc(&bins, all * sizeof(unsigned)));
  MUST(cudaMalloc(&data, kCount * sizeof(int)));
  MUST(cudaMemset(bins, 0, all * sizeof(unsigned)));
  MUST(cudaMemcpy(data, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  if (blocks_of_cluster > 8) MUST(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  MUST(launch(histogram, dim3(2 * blocks_of_cluster), dim3(128), dim3(blocks_of_cluster), per_block * sizeof(unsigned), bins,
              per_block, data, kCount));
  MUST(cudaMemcpy(result.data(), bins, all * sizeof(unsigned), cudaMemcpyDeviceToHost));
  MUST(cudaFree(bins));
  MUST(cudaFree(data));
  return result == expected;
}

static bool check_ring() {
  constexpr int kThreads = 128, kBlocks = 12, kRounds = 6;
  int* out;
  std::vector<int> result(kThreads * kBlocks);
  MUST(cudaMalloc(&out, result.size() * sizeof(int)));
  ring<<<kBlocks, kThreads>>>(out, kRounds);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(result.data(), out, result.size() * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int b = 0; b < kBlocks; ++b) {
    const int from = b / 4 * 4 + (b % 4 + 4 * kRounds - kRounds) % 4;
    for (int t = 0; t < kThreads; ++t) good = good && result[b * kThreads + t] == from * 1000 + t + kRounds;
  }
  // Blocks that its clusters do not divide, and another size than it was compiled for.
  ring<<<6, kThreads>>>(out, 1);
  good = good && cudaGetLastError() == cudaErrorInvalidClusterSize;
  good = good && launch(ring, dim3(8), dim3(kThreads), dim3(2), 0, out, 1) == cudaErrorInvalidClusterSize;
  cudaGetLastError();
  cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, ring));
  good = good && attributes.requiredClusterWidth == 4 && attributes.requiredClusterHeight == 1;
  MUST(cudaFree(out));
  return good;
}

static bool check_split() {
  constexpr int kThreads = 96, kBlocks = 8, kEach = 500;
  std::vector<float> values(kBlocks * kEach), result(kBlocks);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17);
  float *data, *sums;
  MUST(cudaMalloc(&data, values.size() * sizeof(float)));
  MUST(cudaMalloc(&sums, kBlocks * sizeof(float)));
  MUST(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  MUST(launch(split, dim3(kBlocks), dim3(kThreads), dim3(4), 0, static_cast<const float*>(data), sums, kEach));
  MUST(cudaMemcpy(result.data(), sums, kBlocks * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int b = 0; b < kBlocks; ++b) {
    float expected = 3;
    for (int i = b / 4 * 4 * kEach; i < (b / 4 + 1) * 4 * kEach; ++i) expected += values[i];
    good = good && result[b] == expected;
  }
  MUST(cudaFree(data));
  MUST(cudaFree(sums));
  return good;
}

static bool check_places() {
  const dim3 grid(6, 4), cluster(3, 2);
  std::vector<Place> result(grid.x * grid.y);
  Place* out;
  MUST(cudaMalloc(&out, result.size() * sizeof(Place)));
  MUST(launch(places, grid, dim3(64), cluster, 0, out));
  MUST(cudaMemcpy(result.data(), out, result.size() * sizeof(Place), cudaMemcpyDeviceToHost));
  bool good = true;
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      const Place& p = result[y * grid.x + x];
      good = good && p.x == x % 3 && p.y == y % 2 && p.rank == p.x + 3 * p.y && p.blocks == 6 && p.across == 3 && p.down == 2 &&
             p.of_mapped == 5 && p.explicitly == 6 * 64;
    }
  // Without clusters every block is one.
  places<<<2, 32>>>(out);
  MUST(cudaMemcpy(result.data(), out, 2 * sizeof(Place), cudaMemcpyDeviceToHost));
  for (int b = 0; b < 2; ++b) good = good && result[b].rank == 0 && result[b].blocks == 1 && result[b].of_mapped == 0;
  good = good && launch(places, dim3(9), dim3(32), dim3(9), 0, out) == cudaErrorInvalidClusterSize;
  good = good && launch(places, dim3(8), dim3(32), dim3(3), 0, out) == cudaErrorInvalidClusterSize;
  cudaGetLastError();
  MUST(cudaFree(out));
  return good;
}

static bool check_occupancy() {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(16), config.blockDim = dim3(128);
  config.dynamicSmemBytes = 40000;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute, config.numAttrs = 1;
  int clusters = 0, largest = 0, blocks = 0, sms = 0;
  MUST(cudaOccupancyMaxActiveClusters(&clusters, places, &config));
  MUST(cudaOccupancyMaxPotentialClusterSize(&largest, places, &config));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, places, 128, 40000));
  MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  return clusters > 0 && clusters <= blocks * sms / 4 && largest == 8;
}

int main() {
  int can = 0;
  MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
  if (can != 1) return verdict(false);
  return verdict(check_histogram(2, 64) && check_histogram(8, 40) && check_histogram(16, 16) && check_ring() && check_split() &&
                 check_places() && check_occupancy());
}
