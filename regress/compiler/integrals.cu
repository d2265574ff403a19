// Integrals and differential equations.

extern "C" __global__ void simpson(double* partial, double a, double b, int intervals, double k) {
  __shared__ double part[256];
  const double h = (b - a) / intervals;
  double sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < intervals; i += gridDim.x * 256) {
    const double x0 = a + i * h, x1 = x0 + 0.5 * h, x2 = x0 + h;
    auto f = [k](double x) { return exp(-k * x * x) / (1.0 + x * x); };
    sum += f(x0) + 4.0 * f(x1) + f(x2);
  }
  part[threadIdx.x] = sum * h / 6.0;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

__constant__ double gauss_node[8], gauss_weight[8];

extern "C" __global__ void gauss_legendre(const double2* intervals, double* out, int n, double frequency) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 ab = intervals[i];
  const double middle = 0.5 * (ab.x + ab.y), half = 0.5 * (ab.y - ab.x);
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const double d = half * gauss_node[k], u = middle + d, v = middle - d;
    sum += gauss_weight[k] * (sqrt(1.0 + frequency * u * u) + sqrt(1.0 + frequency * v * v));
  }
  out[i] = half * sum;
}

struct State {
  float x, y, z;
};

__device__ State lorenz(State s, float sigma, float rho, float beta) {
  return {sigma * (s.y - s.x), s.x * (rho - s.z) - s.y, s.x * s.y - beta * s.z};
}

extern "C" __global__ void runge_kutta_lorenz(State* states, int n, int steps, float h, float sigma,
                                              float rho, float beta) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  State s = states[i];
  auto moved = [](State a, State d, float by) {
    return State{a.x + by * d.x, a.y + by * d.y, a.z + by * d.z};
  };
  for (int k = 0; k < steps; ++k) {
    const State k1 = lorenz(s, sigma, rho, beta);
    const State k2 = lorenz(moved(s, k1, 0.5f * h), sigma, rho, beta);
    const State k3 = lorenz(moved(s, k2, 0.5f * h), sigma, rho, beta);
    const State k4 = lorenz(moved(s, k3, h), sigma, rho, beta);
    s.x += h / 6.f * (k1.x + 2.f * k2.x + 2.f * k3.x + k4.x);
    s.y += h / 6.f * (k1.y + 2.f * k2.y + 2.f * k3.y + k4.y);
    s.z += h / 6.f * (k1.z + 2.f * k2.z + 2.f * k3.z + k4.z);
  }
  states[i] = s;
}

// Embedded pair with a step chosen from the error estimate.
extern "C" __global__ void adaptive_pendulum(double2* state, double* when, int* taken, int n, double end,
                                             double tolerance, double damping) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double2 y = state[i];
  double t = when[i], h = 1e-2;
  int steps = 0;
  auto slope = [damping](double2 v) { return make_double2(v.y, -sin(v.x) - damping * v.y); };
  while (t < end && steps < 100000) {
    if (t + h > end) h = end - t;
    const double2 k1 = slope(y);
    const double2 k2 = slope(make_double2(y.x + 0.5 * h * k1.x, y.y + 0.5 * h * k1.y));
    const double2 k3 = slope(make_double2(y.x + 0.75 * h * k2.x, y.y + 0.75 * h * k2.y));
    const double2 next = make_double2(y.x + h / 9.0 * (2 * k1.x + 3 * k2.x + 4 * k3.x),
                                      y.y + h / 9.0 * (2 * k1.y + 3 * k2.y + 4 * k3.y));
    const double2 k4 = slope(next);
    const double ex = h * (-5.0 / 72 * k1.x + k2.x / 12 + k3.x / 9 - k4.x / 8),
                 ey = h * (-5.0 / 72 * k1.y + k2.y / 12 + k3.y / 9 - k4.y / 8);
    const double error = fmax(fabs(ex), fabs(ey));
    if (error <= tolerance) {
      t += h;
      y = next;
    }
    h *= fmin(4.0, fmax(0.25, 0.9 * cbrt(tolerance / fmax(error, 1e-300))));
    ++steps;
  }
  state[i] = y;
  when[i] = t;
  taken[i] = steps;
}

extern "C" __global__ void bessel_series(const double* x, double* j0, double* e1, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double v = x[i], q = -0.25 * v * v;
  double term = 1, sum = 1;
  for (int k = 1; fabs(term) > 1e-17 * fabs(sum) && k < 200; ++k) {
    term *= q / ((double)k * k);
    sum += term;
  }
  j0[i] = sum;
  double b = v + 1, c = 1e30, d = 1 / b, h = d;
  for (int k = 1; k < 100; ++k) {
    const double a = -(double)k * k;
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    const double factor = c * d;
    h *= factor;
    if (fabs(factor - 1) < 1e-15) break;
  }
  e1[i] = h * exp(-v);
}

extern "C" __global__ void crank_nicolson_cyclic(double* u, const double* rhs, int log_n) {
  extern __shared__ double shared[];
  const int n = 1 << log_n, t = threadIdx.x;
  double *a = shared, *b = shared + n, *c = shared + 2 * n, *d = shared + 3 * n;
  a[t] = t > 0 ? -0.5 : 0;
  c[t] = t < n - 1 ? -0.5 : 0;
  b[t] = 2;
  d[t] = rhs[blockIdx.x * n + t];
  __syncthreads();
  for (int step = 1; step < n; step <<= 1) {
    const int l = max(t - step, 0), r = min(t + step, n - 1);
    const double k1 = t >= step ? a[t] / b[l] : 0, k2 = t + step < n ? c[t] / b[r] : 0;
    const double nb = b[t] - c[l] * k1 - a[r] * k2, nd = d[t] - d[l] * k1 - d[r] * k2, na = -a[l] * k1,
                 nc = -c[r] * k2;
    __syncthreads();
    a[t] = na;
    b[t] = nb;
    c[t] = nc;
    d[t] = nd;
    __syncthreads();
  }
  u[blockIdx.x * n + t] = d[t] / b[t];
}
