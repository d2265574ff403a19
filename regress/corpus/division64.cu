// 64-bit division and remainder, signed and unsigned, by variables and constants; 128-bit products.
extern "C" __global__ void divide_unsigned(unsigned long long* out, const unsigned long long* a,
                                           const unsigned long long* b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = a[i], y = b[i];
  out[6 * i] = x / y;
  out[6 * i + 1] = x % y;
  out[6 * i + 2] = x / 1000000007ull;
  out[6 * i + 3] = x % 10;
  out[6 * i + 4] = __umul64hi(x, y);
  unsigned __int128 wide = static_cast<unsigned __int128>(x) * y + x;
  out[6 * i + 5] = static_cast<unsigned long long>(wide >> 37);
}

extern "C" __global__ void divide_signed(long long* out, const long long* a, const long long* b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long x = a[i], y = b[i];
  out[6 * i] = x / y;
  out[6 * i + 1] = x % y;
  out[6 * i + 2] = x / -7;
  out[6 * i + 3] = x % 4096;
  out[6 * i + 4] = __mul64hi(x, y);
  out[6 * i + 5] = static_cast<int>(x) / (static_cast<int>(y) | 1) +
                   static_cast<int>(x >> 32) % (static_cast<short>(y) | 1);
}
