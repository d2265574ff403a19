// Addresses that leave the variable they were made from although memory goes on there, and local variables used after
// their call has returned. The statements of strays.ptx say which of them are found.
__shared__ volatile unsigned* kept[32];

__device__ __noinline__ unsigned element(const unsigned* p, int i) { return p[i]; }

__device__ __noinline__ volatile unsigned* of_callee(unsigned v) {
  volatile unsigned own[4];
  own[v & 3] = v;
  return own;
}

__device__ __noinline__ void keep(unsigned v) {
  volatile unsigned own[4];
  own[v & 3] = v;
  kept[threadIdx.x] = own;
}

__device__ __noinline__ unsigned use_kept(unsigned v) {
  volatile unsigned other[4];
  for (int i = 0; i < 4; ++i) other[i] = v;
  return *kept[threadIdx.x] + other[v & 3];
}

__device__ __noinline__ unsigned deeper(int n, volatile unsigned** last) {
  volatile unsigned own[2];
  own[0] = own[1] = n;
  unsigned sum = own[n & 1];
  if (n > 0) {
    sum += deeper(n - 1, last);
    sum += **last;  // the callee's
  }
  *last = own;
  return sum;
}

extern "C" __global__ void strays(unsigned* out, const unsigned* index, int swap) {
  __shared__ unsigned a[32];
  __shared__ unsigned b[32];
  extern __shared__ unsigned rest[];
  const unsigned t = threadIdx.x;
  a[t] = b[t] = rest[t] = t;
  __syncthreads();
  unsigned sum = a[index[t]];      // 1 to 32
  atomicAdd(&b[index[t] - 2], 1);  // -1 to 30
  sum += element(b, t + 1);
  const unsigned* const either = (swap ^ (t & 1)) != 0 ? a : b;
  sum += either[t + 1];
  sum += rest[(int)t - 1];
  sum += *of_callee(t);
  keep(t);
  sum += use_kept(t);
  volatile unsigned* last = nullptr;
  sum += deeper(2, &last);
  out[t] = sum;
}
