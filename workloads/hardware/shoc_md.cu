// Lennard-Jones forces of each atom's 128 nearest neighbours: SHOC's MD (vetter/shoc). The same: 73728 atoms
// in blocks of 256 threads, a thread for each, the k-th neighbours of all atoms side by side in one list,
// positions of four numbers an atom, the neighbours' read through the texture path (doubles as four integers
// twice), a comparison with the cutoff, a division, three numbers an atom stored. For compute capability 1.3,
// compilers take the quick division of single precision (forces_f32_quick). Different: neighbours are drawn
// at random, for the suite's atoms have random numbers, and all atoms lie so close that every neighbour is
// within the cutoff, as the suite's nearest ones are.
template <typename T>
struct Position {
  T x, y, z;
};

__device__ Position<float> position(cudaTextureObject_t positions, int i, float) {
  const float4 p = tex1Dfetch<float4>(positions, i);
  return {p.x, p.y, p.z};
}
__device__ Position<double> position(cudaTextureObject_t positions, int i, double) {
  const int4 low = tex1Dfetch<int4>(positions, 2 * i);
  const int4 high = tex1Dfetch<int4>(positions, 2 * i + 1);
  return {__hiloint2double(low.y, low.x), __hiloint2double(low.w, low.z), __hiloint2double(high.y, high.x)};
}

template <bool kQuick>
__device__ float inverse(float x) {
  if (!kQuick) return 1.0f / x;
  float result;
  asm("div.full.f32 %0, %1, %2;" : "=f"(result) : "f"(1.0f), "f"(x));
  return result;
}
template <bool kQuick>
__device__ double inverse(double x) {
  return 1.0 / x;
}

template <typename T, bool kQuick>
__device__ void forces(T* out, cudaTextureObject_t positions, const T* own, const int* neighbours, int count,
                       int atoms, T cutoff, T a, T b) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  const Position<T> p = {own[4 * i], own[4 * i + 1], own[4 * i + 2]};
  T fx = 0;
  T fy = 0;
  T fz = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    const Position<T> q = position(positions, neighbours[k * atoms + i], T());
    const T dx = p.x - q.x;
    const T dy = p.y - q.y;
    const T dz = p.z - q.z;
    const T square = dx * dx + dy * dy + dz * dz;
    if (square < cutoff) {
      const T r2 = inverse<kQuick>(square);
      const T r6 = r2 * r2 * r2;
      const T force = r2 * r6 * (a * r6 - b);
      fx += dx * force;
      fy += dy * force;
      fz += dz * force;
    }
  }
  out[3 * i] = fx;
  out[3 * i + 1] = fy;
  out[3 * i + 2] = fz;
}

#define MD_KERNEL(NAME, T, QUICK)                                                                      \
  extern "C" __global__ void forces_##NAME(T* out, cudaTextureObject_t positions, const T* own,        \
                                           const int* neighbours, int count, int atoms, T cutoff, T a, \
                                           T b) {                                                      \
    forces<T, QUICK>(out, positions, own, neighbours, count, atoms, cutoff, a, b);                     \
  }
MD_KERNEL(f32, float, false)
MD_KERNEL(f32_quick, float, true)
MD_KERNEL(f64, double, false)
