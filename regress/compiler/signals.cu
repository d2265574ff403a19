// Transforms and codecs: Fourier and cosine transforms, filters, motion search, colours of video.

struct C {
  float x, y;
};

__device__ __forceinline__ C operator+(C a, C b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ C operator-(C a, C b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ C operator*(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
__device__ __forceinline__ C turned(C a) { return {a.y, -a.x}; }  // times -i

extern "C" __global__ void fft_radix2(const C* in, C* out, int n, int p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const int k = i & (p - 1);
  float sine, cosine;
  sincospif(-(float)k / p, &sine, &cosine);
  const C u = in[i], v = in[i + n / 2] * C{cosine, sine};
  const int j = (i - k) * 2 + k;
  out[j] = u + v;
  out[j + p] = u - v;
}

extern "C" __global__ void fft_radix4(const C* in, C* out, const C* twiddle, int n, int p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
  if (i >= quarter) return;
  const int k = i & (p - 1), step = quarter / p;
  const C a = in[i], b = in[i + quarter] * twiddle[k * step], c = in[i + 2 * quarter] * twiddle[2 * k * step],
          d = in[i + 3 * quarter] * twiddle[3 * k * step];
  const C s0 = a + c, s1 = a - c, s2 = b + d, s3 = turned(b - d);
  C* to = out + ((i - k) * 4 + k);
  to[0] = s0 + s2;
  to[p] = s1 + s3;
  to[2 * p] = s0 - s2;
  to[3 * p] = s1 - s3;
}

__device__ void fft8(C v[8]) {
  const float h = 0.70710678f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const C a = v[i], b = v[i + 4];
    v[i] = a + b;
    v[i + 4] = a - b;
  }
  v[5] = C{h, -h} * v[5];
  v[6] = turned(v[6]);
  v[7] = C{-h, -h} * v[7];
#pragma unroll
  for (int base = 0; base < 8; base += 4) {
    const C a = v[base] + v[base + 2], b = v[base] - v[base + 2], c = v[base + 1] + v[base + 3],
            d = turned(v[base + 1] - v[base + 3]);
    v[base] = a + c;
    v[base + 1] = a - c;
    v[base + 2] = b + d;
    v[base + 3] = b - d;
  }
}

// 512 points a block of 64 threads, radix 8 in registers, exchanged through shared memory.
extern "C" __global__ void __launch_bounds__(64) fft_512(C* data) {
  __shared__ float exchange[8 * 72];
  constexpr int kReversed[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  const int t = threadIdx.x;
  data += blockIdx.x * 512;
  C v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = data[t + i * 64];
  for (int pass = 0; pass < 3; ++pass) {
    fft8(v);
    if (pass == 2) break;
    const int group = pass == 0 ? t : t & 7;
    const float angle = -2.f * 3.14159265f / (pass == 0 ? 512 : 64);
#pragma unroll
    for (int i = 1; i < 8; ++i) {
      float sine, cosine;
      __sincosf(angle * kReversed[i] * group, &sine, &cosine);
      v[i] = v[i] * C{cosine, sine};
    }
    const int high = t >> 3, low = t & 7;
    float* to = exchange + (pass == 0 ? high * 8 + low : high * 72 + low);
    const float* from = exchange + (pass == 0 ? low * 72 + high : low * 8 + high * 72);
    const int to_step = pass == 0 ? 72 : 8, from_step = pass == 0 ? 8 : 1;
#pragma unroll
    for (int i = 0; i < 8; ++i) to[kReversed[i] * to_step] = v[i].x;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i].x = from[i * from_step];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) to[kReversed[i] * to_step] = v[i].y;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i].y = from[i * from_step];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) data[t + kReversed[i] * 64] = v[i];
}

__device__ void dct8(float* v, int step) {
  const float c1 = 0.98078528f, s1 = 0.19509032f, c3 = 0.83146961f, s3 = 0.55557023f, c6 = 0.38268343f,
              s6 = 0.92387953f, h = 0.70710678f;
  const float p0 = v[0] + v[7 * step], m0 = v[0] - v[7 * step], p1 = v[step] + v[6 * step],
              m1 = v[step] - v[6 * step];
  const float p2 = v[2 * step] + v[5 * step], m2 = v[2 * step] - v[5 * step], p3 = v[3 * step] + v[4 * step],
              m3 = v[3 * step] - v[4 * step];
  const float e0 = p0 + p3, e1 = p1 + p2, e2 = p1 - p2, e3 = p0 - p3;
  v[0] = h * (e0 + e1);
  v[4 * step] = h * (e0 - e1);
  v[2 * step] = s6 * e3 + c6 * e2;
  v[6 * step] = c6 * e3 - s6 * e2;
  v[step] = c1 * m0 + c3 * m1 + s3 * m2 + s1 * m3;
  v[3 * step] = c3 * m0 - s1 * m1 - c1 * m2 - s3 * m3;
  v[5 * step] = s3 * m0 - c1 * m1 + s1 * m2 + c3 * m3;
  v[7 * step] = s1 * m0 - s3 * m1 + c3 * m2 - c1 * m3;
}

extern "C" __global__ void dct_8x8_quantise(const unsigned char* image, short* coefficients,
                                            const float* quantum, int width) {
  __shared__ float tile[8][8][9];
  const int t = threadIdx.x, which = threadIdx.y;
  const int x0 = (blockIdx.x * 8 + which) * 8, y0 = blockIdx.y * 8;
  float row[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = (float)image[(y0 + t) * width + x0 + i] - 128.f;
  dct8(row, 1);
#pragma unroll
  for (int i = 0; i < 8; ++i) tile[which][t][i] = row[i];
  __syncwarp();
  dct8(&tile[which][0][t], 9);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    coefficients[(y0 + i) * width + x0 + t] = (short)rintf(tile[which][i][t] * 0.25f / quantum[i * 8 + t]);
}

// Sums of absolute differences of 16 x 16 bytes over a window, four bytes at once.
extern "C" __global__ void motion_search(const unsigned char* now, const unsigned char* before,
                                         short2* vectors, unsigned* costs, int width, int range) {
  const int bx = blockIdx.x * 16, by = blockIdx.y * 16;
  const int candidates = (2 * range + 1) * (2 * range + 1);
  unsigned best = ~0u;
  for (int c = threadIdx.x; c < candidates; c += blockDim.x) {
    const int dx = c % (2 * range + 1) - range, dy = c / (2 * range + 1) - range;
    unsigned sum = 0;
    for (int y = 0; y < 16; ++y) {
      const unsigned* a = reinterpret_cast<const unsigned*>(now + (by + y) * width + bx);
      const unsigned char* b = before + (by + y + dy) * width + bx + dx;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const unsigned word =
            b[4 * q] | b[4 * q + 1] << 8 | b[4 * q + 2] << 16 | (unsigned)b[4 * q + 3] << 24;
        sum += __vsadu4(a[q], word);
      }
    }
    best = min(best, sum << 14 | c);
  }
  __shared__ unsigned lowest;
  if (threadIdx.x == 0) lowest = ~0u;
  __syncthreads();
  atomicMin(&lowest, best);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int c = lowest & 0x3fff;
    vectors[blockIdx.y * gridDim.x + blockIdx.x] =
        make_short2(c % (2 * range + 1) - range, c / (2 * range + 1) - range);
    costs[blockIdx.y * gridDim.x + blockIdx.x] = lowest >> 14;
  }
}

extern "C" __global__ void nv12_to_rgba(const unsigned char* luma, const uchar2* chroma, uchar4* out,
                                        int width, int height, int pitch) {
  const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
  if (x + 1 >= width || y + 1 >= height) return;
  const uchar2 uv = chroma[(y / 2) * (pitch / 2) + x / 2];
  const int u = uv.x - 128, v = uv.y - 128;
  const int red = 409 * v, green = -100 * u - 208 * v, blue = 516 * u;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      const int base = 298 * (max((int)luma[(y + j) * pitch + x + i], 16) - 16) + 128;
      auto clamp = [](int c) { return (unsigned char)min(max(c >> 8, 0), 255); };
      out[(y + j) * width + x + i] =
          make_uchar4(clamp(base + red), clamp(base + green), clamp(base + blue), 255);
    }
}

extern "C" __global__ void haar_lifting(float* data, int rows, int columns) {
  extern __shared__ float line[];
  float* mine = data + blockIdx.x * columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) line[i] = mine[i];
  __syncthreads();
  for (int length = columns; length > 1; length >>= 1) {
    float sum = 0.f, difference = 0.f;
    const int half = length >> 1;
    const bool active = threadIdx.x < half;
    if (active) {
      const float a = line[2 * threadIdx.x], b = line[2 * threadIdx.x + 1];
      sum = (a + b) * 0.70710678f;
      difference = (a - b) * 0.70710678f;
    }
    __syncthreads();
    if (active) {
      line[threadIdx.x] = sum;
      line[half + threadIdx.x] = difference;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) mine[i] = line[i];
}

extern "C" __global__ void fir_complex(const short2* samples, const float2* taps, float2* out, int n,
                                       int count, int decimation) {
  extern __shared__ float2 tap[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) tap[i] = taps[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * decimation + count > n) return;
  float2 sum = make_float2(0.f, 0.f);
  for (int k = 0; k < count; ++k) {
    const short2 s = samples[i * decimation + k];
    const float2 t = tap[k];
    sum.x += s.x * t.x - s.y * t.y;
    sum.y += s.x * t.y + s.y * t.x;
  }
  out[i] = sum;
}
