// Shared-memory patterns: each lane reads the word at its offset 256 times; list: the offsets in bytes of the 32 lanes. Out: per warp,
// clock before and after. shared_chase: 64 dependent loads of one thread. shared_pattern.ptx does the same, written by hand: where a
// clock is read among the loads is not left to a compiler.

extern __shared__ char words[];

extern "C" __global__ void shared_pattern(unsigned* out, const volatile unsigned* list) {
  const unsigned offset = list[threadIdx.x % 32];
  const volatile unsigned* word = reinterpret_cast<const volatile unsigned*>(words + offset);
  if (offset == ~0u) return;
  unsigned sum = 0;
  __syncthreads();
  const unsigned before = clock();
#pragma unroll
  for (int i = 0; i < 256; ++i) sum += *word;
  if (sum == 123456789) return;
  const unsigned after = clock();
  if (threadIdx.x % 32 != 0) return;
  out[threadIdx.x / 32 * 2] = before;
  out[threadIdx.x / 32 * 2 + 1] = after;
}

extern "C" __global__ void shared_chase(unsigned* out) {
  unsigned at = 0;
  *reinterpret_cast<unsigned*>(words) = at;
  __syncthreads();
  const unsigned before = clock();
#pragma unroll
  for (int i = 0; i < 64; ++i) at = *reinterpret_cast<unsigned*>(words + at);
  if (at == 123456789) return;
  const unsigned after = clock();
  out[0] = before;
  out[1] = after;
}
