// Prices of European calls and puts by the formula of Black and Scholes: BlackScholesGPU of the CUDA
// samples, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: an option a thread, blocks of
// 128, three inputs and two outputs in arrays of their own that may be aliases; the polynomial of five terms
// for the normal distribution; division, square root and reciprocal rounded to nearest, exponential and
// logarithm approximate.
__device__ __forceinline__ float normal_below(float x) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
  const float tail =
      0.3989422804f * __expf(-0.5f * x * x) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return x > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(float* call, float* put, float* price, float* strike, float* years,
                                         float rate, float volatility, int options) {
  const int at = threadIdx.x + blockDim.x * blockIdx.x;
  if (at >= options) return;
  const float s = price[at];
  const float x = strike[at];
  const float t = years[at];
  const float root = sqrtf(t);
  const float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float n1 = normal_below(d1);
  const float n2 = normal_below(d2);
  const float discounted = x * __expf(-rate * t);
  call[at] = s * n1 - discounted * n2;
  put[at] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
