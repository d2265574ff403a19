// Quasirandom numbers from a table of bits, and the inverse of the normal distribution:
// quasirandomGeneratorKernel and inverseCNDKernel of the CUDA samples, as measured on V100s
// (blackjack2015/NV-DVFS-Benchmark, accel-sim's AccelWattch). The same: the generator has blocks of 128 x 3
// threads (a dimension each), 128 of them, and strides over the numbers; a word of the table in constant
// memory is folded in for each bit that is set, in a loop over 31 bits that the compiler unrolls. The
// inverse (128 blocks of 128) makes its inputs itself, evaluates Moro's fractions by polynomials in the
// middle and a logarithm of a logarithm at the ends, and divides rounded to nearest.
constexpr int kBits = 31;
__constant__ unsigned table[3][kBits];

extern "C" __global__ void generate(float* result, unsigned seed, unsigned count) {
  const unsigned* row = table[threadIdx.y];
  const unsigned first = __umul24(blockDim.x, blockIdx.x) + threadIdx.x;
  const unsigned stride = __umul24(blockDim.x, gridDim.x);
  for (unsigned at = first; at < count; at += stride) {
    unsigned bits = seed + at;
    unsigned folded = 0;
    for (int bit = 0; bit < kBits; ++bit, bits >>= 1) {
      if (bits & 1) folded ^= row[bit];
    }
    result[__umul24(threadIdx.y, count) + at] = (float)(folded + 1) * (1.0f / (float)0x80000001u);
  }
}

__device__ __forceinline__ float inverse_of_normal(unsigned x) {
  bool upper = false;
  if (x >= 0x80000000u) {
    x = 0xffffffffu - x;
    upper = true;
  }
  const float scale = 1.0f / (float)0xffffffffu;
  const float p = x * scale + scale / 2;
  const float q = p - 0.5f;
  float z;
  if (q > -0.42f) {
    z = q * q;
    z = q * (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
        ((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z + 1.0f);
  } else {
    z = __logf(-__logf(p));
    z = -(
        0.337475482272615f +
        z * (0.976169019091719f +
             z * (0.160797971491821f +
                  z * (2.76438810333863e-2f +
                       z * (3.8405729373609e-3f +
                            z * (3.951896511919e-4f +
                                 z * (3.21767881768e-5f + z * (2.888167364e-7f + z * 3.960315187e-7f))))))));
  }
  return upper ? -z : z;
}

extern "C" __global__ void invert(float* result, unsigned* input, unsigned count) {
  const unsigned distance = 0xffffffffu / (count + 1);
  const unsigned first = __umul24(blockDim.x, blockIdx.x) + threadIdx.x;
  const unsigned stride = __umul24(blockDim.x, gridDim.x);
  if (input) {
    for (unsigned at = first; at < count; at += stride) result[at] = inverse_of_normal(input[at]);
  } else {
    for (unsigned at = first; at < count; at += stride) result[at] = inverse_of_normal((at + 1) * distance);
  }
}
