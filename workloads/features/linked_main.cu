// Two files of one program, compiled apart (nvcc -rdc=true) and linked by the launch file: functions, a variable, a
// constant table and a function pointer of linked_library.cu are used here, and both files have a private `step`.
// nvcc 13: nvcc -rdc=true -arch=compute_75 -ptx linked_main.cu

extern __device__ unsigned combine(unsigned a, unsigned b);
extern __device__ unsigned total;
extern __constant__ unsigned weights[8];
extern __device__ unsigned (*const chosen)(unsigned);

static __device__ __noinline__ unsigned step(unsigned x) { return 3 * x + 1; }

extern "C" __global__ void linked(unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = combine(step(i), weights[i % 8]) + chosen(i);
  atomicAdd(&total, out[i] & 1);
}

extern "C" __global__ void report(unsigned* out) { out[0] = total; }
