// Merge sort of keys with values: mergeSort of the CUDA samples, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark), upwards. The
// same: pieces of 1024 are sorted in shared memory by blocks of 512 threads, each of which ranks one key of either half by binary
// search; then sorted runs are merged two by two: the ranks of every 128th key of either run in the other, the order of these limits,
// and a block of 128 threads for each stretch between two of them, which is merged in shared memory.
constexpr unsigned kPiece = 1024;
constexpr unsigned kSample = 128;

__device__ __forceinline__ unsigned power_above(unsigned x) { return 1u << (32 - __clz(x - 1)); }

__device__ __forceinline__ unsigned rank_below(unsigned key, const unsigned* keys, unsigned count, unsigned step) {
  if (count == 0) return 0;
  unsigned at = 0;
  for (; step > 0; step >>= 1) {
    const unsigned next = umin(at + step, count);
    if (keys[next - 1] < key) at = next;
  }
  return at;
}

__device__ __forceinline__ unsigned rank_up_to(unsigned key, const unsigned* keys, unsigned count, unsigned step) {
  if (count == 0) return 0;
  unsigned at = 0;
  for (; step > 0; step >>= 1) {
    const unsigned next = umin(at + step, count);
    if (keys[next - 1] <= key) at = next;
  }
  return at;
}

__device__ __forceinline__ unsigned samples_of(unsigned count) { return count % kSample == 0 ? count / kSample : count / kSample + 1; }

extern "C" __global__ void sort_pieces(unsigned* to_keys, unsigned* to_values, unsigned* keys, unsigned* values, unsigned length) {
  __shared__ unsigned piece_keys[kPiece];
  __shared__ unsigned piece_values[kPiece];
  const unsigned first = blockIdx.x * kPiece + threadIdx.x;
  keys += first;
  values += first;
  to_keys += first;
  to_values += first;
  piece_keys[threadIdx.x] = keys[0];
  piece_values[threadIdx.x] = values[0];
  piece_keys[threadIdx.x + kPiece / 2] = keys[kPiece / 2];
  piece_values[threadIdx.x + kPiece / 2] = values[kPiece / 2];
  for (unsigned stride = 1; stride < length; stride <<= 1) {
    const unsigned low = threadIdx.x & (stride - 1);
    unsigned* const run_keys = piece_keys + 2 * (threadIdx.x - low);
    unsigned* const run_values = piece_values + 2 * (threadIdx.x - low);
    __syncthreads();
    const unsigned key_a = run_keys[low];
    const unsigned value_a = run_values[low];
    const unsigned key_b = run_keys[low + stride];
    const unsigned value_b = run_values[low + stride];
    const unsigned at_a = rank_below(key_a, run_keys + stride, stride, stride) + low;
    const unsigned at_b = rank_up_to(key_b, run_keys, stride, stride) + low;
    __syncthreads();
    run_keys[at_a] = key_a;
    run_values[at_a] = value_a;
    run_keys[at_b] = key_b;
    run_values[at_b] = value_b;
  }
  __syncthreads();
  to_keys[0] = piece_keys[threadIdx.x];
  to_values[0] = piece_values[threadIdx.x];
  to_keys[kPiece / 2] = piece_keys[threadIdx.x + kPiece / 2];
  to_values[kPiece / 2] = piece_values[threadIdx.x + kPiece / 2];
}

extern "C" __global__ void rank_samples(unsigned* ranks_a, unsigned* ranks_b, unsigned* keys, unsigned stride, unsigned count, unsigned threads) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= threads) return;
  const unsigned i = at & (stride / kSample - 1);
  const unsigned base = (at - i) * (2 * kSample);
  keys += base;
  ranks_a += base / kSample;
  ranks_b += base / kSample;
  const unsigned count_a = stride;
  const unsigned count_b = umin(stride, count - base - stride);
  if (i < samples_of(count_a)) {
    ranks_a[i] = i * kSample;
    ranks_b[i] = rank_below(keys[i * kSample], keys + stride, count_b, power_above(count_b));
  }
  if (i < samples_of(count_b)) {
    ranks_b[stride / kSample + i] = i * kSample;
    ranks_a[stride / kSample + i] = rank_up_to(keys[stride + i * kSample], keys, count_a, power_above(count_a));
  }
}

extern "C" __global__ void order_limits(unsigned* limits, unsigned* ranks, unsigned stride, unsigned count, unsigned threads) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= threads) return;
  const unsigned i = at & (stride / kSample - 1);
  const unsigned base = (at - i) * (2 * kSample);
  ranks += (at - i) * 2;
  limits += (at - i) * 2;
  const unsigned samples_a = samples_of(stride);
  const unsigned samples_b = samples_of(umin(stride, count - base - stride));
  if (i < samples_a) {
    const unsigned to = rank_below(ranks[i], ranks + samples_a, samples_b, power_above(samples_b)) + i;
    limits[to] = ranks[i];
  }
  if (i < samples_b) {
    const unsigned to = rank_up_to(ranks[samples_a + i], ranks, samples_a, power_above(samples_a)) + i;
    limits[to] = ranks[samples_a + i];
  }
}

extern "C" __global__ void merge_stretches(unsigned* to_keys, unsigned* to_values, unsigned* keys, unsigned* values, unsigned* limits_a,
                                           unsigned* limits_b, unsigned stride, unsigned count) {
  __shared__ unsigned piece_keys[2 * kSample];
  __shared__ unsigned piece_values[2 * kSample];
  __shared__ unsigned from_a, from_b, length_a, length_b, to_a, to_b;
  const unsigned interval = blockIdx.x & (2 * stride / kSample - 1);
  const unsigned base = (blockIdx.x - interval) * kSample;
  keys += base;
  values += base;
  to_keys += base;
  to_values += base;
  if (threadIdx.x == 0) {
    const unsigned count_a = stride;
    const unsigned count_b = umin(stride, count - base - stride);
    const unsigned samples = samples_of(count_a) + samples_of(count_b);
    from_a = limits_a[blockIdx.x];
    from_b = limits_b[blockIdx.x];
    const unsigned end_a = interval + 1 < samples ? limits_a[blockIdx.x + 1] : count_a;
    const unsigned end_b = interval + 1 < samples ? limits_b[blockIdx.x + 1] : count_b;
    length_a = end_a - from_a;
    length_b = end_b - from_b;
    to_a = from_a + from_b;
    to_b = to_a + length_a;
  }
  __syncthreads();
  if (threadIdx.x < length_a) {
    piece_keys[threadIdx.x] = keys[from_a + threadIdx.x];
    piece_values[threadIdx.x] = values[from_a + threadIdx.x];
  }
  if (threadIdx.x < length_b) {
    piece_keys[threadIdx.x + kSample] = keys[stride + from_b + threadIdx.x];
    piece_values[threadIdx.x + kSample] = values[stride + from_b + threadIdx.x];
  }
  __syncthreads();
  unsigned key_a, value_a, key_b, value_b, at_a, at_b;
  if (threadIdx.x < length_a) {
    key_a = piece_keys[threadIdx.x];
    value_a = piece_values[threadIdx.x];
    at_a = rank_below(key_a, piece_keys + kSample, length_b, kSample) + threadIdx.x;
  }
  if (threadIdx.x < length_b) {
    key_b = piece_keys[kSample + threadIdx.x];
    value_b = piece_values[kSample + threadIdx.x];
    at_b = rank_up_to(key_b, piece_keys, length_a, kSample) + threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x < length_a) {
    piece_keys[at_a] = key_a;
    piece_values[at_a] = value_a;
  }
  if (threadIdx.x < length_b) {
    piece_keys[at_b] = key_b;
    piece_values[at_b] = value_b;
  }
  __syncthreads();
  if (threadIdx.x < length_a) {
    to_keys[to_a + threadIdx.x] = piece_keys[threadIdx.x];
    to_values[to_a + threadIdx.x] = piece_values[threadIdx.x];
  }
  if (threadIdx.x < length_b) {
    to_keys[to_b + threadIdx.x] = piece_keys[length_a + threadIdx.x];
    to_values[to_b + threadIdx.x] = piece_values[length_a + threadIdx.x];
  }
}
