// Digests, checksums and hash tables.

__constant__ unsigned sha256_k[64];

__device__ __forceinline__ unsigned rotate_right(unsigned x, int n) { return x >> n | x << (32 - n); }

__device__ void sha256_block(unsigned state[8], const unsigned* words) {
  unsigned w[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) w[i] = __byte_perm(words[i], 0, 0x0123);
  unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
           h = state[7];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
      w[i & 15] += (rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3) + w[(i + 9) & 15] +
                   (rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10);
    }
    const unsigned t1 = h + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                        ((e & f) ^ (~e & g)) + sha256_k[i] + w[i & 15];
    const unsigned t2 =
        (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

extern "C" __global__ void sha256(const unsigned* messages, unsigned* digests, int blocks_each,
                                  int messages_count) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= messages_count) return;
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int b = 0; b < blocks_each; ++b) sha256_block(state, messages + (m * blocks_each + b) * 16);
#pragma unroll
  for (int i = 0; i < 8; ++i) digests[m * 8 + i] = __byte_perm(state[i], 0, 0x0123);
}

__constant__ unsigned char md5_shift[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
__constant__ unsigned md5_k[64];

// The rounds in a loop, not unrolled.
extern "C" __global__ void md5_loop(const unsigned* messages, uint4* digests, int count) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= count) return;
  const unsigned* w = messages + m * 16;
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    unsigned f;
    int g;
    if (i < 16) {
      f = (b & c) | (~b & d);
      g = i;
    } else if (i < 32) {
      f = (d & b) | (~d & c);
      g = (5 * i + 1) & 15;
    } else if (i < 48) {
      f = b ^ c ^ d;
      g = (3 * i + 5) & 15;
    } else {
      f = c ^ (b | ~d);
      g = (7 * i) & 15;
    }
    const unsigned sum = a + f + md5_k[i] + w[g];
    a = d;
    d = c;
    c = b;
    const int s = md5_shift[(i >> 4) * 4 + (i & 3)];
    b += sum << s | sum >> (32 - s);
  }
  digests[m] = make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

extern "C" __global__ void crc32_table(const unsigned char* data, const int* starts, unsigned* out,
                                       int count) {
  __shared__ unsigned table[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned c = i;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[i] = c;
  }
  __syncthreads();
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= count) return;
  unsigned crc = ~0u;
  for (int i = starts[m]; i < starts[m + 1]; ++i) crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
  out[m] = ~crc;
}

extern "C" __global__ void adler32(const uchar4* data, unsigned* out, int quads_each, int count) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= count) return;
  unsigned a = 1, b = 0;
  for (int i = 0; i < quads_each; ++i) {
    const uchar4 v = data[i * count + m];
    a += v.x;
    b += a;
    a += v.y;
    b += a;
    a += v.z;
    b += a;
    a += v.w;
    b += a;
    if ((i & 1023) == 1023) {
      a %= 65521u;
      b %= 65521u;
    }
  }
  out[m] = (b % 65521u) << 16 | a % 65521u;
}

extern "C" __global__ void murmur3(const unsigned* keys, unsigned* hashes, int words, int count,
                                   unsigned seed) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  unsigned h = seed;
  for (int i = 0; i < words; ++i) {
    unsigned x = keys[k * words + i] * 0xcc9e2d51u;
    x = __funnelshift_l(x, x, 15) * 0x1b873593u;
    h ^= x;
    h = __funnelshift_l(h, h, 13) * 5 + 0xe6546b64u;
  }
  h ^= words * 4;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  hashes[k] = h ^ h >> 16;
}

struct Slot {
  unsigned key, value;
};

extern "C" __global__ void table_insert(Slot* table, unsigned mask, const unsigned* keys,
                                        const unsigned* values, int n, int* failed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  unsigned at = key;
  at ^= at >> 16;
  at *= 0x85ebca6b;
  at ^= at >> 13;
  for (unsigned probes = 0; probes <= mask; ++probes) {
    at &= mask;
    const unsigned old = atomicCAS(&table[at].key, 0xffffffffu, key);
    if (old == 0xffffffffu || old == key) {
      table[at].value = values[i];
      return;
    }
    ++at;
  }
  atomicExch(failed, 1);
}

extern "C" __global__ void table_find(const unsigned long long* table, unsigned buckets, const unsigned* keys,
                                      unsigned* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned key = keys[i];
    unsigned result = 0xffffffffu;
    unsigned at = key * 2654435769u % buckets;
    while (true) {
      const unsigned long long entry = table[at];
      const unsigned found = entry >> 32;
      if (found == key) result = (unsigned)entry;
      if (found == key || found == 0xffffffffu) break;
      if (++at == buckets) at = 0;
    }
    values[i] = result;
  }
}
