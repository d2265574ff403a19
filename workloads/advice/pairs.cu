// Accelerations of bodies that attract each other: every thread reads all bodies from global memory, and from tiles
// in shared memory.
constexpr int kBlock = 128;

__device__ void attract(float4& sum, float4 own, float4 other, float softening) {
  const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
  const float inverse = rsqrtf(x * x + y * y + z * z + softening * softening);
  const float pull = other.w * inverse * inverse * inverse;
  sum.x += pull * x;
  sum.y += pull * y;
  sum.z += pull * z;
}

extern "C" __global__ void before(float4* out, const float4* bodies, int n, float softening) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 own = bodies[i];
  float4 sum = {};
  for (int j = 0; j < n; ++j) attract(sum, own, bodies[j], softening);
  out[i] = sum;
}

extern "C" __global__ void after(float4* out, const float4* bodies, int n, float softening) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 own = bodies[i];
  float4 sum = {};
  for (int first = 0; first < n; first += kBlock) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < kBlock; ++j) attract(sum, own, tile[j], softening);
    __syncthreads();
  }
  out[i] = sum;
}
