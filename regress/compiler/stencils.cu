// Stencils in one, two and three dimensions, with and without halos in shared memory.

template <int R>
__global__ void stencil_1d(float* out, const float* in, const float* weight, int n) {
  extern __shared__ float line[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = threadIdx.x + R;
  line[at] = i < n ? in[i] : 0.f;
  if (threadIdx.x < R) {
    const int left = i - R, right = i + blockDim.x;
    line[threadIdx.x] = left >= 0 ? in[left] : 0.f;
    line[at + blockDim.x] = right < n ? in[right] : 0.f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.f;
#pragma unroll
  for (int k = -R; k <= R; ++k) sum += weight[k + R] * line[at + k];
  out[i] = sum;
}
template __global__ void stencil_1d<2>(float*, const float*, const float*, int);
template __global__ void stencil_1d<7>(float*, const float*, const float*, int);

extern "C" __global__ void heat_2d(float* out, const float* in, int width, int height, float alpha) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1) return;
  const int i = y * width + x;
  const float c = in[i];
  out[i] = c + alpha * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4.f * c);
}

extern "C" __global__ void nine_point_periodic(double* out, const double* in, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int west = (x + nx - 1) % nx, east = (x + 1) % nx;
  const int south = (y + ny - 1) % ny * nx, north = (y + 1) % ny * nx, here = y * nx;
  const double edges = in[here + west] + in[here + east] + in[south + x] + in[north + x];
  const double corners = in[south + west] + in[south + east] + in[north + west] + in[north + east];
  out[here + x] = (4.0 * edges + corners - 20.0 * in[here + x]) / 6.0;
}

constexpr int kBx = 32, kBy = 8;

extern "C" __global__ void __launch_bounds__(kBx* kBy)
    hot_spot(float* out, const float* temperature, const float* power, int width, int height, float cap,
             float rx, float ry, float rz, float ambient) {
  __shared__ float t[kBy + 2][kBx + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * kBx + threadIdx.x, y = blockIdx.y * kBy + threadIdx.y;
  const int cx = min(x, width - 1), cy = min(y, height - 1);
  t[ty][tx] = temperature[cy * width + cx];
  if (threadIdx.x == 0) t[ty][0] = temperature[cy * width + max(cx - 1, 0)];
  if (threadIdx.x == kBx - 1) t[ty][kBx + 1] = temperature[cy * width + min(cx + 1, width - 1)];
  if (threadIdx.y == 0) t[0][tx] = temperature[max(cy - 1, 0) * width + cx];
  if (threadIdx.y == kBy - 1) t[kBy + 1][tx] = temperature[min(cy + 1, height - 1) * width + cx];
  __syncthreads();
  if (x >= width || y >= height) return;
  const float here = t[ty][tx];
  const float change = power[y * width + x] + (t[ty - 1][tx] + t[ty + 1][tx] - 2.f * here) / ry +
                       (t[ty][tx - 1] + t[ty][tx + 1] - 2.f * here) / rx + (ambient - here) / rz;
  out[y * width + x] = here + cap * change;
}

extern "C" __global__ void laplace_3d(float* __restrict__ out, const float* __restrict__ in, int nx, int ny,
                                      int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
  const int plane = nx * ny;
  int at = j * nx + i + plane;
  float below = in[at - plane], here = in[at];
  for (int k = 1; k < nz - 1; ++k) {
    const float above = in[at + plane];
    out[at] = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + above + below - 6.f * here;
    below = here;
    here = above;
    at += plane;
  }
}

__constant__ float wave_weight[5];

// Eighth order in space: the column lives in registers, the plane in shared memory.
extern "C" __global__ void wave_3d(float* next, const float* now, const float* velocity, int nx, int ny,
                                   int nz) {
  constexpr int R = 4, B = 16;
  __shared__ float plane[B + 2 * R][B + 2 * R];
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  const int stride = nx * ny;
  int in = (blockIdx.y * B + threadIdx.y + R) * nx + blockIdx.x * B + threadIdx.x + R;
  float behind[R], front[R], current;
#pragma unroll
  for (int k = R - 2; k >= 0; --k) {
    behind[k] = now[in];
    in += stride;
  }
  current = now[in];
  int out = in;
  in += stride;
#pragma unroll
  for (int k = 0; k < R; ++k) {
    front[k] = now[in];
    in += stride;
  }
  for (int z = R; z < nz - R; ++z) {
#pragma unroll
    for (int k = R - 1; k > 0; --k) behind[k] = behind[k - 1];
    behind[0] = current;
    current = front[0];
#pragma unroll
    for (int k = 0; k < R - 1; ++k) front[k] = front[k + 1];
    front[R - 1] = now[in];
    in += stride;
    out += stride;
    __syncthreads();
    if (threadIdx.y < R) {
      plane[threadIdx.y][tx] = now[out - R * nx];
      plane[threadIdx.y + B + R][tx] = now[out + B * nx];
    }
    if (threadIdx.x < R) {
      plane[ty][threadIdx.x] = now[out - R];
      plane[ty][threadIdx.x + B + R] = now[out + B];
    }
    plane[ty][tx] = current;
    __syncthreads();
    float value = wave_weight[0] * current;
#pragma unroll
    for (int k = 1; k <= R; ++k)
      value += wave_weight[k] * (front[k - 1] + behind[k - 1] + plane[ty - k][tx] + plane[ty + k][tx] +
                                 plane[ty][tx - k] + plane[ty][tx + k]);
    next[out] = 2.f * current - next[out] + value * velocity[out];
  }
}

// Red-black Gauss-Seidel with over-relaxation, one colour a launch; the residual goes to one sum.
extern "C" __global__ void red_black(float* u, const float* f, float* residual, int n, int colour,
                                     float omega, float h2) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((row + colour) & 1);
  if (row >= n - 1 || column >= n - 1) return;
  float* p = u + row * n + column;
  const float old = *p;
  const float wanted = 0.25f * (p[-1] + p[1] + p[-n] + p[n] - h2 * f[row * n + column]);
  const float change = wanted - old;
  *p = old + omega * change;
  if (fabsf(change) > 1e-5f) atomicAdd(residual, change * change);
}
