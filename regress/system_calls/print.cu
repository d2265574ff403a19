// What printf() in a kernel takes: text of any memory, numbers of all kinds, widths from arguments.
#include <cstdio>

__device__ char words[3][8] = {"zero", "one", "two"};

extern "C" __global__ void print(int* returned, const int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = values[i];
  char own[4] = {'<', char('a' + i % 26), '>', 0};
  if (v % 3 == 0)
    returned[i] = printf("%s %s %d %+.3f %e\n", words[i % 3], own, v, v / 7.0, v * 1e10);
  else if (v % 3 == 1)
    returned[i] = printf("%5d|%-6x|%*d|%lld|%c%%\n", v, v, 8, v, (long long)v << 33, 'A' + i % 26);
  else
    returned[i] = printf("plain\n");
}

// Prints more than the buffer holds.
extern "C" __global__ void flood(int times) {
  for (int i = 0; i < times; ++i) printf("%d %d\n", blockIdx.x * blockDim.x + threadIdx.x, i);
}
