// Local arrays with dynamic indexing: sorting, a stack machine, arrays of structs, narrow elements, a second
// dimension.
#include "corpus.h"

struct Entry {
  short key;
  unsigned char weight;
  unsigned long long payload;
};

__device__ __noinline__ void sort(Entry* entries, int count) {
  for (int k = 1; k < count; ++k) {
    Entry e = entries[k];
    int j = k;
    for (; j > 0 && entries[j - 1].key > e.key; --j) entries[j] = entries[j - 1];
    entries[j] = e;
  }
}

extern "C" __global__ void sort_entries(unsigned long long* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  Entry entries[12];
  int count = i % 12 + 1;
  for (int k = 0; k < count; ++k) {
    unsigned m = mix(i * 12 + k);
    entries[k] = {static_cast<short>((m & ~15u) | k), static_cast<unsigned char>(m >> 16), mix64(m)};
  }
  sort(entries, count);
  unsigned long long result = 0;
  for (int k = 0; k < count; ++k)
    result = result * 1099511628211ull + (entries[k].payload ^ entries[k].weight) +
             static_cast<long long>(entries[k].key);
  out[i] = result;
}

extern "C" __global__ void stack_machine(int* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  int stack[16];
  int top = 0;
  for (unsigned k = 0; k < 40; ++k) {
    unsigned m = mix(i * 64 + k);
    if (top < 2 || (m & 3) == 0) {
      if (top < 16) stack[top++] = static_cast<int>(m) >> 20;
      continue;
    }
    int b = stack[--top];
    int a = stack[--top];
    stack[top++] = (m & 3) == 1 ? a + b : (m & 3) == 2 ? a - b : a * (b | 1);
  }
  int result = top;
  while (top) result = result * 17 + stack[--top];
  out[i] = result;
}

extern "C" __global__ void bytes(unsigned* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned char count[4][16] = {};
  signed char signs[16];
  for (unsigned k = 0; k < 64; ++k) {
    unsigned m = mix(i + 1000 * k);
    ++count[m & 3][m >> 2 & 15];
    signs[k & 15] = static_cast<signed char>(m >> 8);
  }
  unsigned result = 0;
  for (unsigned k = 0; k < 64; ++k) result = result * 3 + count[k >> 4][k & 15];
  out[i] = result + static_cast<unsigned>(signs[i & 15]);
}
