// Elements of a table in any order, three reads one after the other. The launch files differ in the registers that
// a thread is given: what a larger kernel around it would need.
extern "C" __global__ void follow(int* out, const int* next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = next[next[next[i]]];
}
