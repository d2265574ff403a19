// Radix sort of N words by digits of eight bits, least significant first, three launches a digit: a warp
// counts the digits of its piece, one block turns the counts (digit by digit, and within a digit piece by
// piece) into places, and the warps scatter their words in order. radix.ptx is what nvcc 13 makes of this:
// nvcc -ptx -arch=compute_75

constexpr int kDigits = 256;

__device__ unsigned digit_of(unsigned word, int shift) { return word >> shift & (kDigits - 1); }

extern "C" __global__ void count(unsigned* counts, const unsigned* in, int N, int piece, int shift) {
  __shared__ unsigned own[kDigits];
  for (int d = threadIdx.x; d < kDigits; d += 32) own[d] = 0;
  __syncwarp();
  const int first = blockIdx.x * piece, end = min(first + piece, N);
  for (int i = first + threadIdx.x; i < end; i += 32) atomicAdd(&own[digit_of(in[i], shift)], 1);
  __syncwarp();
  for (int d = threadIdx.x; d < kDigits; d += 32) counts[d * gridDim.x + blockIdx.x] = own[d];
}

// One block of 256 threads: exclusive prefix sums in place, a digit's counts by its thread.
extern "C" __global__ void places(unsigned* counts, int pieces) {
  __shared__ unsigned sums[2][kDigits];
  const int digit = threadIdx.x;
  unsigned* own = counts + digit * pieces;
  unsigned sum = 0;
  for (int i = 0; i < pieces; ++i) sum += own[i];
  int now = 0;
  sums[0][digit] = sum;
  for (int d = 1; d < kDigits; d *= 2, now = 1 - now) {
    __syncthreads();
    sums[1 - now][digit] = sums[now][digit] + (digit >= d ? sums[now][digit - d] : 0);
  }
  unsigned place = sums[now][digit] - sum;
  for (int i = 0; i < pieces; ++i) {
    const unsigned count = own[i];
    own[i] = place;
    place += count;
  }
}

extern "C" __global__ void scatter(unsigned* out, const unsigned* counts, const unsigned* in, int N,
                                   int piece, int shift) {
  __shared__ unsigned place[kDigits];
  const unsigned before = (1u << threadIdx.x) - 1;
  for (int d = threadIdx.x; d < kDigits; d += 32) place[d] = counts[d * gridDim.x + blockIdx.x];
  __syncwarp();
  const int first = blockIdx.x * piece, end = min(first + piece, N);
  for (int tile = first; tile < end; tile += 32) {
    const int i = tile + threadIdx.x;
    const unsigned lanes = __ballot_sync(~0u, i < end);
    if (i < end) {
      const unsigned word = in[i], digit = digit_of(word, shift);
      const unsigned same = __match_any_sync(lanes, digit), rank = __popc(same & before);
      const unsigned to = place[digit] + rank;
      __syncwarp(lanes);
      if (rank == 0) place[digit] += __popc(same);
      out[to] = word;
    }
    __syncwarp();
  }
}
