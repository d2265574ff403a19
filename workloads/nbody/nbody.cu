// Accelerations of N bodies (x, y, z, mass) by all pairs, through shared tiles (Nyland, Harris, Prins: GPU
// Gems 3, ch. 31). nbody.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75; nbody_sm13.ptx is
// written as nvcc 2.3 for a 32-bit host would have written it for sm_13 (PTX 1.4), and runs with the same
// launch file.

constexpr int kTile = 128;

extern "C" __global__ void nbody(float4* acceleration, const float4* bodies, int N, float softening) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float4 own = i < N ? bodies[i] : float4{};
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < N; first += kTile) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < N ? bodies[j] : float4{};  // a body without mass pulls nobody
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kTile; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
      const float pull = other.w * inverse * inverse * inverse;
      ax += dx * pull;
      ay += dy * pull;
      az += dz * pull;
    }
    __syncthreads();
  }
  if (i < N) acceleration[i] = float4{ax, ay, az, 0};
}
