// Filter of 17 taps along the rows of an image in a texture: convolutionRowsKernel of the sample
// convolutionTexture, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: blocks of 16 x 12, a
// read of the two-dimensional texture for each tap at texel centres, all unrolled, the filter in constant
// memory. Not the same: a texture object for the texture reference of old CUDA.
constexpr int kRadius = 8;
__constant__ float taps[2 * kRadius + 1];

extern "C" __global__ void filter_rows(float* result, int columns, int rows, cudaTextureObject_t image) {
  const int column = threadIdx.x + blockDim.x * blockIdx.x;
  const int row = threadIdx.y + blockDim.y * blockIdx.y;
  if (column >= columns || row >= rows) return;
  const float x = (float)column + 0.5f;
  const float y = (float)row + 0.5f;
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= 2 * kRadius; ++i) sum += tex2D<float>(image, x + (float)(kRadius - i), y) * taps[i];
  result[row * columns + column] = sum;
}
