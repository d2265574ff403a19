// Recursive device functions, with another depth in every lane: Ackermann's function, quicksort of an array in local
// memory, and a walk over a binary tree that returns a structure.
// nvcc 13: nvcc -arch=compute_75 -ptx recursion.cu

__device__ __noinline__ unsigned ackermann_of(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann_of(m - 1, 1);
  return ackermann_of(m - 1, ackermann_of(m, n - 1));
}

extern "C" __global__ void ackermann(unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ackermann_of(i % 3, i % 7);
}

__device__ __noinline__ void sort(int* v, int low, int high) {
  if (low >= high) return;
  const int pivot = v[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (v[i] < pivot) ++i;
    while (v[j] > pivot) --j;
    if (i <= j) {
      const int t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  sort(v, low, j);
  sort(v, i, high);
}

constexpr int kPiece = 16;

extern "C" __global__ void quicksort(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v[kPiece];
  for (int k = 0; k < kPiece; ++k) v[k] = data[i * kPiece + k];
  sort(v, 0, kPiece - 1);
  for (int k = 0; k < kPiece; ++k) data[i * kPiece + k] = v[k];
}

struct Summary {
  unsigned long long sum;
  unsigned nodes;
  unsigned short depth;
};

// Node k has the children 2k + 1 and 2k + 2, as long as they are below `size`.
__device__ __noinline__ Summary walk(const unsigned* value, unsigned node, unsigned size) {
  if (node >= size) return {0, 0, 0};
  const Summary left = walk(value, 2 * node + 1, size);
  const Summary right = walk(value, 2 * node + 2, size);
  Summary s;
  s.sum = 3 * left.sum + 5 * right.sum + value[node];
  s.nodes = left.nodes + right.nodes + 1;
  s.depth = (left.depth > right.depth ? left.depth : right.depth) + 1;
  return s;
}

extern "C" __global__ void tree(unsigned long long* sum, unsigned* shape, const unsigned* value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Summary s = walk(value, 0, i % 20);
  sum[i] = s.sum;
  shape[i] = s.nodes << 16 | s.depth;
}
