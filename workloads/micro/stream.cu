// Streaming kernels over n floats, one element per thread: read (stores only an impossible value), copy, triad. read4, copy4 and triad4
// have four elements per thread, 256 apart, for blocks of 256 threads and n a multiple of 1024: as large transactions, with fewer
// operations and a quarter of the blocks for each byte. scattered reads n words 256 bytes apart in an order in which neighbours are
// far from each other; n is a power of two.

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

static __device__ int first_of_four() { return blockIdx.x * 1024 + threadIdx.x; }

extern "C" __global__ void read4(float* a, const float* b, const float* c, int n) {
  const int i = first_of_four();
  if (i >= n) return;
  const float sum = (b[i] + c[i] + (b[i + 256] + c[i + 256])) + (b[i + 512] + c[i + 512] + (b[i + 768] + c[i + 768]));
  if (sum == 123456795.0f) a[i] = sum;
}

extern "C" __global__ void copy4(float* a, const float* b, const float*, int n) {
  const int i = first_of_four();
  if (i >= n) return;
  const float x = b[i], y = b[i + 256], z = b[i + 512], w = b[i + 768];
  a[i] = x, a[i + 256] = y, a[i + 512] = z, a[i + 768] = w;
}

extern "C" __global__ void triad4(float* a, const float* b, const float* c, int n) {
  const int i = first_of_four();
  if (i >= n) return;
  const float x = b[i] + 3.0f * c[i], y = b[i + 256] + 3.0f * c[i + 256];
  const float z = b[i + 512] + 3.0f * c[i + 512], w = b[i + 768] + 3.0f * c[i + 768];
  a[i] = x, a[i + 256] = y, a[i + 512] = z, a[i + 768] = w;
}

extern "C" __global__ void scattered(float* a, const float* b, const float*, int n) {
  const unsigned place = static_cast<unsigned>(element()) * 2654435761u & (n - 1);
  const float value = *reinterpret_cast<const volatile float*>(b + size_t{64} * place);
  if (value == 123456795.0f) a[0] = value;
}
