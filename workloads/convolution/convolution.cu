// 5 x 5 convolution of a ROWS x COLS image, zero outside: the filter in constant memory, the image through a
// shared tile with a halo. convolution.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75;
// convolution_sm13.ptx is written as nvcc 2.3 for a 32-bit host would have written it for sm_13 (PTX 1.4),
// and runs with the same launch file.

constexpr int kRadius = 2, kSide = 2 * kRadius + 1;
constexpr int kTile = 16, kPadded = kTile + 2 * kRadius;

// In 256ths, and not symmetric, so that a mirrored filter would be found.
// clang-format off
__constant__ float filter[kSide * kSide] = {1 / 256.f, 4 / 256.f,  6 / 256.f,  4 / 256.f,  2 / 256.f,
                                            4 / 256.f, 16 / 256.f, 24 / 256.f, 16 / 256.f, 5 / 256.f,
                                            6 / 256.f, 24 / 256.f, 36 / 256.f, 24 / 256.f, 7 / 256.f,
                                            4 / 256.f, 16 / 256.f, 24 / 256.f, 16 / 256.f, 3 / 256.f,
                                            1 / 256.f, 2 / 256.f,  5 / 256.f,  4 / 256.f,  -8 / 256.f};
// clang-format on

extern "C" __global__ void convolution(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[kPadded][kPadded];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int ty = threadIdx.y; ty < kPadded; ty += kTile) {
    for (int tx = threadIdx.x; tx < kPadded; tx += kTile) {
      const int from_x = blockIdx.x * kTile + tx - kRadius, from_y = blockIdx.y * kTile + ty - kRadius;
      const bool inside = from_x >= 0 && from_x < cols && from_y >= 0 && from_y < rows;
      tile[ty][tx] = inside ? in[from_y * cols + from_x] : 0;
    }
  }
  __syncthreads();
  if (x >= cols || y >= rows) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kSide; ++i)
#pragma unroll
    for (int j = 0; j < kSide; ++j) sum += filter[i * kSide + j] * tile[threadIdx.y + i][threadIdx.x + j];
  out[y * cols + x] = sum;
}
