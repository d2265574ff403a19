// Elements of a table in any order. The launch files differ in the shared memory that each block takes and
// does not use: what a block of another kernel would need.
extern "C" __global__ void pick(float* out, const float* table, const int* index, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = table[index[i]];
}
