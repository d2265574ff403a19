// Each thread follows a chain through a table of 512 KB. There is nothing that the threads of a block have in common: a block that
// keeps the beginning of the table in shared memory, and takes what lies there from it, is no faster.
constexpr unsigned kKept = 4096;

// Link i of the table is a * i + b, modulo n. What the chain leads to after some hops is of that form too: `out` is i.
__device__ void arrive(int* out, unsigned i, unsigned at, unsigned n, unsigned factor, unsigned shift) {
  out[i] = static_cast<int>(i + ((at - (factor * i + shift)) & (n - 1)));
}

extern "C" __global__ void before(int* out, const unsigned* next, unsigned n, int hops, unsigned factor, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = i;
  for (int h = 0; h < hops; ++h) at = next[at] & (n - 1);
  arrive(out, i, at, n, factor, shift);
}

extern "C" __global__ void after(int* out, const unsigned* next, unsigned n, int hops, unsigned factor, unsigned shift) {
  __shared__ unsigned kept[kKept];
  for (unsigned k = threadIdx.x; k < kKept; k += blockDim.x) kept[k] = next[k];
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = i;
  for (int h = 0; h < hops; ++h) at = (at < kKept ? kept[at] : next[at]) & (n - 1);
  arrive(out, i, at, n, factor, shift);
}
