// Discrete cosine transform of blocks of 8 x 8: CUDAkernel1DCT and CUDAkernel2DCT of the sample dct8x8, as
// profiled on a V100 (accel-sim, AccelWattch). The same: first kernel: a block of 8 x 8 threads for each,
// the image from a two-dimensional texture, two matrix products with a matrix in constant memory whose index
// depends on the thread; second kernel: 32 x 16 pixels in a block of 8 x 4 x 2 threads, rows of 33 words in
// shared memory, a thread transforms a row and then a column in place by the fast algorithm.
__constant__ float basis[64];
__shared__ float image_block[64];
__shared__ float half_done[64];

extern "C" __global__ void dct_by_matrix(float* result, int width, int first_x, int first_y,
                                         cudaTextureObject_t image) {
  const int bx = blockIdx.x + first_x;
  const int by = blockIdx.y + first_y;
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  image_block[8 * y + x] = tex2D<float>(image, (float)(8 * bx + x) + 0.5f, (float)(8 * by + y) + 0.5f);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += basis[8 * i + y] * image_block[8 * i + x];
  half_done[8 * y + x] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += half_done[8 * y + i] * basis[8 * i + x];
  image_block[8 * y + x] = sum;
  __syncthreads();
  result[(8 * by + y) * width + 8 * bx + x] = image_block[8 * y + x];
}

constexpr float kNorm = 0.3535533905932737f;
constexpr float kA = 1.387039845322148f;
constexpr float kB = 1.306562964876377f;
constexpr float kC = 1.175875602419359f;
constexpr float kD = 0.785694958387102f;
constexpr float kE = 0.541196100146197f;
constexpr float kF = 0.275899379282943f;

__device__ __forceinline__ void transform(float* v, int step) {
  const float sum07 = v[0] + v[7 * step];
  const float sum16 = v[step] + v[6 * step];
  const float sum25 = v[2 * step] + v[5 * step];
  const float sum34 = v[3 * step] + v[4 * step];
  const float difference07 = v[0] - v[7 * step];
  const float difference61 = v[6 * step] - v[step];
  const float difference25 = v[2 * step] - v[5 * step];
  const float difference43 = v[4 * step] - v[3 * step];
  const float outer = sum07 + sum34;
  const float outer_difference = sum07 - sum34;
  const float inner = sum16 + sum25;
  const float inner_difference = sum16 - sum25;
  v[0] = kNorm * (outer + inner);
  v[2 * step] = kNorm * (kB * outer_difference + kE * inner_difference);
  v[4 * step] = kNorm * (outer - inner);
  v[6 * step] = kNorm * (kE * outer_difference - kB * inner_difference);
  v[step] = kNorm * (kA * difference07 - kC * difference61 + kD * difference25 - kF * difference43);
  v[3 * step] = kNorm * (kC * difference07 + kF * difference61 - kA * difference25 + kD * difference43);
  v[5 * step] = kNorm * (kD * difference07 + kA * difference61 + kF * difference25 - kC * difference43);
  v[7 * step] = kNorm * (kF * difference07 + kD * difference61 + kC * difference25 + kA * difference43);
}

extern "C" __global__ void dct_in_place(float* result, float* image, int stride) {
  constexpr int kRow = 33;
  __shared__ float block[16 * kRow];
  const int column = threadIdx.y * 8 + threadIdx.x;
  const int row = threadIdx.z * 8;
  const int at = (blockIdx.y * 16 + row) * stride + blockIdx.x * 32 + column;
  image += at;
  result += at;
  float* const mine = block + row * kRow + column;
#pragma unroll
  for (int i = 0; i < 8; ++i) mine[i * kRow] = image[i * stride];
  __syncthreads();
  transform(block + (row + threadIdx.x) * kRow + column - threadIdx.x, 1);
  __syncthreads();
  transform(mine, kRow);
  __syncthreads();
  for (int i = 0; i < 8; ++i) result[i * stride] = mine[i * kRow];
}
