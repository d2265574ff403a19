// Histograms of bytes in 256 bins, as timed on an H100 (yencal/gpu-histogram-optimization). The same: blocks
// of 512, a loop over the grid; global: an atomic addition to global memory a byte; shared: to a histogram of
// the block in shared memory, whose bins that are not empty are added to the result at the end; vector: the
// same, 16 bytes loaded at a time. Not the same: the size and the grid (the files of launches say so).
constexpr int kBins = 256;
constexpr int kVector = 16;

extern "C" __global__ void histogram_global(const unsigned char* __restrict__ values, int n,
                                            int* __restrict__ bins) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&bins[values[i]], 1);
}

__device__ __forceinline__ void clear(int* own) {
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
}

__device__ __forceinline__ void add_to(int* bins, const int* own) {
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    const int count = own[bin];
    if (count > 0) atomicAdd(&bins[bin], count);
  }
}

extern "C" __global__ void histogram_shared(const unsigned char* __restrict__ values, int n,
                                            int* __restrict__ bins) {
  __shared__ int own[kBins];
  clear(own);
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&own[values[i]], 1);
  add_to(bins, own);
}

extern "C" __global__ void histogram_vector(const unsigned char* __restrict__ values, int n,
                                            int* __restrict__ bins) {
  __shared__ int own[kBins];
  clear(own);
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;
  const int vectors = n / kVector;
  for (int i = first; i < vectors; i += stride) {
    const uint4 four = reinterpret_cast<const uint4*>(values)[i];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < kVector; ++j) atomicAdd(&own[words[j / 4] >> (8 * (j % 4)) & 255], 1);
  }
  for (int i = vectors * kVector + first; i < n; i += stride) atomicAdd(&own[values[i]], 1);
  add_to(bins, own);
}
