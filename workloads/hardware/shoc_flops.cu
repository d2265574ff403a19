// Chains of multiplications and multiply-adds in registers: the peak rates of SHOC's MaxFlops (vetter/shoc).
// The same: a thread for each of the elements in blocks of 128, eight independent chains a thread that start
// from one loaded value, each step v1 + v2 s (or this times s), 30 steps of a chain (20 with the
// multiplication) unrolled in a loop, the sum of all chains stored. The suite reports the best of 18 such
// kernels; these are the two that reach the peak of a machine with one multiply-add pipe and of one that can
// multiply beside it. Different: v2 comes with its sign, which the suite writes as a subtraction (a modifier
// of the machine's multiply-add), and there are fewer elements and rounds.
template <typename T>
__device__ T start(T value, int chain) {
  if (chain == 0) return value;
  if (chain == 1) return T(10) - value;
  const T base = chain % 2 == 0 ? value : T(10) - value;
  return T(10 - chain / 2) - base;
}

template <typename T, bool kMultiply>
__device__ void chains(T* data, int rounds, T v1, T v2) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  const T value = data[i];
  T s[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) s[c] = start(value, c);
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < (kMultiply ? 20 : 30); ++step) {
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const T next = v2 * s[c] + v1;
        s[c] = kMultiply ? next * s[c] : next;
      }
    }
  }
  data[i] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

extern "C" __global__ void multiply_add_f32(float* data, int rounds, float v1, float v2) {
  chains<float, false>(data, rounds, v1, v2);
}
extern "C" __global__ void multiply_add_multiply_f32(float* data, int rounds, float v1, float v2) {
  chains<float, true>(data, rounds, v1, v2);
}
extern "C" __global__ void multiply_add_f64(double* data, int rounds, double v1, double v2) {
  chains<double, false>(data, rounds, v1, v2);
}
