// Integers of 64 bits and more: products modulo a number, transforms over a prime, long addition, primes.

typedef unsigned long long U64;

extern "C" __global__ void power_modulo(const U64* base, const U64* exponent, U64* out, U64 modulus, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto times = [modulus](U64 a, U64 b) {
    U64 sum = 0;
    for (; b != 0; b >>= 1) {
      if (b & 1) sum = sum >= modulus - a ? sum - (modulus - a) : sum + a;
      a = a >= modulus - a ? a - (modulus - a) : a + a;
    }
    return sum;
  };
  U64 result = 1, b = base[i] % modulus;
  for (U64 e = exponent[i]; e != 0; e >>= 1) {
    if (e & 1) result = times(result, b);
    b = times(b, b);
  }
  out[i] = result;
}

__device__ U64 montgomery(U64 a, U64 b, U64 modulus, U64 inverse) {
  const U64 low = a * b, high = __umul64hi(a, b);
  const U64 m = low * inverse;
  const U64 t = __umul64hi(m, modulus);
  const U64 carry = low != 0;
  U64 r = high + t + carry;
  if (r < high || r >= modulus) r -= modulus;
  return r;
}

extern "C" __global__ void montgomery_power(const U64* base, U64* out, U64 exponent, U64 modulus, U64 inverse,
                                            U64 one, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  U64 b = base[i], result = one;
  for (int bit = 63 - __clzll(exponent); bit >= 0; --bit) {
    result = montgomery(result, result, modulus, inverse);
    if (exponent >> bit & 1) result = montgomery(result, b, modulus, inverse);
  }
  out[i] = montgomery(result, 1, modulus, inverse);
}

// Modulo 2^64 - 2^32 + 1.
extern "C" __global__ void ntt_stage(U64* data, const U64* roots, int n, int half) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const U64 p = 0xffffffff00000001ull;
  const int k = i & (half - 1), at = (i - k) * 2 + k;
  const U64 u = data[at], x = data[at + half], w = roots[k * (n / 2 / half)];
  const U64 low = x * w, high = __umul64hi(x, w), top = high >> 32, middle = high & 0xffffffffull;
  U64 v = low - top;
  if (low < top) v -= 0xffffffffull;
  const U64 add = middle * 0xffffffffull;
  v += add;
  if (v < add) v += 0xffffffffull;
  if (v >= p) v -= p;
  U64 sum = u + v;
  if (sum < u || sum >= p) sum -= p;
  data[at] = sum;
  data[at + half] = u >= v ? u - v : u + (p - v);
}

// Numbers of 256 bits in eight words, interleaved.
extern "C" __global__ void multiply_256(const unsigned* a, const unsigned* b, unsigned* product, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x[8], y[8], r[16] = {};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    x[k] = a[k * n + i];
    y[k] = b[k * n + i];
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    U64 carry = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      carry += (U64)x[k] * y[j] + r[j + k];
      r[j + k] = (unsigned)carry;
      carry >>= 32;
    }
    r[j + 8] = (unsigned)carry;
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) product[k * n + i] = r[k];
}

extern "C" __global__ void add_with_carry(const uint4* a, const uint4* b, uint4* sum, unsigned* carry,
                                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint4 x = a[i], y = b[i];
  uint4 s;
  unsigned c;
  asm("add.cc.u32 %0, %5, %9; addc.cc.u32 %1, %6, %10; addc.cc.u32 %2, %7, %11; addc.cc.u32 %3, %8, %12; "
      "addc.u32 %4, 0, 0;"
      : "=r"(s.x), "=r"(s.y), "=r"(s.z), "=r"(s.w), "=r"(c)
      : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
  sum[i] = s;
  carry[i] = c;
}

extern "C" __global__ void gcd_binary(const U64* a, const U64* b, U64* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  U64 u = a[i], v = b[i];
  if (u == 0 || v == 0) {
    out[i] = u | v;
    return;
  }
  const int shift = __ffsll(u | v) - 1;
  u >>= __ffsll(u) - 1;
  do {
    v >>= __ffsll(v) - 1;
    if (u > v) {
      const U64 t = u;
      u = v;
      v = t;
    }
    v -= u;
  } while (v != 0);
  out[i] = u << shift;
}

extern "C" __global__ void sieve_segment(unsigned* composite, const int* primes, int count, long long start,
                                         int bits) {
  extern __shared__ unsigned words[];
  for (int i = threadIdx.x; i < bits / 32; i += blockDim.x) words[i] = 0;
  __syncthreads();
  const long long base = start + (long long)blockIdx.x * bits * 2;
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const long long p = primes[k];
    long long first = (base + p - 1) / p * p;
    if (first < p * p) first = p * p;
    if (!(first & 1)) first += p;
    for (long long m = (first - base) >> 1; m < bits; m += p) atomicOr(&words[m >> 5], 1u << (m & 31));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bits / 32; i += blockDim.x)
    composite[blockIdx.x * (bits / 32) + i] = words[i];
}
