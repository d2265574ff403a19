// Sums of two vectors, plain and with a factor: vector_add and saxpy of the kernels timed on a TITAN V
// (Debdeep23/test1). The same: one element a thread, blocks of 256, read-only inputs, a bound that no thread
// of a full block fails. Not the same: the measured vectors are zero, which changes no access.
extern "C" __global__ void vector_add(const float* __restrict__ x, const float* __restrict__ y,
                                      float* __restrict__ sum, int count) {
  const int at = threadIdx.x + blockDim.x * blockIdx.x;
  if (at < count) sum[at] = x[at] + y[at];
}

extern "C" __global__ void scaled_add(float factor, const float* __restrict__ x, const float* __restrict__ y,
                                      float* __restrict__ sum, int count) {
  const int at = threadIdx.x + blockDim.x * blockIdx.x;
  if (at < count) sum[at] = factor * x[at] + y[at];
}
