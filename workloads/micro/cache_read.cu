// Reads that stay in a cache. Blocks of 256 threads; block b of g reads the 8 KB chunks b, b + g, b + 2 g, ... of the first mask + 1
// (a power of two), `rounds` of them: eight coalesced words per thread and chunk. Out: per warp, clock before and after. read_cached:
// through the first level; read_past_l1: past it.

template <class Word>
static __device__ void read(unsigned* out, const char* a, unsigned mask, unsigned rounds) {
  float sum = 0;
  unsigned chunk = blockIdx.x;
  __syncthreads();
  const unsigned before = clock();
  for (; rounds != 0; --rounds, chunk += gridDim.x) {
    Word* words = reinterpret_cast<Word*>(a + (chunk & mask) * size_t{8192}) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += words[256 * k];
  }
  if (sum == 123456795.0f) return;
  const unsigned after = clock();
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = blockIdx.x * 8 + threadIdx.x / 32;
  out[2 * warp] = before;
  out[2 * warp + 1] = after;
}

extern "C" __global__ void read_cached(unsigned* out, const char* a, unsigned mask, unsigned rounds) {
  read<const float>(out, a, mask, rounds);
}

extern "C" __global__ void read_past_l1(unsigned* out, const char* a, unsigned mask, unsigned rounds) {
  read<const volatile float>(out, a, mask, rounds);
}
