// 128-bit division and remainder, by a variable and by a constant.
extern "C" __global__ void division128(unsigned long long* out, const unsigned long long* a,
                                       const unsigned long long* b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned __int128 wide = static_cast<unsigned __int128>(a[i]) * b[i] + a[i];
  out[2 * i] = static_cast<unsigned long long>(wide / (b[i] | 1) >> 3);
  out[2 * i + 1] = static_cast<unsigned long long>(wide % 1000003);
}
