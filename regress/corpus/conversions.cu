// Conversions between integers and floating point in all roundings, saturation, bit casts.
extern "C" __global__ void from_float(int* narrow, long long* wide, const float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  int* o = narrow + 8 * i;
  o[0] = __float2int_rn(v);
  o[1] = __float2int_rz(v);
  o[2] = __float2int_ru(v);
  o[3] = __float2int_rd(v);
  o[4] = static_cast<int>(__float2uint_rz(v));
  o[5] = static_cast<int>(__float2uint_rn(v));
  o[6] = static_cast<short>(static_cast<int>(v));
  o[7] = __float_as_int(__saturatef(v));
  wide[4 * i] = __float2ll_rn(v);
  wide[4 * i + 1] = __float2ll_rd(v);
  wide[4 * i + 2] = static_cast<long long>(__float2ull_ru(v));
  wide[4 * i + 3] = __double_as_longlong(static_cast<double>(v));
}

extern "C" __global__ void from_integer(float* narrow, double* wide, const long long* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long v = x[i];
  float* f = narrow + 6 * i;
  double* d = wide + 3 * i;
  f[0] = __ll2float_rn(v);
  f[1] = __ll2float_rz(v);
  f[2] = __ll2float_ru(v);
  f[3] = __ull2float_rd(static_cast<unsigned long long>(v));
  f[4] = static_cast<float>(static_cast<int>(v));
  f[5] = static_cast<float>(static_cast<signed char>(v));
  d[0] = static_cast<double>(v);
  d[1] = __ull2double_ru(static_cast<unsigned long long>(v));
  d[2] = __hiloint2double(static_cast<int>(v >> 32) & 0x7fefffff, static_cast<int>(v));
}

extern "C" __global__ void from_double(int* narrow, long long* wide, float* single, const double* x,
                                       unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  narrow[2 * i] = __double2int_rn(v);
  narrow[2 * i + 1] = static_cast<int>(__double2uint_rz(v));
  wide[2 * i] = __double2ll_ru(v);
  wide[2 * i + 1] = static_cast<long long>(__double2ull_rz(v));
  single[4 * i] = __double2float_rn(v);
  single[4 * i + 1] = __double2float_rz(v);
  single[4 * i + 2] = __double2float_ru(v);
  single[4 * i + 3] = __double2float_rd(v);
}
