// Function pointers: tables in constant memory, pointers to members, callbacks passed down, chosen by data.
#include "corpus.h"

using Operation = unsigned (*)(unsigned, unsigned);

__device__ unsigned add(unsigned a, unsigned b) { return a + b; }
__device__ unsigned multiply(unsigned a, unsigned b) { return a * b; }
__device__ unsigned rotate(unsigned a, unsigned b) { return __funnelshift_l(a, a, b); }
__device__ double scale(double a, float b, short c, bool d) { return d ? a * b + c : a - b * c; }
__device__ double offset(double a, float b, short c, bool d) { return a + b + (d ? c : -c); }
template <unsigned K>
__device__ unsigned stamp(unsigned a, unsigned b) {
  return a * K ^ b;
}

__constant__ Operation table[] = {add, multiply, rotate, stamp<3>, stamp<5>, stamp<7>};
__device__ double (*reals[])(double, float, short, bool) = {scale, offset};

struct Machine {
  unsigned state;
  __device__ __noinline__ unsigned push(unsigned v) { return state = state * 33 + v; }
  __device__ __noinline__ unsigned pop(unsigned v) { return state = state / 3 ^ v; }
};

__device__ __noinline__ unsigned accumulate(Operation f, Operation g, unsigned n, unsigned start) {
  for (unsigned k = 0; k < n; ++k) start = g(f(start, k), n);
  return start;
}

extern "C" __global__ void function_pointers(unsigned* out, double* real, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned m = mix(i);
  out[3 * i] = accumulate(table[m % 6], table[(m >> 8) % 6], i % 5 + 1, i);
  unsigned (Machine::*steps[2])(unsigned) = {&Machine::push, &Machine::pop};
  Machine machine{i};
  for (unsigned k = 0; k < 6; ++k) (machine.*steps[m >> k & 1])(k + i);
  out[3 * i + 1] = machine.state;
  Operation last = nullptr;
  if (m & 16) last = table[i % 6];
  out[3 * i + 2] = last ? last(i, m) : 12345;
  real[i] = reals[i & 1](i * 0.5, 1.25f, static_cast<short>(i - 40), m & 32);
}
