// Pointer chase of one thread. link: element i, of `bytes` bytes, holds the address of element (i + step) mod (mask + 1), one thread
// each. chase: `warm` steps, then 128 timed ones; out: clock before, clock after. chase.ptx does the same, written by hand: where a
// clock is read among the loads is not left to a compiler.

extern "C" __global__ void link(char* a, unsigned mask, unsigned bytes, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > mask) return;
  *reinterpret_cast<char**>(a + size_t(i) * bytes) = a + size_t((i + step) & mask) * bytes;
}

extern "C" __global__ void chase(unsigned* out, void** a, unsigned warm) {
  void** p = a;
  for (unsigned i = 0; i < warm; ++i) p = static_cast<void**>(*p);
  if (p == nullptr) return;
  __syncthreads();
  const unsigned before = clock();
#pragma unroll
  for (int i = 0; i < 128; ++i) p = static_cast<void**>(*p);
  if (p == nullptr) return;
  const unsigned after = clock();
  out[0] = before;
  out[1] = after;
}
