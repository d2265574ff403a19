// Transposes of an n x n matrix of floats, five ways, as timed on an H100 (yencal/gpu-matrix-transpose). The
// same: tiles of 32 x 32; plain: an element a thread, reads in order, writes n elements apart; tile: through
// shared memory, whose columns conflict; padded: rows of 33 elements; coarse: blocks of 32 x 8, four rows a
// thread; pairs: blocks of 16 x 32, two neighbouring elements a thread, loaded and stored together. Not the
// same: the grid may cover the first rows and columns only, with the matrix's full pitch.
constexpr int kTile = 32;
constexpr int kCoarseRows = 8;

extern "C" __global__ void transpose_plain(const float* __restrict__ from, float* __restrict__ to, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < n && row < n) to[column * n + row] = from[row * n + column];
}

template <int kPitch>
__device__ __forceinline__ void through_tile(const float* __restrict__ from, float* __restrict__ to, int n) {
  __shared__ float tile[kTile][kPitch];
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < n && row < n) tile[threadIdx.y][threadIdx.x] = from[row * n + column];
  __syncthreads();
  column = blockIdx.y * blockDim.x + threadIdx.x;
  row = blockIdx.x * blockDim.y + threadIdx.y;
  if (column < n && row < n) to[row * n + column] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void transpose_tile(const float* __restrict__ from, float* __restrict__ to, int n) {
  through_tile<kTile>(from, to, n);
}

extern "C" __global__ void transpose_padded(const float* __restrict__ from, float* __restrict__ to, int n) {
  through_tile<kTile + 1>(from, to, n);
}

extern "C" __global__ void transpose_coarse(const float* __restrict__ from, float* __restrict__ to, int n) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kCoarseRows)
    tile[threadIdx.y + i][threadIdx.x] = from[(row + i) * n + column];
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kCoarseRows)
    to[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transpose_pairs(const float* __restrict__ from, float* __restrict__ to, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int pitch = n / 2;
  int pair = blockIdx.x * (kTile / 2) + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  if (pair < pitch && row < n) {
    const float2 two = reinterpret_cast<const float2*>(from)[row * pitch + pair];
    tile[threadIdx.y][2 * threadIdx.x] = two.x;
    tile[threadIdx.y][2 * threadIdx.x + 1] = two.y;
  }
  __syncthreads();
  pair = blockIdx.y * (kTile / 2) + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  if (pair < pitch && row < n) {
    float2 two;
    two.x = tile[2 * threadIdx.x][threadIdx.y];
    two.y = tile[2 * threadIdx.x + 1][threadIdx.y];
    reinterpret_cast<float2*>(to)[row * pitch + pair] = two;
  }
}
