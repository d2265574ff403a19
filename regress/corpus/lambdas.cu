// Lambdas: captures by value and by reference, generic, mutable, returned, recursive through themselves, as
// callables.
#include "corpus.h"

template <class F>
__device__ unsigned fold(unsigned n, unsigned start, F&& f) {
  for (unsigned k = 0; k < n; ++k) start = f(start, k);
  return start;
}

template <class F, class G>
__device__ auto compose(F f, G g) {
  return [f, g](auto x) { return g(f(x)); };
}

__device__ __noinline__ unsigned apply(unsigned (*f)(unsigned, unsigned), unsigned a, unsigned b) {
  return f(a, b);
}

extern "C" __global__ void lambdas(unsigned* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned calls = 0;
  auto step = [&calls, i](unsigned a, unsigned k) {
    ++calls;
    return a * 31 + (k ^ i);
  };
  unsigned folded = fold(i % 9 + 1, i, step);
  auto both = compose([i](auto x) { return x + i; }, [](auto x) { return x * x; });
  unsigned narrow = both(static_cast<unsigned short>(i * 257));
  unsigned long long wide = both(0x123456789ull);
  auto counter = [c = i]() mutable { return c = c * 3 + 1; };
  unsigned counted = counter() ^ counter() << 1;
  auto collatz = [](auto self, unsigned x) -> unsigned {
    return x <= 1 ? 0 : 1 + self(self, x & 1 ? 3 * x + 1 : x / 2);
  };
  unsigned (*plain[2])(unsigned, unsigned) = {[](unsigned a, unsigned b) { return a - b; },
                                              [](unsigned a, unsigned b) { return a * b + 1; }};
  out[6 * i] = folded;
  out[6 * i + 1] = calls;
  out[6 * i + 2] = narrow;
  out[6 * i + 3] = static_cast<unsigned>(wide >> 32) ^ static_cast<unsigned>(wide);
  out[6 * i + 4] = counted + apply(plain[mix(i) & 1], i, 13);
  out[6 * i + 5] = collatz(collatz, i % 30 + 1);
}
