// Streaming kernels over n floats, one element per thread: read (stores only an impossible value), copy, triad. scattered reads
// n words 256 bytes apart in an order in which neighbours are far from each other; n is a power of two.

static __device__ int element() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void read(float* a, const float* b, const float* c, int n) {
  const int i = element();
  if (i >= n) return;
  const float sum = b[i] + c[i];
  if (sum == 123456795.0f) a[i] = sum;
}

extern "C" __global__ void copy(float* a, const float* b, const float*, int n) {
  const int i = element();
  if (i < n) a[i] = b[i];
}

extern "C" __global__ void triad(float* a, const float* b, const float* c, int n) {
  const int i = element();
  if (i < n) a[i] = b[i] + 3.0f * c[i];
}

extern "C" __global__ void scattered(float* a, const float* b, const float*, int n) {
  const unsigned place = static_cast<unsigned>(element()) * 2654435761u & (n - 1);
  const float value = *reinterpret_cast<const volatile float*>(b + size_t{64} * place);
  if (value == 123456795.0f) a[0] = value;
}
