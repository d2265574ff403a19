// A product of matrices: operands from global memory, and from tiles in shared memory.
constexpr int kTile = 32;

extern "C" __global__ void before(float* c, const float* a, const float* b, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

extern "C" __global__ void after(float* c, const float* a, const float* b, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
