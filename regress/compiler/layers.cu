// Layers of neural networks in single precision.

template <int K>
__global__ void conv2d(const float* __restrict__ in, const float* __restrict__ weight,
                       const float* __restrict__ bias, float* __restrict__ out, int channels, int height,
                       int width, int filters) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            f = blockIdx.z;
  if (x >= width || y >= height) return;
  float sum = bias[f];
  for (int c = 0; c < channels; ++c) {
    const float* plane = in + c * height * width;
    const float* w = weight + (f * channels + c) * K * K;
#pragma unroll
    for (int dy = 0; dy < K; ++dy)
#pragma unroll
      for (int dx = 0; dx < K; ++dx) {
        const int iy = y + dy - K / 2, ix = x + dx - K / 2;
        if (iy >= 0 && iy < height && ix >= 0 && ix < width) sum += plane[iy * width + ix] * w[dy * K + dx];
      }
  }
  out[(f * height + y) * width + x] = fmaxf(sum, 0.f);
}
template __global__ void conv2d<1>(const float*, const float*, const float*, float*, int, int, int, int);
template __global__ void conv2d<3>(const float*, const float*, const float*, float*, int, int, int, int);

extern "C" __global__ void max_pool_2x2(const float* in, float* out, unsigned char* where, int height,
                                        int width, int planes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, oh = height / 2, ow = width / 2;
  if (i >= planes * oh * ow) return;
  const int x = i % ow, y = i / ow % oh, plane = i / (ow * oh);
  const float* p = in + (plane * height + 2 * y) * width + 2 * x;
  float best = p[0];
  int at = 0;
  if (p[1] > best) best = p[1], at = 1;
  if (p[width] > best) best = p[width], at = 2;
  if (p[width + 1] > best) best = p[width + 1], at = 3;
  out[i] = best;
  where[i] = at;
}

extern "C" __global__ void softmax_row(const float* in, float* out, int columns) {
  __shared__ float part[32];
  const float* row = in + (size_t)blockIdx.x * columns;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  float highest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) highest = fmaxf(highest, row[c]);
  for (int d = 16; d > 0; d >>= 1) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, d));
  if (lane == 0) part[warp] = highest;
  __syncthreads();
  highest = lane < warps ? part[lane] : -INFINITY;
  for (int d = 16; d > 0; d >>= 1) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, d));
  float sum = 0.f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - highest);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  __syncthreads();
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = lane < warps ? part[lane] : 0.f;
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  const float inverse = 1.f / sum;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[(size_t)blockIdx.x * columns + c] = expf(row[c] - highest) * inverse;
}

// A warp a row of 128 elements, four a lane.
extern "C" __global__ void layer_norm_128(const float4* in, const float4* gain, const float4* shift,
                                          float4* out, int rows, float epsilon) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const float4 v = in[row * 32 + lane];
  float sum = v.x + v.y + v.z + v.w;
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  const float mean = sum / 128.f;
  const float a = v.x - mean, b = v.y - mean, c = v.z - mean, e = v.w - mean;
  float square = a * a + b * b + c * c + e * e;
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) square += __shfl_xor_sync(0xffffffffu, square, d);
  const float scale = rsqrtf(square / 128.f + epsilon);
  const float4 g = gain[lane], s = shift[lane];
  out[row * 32 + lane] =
      make_float4(a * scale * g.x + s.x, b * scale * g.y + s.y, c * scale * g.z + s.z, e * scale * g.w + s.w);
}

// One query against all keys, with a running maximum, 64 elements a head, a warp a query.
extern "C" __global__ void attention_row(const float2* q, const float2* k, const float2* v, float2* out,
                                         int keys, float scale) {
  const int query = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32,
            head = blockIdx.y;
  const float2 mine = q[(head * gridDim.x * (blockDim.x / 32) + query) * 32 + lane];
  float highest = -1e30f, total = 0.f;
  float2 sum = make_float2(0.f, 0.f);
  const int limit = min(keys, query + 1);
  for (int j = 0; j < limit; ++j) {
    const float2 key = k[(head * keys + j) * 32 + lane];
    float score = mine.x * key.x + mine.y * key.y;
    for (int d = 16; d > 0; d >>= 1) score += __shfl_xor_sync(0xffffffffu, score, d);
    score *= scale;
    const float now = fmaxf(highest, score), old = __expf(highest - now), weight = __expf(score - now);
    const float2 value = v[(head * keys + j) * 32 + lane];
    total = total * old + weight;
    sum.x = sum.x * old + weight * value.x;
    sum.y = sum.y * old + weight * value.y;
    highest = now;
  }
  out[(head * gridDim.x * (blockDim.x / 32) + query) * 32 + lane] = make_float2(sum.x / total, sum.y / total);
}

extern "C" __global__ void gelu_bias(float* x, const float* bias, int n, int columns) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = x[i] + bias[i % columns];
    x[i] = 0.5f * v * (1.f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  }
}

extern "C" __global__ void adam(float* weight, const float* gradient, float* m, float* v, int n, float rate,
                                float beta1, float beta2, float epsilon, int step, float decay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = gradient[i] + decay * weight[i];
  const float m1 = beta1 * m[i] + (1.f - beta1) * g, v1 = beta2 * v[i] + (1.f - beta2) * g * g;
  m[i] = m1;
  v[i] = v1;
  const float corrected_m = m1 / (1.f - powf(beta1, step)), corrected_v = v1 / (1.f - powf(beta2, step));
  weight[i] -= rate * corrected_m / (sqrtf(corrected_v) + epsilon);
}

extern "C" __global__ void lstm_cell(const float* gates, float* cell, float* hidden, int batch, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * width) return;
  const int b = i / width, c = i % width;
  const float* g = gates + b * 4 * width + c;
  auto sigmoid = [](float x) { return 1.f / (1.f + __expf(-x)); };
  const float input = sigmoid(g[0]), forget = sigmoid(g[width]), candidate = tanhf(g[2 * width]),
              output = sigmoid(g[3 * width]);
  const float next = forget * cell[i] + input * candidate;
  cell[i] = next;
  hidden[i] = output * tanhf(next);
}
