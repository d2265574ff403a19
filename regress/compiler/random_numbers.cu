// Random numbers and what is made of them.

struct Xorwow {
  unsigned v[5], d;
};

__device__ unsigned next(Xorwow& s) {
  const unsigned t = s.v[0] ^ s.v[0] >> 2;
  s.v[0] = s.v[1];
  s.v[1] = s.v[2];
  s.v[2] = s.v[3];
  s.v[3] = s.v[4];
  s.v[4] = (s.v[4] ^ s.v[4] << 4) ^ (t ^ t << 1);
  s.d += 362437;
  return s.v[4] + s.d;
}

__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const unsigned high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    const unsigned high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

extern "C" __global__ void uniform_xorwow(Xorwow* states, float* out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  Xorwow s = states[t];
  for (int i = t; i < n; i += threads) out[i] = next(s) * 2.3283064e-10f + 1.1641532e-10f;
  states[t] = s;
}

extern "C" __global__ void normal_philox(float4* out, int quads, unsigned long long seed,
                                         unsigned long long offset, float mean, float deviation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const unsigned long long at = offset + i;
  const uint4 r = philox(make_uint4((unsigned)at, at >> 32, 0, 0), make_uint2((unsigned)seed, seed >> 32));
  const float u0 = (r.x + 1.f) * 2.3283064e-10f, u1 = r.y * (6.2831853f * 2.3283064e-10f);
  const float u2 = (r.z + 1.f) * 2.3283064e-10f, u3 = r.w * (6.2831853f * 2.3283064e-10f);
  float s0, c0, s1, c1;
  __sincosf(u1, &s0, &c0);
  __sincosf(u3, &s1, &c1);
  const float radius0 = deviation * sqrtf(-2.f * __logf(u0)), radius1 = deviation * sqrtf(-2.f * __logf(u2));
  out[i] = make_float4(mean + radius0 * c0, mean + radius0 * s0, mean + radius1 * c1, mean + radius1 * s1);
}

extern "C" __global__ void pi_lcg(unsigned long long* hits, unsigned long long seed, int tries) {
  unsigned long long s = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B97F4A7C15ull;
  unsigned inside = 0;
  for (int i = 0; i < tries; ++i) {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    const float x = (unsigned)(s >> 40) * 0x1p-24f;
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    const float y = (unsigned)(s >> 40) * 0x1p-24f;
    if (x * x + y * y <= 1.f) ++inside;
  }
  atomicAdd(hits, (unsigned long long)inside);
}

extern "C" __global__ void xoshiro_double(ulonglong4* states, double* out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long a = states[t].x, b = states[t].y, c = states[t].z, d = states[t].w;
  for (int i = 0; i < n; ++i) {
    const unsigned long long mixed = b * 5, result = (mixed << 7 | mixed >> 57) * 9;
    const unsigned long long shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = d << 45 | d >> 19;
    out[(size_t)i * gridDim.x * blockDim.x + t] = (result >> 11) * 0x1p-53;
  }
  states[t].x = a;
  states[t].y = b;
  states[t].z = c;
  states[t].w = d;
}

// Sobol points: one direction number for each bit of the Gray code.
extern "C" __global__ void sobol(const unsigned* directions, float* out, int vectors, int dimensions) {
  __shared__ unsigned v[32];
  const unsigned* mine = directions + 32 * blockIdx.y;
  if (threadIdx.x < 32) v[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  unsigned gray = first ^ first >> 1, x = 0;
  const int log_stride = 31 - __clz(stride);
  for (int bit = 0; gray != 0; ++bit, gray >>= 1)
    if (gray & 1) x ^= v[bit];
  float* to = out + (size_t)blockIdx.y * vectors;
  for (int i = first; i < vectors; i += stride) {
    to[i] = x * 2.3283064e-10f;
    const unsigned flipped = __ffs(~((i + stride - 1) >> log_stride)) - 1;
    x ^= v[min(log_stride + flipped, 31u)] ^ v[max(log_stride - 1, 0)];
  }
}

extern "C" __global__ void mersenne_twister(unsigned* states, unsigned* out, int per_thread) {
  __shared__ unsigned mt[624];
  const int t = threadIdx.x;
  for (int i = t; i < 624; i += blockDim.x) mt[i] = states[blockIdx.x * 624 + i];
  __syncthreads();
  int at = t;
  for (int k = 0; k < per_thread; ++k) {
    const int next = at + 1 < 624 ? at + 1 : 0;
    const int far = at + 397 < 624 ? at + 397 : at + 397 - 624;
    const unsigned y = (mt[at] & 0x80000000u) | (mt[next] & 0x7fffffffu);
    const unsigned x = mt[far] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0u);
    __syncthreads();
    mt[at] = x;
    unsigned z = x ^ x >> 11;
    z ^= z << 7 & 0x9d2c5680u;
    z ^= z << 15 & 0xefc60000u;
    out[(blockIdx.x * per_thread + k) * blockDim.x + t] = z ^ z >> 18;
    at += blockDim.x;
    if (at >= 624) at -= 624;
    __syncthreads();
  }
  for (int i = t; i < 624; i += blockDim.x) states[blockIdx.x * 624 + i] = mt[i];
}

extern "C" __global__ void poisson_knuth(Xorwow* states, const float* lambda, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Xorwow s = states[i];
  const float limit = expf(-lambda[i]);
  float product = 1.f;
  int count = -1;
  do {
    ++count;
    product *= next(s) * 2.3283064e-10f;
  } while (product > limit && count < 1000);
  out[i] = count;
  states[i] = s;
}
