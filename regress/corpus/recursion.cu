// Recursive device functions: two calls a level, mutual recursion, arrays passed down by reference, a struct
// returned.
#include "corpus.h"

struct Pair {
  unsigned long long a, b;
};

__device__ __noinline__ Pair fibonacci(unsigned n) {  // F(n), F(n + 1) by doubling
  if (n == 0) return {0, 1};
  Pair half = fibonacci(n / 2);
  unsigned long long c = half.a * (2 * half.b - half.a);
  unsigned long long d = half.a * half.a + half.b * half.b;
  return n & 1 ? Pair{d, c + d} : Pair{c, d};
}

__device__ unsigned queens(unsigned size, unsigned row, unsigned columns, unsigned left, unsigned right) {
  if (row == size) return 1;
  unsigned count = 0;
  for (unsigned c = 0; c < size; ++c) {
    unsigned bit = 1u << c;
    if ((columns | left | right) & bit) continue;
    count += queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return count;
}

__device__ unsigned odd(unsigned n);
__device__ __noinline__ unsigned even(unsigned n) { return n == 0 ? 1 : odd(n - 1) * 3 + n; }
__device__ __noinline__ unsigned odd(unsigned n) { return n == 0 ? 2 : even(n - 1) ^ n * 5; }

__device__ unsigned permute(unsigned char* items, unsigned first, unsigned count) {
  if (first == count) {
    unsigned hash = 0;
    for (unsigned k = 0; k < count; ++k) hash = hash * 7 + items[k];
    return hash ^ hash >> 3;
  }
  unsigned sum = 0;
  for (unsigned k = first; k < count; ++k) {
    unsigned char swapped = items[k];
    items[k] = items[first];
    items[first] = swapped;
    sum += permute(items, first + 1, count);
    items[first] = items[k];
    items[k] = swapped;
  }
  return sum;
}

extern "C" __global__ void recursion(unsigned long long* numbers, unsigned* counts, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  numbers[i] = fibonacci(i).a;
  unsigned char items[4];
  for (unsigned k = 0; k < 4; ++k) items[k] = static_cast<unsigned char>(mix(i + k));
  counts[3 * i] = queens(i % 3 + 4, 0, 0, 0, 0);
  counts[3 * i + 1] = i & 1 ? odd(i) : even(i);
  counts[3 * i + 2] = permute(items, 0, i % 4 + 1);
}
