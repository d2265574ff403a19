// Elements of a table in any order, three reads one after the other, in small and in large blocks (the launch files
// differ).
extern "C" __global__ void follow(int* out, const int* next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = next[next[next[i]]];
}
