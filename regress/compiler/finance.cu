// Prices of options and risks of portfolios.

__device__ float normal_cdf(float d) {
  const float k = 1.f / (1.f + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.f ? 1.f - tail : tail;
}

extern "C" __global__ void black_scholes(float* call, float* put, const float* spot, const float* strike,
                                         const float* years, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = spot[i], x = strike[i], t = years[i];
  const float root = sqrtf(t);
  const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float n1 = normal_cdf(d1), n2 = normal_cdf(d2), discount = expf(-rate * t);
  call[i] = s * n1 - x * discount * n2;
  put[i] = x * discount * (1.f - n2) - s * (1.f - n1);
}

extern "C" __global__ void black_scholes_double(const double2* spot_strike, const double* years, double* call,
                                                double rate, double volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 o = spot_strike[i];
  const double t = years[i], deviation = volatility * sqrt(t);
  const double d1 = (log(o.x / o.y) + rate * t) / deviation + 0.5 * deviation;
  call[i] = o.x * 0.5 * erfc(-d1 * 0.70710678118654752) -
            o.y * exp(-rate * t) * 0.5 * erfc((deviation - d1) * 0.70710678118654752);
}

// A block an option; the leaves of the tree in shared memory.
extern "C" __global__ void binomial_american(const float4* options, float* price, int steps, float rate) {
  __shared__ float leaf[1025];
  const float4 o = options[blockIdx.x];
  const float dt = o.z / steps, up = expf(o.w * sqrtf(dt)), down = 1.f / up;
  const float growth = expf(rate * dt), p = (growth - down) / (up - down), pu = p / growth,
              pd = (1.f - p) / growth;
  for (int i = threadIdx.x; i <= steps; i += blockDim.x)
    leaf[i] = fmaxf(o.y - o.x * expf(o.w * sqrtf(dt) * (2 * i - steps)), 0.f);
  for (int level = steps - 1; level >= 0; --level) {
    for (int start = 0; start <= level; start += blockDim.x) {
      const int i = start + threadIdx.x;
      float value = 0.f;
      __syncthreads();
      if (i <= level) value = pu * leaf[i + 1] + pd * leaf[i];
      __syncthreads();
      if (i <= level) leaf[i] = fmaxf(value, o.y - o.x * powf(up, 2 * i - level));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) price[blockIdx.x] = leaf[0];
}

extern "C" __global__ void asian_monte_carlo(float* payoff, float spot, float strike, float drift,
                                             float step_deviation, int steps, int paths, unsigned seed) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= paths) return;
  unsigned s = seed ^ p * 747796405u;
  float price = spot, sum = 0.f;
  for (int i = 0; i < steps; i += 2) {
    s = s * 1664525u + 1013904223u;
    const float u = ((s >> 8) + 0.5f) * 0x1p-24f;
    s = s * 1664525u + 1013904223u;
    const float angle = (s >> 8) * (0x1p-24f * 6.2831853f);
    const float radius = sqrtf(-2.f * logf(u));
    price *= expf(drift + step_deviation * radius * __cosf(angle));
    sum += price;
    price *= expf(drift + step_deviation * radius * __sinf(angle));
    sum += price;
  }
  payoff[p] = fmaxf(sum / steps - strike, 0.f);
}

// One step of regression in the least-squares method: sums of powers and of products with the payoff.
extern "C" __global__ void longstaff_sums(const double* price, const double* cash, double strike,
                                          double* sums, int paths) {
  double s[8] = {};
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < paths; p += gridDim.x * blockDim.x) {
    const double x = price[p] / strike;
    if (x >= 1.0) continue;
    const double y = cash[p], x2 = x * x;
    s[0] += 1.0;
    s[1] += x;
    s[2] += x2;
    s[3] += x2 * x;
    s[4] += x2 * x2;
    s[5] += y;
    s[6] += x * y;
    s[7] += x2 * y;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    for (int d = 16; d > 0; d >>= 1) s[k] += __shfl_xor_sync(~0u, s[k], d);
    if ((threadIdx.x & 31) == k) atomicAdd(&sums[k], s[k]);
  }
}

extern "C" __global__ void implied_volatility(const float* market, const float4* options, float* volatility,
                                              int n, float tolerance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 o = options[i];
  const float root = sqrtf(o.z), discounted = o.y * expf(-o.w * o.z), goal = market[i];
  float v = 0.3f;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const float d1 = (logf(o.x / discounted)) / (v * root) + 0.5f * v * root;
    const float price = o.x * normcdff(d1) - discounted * normcdff(d1 - v * root);
    const float vega = o.x * root * 0.39894228f * expf(-0.5f * d1 * d1);
    const float miss = price - goal;
    if (fabsf(miss) < tolerance) break;
    v = fminf(fmaxf(v - miss / fmaxf(vega, 1e-6f), 0.01f), 5.f);
  }
  volatility[i] = v;
}

extern "C" __global__ void heston_paths(float2* state, const float2* normals, float dt, float kappa,
                                        float theta, float xi, float rho, float rate, int paths, int steps) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= paths) return;
  float2 s = state[p];
  const float root_dt = sqrtf(dt), other = sqrtf(1.f - rho * rho);
  for (int i = 0; i < steps; ++i) {
    const float2 z = normals[i * paths + p];
    const float v = fmaxf(s.y, 0.f), root = sqrtf(v) * root_dt;
    s.x *= expf((rate - 0.5f * v) * dt + root * z.x);
    s.y += kappa * (theta - v) * dt + xi * root * (rho * z.x + other * z.y);
  }
  state[p] = s;
}

extern "C" __global__ void bond_cash_flows(const int* first, const double* amount, const double* when,
                                           const double* curve, int points, double spacing, double* value,
                                           double* duration, int bonds) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= bonds) return;
  double sum = 0, weighted = 0;
  for (int k = first[b]; k < first[b + 1]; ++k) {
    const double t = when[k], at = t / spacing;
    const int low = min((int)at, points - 2);
    const double rate = curve[low] + (at - low) * (curve[low + 1] - curve[low]);
    const double present = amount[k] * exp(-rate * t);
    sum += present;
    weighted += present * t;
  }
  value[b] = sum;
  duration[b] = sum > 0 ? weighted / sum : 0;
}
