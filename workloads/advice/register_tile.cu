// A product of matrices, 4 x 4 elements a thread, all of them in registers if there are enough (the launch
// files differ).
constexpr int kTile = 64, kStep = 16, kOwn = 4;

extern "C" __global__ void product(float* c, const float* a, const float* b, int n) {
  __shared__ float left[kStep][kTile], right[kStep][kTile];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, t = threadIdx.x;
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  float sum[kOwn][kOwn] = {};
  for (int k = 0; k < n; k += kStep) {
    for (int i = 0; i < 4; ++i) {
      left[t % kStep][t / kStep + 16 * i] = a[(row + t / kStep + 16 * i) * n + k + t % kStep];
      right[t / kTile + 4 * i][t % kTile] = b[(k + t / kTile + 4 * i) * n + column + t % kTile];
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kStep; ++s)
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) sum[i][j] += left[s][ty * kOwn + i] * right[s][tx * kOwn + j];
    __syncthreads();
  }
  for (int i = 0; i < kOwn; ++i)
    for (int j = 0; j < kOwn; ++j) c[(row + ty * kOwn + i) * n + column + tx * kOwn + j] = sum[i][j];
}
