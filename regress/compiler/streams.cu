// Kernels that move data: copies, linear combinations, gathers, transposes and changes of layout.

extern "C" __global__ void copy_grid_stride(float* __restrict__ to, const float* __restrict__ from,
                                            size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    to[i] = from[i];
}

extern "C" __global__ void triad(float* a, const float* b, const float* c, float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + scale * c[i];
}

extern "C" __global__ void scale_float4(float4* data, float by, float offset, int quads) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
    float4 v = data[i];
    v.x = v.x * by + offset;
    v.y = v.y * by + offset;
    v.z = v.z * by + offset;
    v.w = v.w * by + offset;
    data[i] = v;
  }
}

extern "C" __global__ void axpby_double(double* y, const double* x, double alpha, double beta, int n,
                                        int incx, int incy) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double old = beta == 0.0 ? 0.0 : beta * y[(long long)i * incy];
    y[(long long)i * incy] = alpha * x[(long long)i * incx] + old;
  }
}

extern "C" __global__ void gather_rows(float* out, const float* table, const int* index, int rows, int width,
                                       int table_rows) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int from = index[row];
  const bool valid = from >= 0 && from < table_rows;
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < width; c += gridDim.x * blockDim.x)
    out[row * width + c] = valid ? table[from * width + c] : 0.f;
}

struct Particle {
  float x, y, z, mass;
  float vx, vy, vz;
  int kind;
};

extern "C" __global__ void split_structs(const Particle* particles, float* x, float* y, float* z,
                                         float* speed, int* kind, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Particle p = particles[i];
  x[i] = p.x;
  y[i] = p.y;
  z[i] = p.z;
  speed[i] = sqrtf(p.vx * p.vx + p.vy * p.vy + p.vz * p.vz);
  kind[i] = p.kind;
}

constexpr int kTile = 32, kRows = 8;

extern "C" __global__ void transpose_tile(float* out, const float* in, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Four elements a thread, loaded before any is stored.
template <typename T>
__global__ void permute_4d(T* out, const T* in, int4 extent, int4 stride, int total) {
  const int base = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  T value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = base + k * blockDim.x;
    if (i >= total) continue;
    const int w = i % extent.w;
    i /= extent.w;
    const int z = i % extent.z;
    i /= extent.z;
    const int y = i % extent.y;
    const int x = i / extent.y;
    value[k] = in[x * stride.x + y * stride.y + z * stride.z + w * stride.w];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (base + k * blockDim.x < total) out[base + k * blockDim.x] = value[k];
}
template __global__ void permute_4d<float>(float*, const float*, int4, int4, int);
template __global__ void permute_4d<unsigned char>(unsigned char*, const unsigned char*, int4, int4, int);

// Bytes up to the first aligned word, then words, then the bytes that are left.
extern "C" __global__ void copy_bytes(unsigned char* to, const unsigned char* from, unsigned n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  unsigned head = (4 - (size_t(to) & 3)) & 3;
  if (head > n) head = n;
  if ((size_t(to) & 3) != (size_t(from) & 3)) {
    for (unsigned i = thread; i < n; i += threads) to[i] = from[i];
    return;
  }
  if (thread < head) to[thread] = from[thread];
  const unsigned words = (n - head) / 4;
  unsigned* to_words = reinterpret_cast<unsigned*>(to + head);
  const unsigned* from_words = reinterpret_cast<const unsigned*>(from + head);
  for (unsigned i = thread; i < words; i += threads) to_words[i] = from_words[i];
  const unsigned tail = head + words * 4;
  if (thread < n - tail) to[tail + thread] = from[tail + thread];
}
