// Fields on grids: lattice Boltzmann, electromagnetic waves, shallow water, advection, reactions, charges.

__constant__ float lattice_weight[9];

// Two dimensions, nine velocities, arrays of structures of arrays; pull and collide.
extern "C" __global__ void lbm_d2q9(const float* __restrict__ from, float* __restrict__ to,
                                    const unsigned char* __restrict__ solid, int nx, int ny, float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= nx) return;
  const int size = nx * ny, west = x > 0 ? x - 1 : nx - 1, east = x < nx - 1 ? x + 1 : 0;
  const int south = (y > 0 ? y - 1 : ny - 1) * nx, north = (y < ny - 1 ? y + 1 : 0) * nx, here = y * nx;
  float f[9];
  f[0] = from[here + x];
  f[1] = from[size + here + west];
  f[2] = from[2 * size + south + x];
  f[3] = from[3 * size + here + east];
  f[4] = from[4 * size + north + x];
  f[5] = from[5 * size + south + west];
  f[6] = from[6 * size + south + east];
  f[7] = from[7 * size + north + east];
  f[8] = from[8 * size + north + west];
  if (solid[here + x]) {
    const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
#pragma unroll
    for (int k = 0; k < 9; ++k) to[k * size + here + x] = f[opposite[k]];
    return;
  }
  float density = 0.f;
#pragma unroll
  for (int k = 0; k < 9; ++k) density += f[k];
  const float inverse = 1.f / density;
  const float u = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) * inverse,
              v = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) * inverse;
  const float square = 1.5f * (u * u + v * v);
  const float along[9] = {0.f, u, v, -u, -v, u + v, v - u, -u - v, u - v};
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float c = 3.f * along[k];
    const float equilibrium = lattice_weight[k] * density * (1.f + c + 0.5f * c * c - square);
    to[k * size + here + x] = f[k] + omega * (equilibrium - f[k]);
  }
}

extern "C" __global__ void fdtd_electric(float* ex, float* ey, float* ez, const float* hx, const float* hy,
                                         const float* hz, const float* ca, const float* cb, int nx, int ny,
                                         int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
            k = blockIdx.z;
  if (i < 1 || j < 1 || k < 1 || i >= nx || j >= ny || k >= nz) return;
  const int at = (k * ny + j) * nx + i, south = at - nx, below = at - nx * ny;
  const float a = ca[at], b = cb[at];
  ex[at] = a * ex[at] + b * ((hz[at] - hz[south]) - (hy[at] - hy[below]));
  ey[at] = a * ey[at] + b * ((hx[at] - hx[below]) - (hz[at] - hz[at - 1]));
  ez[at] = a * ez[at] + b * ((hy[at] - hy[at - 1]) - (hx[at] - hx[south]));
}

// Lax-Friedrichs steps for height and two momenta.
extern "C" __global__ void shallow_water(const float3* now, float3* next, int nx, int ny, float dt_dx,
                                         float gravity) {
  __shared__ float3 tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const int gx = min(max((int)blockIdx.x * 16 + i % 18 - 1, 0), nx - 1),
              gy = min(max((int)blockIdx.y * 16 + i / 18 - 1, 0), ny - 1);
    tile[i / 18][i % 18] = now[gy * nx + gx];
  }
  __syncthreads();
  if (x >= nx || y >= ny) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float3 w = tile[ty][tx - 1], e = tile[ty][tx + 1], s = tile[ty - 1][tx], n = tile[ty + 1][tx];
  auto flux_x = [&](float3 q) {
    const float u = q.y / q.x;
    return make_float3(q.y, q.y * u + 0.5f * gravity * q.x * q.x, q.z * u);
  };
  auto flux_y = [&](float3 q) {
    const float v = q.z / q.x;
    return make_float3(q.z, q.y * v, q.z * v + 0.5f * gravity * q.x * q.x);
  };
  const float3 fw = flux_x(w), fe = flux_x(e), fs = flux_y(s), fn = flux_y(n);
  next[y * nx + x] =
      make_float3(0.25f * (w.x + e.x + s.x + n.x) - 0.5f * dt_dx * (fe.x - fw.x + fn.x - fs.x),
                  0.25f * (w.y + e.y + s.y + n.y) - 0.5f * dt_dx * (fe.y - fw.y + fn.y - fs.y),
                  0.25f * (w.z + e.z + s.z + n.z) - 0.5f * dt_dx * (fe.z - fw.z + fn.z - fs.z));
}

extern "C" __global__ void advect_semi_lagrangian(const float* field, const float2* velocity, float* out,
                                                  int nx, int ny, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const float2 v = velocity[y * nx + x];
  const float px = fminf(fmaxf(x - dt * v.x, 0.f), nx - 1.001f),
              py = fminf(fmaxf(y - dt * v.y, 0.f), ny - 1.001f);
  const int x0 = floorf(px), y0 = floorf(py);
  const float fx = px - x0, fy = py - y0;
  const float* p = field + y0 * nx + x0;
  out[y * nx + x] = (1.f - fy) * ((1.f - fx) * p[0] + fx * p[1]) + fy * ((1.f - fx) * p[nx] + fx * p[nx + 1]);
}

extern "C" __global__ void gray_scott(const float2* now, float2* next, int n, float feed, float kill,
                                      float du, float dv) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int mask = n - 1, here = y * n + x;
  const float2 c = now[here], w = now[y * n + ((x - 1) & mask)], e = now[y * n + ((x + 1) & mask)];
  const float2 s = now[((y - 1) & mask) * n + x], t = now[((y + 1) & mask) * n + x];
  const float reaction = c.x * c.y * c.y;
  next[here] = make_float2(c.x + du * (w.x + e.x + s.x + t.x - 4.f * c.x) - reaction + feed * (1.f - c.x),
                           c.y + dv * (w.y + e.y + s.y + t.y - 4.f * c.y) + reaction - (feed + kill) * c.y);
}

// Charges to a grid of three dimensions with quadratic splines.
extern "C" __global__ void spread_charge(const float4* particles, float* grid, int3 size, float3 scale,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = particles[i];
  const float gx = p.x * scale.x, gy = p.y * scale.y, gz = p.z * scale.z;
  const int cx = __float2int_rn(gx), cy = __float2int_rn(gy), cz = __float2int_rn(gz);
  float wx[3], wy[3], wz[3];
  auto spline = [](float d, float* w) {
    w[0] = 0.5f * (0.5f - d) * (0.5f - d);
    w[1] = 0.75f - d * d;
    w[2] = 0.5f * (0.5f + d) * (0.5f + d);
  };
  spline(gx - cx, wx);
  spline(gy - cy, wy);
  spline(gz - cz, wz);
#pragma unroll
  for (int k = 0; k < 3; ++k)
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int h = 0; h < 3; ++h) {
        const int x = (cx + h - 1 + size.x) % size.x, y = (cy + j - 1 + size.y) % size.y,
                  z = (cz + k - 1 + size.z) % size.z;
        atomicAdd(&grid[(z * size.y + y) * size.x + x], p.w * wx[h] * wy[j] * wz[k]);
      }
}

extern "C" __global__ void euler_flux_1d(const double* density, const double* momentum, const double* energy,
                                         double* flux, int n, double gamma) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  const double rl = density[i], rr = density[i + 1], ul = momentum[i] / rl, ur = momentum[i + 1] / rr;
  const double pl = (gamma - 1) * (energy[i] - 0.5 * rl * ul * ul),
               pr = (gamma - 1) * (energy[i + 1] - 0.5 * rr * ur * ur);
  const double fastest = fmax(fabs(ul) + sqrt(gamma * pl / rl), fabs(ur) + sqrt(gamma * pr / rr));
  flux[i] = 0.5 * (momentum[i] + momentum[i + 1] - fastest * (rr - rl));
  flux[n + i] =
      0.5 * (momentum[i] * ul + pl + momentum[i + 1] * ur + pr - fastest * (momentum[i + 1] - momentum[i]));
  flux[2 * n + i] =
      0.5 * (ul * (energy[i] + pl) + ur * (energy[i + 1] + pr) - fastest * (energy[i + 1] - energy[i]));
}
