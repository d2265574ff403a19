// Double precision: roots, small dense systems, special sums, orbits.

extern "C" __global__ void newton_roots(const double* a, const double* b, const double* c, double* root,
                                        int* steps, int n, double tolerance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double p = a[i], q = b[i], r = c[i];
  double x = 1.0 + fabs(p);
  int k = 0;
  for (; k < 50; ++k) {
    const double f = ((x + p) * x + q) * x + r, slope = (3.0 * x + 2.0 * p) * x + q;
    if (slope == 0.0) {
      x += 0.5;
      continue;
    }
    const double change = f / slope;
    x -= change;
    if (fabs(change) <= tolerance * fabs(x)) break;
  }
  root[i] = x;
  steps[i] = k;
}

template <int N>
__global__ void lu_in_registers(double* matrices, double* right, int count) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= count) return;
  double a[N][N], b[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    b[i] = right[i * count + m];
#pragma unroll
    for (int j = 0; j < N; ++j) a[i][j] = matrices[(i * N + j) * count + m];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const double inverse = 1.0 / a[k][k];
#pragma unroll
    for (int i = k + 1; i < N; ++i) {
      const double f = a[i][k] * inverse;
#pragma unroll
      for (int j = k + 1; j < N; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
#pragma unroll
  for (int i = N - 1; i >= 0; --i) {
#pragma unroll
    for (int j = i + 1; j < N; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
    right[i * count + m] = b[i];
  }
}
template __global__ void lu_in_registers<3>(double*, double*, int);
template __global__ void lu_in_registers<5>(double*, double*, int);

extern "C" __global__ void kepler_orbits(const double* mean_anomaly, const double* eccentricity, double* x,
                                         double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double m = mean_anomaly[i], e = eccentricity[i];
  double anomaly = e < 0.8 ? m : 3.14159265358979;
  double s, c;
  for (int k = 0; k < 15; ++k) {
    sincos(anomaly, &s, &c);
    const double change = (anomaly - e * s - m) / (1.0 - e * c);
    anomaly -= change;
    if (fabs(change) < 1e-13) break;
  }
  sincos(anomaly, &s, &c);
  x[i] = c - e;
  y[i] = sqrt(1.0 - e * e) * s;
}

// Conjugate gradients: the updates of two vectors and the new squared residual in one pass.
extern "C" __global__ void cg_update(double2* x, double2* r, const double2* p, const double2* ap,
                                     const double* rr, const double* pap, double* next, int n) {
  __shared__ double part[8];
  const double alpha = *rr / *pap;
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double2 xv = x[i], rv = r[i];
    const double2 pv = p[i], av = ap[i];
    xv.x += alpha * pv.x;
    xv.y += alpha * pv.y;
    rv.x -= alpha * av.x;
    rv.y -= alpha * av.y;
    sum += rv.x * rv.x + rv.y * rv.y;
    x[i] = xv;
    r[i] = rv;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += part[w];
    atomicAdd(next, sum);
  }
}

extern "C" __global__ void horner_chebyshev(const double* coefficients, int terms, const double* x, double* y,
                                            double low, double high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double t = (2.0 * x[i] - low - high) / (high - low);
  double b0 = 0, b1 = 0;
  for (int k = terms - 1; k >= 1; --k) {
    const double b = 2.0 * t * b0 - b1 + coefficients[k];
    b1 = b0;
    b0 = b;
  }
  y[i] = t * b0 - b1 + 0.5 * coefficients[0];
}

extern "C" __global__ void geodesic_distance(const double2* from, const double2* to, float* metres, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 a = from[i], b = to[i];
  const double dy = sin(0.5 * (b.y - a.y)), dx = sin(0.5 * (b.x - a.x));
  const double h = dy * dy + cos(a.y) * cos(b.y) * dx * dx;
  metres[i] = (float)(2.0 * 6371008.8 * asin(fmin(1.0, sqrt(h))));
}

// A sum of doubles without error: two words, high and low.
extern "C" __global__ void double_double_dot(const double* x, const double* y, double2* out, int n) {
  double high = 0, low = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double p = __dmul_rn(x[i], y[i]), e = fma(x[i], y[i], -p);
    const double s = __dadd_rn(high, p), bb = __dadd_rn(s, -high);
    const double lost = __dadd_rn(__dadd_rn(high, -__dadd_rn(s, -bb)), __dadd_rn(p, -bb));
    high = s;
    low += lost + e;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = make_double2(high, low);
}
