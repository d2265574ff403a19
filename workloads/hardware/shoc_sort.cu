// Radix sort of 32-bit keys with values, four bits a pass: SHOC's Sort (vetter/shoc). The same: keys and
// values are an element's number modulo 1024, and there are eight passes. sort_blocks (128 threads, four
// elements each) sorts 512 elements by the pass's bits, one after the other: running sums of the zeros in
// shared memory with two barriers a step, then keys and values exchanged through shared memory. find_digits
// (256 threads, two elements each) finds where each of the 16 digits begins in 512 elements, and how many
// there are. Three launches add these counts up over all blocks, digit by digit (blocks of 256 threads with
// four counts each, the blocks' sums, the addition of these). scatter writes the elements to where they
// belong. Different: fewer elements, and one more launch (number_elements) writes them.
struct alignas(16) Four {
  unsigned v[4];
};
struct alignas(8) Two {
  unsigned v[2];
};

/// The sum of the values of all threads before this one; `shared` has room for two values a thread.
template <unsigned kThreads>
__device__ unsigned sum_before(unsigned value, unsigned* shared) {
  const unsigned i = threadIdx.x + kThreads;
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[i] = value;
  __syncthreads();
#pragma unroll
  for (unsigned step = 1; step < kThreads; step *= 2) {
    const unsigned other = shared[i - step];
    __syncthreads();
    shared[i] += other;
    __syncthreads();
  }
  return shared[i] - value;
}

__device__ void exchange(Four& value, const Four& rank, unsigned* shared) {
#pragma unroll
  for (int k = 0; k < 4; ++k) shared[rank.v[k] % 4 * 128 + rank.v[k] / 4] = value.v[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) value.v[k] = shared[threadIdx.x + 128 * k];
  __syncthreads();
}

extern "C" __global__ void number_elements(Four* keys, Four* values) {
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  const unsigned first = 4 * i % 1024;
  keys[i] = values[i] = {{first, first + 1, first + 2, first + 3}};
}

extern "C" __global__ void sort_blocks(const Four* keys_in, const Four* values_in, Four* keys_out,
                                       Four* values_out, unsigned first_bit) {
  __shared__ unsigned shared[512];
  __shared__ unsigned zeros;
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  Four key = keys_in[i];
  Four value = values_in[i];
#pragma unroll 1
  for (unsigned bit = first_bit; bit < first_bit + 4; ++bit) {
    Four zero;
#pragma unroll
    for (int k = 0; k < 4; ++k) zero.v[k] = (key.v[k] >> bit & 1) == 0;
    const unsigned sum = zero.v[0] + zero.v[1] + zero.v[2] + zero.v[3];
    Four before;
    before.v[0] = sum_before<128>(sum, shared);
#pragma unroll
    for (int k = 1; k < 4; ++k) before.v[k] = before.v[k - 1] + zero.v[k - 1];
    if (threadIdx.x == 127) zeros = before.v[3] + zero.v[3];
    __syncthreads();
    Four rank;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      rank.v[k] = zero.v[k] != 0 ? before.v[k] : zeros + 4 * threadIdx.x + k - before.v[k];
    exchange(key, rank, shared);
    exchange(value, rank, shared);
  }
  keys_out[i] = key;
  values_out[i] = value;
}

extern "C" __global__ void find_digits(const Two* keys, unsigned* counts, unsigned* begins,
                                       unsigned first_bit) {
  __shared__ unsigned digits[512];
  __shared__ unsigned place[16];
  const unsigned t = threadIdx.x;
  const Two key = keys[t + blockDim.x * blockIdx.x];
  digits[2 * t] = key.v[0] >> first_bit & 15;
  digits[2 * t + 1] = key.v[1] >> first_bit & 15;
  if (t < 16) place[t] = 0;
  __syncthreads();
  if (t > 0 && digits[t] != digits[t - 1]) place[digits[t]] = t;
  if (digits[t + 256] != digits[t + 255]) place[digits[t + 256]] = t + 256;
  __syncthreads();
  if (t < 16) begins[blockIdx.x * 16 + t] = place[t];
  __syncthreads();
  if (t > 0 && digits[t] != digits[t - 1]) place[digits[t - 1]] = t - place[digits[t - 1]];
  if (digits[t + 256] != digits[t + 255]) place[digits[t + 255]] = t + 256 - place[digits[t + 255]];
  if (t == 255) place[digits[511]] = 512 - place[digits[511]];
  __syncthreads();
  if (t < 16) counts[t * gridDim.x + blockIdx.x] = place[t];
}

extern "C" __global__ void scan_counts(const Four* in, Four* out, unsigned* sums, unsigned fours) {
  __shared__ unsigned shared[512];
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  Four value = {{0, 0, 0, 0}};
  if (i < fours) value = in[i];
  const unsigned sum = value.v[0] + value.v[1] + value.v[2] + value.v[3];
  Four before;
  before.v[0] = sum_before<256>(sum, shared);
#pragma unroll
  for (int k = 1; k < 4; ++k) before.v[k] = before.v[k - 1] + value.v[k - 1];
  if (threadIdx.x == 255 && sums != nullptr) sums[blockIdx.x] = before.v[3] + value.v[3];
  if (i < fours) out[i] = before;
}

extern "C" __global__ void add_sums(unsigned* counts, const unsigned* sums, unsigned count) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = sums[blockIdx.x];
  __syncthreads();
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x * 4;
#pragma unroll
  for (int k = 0; k < 4; ++k, i += blockDim.x)
    if (i < count) counts[i] += sum;
}

extern "C" __global__ void scatter(const Two* keys, const Two* values, unsigned* keys_out,
                                   unsigned* values_out, const unsigned* begins, const unsigned* offsets,
                                   unsigned first_bit) {
  __shared__ Two shared_keys[256];
  __shared__ Two shared_values[256];
  __shared__ unsigned shift[16];
  __shared__ unsigned begin[16];
  const unsigned t = threadIdx.x;
  shared_keys[t] = keys[t + blockDim.x * blockIdx.x];
  shared_values[t] = values[t + blockDim.x * blockIdx.x];
  if (t < 16) {
    shift[t] = offsets[t * gridDim.x + blockIdx.x];
    begin[t] = begins[blockIdx.x * 16 + t];
  }
  __syncthreads();
  const unsigned* key = reinterpret_cast<const unsigned*>(shared_keys);
  const unsigned* value = reinterpret_cast<const unsigned*>(shared_values);
#pragma unroll
  for (unsigned k = t; k < t + 512; k += 256) {
    const unsigned digit = key[k] >> first_bit & 15;
    const unsigned to = shift[digit] + k - begin[digit];
    keys_out[to] = key[k];
    values_out[to] = value[k];
  }
}
