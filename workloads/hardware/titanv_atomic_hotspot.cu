// All threads count on one word: atomic_hotspot of the kernels timed on a TITAN V (Debdeep23/test1). The
// same: `rounds` (50) additions of one by each thread, in a loop, results unused; blocks of 256, a thread
// for each of N elements.
extern "C" __global__ void count_on_one_word(unsigned int* __restrict__ counter, int rounds) {
  for (int round = 0; round < rounds; ++round) atomicAdd(counter, 1u);
}
