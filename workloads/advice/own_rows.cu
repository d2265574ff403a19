// Each thread keeps a row of 16 words in shared memory and adds to it again and again: rows of 16 words all begin
// in one bank of a C1060, and rows of 17 in different ones.
constexpr int kWords = 16, kThreads = 64;

template <int kPitch>
__device__ void add_up(float* out, const float* in, float more, int rounds) {
  __shared__ float rows[kThreads * kPitch];
  float* own = rows + threadIdx.x * kPitch;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  for (int w = 0; w < kWords; ++w) own[w] = in[i];
  for (int r = 0; r < rounds; ++r)
    for (int w = 0; w < kWords; ++w) own[w] = own[(w + 5) % kWords] + more;
  out[i] = own[0];
}

extern "C" __global__ void before(float* out, const float* in, float more, int rounds) {
  add_up<kWords>(out, in, more, rounds);
}

extern "C" __global__ void after(float* out, const float* in, float more, int rounds) {
  add_up<kWords + 1>(out, in, more, rounds);
}
