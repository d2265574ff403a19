// Particles add their mass and their momentum to their cell, and those of a warp lie in one cell: two atomic additions
// for each particle, and for each warp's sums.
extern "C" __global__ void before(float* mass, float* momentum, const float* m, const float* v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, cell = i / 64;
  const float own_mass = m[i], own_momentum = own_mass * v[i];
  atomicAdd(mass + cell, own_mass);
  atomicAdd(momentum + cell, own_momentum);
}

extern "C" __global__ void after(float* mass, float* momentum, const float* m, const float* v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, cell = i / 64;
  float own_mass = m[i], own_momentum = m[i] * v[i];
  for (int apart = 16; apart > 0; apart /= 2) {
    own_mass += __shfl_xor_sync(0xffffffffu, own_mass, apart);
    own_momentum += __shfl_xor_sync(0xffffffffu, own_momentum, apart);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(mass + cell, own_mass);
  atomicAdd(momentum + cell, own_momentum);
}
