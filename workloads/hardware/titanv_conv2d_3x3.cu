// Correlation of an image with a 3 x 3 filter, where it fits: conv2d_3x3 of the kernels timed on a TITAN V
// (Debdeep23/test1). The same: a thread for each pixel in blocks of 16 x 16, image and filter read through
// the read-only path from global memory (nothing staged in shared memory), both loops unrolled, results at
// the corner of the window.
extern "C" __global__ void filter_3x3(const float* __restrict__ image, const float* __restrict__ filter,
                                      float* __restrict__ result, int rows, int columns) {
  const int column = threadIdx.x + blockDim.x * blockIdx.x;
  const int row = threadIdx.y + blockDim.y * blockIdx.y;
  if (column >= columns - 2 || row >= rows - 2) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
#pragma unroll
    for (int j = 0; j < 3; ++j) sum += filter[3 * i + j] * image[(row + i) * columns + column + j];
  }
  result[row * columns + column] = sum;
}
