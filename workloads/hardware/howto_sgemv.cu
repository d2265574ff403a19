// Matrix times vector with a warp, or half a warp, for each row: Sgemv_v0, v1 and v2 of Liu-
// xiandong/How_to_optimize_in_GPU, timed on a V100. The same: blocks of 32 x 4 threads; rows of 32 elements,
// an element a lane; of 128, four neighbouring elements a lane in one load; of 16, two rows a warp; sums by
// shuffles.
template <int kLanes>
__device__ __forceinline__ float sum_of_lanes(float sum) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  return sum;
}

extern "C" __global__ void row_a_warp(float* __restrict__ a, float* __restrict__ x, float* __restrict__ y,
                                      const int rows, const int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int pieces = columns < 32 ? 1 : columns / 32;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < pieces; ++i) sum += a[row * columns + 32 * i + lane] * x[32 * i + lane];
  sum = sum_of_lanes<32>(sum);
  if (lane == 0) y[row] = sum;
}

extern "C" __global__ void row_a_warp_by_four(float* __restrict__ a, float* __restrict__ x,
                                              float* __restrict__ y, const int rows, const int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int pieces = columns < 128 ? 1 : columns / 32 / 4;
  const float4* a4 = reinterpret_cast<const float4*>(a + row * columns);
  const float4* x4 = reinterpret_cast<const float4*>(x);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const float4 u = a4[32 * i + lane];
    const float4 v = x4[32 * i + lane];
    sum += u.x * v.x;
    sum += u.y * v.y;
    sum += u.z * v.z;
    sum += u.w * v.w;
  }
  sum = sum_of_lanes<32>(sum);
  if (lane == 0) y[row] = sum;
}

extern "C" __global__ void two_rows_a_warp(float* __restrict__ a, float* __restrict__ x,
                                           float* __restrict__ y, const int rows, const int columns) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.y + threadIdx.y) * 2 + lane / 16;
  const int column = lane % 16;
  if (row >= rows) return;
  float sum = 0;
  sum += a[row * columns + column] * x[column];
  sum = sum_of_lanes<16>(sum);
  if (column == 0) y[row] = sum;
}
