// Arrays of a thread's own, with indices that are known only at run time, and long unrolled code.

extern "C" __global__ void insertion_sort(const float* in, float* out, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[24];
  for (int k = 0; k < length; ++k) {
    const float x = in[k * n + i];
    int at = k;
    for (; at > 0 && v[at - 1] > x; --at) v[at] = v[at - 1];
    v[at] = x;
  }
  for (int k = 0; k < length; ++k) out[k * n + i] = v[k];
}

extern "C" __global__ void histogram_own(const unsigned char* in, unsigned short* out, int n, int each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short bins[16] = {};
  for (int k = 0; k < each; ++k) ++bins[in[k * n + i] >> 4];
#pragma unroll
  for (int b = 0; b < 16; ++b) out[b * n + i] = bins[b];
}

extern "C" __global__ void n_queens(unsigned* solutions, int n, int prefix_rows) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned columns[20], left[20], right[20], free[20];
  const unsigned all = (1u << n) - 1;
  int c = first, row = 0;
  columns[0] = left[0] = right[0] = 0;
  for (; row < prefix_rows; ++row) {
    const unsigned bit = 1u << c % n;
    c /= n;
    if ((columns[row] | left[row] | right[row]) & bit) return;
    columns[row + 1] = columns[row] | bit;
    left[row + 1] = (left[row] | bit) << 1;
    right[row + 1] = (right[row] | bit) >> 1;
  }
  if (c > 0) return;
  const int start = row;
  unsigned found = 0;
  free[row] = all & ~(columns[row] | left[row] | right[row]);
  while (row >= start) {
    if (free[row] == 0) {
      --row;
      continue;
    }
    const unsigned bit = free[row] & -free[row];
    free[row] ^= bit;
    if (row + 1 == n) {
      ++found;
      continue;
    }
    columns[row + 1] = columns[row] | bit;
    left[row + 1] = (left[row] | bit) << 1;
    right[row + 1] = (right[row] | bit) >> 1;
    ++row;
    free[row] = all & ~(columns[row] | left[row] | right[row]);
  }
  atomicAdd(solutions, found);
}

extern "C" __global__ void polynomial_fit(const float* x, const float* y, float* out, int n, int points,
                                          int degree) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float power[13] = {}, right[7] = {}, m[7][8];
  for (int k = 0; k < points; ++k) {
    const float xv = x[k * n + i], yv = y[k * n + i];
    float p = 1.f;
    for (int d = 0; d <= 2 * degree; ++d) {
      power[d] += p;
      if (d <= degree) right[d] += p * yv;
      p *= xv;
    }
  }
  for (int r = 0; r <= degree; ++r) {
    for (int c = 0; c <= degree; ++c) m[r][c] = power[r + c];
    m[r][degree + 1] = right[r];
  }
  for (int k = 0; k <= degree; ++k)
    for (int r = k + 1; r <= degree; ++r) {
      const float f = m[r][k] / m[k][k];
      for (int c = k; c <= degree + 1; ++c) m[r][c] -= f * m[k][c];
    }
  for (int r = degree; r >= 0; --r) {
    float v = m[r][degree + 1];
    for (int c = r + 1; c <= degree; ++c) v -= m[r][c] * out[c * n + i];
    out[r * n + i] = v / m[r][r];
  }
}

// Forty accumulators, all of them live over the loop.
extern "C" __global__ void __launch_bounds__(256, 6)
    many_accumulators(const float* a, const float* b, float* out, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum[5][8] = {};
  for (int k = 0; k < length; ++k) {
    float x[5], y[8];
#pragma unroll
    for (int r = 0; r < 5; ++r) x[r] = a[(k * 5 + r) * n + i];
#pragma unroll
    for (int c = 0; c < 8; ++c) y[c] = b[k * 8 + c];
#pragma unroll
    for (int r = 0; r < 5; ++r)
#pragma unroll
      for (int c = 0; c < 8; ++c) sum[r][c] += x[r] * y[c];
  }
#pragma unroll
  for (int r = 0; r < 5; ++r)
#pragma unroll
    for (int c = 0; c < 8; ++c) out[(r * 8 + c) * n + i] = sum[r][c];
}

// Sixty-four values a thread in blocks of 1024, which leave each thread 64 registers.
extern "C" __global__ void __launch_bounds__(1024) hadamard_64(float* data, const float* sign, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) v[k] = data[k * n + i] * sign[k];
#pragma unroll
  for (int step = 1; step < 64; step *= 2)
#pragma unroll
    for (int k = 0; k < 64; ++k)
      if ((k & step) == 0) {
        const float a = v[k], b = v[k + step];
        v[k] = a + b;
        v[k + step] = a - b;
      }
#pragma unroll
  for (int k = 0; k < 64; ++k) data[k * n + i] = v[k] * 0.125f;
}

// Winograd's transformation of a tile of 6 x 6, fully unrolled.
extern "C" __global__ void winograd_input(const float* in, float* out, int tiles_x, int tiles, int width) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const float* from = in + (t / tiles_x * 4) * width + t % tiles_x * 4;
  float m[6][6];
#pragma unroll
  for (int c = 0; c < 6; ++c) {
    float d[6];
#pragma unroll
    for (int r = 0; r < 6; ++r) d[r] = from[r * width + c];
    m[0][c] = 4.f * d[0] - 5.f * d[2] + d[4];
    m[1][c] = -4.f * (d[1] + d[2]) + d[3] + d[4];
    m[2][c] = 4.f * (d[1] - d[2]) - d[3] + d[4];
    m[3][c] = 2.f * (d[3] - d[1]) - d[2] + d[4];
    m[4][c] = 2.f * (d[1] - d[3]) - d[2] + d[4];
    m[5][c] = 4.f * d[1] - 5.f * d[3] + d[5];
  }
#pragma unroll
  for (int r = 0; r < 6; ++r) {
    const float* d = m[r];
    float* to = out + r * 6 * tiles + t;
    to[0] = 4.f * d[0] - 5.f * d[2] + d[4];
    to[tiles] = -4.f * (d[1] + d[2]) + d[3] + d[4];
    to[2 * tiles] = 4.f * (d[1] - d[2]) - d[3] + d[4];
    to[3 * tiles] = 2.f * (d[3] - d[1]) - d[2] + d[4];
    to[4 * tiles] = 2.f * (d[1] - d[3]) - d[2] + d[4];
    to[5 * tiles] = 4.f * d[1] - 5.f * d[3] + d[5];
  }
}

template <int Taps, int Outputs>
__global__ void sliding_window(const float* in, const float* weight, float* out, int n) {
  const int start = (blockIdx.x * blockDim.x + threadIdx.x) * Outputs;
  float window[Taps], w[Taps];
#pragma unroll
  for (int k = 0; k < Taps; ++k) w[k] = weight[k];
#pragma unroll
  for (int k = 0; k < Taps - 1; ++k) window[k] = start + k < n ? in[start + k] : 0.f;
#pragma unroll
  for (int o = 0; o < Outputs; ++o) {
    window[Taps - 1] = start + o + Taps - 1 < n ? in[start + o + Taps - 1] : 0.f;
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < Taps; ++k) sum += w[k] * window[k];
#pragma unroll
    for (int k = 0; k < Taps - 1; ++k) window[k] = window[k + 1];
    if (start + o < n) out[start + o] = sum;
  }
}
template __global__ void sliding_window<5, 8>(const float*, const float*, float*, int);
template __global__ void sliding_window<11, 16>(const float*, const float*, float*, int);
