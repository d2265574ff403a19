// Fluxes of the Euler equations on an unstructured grid of cells with four neighbours: cuda_compute_flux of
// Rodinia's cfd, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: a cell a thread, blocks of
// 192, five variables a cell in arrays one behind the other, normals and fluxes laid out alike, the loop
// over neighbours unrolled, walls (-1) and the far field (-2) as branches, divisions and square roots
// rounded to nearest. Not the same: the grid. The measured one (0.2 million cells of a missile) is not at
// hand; here the neighbours are next to the cell, a fixed distance away, and anywhere; they come in four
// buffers, and the far field's constants in one array.
constexpr float kGamma = 1.4f;
struct Cell {
  float density;
  float3 momentum;
  float energy;
};
struct Flux {
  float3 x;
  float3 y;
  float3 z;
  float3 energy;
};
__constant__ float far_variables[5];
__constant__ float far_flux[12];

__device__ __forceinline__ Cell load_cell(const float* variables, int at, int cells) {
  Cell c;
  c.density = variables[at];
  c.momentum.x = variables[at + cells];
  c.momentum.y = variables[at + 2 * cells];
  c.momentum.z = variables[at + 3 * cells];
  c.energy = variables[at + 4 * cells];
  return c;
}

__device__ __forceinline__ float3 velocity_of(const Cell& c) {
  return make_float3(c.momentum.x / c.density, c.momentum.y / c.density, c.momentum.z / c.density);
}

__device__ __forceinline__ float square(float3 v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

__device__ __forceinline__ Flux flux_of(const Cell& c, float pressure, float3 v) {
  Flux f;
  f.x = make_float3(v.x * c.momentum.x + pressure, v.x * c.momentum.y, v.x * c.momentum.z);
  f.y = make_float3(f.x.y, v.y * c.momentum.y + pressure, v.y * c.momentum.z);
  f.z = make_float3(f.x.z, f.y.z, v.z * c.momentum.z + pressure);
  const float total = c.energy + pressure;
  f.energy = make_float3(v.x * total, v.y * total, v.z * total);
  return f;
}

struct Sum {
  float density = 0;
  float3 momentum = {0, 0, 0};
  float energy = 0;
  __device__ __forceinline__ void add(float factor, float density_part, float energy_part, float x, float y,
                                      float z) {
    density += factor * density_part;
    energy += factor * energy_part;
    momentum.x += factor * x;
    momentum.y += factor * y;
    momentum.z += factor * z;
  }
};

__device__ __forceinline__ void from_cell(Sum& sum, const Cell& me, const Flux& mine, float speed,
                                          float sound, const Cell& it, float3 normal, float length) {
  const float3 v = velocity_of(it);
  const float speed_square = square(v);
  const float pressure = (kGamma - 1) * (it.energy - 0.5f * it.density * speed_square);
  const float its_sound = sqrtf(kGamma * pressure / it.density);
  const Flux its = flux_of(it, pressure, v);
  sum.add(-length * 0.2f * 0.5f * (speed + sqrtf(speed_square) + sound + its_sound), me.density - it.density,
          me.energy - it.energy, me.momentum.x - it.momentum.x, me.momentum.y - it.momentum.y,
          me.momentum.z - it.momentum.z);
  sum.add(0.5f * normal.x, it.momentum.x + me.momentum.x, its.energy.x + mine.energy.x, its.x.x + mine.x.x,
          its.y.x + mine.y.x, its.z.x + mine.z.x);
  sum.add(0.5f * normal.y, it.momentum.y + me.momentum.y, its.energy.y + mine.energy.y, its.x.y + mine.x.y,
          its.y.y + mine.y.y, its.z.y + mine.z.y);
  sum.add(0.5f * normal.z, it.momentum.z + me.momentum.z, its.energy.z + mine.energy.z, its.x.z + mine.x.z,
          its.y.z + mine.y.z, its.z.z + mine.z.z);
}

__device__ __forceinline__ void from_far(Sum& sum, const Cell& me, const Flux& mine, float3 normal) {
  sum.add(0.5f * normal.x, far_variables[1] + me.momentum.x, far_flux[9] + mine.energy.x,
          far_flux[0] + mine.x.x, far_flux[3] + mine.y.x, far_flux[6] + mine.z.x);
  sum.add(0.5f * normal.y, far_variables[2] + me.momentum.y, far_flux[10] + mine.energy.y,
          far_flux[1] + mine.x.y, far_flux[4] + mine.y.y, far_flux[7] + mine.z.y);
  sum.add(0.5f * normal.z, far_variables[3] + me.momentum.z, far_flux[11] + mine.energy.z,
          far_flux[2] + mine.x.z, far_flux[5] + mine.y.z, far_flux[8] + mine.z.z);
}

extern "C" __global__ void compute_flux(int cells, int* right, int* left, int* above, int* anywhere,
                                        float* normals, float* variables, float* fluxes) {
  const int at = blockDim.x * blockIdx.x + threadIdx.x;
  const Cell me = load_cell(variables, at, cells);
  const float3 v = velocity_of(me);
  const float speed_square = square(v);
  const float speed = sqrtf(speed_square);
  const float pressure = (kGamma - 1) * (me.energy - 0.5f * me.density * speed_square);
  const float sound = sqrtf(kGamma * pressure / me.density);
  const Flux mine = flux_of(me, pressure, v);
  int* const neighbours[4] = {right, left, above, anywhere};
  Sum sum;
#pragma unroll
  for (int side = 0; side < 4; ++side) {
    const int it = neighbours[side][at];
    float3 normal;
    normal.x = normals[at + side * cells];
    normal.y = normals[at + (side + 4) * cells];
    normal.z = normals[at + (side + 8) * cells];
    const float length = sqrtf(square(normal));
    if (it >= 0) {
      from_cell(sum, me, mine, speed, sound, load_cell(variables, it, cells), normal, length);
    } else if (it == -1) {
      sum.momentum.x += normal.x * pressure;
      sum.momentum.y += normal.y * pressure;
      sum.momentum.z += normal.z * pressure;
    } else if (it == -2) {
      from_far(sum, me, mine, normal);
    }
  }
  fluxes[at] = sum.density;
  fluxes[at + cells] = sum.momentum.x;
  fluxes[at + 2 * cells] = sum.momentum.y;
  fluxes[at + 3 * cells] = sum.momentum.z;
  fluxes[at + 4 * cells] = sum.energy;
}
