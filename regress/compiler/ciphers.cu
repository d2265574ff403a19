// Ciphers and keyed hashes.

__device__ __forceinline__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  a += b;
  d = __funnelshift_l(d ^ a, d ^ a, 16);
  c += d;
  b = __funnelshift_l(b ^ c, b ^ c, 12);
  a += b;
  d = __funnelshift_l(d ^ a, d ^ a, 8);
  c += d;
  b = __funnelshift_l(b ^ c, b ^ c, 7);
}

extern "C" __global__ void chacha20(const uint4* in, uint4* out, uint4 key_low, uint4 key_high, uint3 nonce,
                                    unsigned counter, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const unsigned start[16] = {0x61707865,  0x3320646e, 0x79622d32, 0x6b206574, key_low.x,  key_low.y,
                              key_low.z,   key_low.w,  key_high.x, key_high.y, key_high.z, key_high.w,
                              counter + i, nonce.x,    nonce.y,    nonce.z};
  unsigned s[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) s[k] = start[k];
#pragma unroll 1
  for (int round = 0; round < 10; ++round) {
    quarter(s[0], s[4], s[8], s[12]);
    quarter(s[1], s[5], s[9], s[13]);
    quarter(s[2], s[6], s[10], s[14]);
    quarter(s[3], s[7], s[11], s[15]);
    quarter(s[0], s[5], s[10], s[15]);
    quarter(s[1], s[6], s[11], s[12]);
    quarter(s[2], s[7], s[8], s[13]);
    quarter(s[3], s[4], s[9], s[14]);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint4 v = in[i * 4 + k];
    v.x ^= s[4 * k] + start[4 * k];
    v.y ^= s[4 * k + 1] + start[4 * k + 1];
    v.z ^= s[4 * k + 2] + start[4 * k + 2];
    v.w ^= s[4 * k + 3] + start[4 * k + 3];
    out[i * 4 + k] = v;
  }
}

__constant__ unsigned round_keys[60];

extern "C" __global__ void aes_tables(const uint4* in, uint4* out, const unsigned* tables,
                                      const unsigned char* sbox, int blocks, int rounds) {
  __shared__ unsigned t0[256];
  __shared__ unsigned char last[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    t0[i] = tables[i];
    last[i] = sbox[i];
  }
  __syncthreads();
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= blocks) return;
  const uint4 v = in[b];
  unsigned s0 = v.x ^ round_keys[0], s1 = v.y ^ round_keys[1], s2 = v.z ^ round_keys[2],
           s3 = v.w ^ round_keys[3];
  for (int r = 1; r < rounds; ++r) {
    auto column = [&](unsigned a, unsigned c, unsigned d, unsigned e, unsigned key) {
      const unsigned y = t0[c >> 8 & 0xff], z = t0[d >> 16 & 0xff], w = t0[e >> 24];
      return t0[a & 0xff] ^ __funnelshift_l(y, y, 8) ^ __funnelshift_l(z, z, 16) ^ __funnelshift_l(w, w, 24) ^
             key;
    };
    const unsigned n0 = column(s0, s1, s2, s3, round_keys[4 * r]),
                   n1 = column(s1, s2, s3, s0, round_keys[4 * r + 1]);
    const unsigned n2 = column(s2, s3, s0, s1, round_keys[4 * r + 2]),
                   n3 = column(s3, s0, s1, s2, round_keys[4 * r + 3]);
    s0 = n0;
    s1 = n1;
    s2 = n2;
    s3 = n3;
  }
  auto final = [&](unsigned a, unsigned c, unsigned d, unsigned e, unsigned key) {
    return (last[a & 0xff] | last[c >> 8 & 0xff] << 8 | last[d >> 16 & 0xff] << 16 |
            (unsigned)last[e >> 24] << 24) ^
           key;
  };
  out[b] = make_uint4(
      final(s0, s1, s2, s3, round_keys[4 * rounds]), final(s1, s2, s3, s0, round_keys[4 * rounds + 1]),
      final(s2, s3, s0, s1, round_keys[4 * rounds + 2]), final(s3, s0, s1, s2, round_keys[4 * rounds + 3]));
}

extern "C" __global__ void xtea(uint2* data, uint4 key, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned k[4] = {key.x, key.y, key.z, key.w};
  uint2 v = data[i];
  unsigned sum = 0;
#pragma unroll
  for (int r = 0; r < 32; ++r) {
    v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
    sum += 0x9e3779b9;
    v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
  }
  data[i] = v;
}

extern "C" __global__ void speck128(ulonglong2* data, const unsigned long long* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ulonglong2 v = data[i];
  for (int r = 0; r < 32; ++r) {
    v.x = ((v.x >> 8 | v.x << 56) + v.y) ^ keys[r];
    v.y = (v.y << 3 | v.y >> 61) ^ v.x;
  }
  data[i] = v;
}

extern "C" __global__ void siphash_2_4(const unsigned long long* words, unsigned long long* out,
                                       unsigned long long k0, unsigned long long k1, int words_each, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v0 = k0 ^ 0x736f6d6570736575ull, v1 = k1 ^ 0x646f72616e646f6dull,
                     v2 = k0 ^ 0x6c7967656e657261ull, v3 = k1 ^ 0x7465646279746573ull;
  auto rotate = [](unsigned long long x, int b) { return x << b | x >> (64 - b); };
  auto round = [&] {
    v0 += v1;
    v1 = rotate(v1, 13) ^ v0;
    v0 = rotate(v0, 32);
    v2 += v3;
    v3 = rotate(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate(v1, 17) ^ v2;
    v2 = rotate(v2, 32);
  };
  for (int w = 0; w < words_each; ++w) {
    const unsigned long long m = words[(size_t)i * words_each + w];
    v3 ^= m;
    round();
    round();
    v0 ^= m;
  }
  const unsigned long long end = (unsigned long long)(words_each * 8) << 56;
  v3 ^= end;
  round();
  round();
  v0 ^= end;
  v2 ^= 0xff;
  for (int r = 0; r < 4; ++r) round();
  out[i] = v0 ^ v1 ^ v2 ^ v3;
}

// The state of 25 words stays in registers: all indices are known once the loops are unrolled.
extern "C" __global__ void keccak_f1600(unsigned long long* states, const unsigned long long* constants,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  constexpr int kRotation[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                 27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
  constexpr int kLane[24] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                             15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};
  unsigned long long a[25], c[5];
#pragma unroll
  for (int k = 0; k < 25; ++k) a[k] = states[k * n + i];
#pragma unroll 1
  for (int round = 0; round < 24; ++round) {
#pragma unroll
    for (int x = 0; x < 5; ++x) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int x = 0; x < 5; ++x) {
      const unsigned long long next = c[(x + 1) % 5], d = c[(x + 4) % 5] ^ (next << 1 | next >> 63);
#pragma unroll
      for (int y = 0; y < 25; y += 5) a[y + x] ^= d;
    }
    unsigned long long carried = a[1];
#pragma unroll
    for (int k = 0; k < 24; ++k) {
      const unsigned long long old = a[kLane[k]];
      a[kLane[k]] = carried << kRotation[k] | carried >> (64 - kRotation[k]);
      carried = old;
    }
#pragma unroll
    for (int y = 0; y < 25; y += 5) {
#pragma unroll
      for (int x = 0; x < 5; ++x) c[x] = a[y + x];
#pragma unroll
      for (int x = 0; x < 5; ++x) a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    a[0] ^= constants[round];
  }
#pragma unroll
  for (int k = 0; k < 25; ++k) states[k * n + i] = a[k];
}

// RC4: a table of 256 bytes of its own for each thread, in local memory.
extern "C" __global__ void rc4(const unsigned char* keys, int key_bytes, unsigned char* stream, int length,
                               int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  unsigned char s[256];
  for (int i = 0; i < 256; ++i) s[i] = i;
  unsigned j = 0;
  for (int i = 0; i < 256; ++i) {
    j = (j + s[i] + keys[t * key_bytes + i % key_bytes]) & 255;
    const unsigned char x = s[i];
    s[i] = s[j];
    s[j] = x;
  }
  unsigned i = 0;
  j = 0;
  for (int k = 0; k < length; ++k) {
    i = (i + 1) & 255;
    const unsigned char x = s[i];
    j = (j + x) & 255;
    const unsigned char y = s[j];
    s[i] = y;
    s[j] = x;
    stream[k * n + t] = s[(x + y) & 255];
  }
}
