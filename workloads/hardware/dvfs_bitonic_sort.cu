// Pairs of key and value sorted in pieces of 1024 by a bitonic network in shared memory, every other piece
// downwards: bitonicSortShared1 of the sample sortingNetworks, as timed on a V100 (blackjack2015/NV-DVFS-
// Benchmark). The same: blocks of 512 threads, keys and values in shared memory, a comparison a thread and
// step, a barrier before each step.
constexpr unsigned kPiece = 1024;

__device__ __forceinline__ void order(unsigned* keys, unsigned* values, unsigned stride, unsigned up) {
  __syncthreads();
  const unsigned low = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
  const unsigned high = low + stride;
  if ((keys[low] > keys[high]) == up) {
    const unsigned key = keys[low];
    keys[low] = keys[high];
    keys[high] = key;
    const unsigned value = values[low];
    values[low] = values[high];
    values[high] = value;
  }
}

extern "C" __global__ void sort_pieces(unsigned* to_keys, unsigned* to_values, unsigned* from_keys,
                                       unsigned* from_values) {
  __shared__ unsigned keys[kPiece];
  __shared__ unsigned values[kPiece];
  const unsigned me = threadIdx.x;
  const unsigned first = blockIdx.x * kPiece + me;
  keys[me] = from_keys[first];
  values[me] = from_values[first];
  keys[me + kPiece / 2] = from_keys[first + kPiece / 2];
  values[me + kPiece / 2] = from_values[first + kPiece / 2];
  for (unsigned size = 2; size < kPiece; size <<= 1) {
    const unsigned up = (me & (size / 2)) != 0;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) order(keys, values, stride, up);
  }
  const unsigned up = blockIdx.x & 1;
  for (unsigned stride = kPiece / 2; stride > 0; stride >>= 1) order(keys, values, stride, up);
  __syncthreads();
  to_keys[first] = keys[me];
  to_values[first] = values[me];
  to_keys[first + kPiece / 2] = keys[me + kPiece / 2];
  to_values[first + kPiece / 2] = values[me + kPiece / 2];
}
