// Matrix product, 128 x 128 results a block and 8 x 8 a thread, double buffered: Sgemm v3 of Liu-
// xiandong/How_to_optimize_in_GPU, timed on a V100. The same: 256 threads (16 x 16), slices of 8 in k, two
// stages of shared memory with a barrier a slice, the tile of A turned while it is stored, all global and
// shared loads of four floats, fragments of the next k loaded while the present one is used, the last k of a
// slice after the barrier, and the way threads are laid over the tile: a warp takes 16 x 32 results four
// times, 64 rows and 64 columns apart. Sizes are multiples of 128 and 8.
constexpr int kTile = 128;
constexpr int kSlice = 8;

struct Stage {
  float a[kSlice][kTile];
  float b[kSlice][kTile];
};
struct Fragments {
  float a[8];
  float b[8];
};

__device__ __forceinline__ float4& four(float& first) { return reinterpret_cast<float4&>(first); }

__device__ __forceinline__ void load_fragments(Fragments& f, Stage& stage, int k, int row, int column) {
  four(f.a[0]) = four(stage.a[k][row]);
  four(f.a[4]) = four(stage.a[k][row + 64]);
  four(f.b[0]) = four(stage.b[k][column]);
  four(f.b[4]) = four(stage.b[k][column + 64]);
}

__device__ __forceinline__ void multiply(float (&sums)[8][8], const Fragments& f) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sums[i][j] += f.a[i] * f.b[j];
  }
}

__device__ __forceinline__ void store_a(Stage& stage, int row, int k, float4 v) {
  stage.a[k][row] = v.x;
  stage.a[k + 1][row] = v.y;
  stage.a[k + 2][row] = v.z;
  stage.a[k + 3][row] = v.w;
}

extern "C" __global__ void sgemm_128(float* __restrict__ a, float* __restrict__ b, float* __restrict__ c,
                                     const int rows, const int columns, const int depth) {
  __shared__ Stage stages[2];
  Fragments fragments[2];
  float sums[8][8] = {};
  const int me = 16 * threadIdx.y + threadIdx.x;
  const int warp = me / 32;
  const int lane = me % 32;
  const int a_row = me / 2;
  const int a_k = me % 2 * 4;
  const int b_k = me / 32;
  const int b_column = me % 32 * 4;
  const int row = warp / 2 * 16 + lane / 8 * 4;
  const int column = warp % 2 * 32 + lane % 8 * 4;
  a += kTile * blockIdx.y * depth;
  b += kTile * blockIdx.x;

  store_a(stages[0], a_row, a_k, four(a[a_row * depth + a_k]));
  four(stages[0].b[b_k][b_column]) = four(b[b_k * columns + b_column]);
  __syncthreads();
  load_fragments(fragments[0], stages[0], 0, row, column);

  int write = 1;
  int k = 0;
  do {
    k += kSlice;
    float4 next_a;
    float4 next_b;
    if (k < depth) {
      next_a = four(a[a_row * depth + a_k + k]);
      next_b = four(b[(k + b_k) * columns + b_column]);
    }
    const int read = write ^ 1;
#pragma unroll
    for (int i = 0; i < kSlice - 1; ++i) {
      load_fragments(fragments[(i + 1) % 2], stages[read], i + 1, row, column);
      multiply(sums, fragments[i % 2]);
    }
    if (k < depth) {
      store_a(stages[write], a_row, a_k, next_a);
      four(stages[write].b[b_k][b_column]) = next_b;
      __syncthreads();
      write ^= 1;
    }
    load_fragments(fragments[0], stages[read ^ 1], 0, row, column);
    multiply(sums, fragments[1]);
  } while (k < depth);

#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int down = part / 2;
    const int right = part % 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at =
          (kTile * blockIdx.y + row + 64 * down + i) * columns + kTile * blockIdx.x + column + 64 * right;
      four(c[at]) = four(sums[4 * down + i][4 * right]);
    }
  }
}
