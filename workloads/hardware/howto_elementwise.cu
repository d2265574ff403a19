// Sums of two vectors with 1, 2 and 4 elements a thread: elementwise_add of Liu-
// xiandong/How_to_optimize_in_GPU, timed on a V100. The same: blocks of 256 threads, accesses of 4, 8 and 16
// bytes, no bound. Pointers are not declared free of aliases, so loads are plain.
extern "C" __global__ void add_1(float* x, float* y, float* sum) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  sum[at] = x[at] + y[at];
}

extern "C" __global__ void add_2(float2* x, float2* y, float2* sum) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 a = x[at];
  const float2 b = y[at];
  sum[at] = make_float2(a.x + b.x, a.y + b.y);
}

extern "C" __global__ void add_4(float4* x, float4* y, float4* sum) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 a = x[at];
  const float4 b = y[at];
  sum[at] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
