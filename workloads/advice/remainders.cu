// A counting filter with four hash functions, each a remainder by a number of the host: as divisions, and by
// factors and shifts that the host finds for them.
constexpr int kMost = 256;

__device__ void add(unsigned* counts, const unsigned* own, int bins) {
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) atomicAdd(&counts[bin], own[bin]);
}

extern "C" __global__ void before(unsigned* counts_a, unsigned* counts_b, unsigned* counts_c, unsigned* counts_d,
                                  const unsigned* keys, unsigned a, unsigned b, unsigned c, unsigned d, int n) {
  __shared__ unsigned own[4][kMost];
  for (int bin = threadIdx.x; bin < 4 * kMost; bin += blockDim.x) own[0][bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned key = keys[i];
    atomicAdd(&own[0][key % a], 1u);
    atomicAdd(&own[1][key % b], 1u);
    atomicAdd(&own[2][key % c], 1u);
    atomicAdd(&own[3][key % d], 1u);
  }
  __syncthreads();
  add(counts_a, own[0], a);
  add(counts_b, own[1], b);
  add(counts_c, own[2], c);
  add(counts_d, own[3], d);
}

/// By 2^shift < number < 2^(shift + 1): factor is 2^32 (2^(shift + 1) - number) / number, rounded down, and 1.
struct Number {
  unsigned number, factor, shift;
  __device__ unsigned remainder(unsigned x) const {
    const unsigned high = __umulhi(x, factor), quotient = (((x - high) >> 1) + high) >> shift;
    return x - quotient * number;
  }
};

extern "C" __global__ void after(unsigned* counts_a, unsigned* counts_b, unsigned* counts_c, unsigned* counts_d,
                                 const unsigned* keys, unsigned a, unsigned factor_a, unsigned shift_a, unsigned b,
                                 unsigned factor_b, unsigned shift_b, unsigned c, unsigned factor_c,
                                 unsigned shift_c, unsigned d, unsigned factor_d, unsigned shift_d, int n) {
  __shared__ unsigned own[4][kMost];
  for (int bin = threadIdx.x; bin < 4 * kMost; bin += blockDim.x) own[0][bin] = 0;
  __syncthreads();
  const Number by_a{a, factor_a, shift_a}, by_b{b, factor_b, shift_b}, by_c{c, factor_c, shift_c},
      by_d{d, factor_d, shift_d};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned key = keys[i];
    atomicAdd(&own[0][by_a.remainder(key)], 1u);
    atomicAdd(&own[1][by_b.remainder(key)], 1u);
    atomicAdd(&own[2][by_c.remainder(key)], 1u);
    atomicAdd(&own[3][by_d.remainder(key)], 1u);
  }
  __syncthreads();
  add(counts_a, own[0], a);
  add(counts_b, own[1], b);
  add(counts_c, own[2], c);
  add(counts_d, own[3], d);
}
