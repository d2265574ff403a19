// Particles: all pairs, neighbours within a cut-off, trees, collisions.

extern "C" __global__ void nbody_tiled(const float4* body, float4* velocity, int n, float dt,
                                       float softening) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 mine = i < n ? body[i] : make_float4(0.f, 0.f, 0.f, 0.f);
  float3 a = make_float3(0.f, 0.f, 0.f);
  for (int start = 0; start < n; start += 256) {
    tile[threadIdx.x] = start + threadIdx.x < n ? body[start + threadIdx.x] : make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      const float square = dx * dx + dy * dy + dz * dz + softening;
      const float inverse = rsqrtf(square), force = other.w * inverse * inverse * inverse;
      a.x += dx * force;
      a.y += dy * force;
      a.z += dz * force;
    }
    __syncthreads();
  }
  if (i < n) {
    float4 v = velocity[i];
    v.x += a.x * dt;
    v.y += a.y * dt;
    v.z += a.z * dt;
    velocity[i] = v;
  }
}

extern "C" __global__ void lennard_jones(const float4* __restrict__ position,
                                         const int* __restrict__ neighbours, const int* __restrict__ counts,
                                         float4* force, float* virial, int n, int pitch, float cut2,
                                         float sigma2, float epsilon, float3 box) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = position[i];
  float3 f = make_float3(0.f, 0.f, 0.f);
  float energy = 0.f, w = 0.f;
  for (int k = 0; k < counts[i]; ++k) {
    const float4 q = position[neighbours[k * pitch + i]];
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
    dx -= box.x * rintf(dx / box.x);
    dy -= box.y * rintf(dy / box.y);
    dz -= box.z * rintf(dz / box.z);
    const float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= cut2) continue;
    const float s2 = sigma2 / r2, s6 = s2 * s2 * s2;
    const float strength = 24.f * epsilon * s6 * (2.f * s6 - 1.f) / r2;
    f.x += strength * dx;
    f.y += strength * dy;
    f.z += strength * dz;
    energy += 4.f * epsilon * s6 * (s6 - 1.f);
    w += strength * r2;
  }
  force[i] = make_float4(f.x, f.y, f.z, energy);
  virial[i] = w;
}

extern "C" __global__ void build_cells(const float3* position, int* cell_of, int* count, float3 origin,
                                       float inverse, int3 grid, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 p = position[i];
  const int x = min(max(__float2int_rd((p.x - origin.x) * inverse), 0), grid.x - 1);
  const int y = min(max(__float2int_rd((p.y - origin.y) * inverse), 0), grid.y - 1);
  const int z = min(max(__float2int_rd((p.z - origin.z) * inverse), 0), grid.z - 1);
  const int cell = (z * grid.y + y) * grid.x + x;
  cell_of[i] = cell;
  atomicAdd(&count[cell], 1);
}

// Smoothed particles: the density from the 27 cells around.
extern "C" __global__ void sph_density(const float4* sorted, const int* cell_start, const int* cell_end,
                                       float* density, int3 grid, float3 origin, float h, float mass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = sorted[i];
  const int cx = (p.x - origin.x) / h, cy = (p.y - origin.y) / h, cz = (p.z - origin.z) / h;
  const float h2 = h * h;
  float sum = 0.f;
  for (int z = cz - 1; z <= cz + 1; ++z)
    for (int y = cy - 1; y <= cy + 1; ++y)
      for (int x = cx - 1; x <= cx + 1; ++x) {
        if (x < 0 || y < 0 || z < 0 || x >= grid.x || y >= grid.y || z >= grid.z) continue;
        const int cell = (z * grid.y + y) * grid.x + x;
        const int start = cell_start[cell];
        if (start < 0) continue;
        for (int j = start; j < cell_end[cell]; ++j) {
          const float4 q = sorted[j];
          const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
          if (r2 < h2) {
            const float d = h2 - r2;
            sum += d * d * d;
          }
        }
      }
  density[i] = mass * 315.f / (64.f * 3.14159265f * powf(h, 9.f)) * sum;
}

struct Node {
  float4 centre;  // w: mass
  float size;
  int child, next;
};

extern "C" __global__ void tree_walk(const Node* nodes, const float4* body, float3* acceleration, int n,
                                     float theta, float softening) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = body[i];
  float ax = 0.f, ay = 0.f, az = 0.f;
  int at = 0;
  while (at >= 0) {
    const Node node = nodes[at];
    const float dx = node.centre.x - p.x, dy = node.centre.y - p.y, dz = node.centre.z - p.z;
    const float r2 = dx * dx + dy * dy + dz * dz + softening;
    if (node.child < 0 || node.size * node.size < theta * theta * r2) {
      const float inverse = rsqrtf(r2), s = node.centre.w * inverse * inverse * inverse;
      ax += s * dx;
      ay += s * dy;
      az += s * dz;
      at = node.next;
    } else {
      at = node.child;
    }
  }
  acceleration[i] = make_float3(ax, ay, az);
}

struct __align__(16) Double4 {
  double x, y, z, w;
};

extern "C" __global__ void verlet_step(Double4* position, Double4* velocity, const Double4* force, double dt,
                                       double3 box, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Double4 p = position[i], v = velocity[i];
  const Double4 f = force[i];
  const double half = 0.5 * dt / v.w;
  v.x += half * f.x;
  v.y += half * f.y;
  v.z += half * f.z;
  p.x += dt * v.x;
  p.y += dt * v.y;
  p.z += dt * v.z;
  p.x -= box.x * floor(p.x / box.x);
  p.y -= box.y * floor(p.y / box.y);
  p.z -= box.z * floor(p.z / box.z);
  position[i] = p;
  velocity[i] = v;
}
