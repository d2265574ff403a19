// What pointers of good programs do: they change places, are subtracted, cut one piece of shared memory into several
// arrays, lie in memory, point to variables of calls that still run. Nothing is found.
struct Node {
  Node* next;
  unsigned value;
};

__device__ __noinline__ unsigned walk(const Node* n) {
  unsigned sum = 0;
  for (; n != nullptr; n = n->next) sum += n->value;
  return sum;
}

__device__ __noinline__ unsigned* middle(unsigned* p, int n) { return p + n / 2; }

__device__ __noinline__ unsigned nested(int n, volatile unsigned* outer) {
  volatile unsigned own[4];
  for (int i = 0; i < 4; ++i) own[i] = n + i;
  unsigned sum = outer[n & 3];
  if (n > 0) sum += nested(n - 1, own);
  outer[0] = sum;
  return sum + own[1];
}

__device__ unsigned first(unsigned* p) { return p[0]; }
__device__ unsigned second(unsigned* p) {
  unsigned own[2] = {p[1], p[0]};
  return own[p[0] & 1];
}

extern "C" __global__ void addresses(unsigned* out, unsigned* volatile* places, int n) {
  __shared__ unsigned a[64], b[64];
  __shared__ union {
    unsigned words[64];
    double wide[32];
  } both;
  extern __shared__ char rest[];
  const unsigned t = threadIdx.x;
  float* const floats = reinterpret_cast<float*>(rest);
  double* const doubles = reinterpret_cast<double*>((reinterpret_cast<size_t>(floats + 64) + 127) & ~size_t{127});
  floats[t] = t;
  doubles[t] = t;
  both.words[t] = t;
  unsigned *from = a, *to = b;
  from[t] = t;
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    to[t] = from[63 - t] + from[(t + 1) & 63];
    unsigned* const swapped = from;
    from = to;
    to = swapped;
  }
  if (t == 0) {
    places[0] = a;
    places[1] = b;
  }
  unsigned sum = both.words[t];
  __syncthreads();
  if (t < 32) both.wide[t] = t;
  __syncthreads();
  sum += both.wide[t / 2] + floats[63 - t] + doubles[63 - t] + places[t & 1][63 - t];
  for (unsigned* p = a + 64; p != a;) {
    --p;
    sum += *p + b[p - a];
  }
  Node chain[4];
  for (int i = 0; i < 4; ++i) chain[i] = {i < 3 ? chain + i + 1 : nullptr, t + i};
  sum += walk(chain) + *middle(a, t) + *middle(&sum, 1);
  unsigned pair[4] = {t, 2, 3, 4};
  unsigned (*const either[2])(unsigned*) = {first, second};
  sum += nested(n, pair) + either[(n + t) & 1](pair);
  out[t] = sum;
}
