// Bit tricks, and division and remainder of all kinds.

extern "C" __global__ void hamming_search(const ulonglong2* codes, ulonglong2 wanted, unsigned char* distance,
                                          int* near, int n, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const ulonglong2 c = codes[i];
  const int d = __popcll(c.x ^ wanted.x) + __popcll(c.y ^ wanted.y);
  distance[i] = d;
  if (d <= limit) atomicAdd(near, 1);
}

extern "C" __global__ void morton_codes(const float3* points, unsigned* codes, float3 low, float scale,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 p = points[i];
  auto spread = [](unsigned v) {
    v = (v | v << 16) & 0x030000ffu;
    v = (v | v << 8) & 0x0300f00fu;
    v = (v | v << 4) & 0x030c30c3u;
    return (v | v << 2) & 0x09249249u;
  };
  auto cell = [scale](float v, float l) { return (unsigned)fminf(fmaxf((v - l) * scale, 0.f), 1023.f); };
  codes[i] = spread(cell(p.x, low.x)) | spread(cell(p.y, low.y)) << 1 | spread(cell(p.z, low.z)) << 2;
}

extern "C" __global__ void bit_matrix_transpose(const unsigned* in, unsigned* out, int tiles) {
  const int tile = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (tile >= tiles) return;
  unsigned x = in[tile * 32 + lane], mask = 0x0000ffffu;
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) {
    const unsigned other = __shfl_xor_sync(~0u, x, d);
    x = lane & d ? (x & ~mask) | (other >> d & mask) : (x & mask) | (other << d & ~mask);
    mask ^= mask << (d >> 1);
  }
  out[tile * 32 + lane] = x;
}

extern "C" __global__ void byte_shuffles(const uint4* in, uint4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 v = in[i];
  v.x = __byte_perm(v.x, v.y, 0x5140);
  v.y = __byte_perm(v.z, v.w, 0x7362);
  v.z = __brev(v.z) >> 8 | __clz(v.w) << 24;
  v.w = __funnelshift_r(v.x, v.y, v.z & 31) ^ __funnelshift_lc(v.y, v.x, 5);
  out[i] = make_uint4(v.x, v.y & 0x7f7f7f7fu, __vavgu4(v.z, v.x), __vmaxs4(v.w, v.y));
}

extern "C" __global__ void varint_decode(const unsigned char* bytes, const int* starts, unsigned* out,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = 0;
  int shift = 0, at = starts[i];
  while (shift < 35) {
    const unsigned b = bytes[at++];
    value |= (b & 0x7f) << shift;
    if (!(b & 0x80)) break;
    shift += 7;
  }
  out[i] = value >> 1 ^ -(value & 1);
}

extern "C" __global__ void divide_by_constants(const int* in, int4* out, unsigned* remainders, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int v = in[i];
  const unsigned u = v;
  out[i] = make_int4(v / 3, v / 10, v / -7, v / 64);
  remainders[i] = u % 10 + u / 1000 % 60 + u % 7 * 100 + v % 12;
}

extern "C" __global__ void divide_by_variables(const int* a, const int* b, const unsigned* c, int* quotient,
                                               unsigned* remainder, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int d = b[i];
  const unsigned u = c[i];
  quotient[i] = d != 0 ? a[i] / d : 0;
  remainder[i] = u != 0 ? (unsigned)a[i] % u : 0;
}

extern "C" __global__ void divide_long(const long long* a, const long long* b, const int* c,
                                       long long* quotient, long long* remainder, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  quotient[i] = a[i] / b[i];
  remainder[i] = a[i] % c[i] + a[i] / 1000000007ll;
}

extern "C" __global__ void calendar(const long long* seconds, int4* date, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long s = seconds[i];
  const int days = (int)(s >= 0 ? s / 86400 : (s - 86399) / 86400), rest = (int)(s - 86400ll * days);
  const int z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  const unsigned doe = z - era * 146097, yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const int month = mp < 10 ? mp + 3 : mp - 9;
  date[i] = make_int4((int)yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) / 5 + 1,
                      rest / 3600 * 10000 + rest / 60 % 60 * 100 + rest % 60);
}
