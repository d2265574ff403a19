// Times single loads of zeros, one at a time: `laps` times round the addresses a + k * stride, k < rounds, and then a + list[k], k <
// members (those with one thread only; with more, thread t takes every blockDim-th of the former, from the t-th on). What is loaded
// is added to the loop's counter: nothing goes on before it is there. Out, of the last lap: clocks in all, loads slower than `limit`,
// fastest, slowest, and the clocks of each member. probe.ptx does the same, written by hand: where a clock is read among the loads
// is not left to a compiler.

__constant__ unsigned table[16384];
extern __shared__ unsigned members[];

struct Cached {
  static __device__ unsigned load(const char* a, size_t offset) { return *reinterpret_cast<const unsigned*>(a + offset); }
};
struct PastL1 {
  static __device__ unsigned load(const char* a, size_t offset) {
    return *reinterpret_cast<const volatile unsigned*>(a + offset);
  }
};
struct Constant {
  static __device__ unsigned load(const char*, size_t offset) { return table[offset / 4]; }
};

struct Lap {
  unsigned slow = 0, fastest = ~0u, slowest = 0;
  template <class From>
  __device__ unsigned time(const char* a, size_t offset, unsigned limit, unsigned& counter) {
    const unsigned before = clock();
    counter += From::load(a, offset);
    const unsigned clocks = clock() - before;
    slow += clocks > limit;
    fastest = min(fastest, clocks);
    slowest = max(slowest, clocks);
    return clocks;
  }
};

template <class From>
__device__ void probe(unsigned* out, const char* a, const unsigned* list, unsigned stride, unsigned rounds, unsigned count,
                      unsigned laps, unsigned limit) {
  const volatile unsigned* from = list;
  for (unsigned k = 0; k < count; ++k) members[k] = from[k];
  Lap lap;
  unsigned clocks = 0;
  for (; laps != 0; --laps) {
    lap = Lap();
    const unsigned before = clock();
    for (unsigned k = 0; k < rounds; ++k)
      lap.time<From>(a, (size_t(k) * blockDim.x + threadIdx.x) * stride, limit, k);
    for (unsigned k = 0; k < count; ++k) {
      unsigned counter = k;
      const unsigned time = lap.time<From>(a, members[k], limit, counter);
      k = counter;
      if (laps == 1) members[k] = time;
    }
    clocks = clock() - before;
  }
  if (threadIdx.x != 0) return;
  out[0] = clocks;
  out[1] = lap.slow;
  out[2] = lap.fastest;
  out[3] = lap.slowest;
  for (unsigned k = 0; k < count; ++k) out[4 + k] = members[k];
}

#define PROBE(name, From)                                                                                              \
  extern "C" __global__ void name(unsigned* out, const char* a, const unsigned* list, unsigned stride, unsigned rounds, \
                                  unsigned count, unsigned laps, unsigned limit) {                                     \
    probe<From>(out, a, list, stride, rounds, count, laps, limit);                                                     \
  }
PROBE(probe_cached, Cached)
PROBE(probe_past_l1, PastL1)
PROBE(probe_constant, Constant)

// Zeros into all of it.
extern "C" __global__ void fill(uint4* a, unsigned bytes) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes / 16; i += gridDim.x * blockDim.x) a[i] = uint4{0, 0, 0, 0};
}
