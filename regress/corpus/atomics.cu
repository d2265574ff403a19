// Atomics on global and shared memory: integers of 32 and 64 bits, float, double, CAS loops.
#include "corpus.h"

__device__ double atomic_max(double* address, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, seen;
  do {
    seen = old;
    if (__longlong_as_double(static_cast<long long>(seen)) >= value) break;
    old = atomicCAS(bits, seen, static_cast<unsigned long long>(__double_as_longlong(value)));
  } while (old != seen);
  return __longlong_as_double(static_cast<long long>(old));
}

__device__ void atomic_multiply(unsigned short* address, unsigned short factor) {
  unsigned short old = *address, seen;
  do {
    seen = old;
    old = atomicCAS(address, seen, static_cast<unsigned short>(seen * factor));
  } while (old != seen);
}

// All operations commute, so the order of threads does not show.
extern "C" __global__ void global_atomics(unsigned* words, unsigned long long* longs, float* floats,
                                          double* doubles, unsigned short* halves, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned m = mix(i), k = i % 4;
  atomicAdd(&words[k], m);
  atomicSub(&words[4 + k], m);
  atomicMin(&words[8 + k], m);
  atomicMax(reinterpret_cast<int*>(&words[12 + k]), static_cast<int>(m));
  atomicAnd(&words[16 + k], m | 0xff00ff00u >> k);
  atomicOr(&words[20 + k], 1u << (m & 31));
  atomicXor(&words[24 + k], m);
  atomicInc(&words[28 + k], 12 + k);
  atomicDec(&words[32 + k], 12 + k);
  atomicAdd(&longs[k], mix64(i));
  atomicMin(reinterpret_cast<long long*>(&longs[4 + k]), static_cast<long long>(mix64(i)));
  atomicMax(&longs[8 + k], mix64(i));
  atomicXor(&longs[12 + k], mix64(i));
  atomicAnd(&longs[16 + k], mix64(i) | 0xffffffff0ull);
  atomicAdd(&floats[k], static_cast<float>(m % 64) * 0.25f);
  atomicAdd(&doubles[k], static_cast<double>(m) * 0.5);
  atomic_max(&doubles[4 + k], static_cast<double>(m) * 1e-3);
  atomic_multiply(&halves[k], static_cast<unsigned short>(m | 1));
}

extern "C" __global__ void shared_atomics(unsigned* bins, unsigned long long* sums, float* scaled,
                                          unsigned n) {
  __shared__ unsigned bin[16];
  __shared__ unsigned long long sum[4];
  __shared__ float real[4];
  if (threadIdx.x < 16) bin[threadIdx.x] = 0;
  if (threadIdx.x < 4) sum[threadIdx.x] = 0, real[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = thread_index(); i < n; i += gridDim.x * blockDim.x) {
    unsigned m = mix(i);
    atomicAdd(&bin[m & 15], 1);
    atomicAdd(&sum[m >> 4 & 3], mix64(i));
    atomicAdd(&real[m >> 6 & 3], 0.125f);
    atomicExch(&bin[15], 0xabcdu);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicMax(&bins[threadIdx.x], 0u), atomicAdd(&bins[threadIdx.x], bin[threadIdx.x]);
  if (threadIdx.x < 4)
    atomicAdd(&sums[threadIdx.x], sum[threadIdx.x]), atomicAdd(&scaled[threadIdx.x], real[threadIdx.x]);
}

// Tickets: each value is handed out once.
extern "C" __global__ void tickets(unsigned* taken, unsigned* next, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned ticket = atomicAdd(next, 1);
  if (ticket < n && atomicExch(&taken[ticket], 1) == 0) __threadfence();
}
