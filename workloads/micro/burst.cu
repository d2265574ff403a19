// Loads at once: of the block's threads, lane l of warp w (of W) is number l * W + w; those below n load a + number * stride (burst)
// or a + list[number] (burst_list). burst_loads: lane 0 of the only warp has n loads (32 at most) of a + number * stride, one after
// the other. Out: per warp, clock before and after. burst.ptx does the same, written by hand: where a clock is read among the loads
// is not left to a compiler.

static __device__ unsigned number() { return (threadIdx.x % 32) * (blockDim.x / 32) + threadIdx.x / 32; }

static __device__ void load(unsigned* out, const char* a, unsigned offset, bool active) {
  unsigned value = 0;
  if (offset == ~0u) return;
  __syncthreads();
  const unsigned before = clock();
  if (active) value = *reinterpret_cast<const unsigned*>(a + offset);
  if (value != 0) return;
  const unsigned after = clock();
  if (threadIdx.x % 32 != 0) return;
  out[threadIdx.x / 32 * 2] = before;
  out[threadIdx.x / 32 * 2 + 1] = after;
}

extern "C" __global__ void burst(unsigned* out, const char* a, unsigned stride, unsigned n) {
  load(out, a, number() * stride, number() < n);
}

extern "C" __global__ void burst_loads(unsigned* out, const char* a, unsigned stride, unsigned n) {
  if (threadIdx.x != 0) return;
  unsigned values[32] = {};
  const unsigned before = clock();
#pragma unroll
  for (unsigned k = 0; k < 32; ++k)
    if (k < n) values[k] = *reinterpret_cast<const unsigned*>(a + k * stride);
  unsigned any = 0;
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) any |= values[k];
  if (any != 0) return;
  out[0] = before;
  out[1] = clock();
}

extern "C" __global__ void burst_list(unsigned* out, const char* a, const volatile unsigned* list, unsigned n) {
  const bool active = number() < n;
  load(out, a, active ? list[number()] : 0, active);
}
