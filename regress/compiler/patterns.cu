// Patterns: fractals, cellular automata, clustering, neighbours, decision trees.

extern "C" __global__ void mandelbrot(uchar4* out, int width, int height, float left, float top, float step,
                                      int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = left + px * step, cy = top + py * step;
  float x = 0.f, y = 0.f, x2 = 0.f, y2 = 0.f;
  int i = 0;
  while (i < limit && x2 + y2 < 4.f) {
    y = 2.f * x * y + cy;
    x = x2 - y2 + cx;
    x2 = x * x;
    y2 = y * y;
    ++i;
  }
  const int shade = i == limit ? 0 : i * 255 / limit;
  out[py * width + px] = make_uchar4(shade, shade * shade >> 8, 255 - shade, 255);
}

template <typename T, int Unroll>
__global__ void julia(unsigned short* out, int width, int height, T cx, T cy, T zoom, int limit) {
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < width * height; p += gridDim.x * blockDim.x) {
    T x = (p % width - width / 2) * zoom, y = (p / width - height / 2) * zoom;
    int i = 0;
    for (; i < limit && x * x + y * y < T(16); i += Unroll) {
#pragma unroll
      for (int k = 0; k < Unroll; ++k) {
        const T t = x * x - y * y + cx;
        y = T(2) * x * y + cy;
        x = t;
      }
    }
    out[p] = i;
  }
}
template __global__ void julia<float, 4>(unsigned short*, int, int, float, float, float, int);
template __global__ void julia<double, 1>(unsigned short*, int, int, double, double, double, int);

extern "C" __global__ void life_bits(const unsigned* from, unsigned* to, int words, int rows) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (w >= words) return;
  unsigned ones = 0, twos = 0, fours = 0;
  const int left = w > 0 ? w - 1 : words - 1, right = w + 1 < words ? w + 1 : 0;
  auto add = [&](unsigned bits) {
    const unsigned carry = ones & bits;
    ones ^= bits;
    fours |= twos & carry;
    twos ^= carry;
  };
  const unsigned here = from[y * words + w];
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* line = from + (y + dy + rows) % rows * words;
    const unsigned l = line[left], m = line[w], r = line[right];
    add(__funnelshift_l(l, m, 1));
    if (dy != 0) add(m);
    add(__funnelshift_r(m, r, 1));
  }
  to[y * words + w] = twos & ~fours & (ones | here);
}

// Clusters: the nearest of up to 64 centres in shared memory.
template <int Dimensions>
__global__ void kmeans_assign(const float* points, const float* centres, int* nearest, float* sums,
                              int* counts, int n, int k) {
  extern __shared__ float centre[];
  for (int i = threadIdx.x; i < k * Dimensions; i += blockDim.x) centre[i] = centres[i];
  __syncthreads();
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    float mine[Dimensions];
#pragma unroll
    for (int d = 0; d < Dimensions; ++d) mine[d] = points[d * n + p];
    float best = 3e38f;
    int which = 0;
    for (int c = 0; c < k; ++c) {
      float sum = 0.f;
#pragma unroll
      for (int d = 0; d < Dimensions; ++d) {
        const float difference = mine[d] - centre[c * Dimensions + d];
        sum += difference * difference;
      }
      if (sum < best) {
        best = sum;
        which = c;
      }
    }
    nearest[p] = which;
    atomicAdd(&counts[which], 1);
#pragma unroll
    for (int d = 0; d < Dimensions; ++d) atomicAdd(&sums[which * Dimensions + d], mine[d]);
  }
}
template __global__ void kmeans_assign<3>(const float*, const float*, int*, float*, int*, int, int);
template __global__ void kmeans_assign<16>(const float*, const float*, int*, float*, int*, int, int);

extern "C" __global__ void kernel_density(const float2* points, const float2* queries, float* density, int n,
                                          int m, float inverse_width) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= m) return;
  const float2 c = queries[q];
  float sum = 0.f;
  for (int i = 0; i < n; ++i) {
    const float dx = (points[i].x - c.x) * inverse_width, dy = (points[i].y - c.y) * inverse_width;
    sum += expf(-0.5f * (dx * dx + dy * dy));
  }
  density[q] = sum * inverse_width * inverse_width / (6.2831853f * n);
}

struct Split {
  float threshold;
  short feature, right;
};

extern "C" __global__ void forest_vote(const Split* nodes, const int* roots, int trees, const float* features,
                                       int* votes, int samples, int classes) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= samples) return;
  for (int t = blockIdx.y; t < trees; t += gridDim.y) {
    const Split* tree = nodes + roots[t];
    int at = 0;
    while (tree[at].feature >= 0)
      at = features[tree[at].feature * samples + s] <= tree[at].threshold ? at + 1 : tree[at].right;
    atomicAdd(&votes[s * classes + tree[at].right], 1);
  }
}
