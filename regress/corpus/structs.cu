// Structs by value as kernel parameters: mixed alignment, arrays indexed at run time, nesting, empty and
// small ones.
#include "corpus.h"

struct Inner {
  unsigned char a;
  short b;
  double c;
};

struct Config {
  unsigned count;
  float weights[5];
  Inner inner[2];
  unsigned char tail[3];
};

struct Small {
  unsigned char r, g, b;
};

struct Wide {
  unsigned long long at[9];
};

__device__ __noinline__ Wide shifted(Wide w, unsigned by) {
  Wide result;
  for (unsigned k = 0; k < 9; ++k) result.at[k] = w.at[(k + by) % 9] + k;
  return result;
}

__device__ __noinline__ Small mixed(Small a, Small b) {
  return {static_cast<unsigned char>(a.r + b.g), static_cast<unsigned char>(a.g ^ b.b),
          static_cast<unsigned char>(a.b - b.r)};
}

extern "C" __global__ void structs(double* reals, unsigned long long* out, Config config, Small small,
                                   Wide wide) {
  unsigned i = thread_index();
  if (i >= config.count) return;
  const Inner& inner = config.inner[i & 1];
  reals[i] = config.weights[i % 5] * inner.c + inner.b + inner.a;
  Wide moved = shifted(wide, i);
  Small color = mixed(small, {config.tail[0], config.tail[i % 3], static_cast<unsigned char>(i)});
  out[i] = moved.at[mix(i) % 9] * 3 + (color.r | color.g << 8 | color.b << 16);
}
