// Smaller values to the front and others to the back, as quicksort parts them: each thread takes a place, and each block takes those
// of its threads at once.

extern "C" __global__ void before(int* out, const int* in, int* front, int* back, int pivot, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  if (v < pivot) out[atomicAdd(front, 1)] = v;
  else out[n - 1 - atomicAdd(back, 1)] = v;
}

extern "C" __global__ void after(int* out, const int* in, int* front, int* back, int pivot, int n) {
  __shared__ int own[2], begin[2];
  if (threadIdx.x < 2) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i], side = v >= pivot, place = atomicAdd(&own[side], 1);
  __syncthreads();
  if (threadIdx.x < 2) begin[threadIdx.x] = atomicAdd(threadIdx.x ? back : front, own[threadIdx.x]);
  __syncthreads();
  place += begin[side];
  out[side ? n - 1 - place : place] = v;
}
