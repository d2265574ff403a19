// The two microbenchmarks of the reuse-distance paper, in their mathematics. strided: one thread loads n
// words, a stride apart, twice. outstanding: a thread of each warp has `loads` (16 at most) loads of lines of
// their own before it waits for any; out: per warp, the cycles that they take.
extern "C" __global__ void strided(unsigned* out, const char* a, unsigned stride, unsigned n) {
  unsigned sum = 0;
  for (int round = 0; round < 2; ++round)
    for (unsigned i = 0; i < n; ++i)
      // The words are 0, which the compiler does not know: each address depends on the load before.
      sum += *reinterpret_cast<const unsigned*>(a + sum + i * stride);
  out[0] = sum;
}

extern "C" __global__ void outstanding(unsigned* out, const unsigned* a, unsigned loads) {
  constexpr unsigned kMost = 16, kLine = 32;
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = threadIdx.x / 32;
  const unsigned* own = a + warp * kMost * kLine;
  unsigned values[kMost] = {};
  const unsigned before = clock();
#pragma unroll
  for (unsigned k = 0; k < kMost; ++k)
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %2, %3; @p ld.global.u32 %0, [%1]; }"
                 : "+r"(values[k])
                 : "l"(own + kLine * k), "r"(k), "r"(loads));
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kMost; ++k) sum += values[k];
  out[warp] = sum == ~0u ? 0 : static_cast<unsigned>(clock()) - before;
}
