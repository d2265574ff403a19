// Filter of 17 taps along the rows of an image, then along its columns: convolutionRowsKernel and convolutionColumnsKernel of the
// CUDA samples, as timed together on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: blocks of 16 x 4 threads for rows and 16 x 8
// for columns, eight results a thread, a piece of the image with its edges in shared memory (the columns' transposed, with a pitch
// that avoids bank conflicts), the filter in constant memory, everything unrolled.
constexpr int kRadius = 8;
constexpr int kSteps = 8;
__constant__ float taps[2 * kRadius + 1];

extern "C" __global__ void filter_rows(float* result, const float* source, int columns, int rows, int pitch) {
  constexpr int kWidth = 16;
  constexpr int kHeight = 4;
  __shared__ float piece[kHeight][(kSteps + 2) * kWidth];
  const int x = (blockIdx.x * kSteps - 1) * kWidth + threadIdx.x;
  const int y = blockIdx.y * kHeight + threadIdx.y;
  source += y * pitch + x;
  result += y * pitch + x;
#pragma unroll
  for (int i = 1; i <= kSteps; ++i) piece[threadIdx.y][threadIdx.x + i * kWidth] = source[i * kWidth];
  piece[threadIdx.y][threadIdx.x] = x >= 0 ? source[0] : 0;
  piece[threadIdx.y][threadIdx.x + (kSteps + 1) * kWidth] = columns - x > (kSteps + 1) * kWidth ? source[(kSteps + 1) * kWidth] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= kSteps; ++i) {
    float sum = 0;
#pragma unroll
    for (int j = -kRadius; j <= kRadius; ++j) sum += taps[kRadius - j] * piece[threadIdx.y][threadIdx.x + i * kWidth + j];
    result[i * kWidth] = sum;
  }
}

extern "C" __global__ void filter_columns(float* result, const float* source, int columns, int rows, int pitch) {
  constexpr int kWidth = 16;
  constexpr int kHeight = 8;
  __shared__ float piece[kWidth][(kSteps + 2) * kHeight + 1];
  const int x = blockIdx.x * kWidth + threadIdx.x;
  const int y = (blockIdx.y * kSteps - 1) * kHeight + threadIdx.y;
  source += y * pitch + x;
  result += y * pitch + x;
#pragma unroll
  for (int i = 1; i <= kSteps; ++i) piece[threadIdx.x][threadIdx.y + i * kHeight] = source[i * kHeight * pitch];
  piece[threadIdx.x][threadIdx.y] = y >= 0 ? source[0] : 0;
  piece[threadIdx.x][threadIdx.y + (kSteps + 1) * kHeight] = rows - y > (kSteps + 1) * kHeight ? source[(kSteps + 1) * kHeight * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= kSteps; ++i) {
    float sum = 0;
#pragma unroll
    for (int j = -kRadius; j <= kRadius; ++j) sum += taps[kRadius - j] * piece[threadIdx.x][threadIdx.y + i * kHeight + j];
    result[i * kHeight * pitch] = sum;
  }
}
