// Sums along chains of words, each of which says where the next one is: one chain after the other, and two at a time.
constexpr int kSteps = 24;

extern "C" __global__ void before(unsigned* sums, const unsigned* step, unsigned threads) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned chain = 0; chain < 2; ++chain) {
    unsigned at = first + chain * kSteps * threads;
    for (int k = 0; k < kSteps; ++k) {
      const unsigned next = step[at];
      sum += next;
      at += next * threads;
    }
  }
  sums[first] = sum;
}

extern "C" __global__ void after(unsigned* sums, const unsigned* step, unsigned threads) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0, left = first, right = first + kSteps * threads;
  for (int k = 0; k < kSteps; ++k) {
    const unsigned next_left = step[left], next_right = step[right];
    sum += next_left + next_right;
    left += next_left * threads;
    right += next_right * threads;
  }
  sums[first] = sum;
}
