// Half precision, bfloat16 and quantised integers, without tensor units.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_axpy(__half2* y, const __half2* x, float scale, int n) {
  const __half2 s = __float2half2_rn(scale);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = __hfma2(s, x[i], y[i]);
}

extern "C" __global__ void half_gemv(const uint4* a, const uint4* x, float* y, int rows, int octets) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.f;
  for (int i = threadIdx.x; i < octets; i += 32) {
    const uint4 left = a[(size_t)row * octets + i], right = __ldg(&x[i]);
    const __half2* l = reinterpret_cast<const __half2*>(&left);
    const __half2* r = reinterpret_cast<const __half2*>(&right);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 p = __half22float2(l[k]), q = __half22float2(r[k]);
      sum = fmaf(p.x, q.x, sum);
      sum = fmaf(p.y, q.y, sum);
    }
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[row] = sum;
}

extern "C" __global__ void half_swish(const __half* in, __half* out, const __half* gate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half x = in[i];
  const __half one = __float2half(1.f);
  const __half s = __hdiv(one, __hadd(one, hexp(__hneg(x))));
  const __half g = gate[i];
  out[i] = __hgt(g, __float2half(0.f)) ? __hmul(__hmul(x, s), g) : __float2half(0.f);
}

extern "C" __global__ void bf16_rms_norm(const __nv_bfloat162* in, const __nv_bfloat162* gain,
                                         __nv_bfloat162* out, int pairs, float epsilon) {
  __shared__ float part[8];
  const __nv_bfloat162* row = in + (size_t)blockIdx.x * pairs;
  float square = 0.f;
  for (int i = threadIdx.x; i < pairs; i += 256) {
    const float2 v = __bfloat1622float2(row[i]);
    square += v.x * v.x + v.y * v.y;
  }
  for (int d = 16; d > 0; d >>= 1) square += __shfl_xor_sync(~0u, square, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = square;
  __syncthreads();
  square = 0.f;
#pragma unroll
  for (int w = 0; w < 8; ++w) square += part[w];
  const float scale = rsqrtf(square / (2 * pairs) + epsilon);
  for (int i = threadIdx.x; i < pairs; i += 256) {
    const float2 v = __bfloat1622float2(row[i]), g = __bfloat1622float2(gain[i]);
    out[(size_t)blockIdx.x * pairs + i] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
  }
}

// Four products of bytes an instruction; results scaled back to bytes.
extern "C" __global__ void int8_gemm(const int* a, const int* b, signed char* c, const float* scale, int m,
                                     int n, int quads) {
  __shared__ int as[16][17], bs[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  int sum = 0;
  for (int start = 0; start < quads; start += 16) {
    as[threadIdx.y][threadIdx.x] = row < m ? a[row * quads + start + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = blockIdx.x * 16 + threadIdx.y < n
                                       ? b[(blockIdx.x * 16 + threadIdx.y) * quads + start + threadIdx.x]
                                       : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum = __dp4a(as[threadIdx.y][k], bs[threadIdx.x][k], sum);
    __syncthreads();
  }
  if (row < m && column < n) {
    const int q = __float2int_rn(sum * scale[column]);
    c[row * n + column] = min(max(q, -128), 127);
  }
}

extern "C" __global__ void quantise_rows(const float4* in, char4* out, float* scales, int quads) {
  __shared__ float highest;
  const float4* row = in + blockIdx.x * quads;
  float best = 0.f;
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 v = row[i];
    best = fmaxf(best, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  }
  if (threadIdx.x == 0) highest = 0.f;
  __syncthreads();
  atomicMax(reinterpret_cast<int*>(&highest), __float_as_int(best));
  __syncthreads();
  const float inverse = highest > 0.f ? 127.f / highest : 0.f;
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 v = row[i];
    out[blockIdx.x * quads + i] =
        make_char4(rintf(v.x * inverse), rintf(v.y * inverse), rintf(v.z * inverse), rintf(v.w * inverse));
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = highest / 127.f;
}

// Weights of four bits, eight a word, with a scale and a zero point for each group of 128.
extern "C" __global__ void int4_gemv(const unsigned* weights, const __half2* scale_zero, const __half* x,
                                     float* y, int columns, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const int words = columns / 8, groups = columns / 128;
  float sum = 0.f;
  for (int w = lane; w < words; w += 32) {
    const unsigned packed = weights[row * words + w];
    const float2 sz = __half22float2(scale_zero[row * groups + w / 16]);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += ((packed >> 4 * k & 15) - sz.y) * sz.x * __half2float(x[w * 8 + k]);
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}
