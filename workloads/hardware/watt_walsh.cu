// Fast Walsh transform: fwtBatch2Kernel (a radix-4 pass over global memory) and fwtBatch1Kernel (2048
// elements in shared memory) of the CUDA samples, as profiled on a V100 (accel-sim, AccelWattch). The same:
// passes with blocks of 256 threads, four elements each, a stride apart; the last eleven levels in blocks of
// 512 threads: five radix-4 steps with a barrier each, one of radix 2, dynamic shared memory, in place.
struct Four {
  float a, b, c, d;
};

__device__ __forceinline__ Four butterfly(Four v) {
  const float a = v.a + v.c;
  const float c = v.a - v.c;
  const float b = v.b + v.d;
  const float d = v.b - v.d;
  return {a + b, a - b, c + d, c - d};
}

extern "C" __global__ void walsh_pass(float* to, float* from, int stride) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  const int size = blockDim.x * gridDim.x * 4;
  from += blockIdx.y * size;
  to += blockIdx.y * size;
  const int low = me & (stride - 1);
  const int i = ((me - low) << 2) + low;
  const Four v = butterfly({from[i], from[i + stride], from[i + 2 * stride], from[i + 3 * stride]});
  to[i] = v.a;
  to[i + stride] = v.b;
  to[i + 2 * stride] = v.c;
  to[i + 3 * stride] = v.d;
}

extern "C" __global__ void walsh_block(float* to, float* from, int log2_size) {
  extern __shared__ float data[];
  const int size = 1 << log2_size;
  from += blockIdx.x << log2_size;
  to += blockIdx.x << log2_size;
  for (int i = threadIdx.x; i < size; i += blockDim.x) data[i] = from[i];
  const int me = threadIdx.x;
  for (int stride = size >> 2; stride > 0; stride >>= 2) {
    const int low = me & (stride - 1);
    const int i = ((me - low) << 2) + low;
    __syncthreads();
    const Four v = butterfly({data[i], data[i + stride], data[i + 2 * stride], data[i + 3 * stride]});
    data[i] = v.a;
    data[i + stride] = v.b;
    data[i + 2 * stride] = v.c;
    data[i + 3 * stride] = v.d;
  }
  if (log2_size & 1) {
    __syncthreads();
    for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
      const float a = data[2 * i];
      const float b = data[2 * i + 1];
      data[2 * i] = a + b;
      data[2 * i + 1] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) to[i] = data[i];
}
