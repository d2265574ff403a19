// Static and dynamic shared memory, constant memory, initialised globals with addresses, generic addressing,
// vectors.
#include "corpus.h"

struct Step {
  float weight;
  short offset;
  const unsigned* data;
};

__device__ unsigned global_a[4] = {10, 20, 30, 40};
__device__ unsigned global_b[4] = {1, 2};
__constant__ unsigned limits[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ Step steps[2] = {{1.5f, -3, &global_a[1]}, {-2.25f, 7, global_b}};
__device__ const char text[] = "corpus";

__device__ __noinline__ unsigned sum(const unsigned* p, unsigned count) {  // any space
  unsigned s = 0;
  for (unsigned k = 0; k < count; ++k) s = s * 3 + p[k];
  return s;
}

extern "C" __global__ void spaces(unsigned* out, float* reals) {
  extern __shared__ uint4 dynamic[];
  __shared__ unsigned fixed[33];
  __shared__ unsigned char narrow[64];
  unsigned t = threadIdx.x, i = thread_index();
  unsigned own[3] = {i, mix(i), t};
  unsigned* words = reinterpret_cast<unsigned*>(dynamic);
  dynamic[t] = make_uint4(i, mix(i), t * t, limits[t & 7]);
  narrow[t] = static_cast<unsigned char>(mix(i) >> 3);
  if (t < 33) fixed[t] = mix(t) + blockIdx.x;
  __syncthreads();
  const unsigned* from[4] = {own, fixed + t % 30, words + 4 * (63 - t), limits + t % 5};
  const Step& step = steps[t & 1];
  out[4 * i] = sum(from[mix(t) & 3], 3);
  out[4 * i + 1] = words[(t * 7 + 3) & 255] + narrow[t ^ 5];
  out[4 * i + 2] = sum(step.data, 2) + step.offset + static_cast<unsigned>(text[t % 7]);
  uint4 v = dynamic[t ^ 33];
  out[4 * i + 3] = v.x ^ v.y ^ v.z ^ v.w;
  reals[i] = step.weight * static_cast<float>(t);
}

extern "C" __global__ void transpose(float2* out, const float4* in) {
  __shared__ float tile[16][17];
  unsigned x = threadIdx.x, y = threadIdx.y;
  float4 v = __ldg(&in[y * 4 + x]);
  tile[y][4 * x] = v.x, tile[y][4 * x + 1] = v.y, tile[y][4 * x + 2] = v.z, tile[y][4 * x + 3] = v.w;
  __syncthreads();
  for (unsigned k = 0; k < 2; ++k)
    out[y * 8 + 2 * x + k] = make_float2(tile[4 * x + 2 * k][y], tile[4 * x + 2 * k + 1][y]);
}
