// A matrix transposed through tiles of 16 x 16, with rows of 8192 bytes, which all begin in one memory
// partition of a C1060, and with longer ones (the launch files differ).
constexpr int kTile = 16;

extern "C" __global__ void transpose(float* out, const float* in, int in_pitch, int out_pitch) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * in_pitch + x];
  __syncthreads();
  const int u = blockIdx.y * kTile + threadIdx.x, v = blockIdx.x * kTile + threadIdx.y;
  out[v * out_pitch + u] = tile[threadIdx.x][threadIdx.y];
}
