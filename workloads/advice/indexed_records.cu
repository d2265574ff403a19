// Two fields of records at any places of an array, of the 16 that a record has, and of records that have only these.
struct Body {
  float mass, position[3], velocity[3], charge, unused[8];
};

extern "C" __global__ void before(float* out, const Body* bodies, const int* index, int n, float scale, float shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Body& b = bodies[index[i]];
  out[i] = b.mass * scale + (b.charge - b.mass - shift);
}

extern "C" __global__ void after(float* out, const float2* bodies, const int* index, int n, float scale, float shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 b = bodies[index[i]];
  out[i] = b.x * scale + (b.y - b.x - shift);
}
