extern "C" __global__ void reverse(float* out, const float* in, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = in[i];                   // in[] may end before
  out[i] = tile[255 - threadIdx.x];            // __syncthreads() is missing
}
