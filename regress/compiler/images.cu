// Images: filters, colours, geometry, thresholds.

constexpr float kGamma = 2.2f;

extern "C" __global__ void rgb_to_grey(const uchar4* in, unsigned char* out, int width, int height,
                                       int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uchar4 p = in[y * width + x];
  out[y * pitch + x] = (p.x * 77 + p.y * 150 + p.z * 29 + 128) >> 8;
}

extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height,
                                 float scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int x0 = max(x - 1, 0), x2 = min(x + 1, width - 1);
  const unsigned char *above = in + max(y - 1, 0) * width, *here = in + y * width,
                      *below = in + min(y + 1, height - 1) * width;
  const int horizontal = above[x2] + 2 * here[x2] + below[x2] - above[x0] - 2 * here[x0] - below[x0];
  const int vertical = above[x0] + 2 * above[x] + above[x2] - below[x0] - 2 * below[x] - below[x2];
  const float magnitude = scale * sqrtf(float(horizontal * horizontal + vertical * vertical));
  out[y * width + x] = (unsigned char)fminf(magnitude, 255.f);
}

__constant__ float gaussian[64];

extern "C" __global__ void bilateral(const uchar4* in, uchar4* out, int width, int height, int radius,
                                     float range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uchar4 centre = in[y * width + x];
  float3 sum = make_float3(0.f, 0.f, 0.f);
  float weights = 0.f;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const uchar4 p = in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
      const float r = p.x - centre.x, g = p.y - centre.y, b = p.z - centre.z;
      const float w =
          gaussian[dy + radius] * gaussian[dx + radius] * __expf(-(r * r + g * g + b * b) * range);
      sum.x += w * p.x;
      sum.y += w * p.y;
      sum.z += w * p.z;
      weights += w;
    }
  out[y * width + x] = make_uchar4(sum.x / weights, sum.y / weights, sum.z / weights, centre.w);
}

template <int Radius>
__global__ void separable_rows(float* out, const float* in, int width, int height) {
  constexpr int kResults = 4, kWidth = 16;
  __shared__ float tile[4][(kResults + 2) * kWidth];
  const int start = (blockIdx.x * kResults - 1) * kWidth + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (y >= height) return;
  in += y * width + start;
#pragma unroll
  for (int k = 0; k < kResults + 2; ++k) {
    const int x = start + k * kWidth;
    tile[threadIdx.y][threadIdx.x + k * kWidth] = x >= 0 && x < width ? in[k * kWidth] : 0.f;
  }
  __syncthreads();
#pragma unroll
  for (int k = 1; k <= kResults; ++k) {
    float sum = 0.f;
#pragma unroll
    for (int j = -Radius; j <= Radius; ++j)
      sum += gaussian[Radius - j] * tile[threadIdx.y][threadIdx.x + k * kWidth + j];
    if (start + k * kWidth < width) out[y * width + start + k * kWidth] = sum;
  }
}
template __global__ void separable_rows<8>(float*, const float*, int, int);

extern "C" __global__ void resize_bilinear(const uchar4* in, uchar4* out, int in_width, int in_height,
                                           int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float fx = fmaxf((x + 0.5f) * in_width / width - 0.5f, 0.f),
              fy = fmaxf((y + 0.5f) * in_height / height - 0.5f, 0.f);
  const int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, in_width - 1), y1 = min(y0 + 1, in_height - 1);
  const float wx = fx - x0, wy = fy - y0;
  const uchar4 a = in[y0 * in_width + x0], b = in[y0 * in_width + x1], c = in[y1 * in_width + x0],
               d = in[y1 * in_width + x1];
  auto mix = [&](int p, int q, int r, int s) {
    const float top = p + (q - p) * wx, bottom = r + (s - r) * wx;
    return (unsigned char)(top + (bottom - top) * wy + 0.5f);
  };
  out[y * width + x] = make_uchar4(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y), mix(a.z, b.z, c.z, d.z),
                                   mix(a.w, b.w, c.w, d.w));
}

extern "C" __global__ void median_3x3(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1) return;
  int v[9];
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) v[dy * 3 + dx] = in[(y + dy - 1) * width + x + dx - 1];
#pragma unroll
  for (int i = 0; i < 5; ++i)
#pragma unroll
    for (int j = i + 1; j < 9; ++j) {
      const int low = min(v[i], v[j]), high = max(v[i], v[j]);
      v[i] = low;
      v[j] = high;
    }
  out[y * width + x] = v[4];
}

extern "C" __global__ void tone_map(const float4* in, uchar4* out, int n, float exposure, float white) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = in[i];
  const float light = 0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z;
  const float scaled = light * exposure, mapped = scaled * (1.f + scaled / (white * white)) / (1.f + scaled);
  const float factor = light > 0.f ? mapped / light : 0.f;
  auto encode = [&](float v) {
    return (unsigned char)(255.f * __saturatef(powf(v * factor, 1.f / kGamma)) + 0.5f);
  };
  out[i] = make_uchar4(encode(p.x), encode(p.y), encode(p.z), 255);
}

// Hysteresis of an edge detector: weak pixels beside strong ones become strong until nothing changes in the
// tile.
extern "C" __global__ void hysteresis(unsigned char* edges, int* changed, int width, int height) {
  __shared__ unsigned char tile[18][18];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const int gx = (int)blockIdx.x * 16 + i % 18 - 1, gy = (int)blockIdx.y * 16 + i / 18 - 1;
    tile[i / 18][i % 18] = gx >= 0 && gy >= 0 && gx < width && gy < height ? edges[gy * width + gx] : 0;
  }
  __syncthreads();
  bool mine = false;
  int again;
  do {
    bool promoted = false;
    if (tile[ty][tx] == 1) {
      int strong = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) strong |= tile[ty + dy][tx + dx] == 2;
      promoted = strong;
    }
    __syncthreads();
    if (promoted) tile[ty][tx] = 2;
    mine |= promoted;
    again = __syncthreads_or(promoted);
  } while (again);
  if (mine && x < width && y < height) {
    edges[y * width + x] = 2;
    *changed = 1;
  }
}
