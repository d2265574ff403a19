// Functions of the mathematical library at full precision.

extern "C" __global__ void trigonometry(const float* x, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  float s, c;
  sincosf(v, &s, &c);
  out[i] = make_float4(s, c, tanf(0.5f * v), sinpif(v));
}

extern "C" __global__ void polar(const float2* in, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 v = in[i];
  out[i] = make_float2(hypotf(v.x, v.y), atan2f(v.y, v.x));
}

extern "C" __global__ void powers(const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = powf(x[i], y[i]) + cbrtf(x[i]) + exp2f(y[i]) - log2f(fabsf(x[i]));
}

extern "C" __global__ void errors_and_gammas(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = erff(x[i]) + erfcf(x[i] + 1.f) + lgammaf(fabsf(x[i]) + 0.5f);
}

extern "C" __global__ void hyperbolic(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = x[i];
    out[i] = sinhf(v) * tanhf(v) + asinhf(v) - atanhf(v / (1.f + fabsf(v)));
  }
}

extern "C" __global__ void log_sum_exp(const double* x, double* out, int n, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double highest = -1e300;
  for (int k = 0; k < width; ++k) highest = fmax(highest, x[k * n + row]);
  double sum = 0;
  for (int k = 0; k < width; ++k) sum += exp(x[k * n + row] - highest);
  out[row] = highest + log(sum) + log1p(highest * highest);
}

extern "C" __global__ void power_double(const double* x, const double* y, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = pow(x[i], y[i]) / (1.0 + atan(x[i])) + fmod(y[i], 3.0);
}

extern "C" __global__ void rounded(const float* x, int4* out, double* wide, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[i] = make_int4((int)floorf(v), (int)ceilf(v), __float2int_rn(v), (int)truncf(v * 2.f));
  wide[i] = fmodf(v, 1.5f) + remainderf(v, 0.7f) + ldexpf(v, 3) + nextafterf(v, 0.f);
}
