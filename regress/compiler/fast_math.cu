// Mathematics with approximate functions; compiled with -use_fast_math.

extern "C" __global__ void oscillators(float2* state, const float* frequency, int n, int steps, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float phase = state[i].x, amplitude = state[i].y;
  const float w = frequency[i];
  for (int k = 0; k < steps; ++k) {
    phase += dt * (w + 0.3f * sinf(phase) - 0.1f * cosf(2.f * phase));
    amplitude *= expf(-0.05f * dt) / (1.f + 0.01f * amplitude * amplitude);
  }
  state[i] = make_float2(phase, amplitude);
}

extern "C" __global__ void noise_3d(float* out, int width, int height, float z, float frequency,
                                    int octaves) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  auto hash = [](int x, int y, int k) {
    unsigned h = x * 374761393u + y * 668265263u + k * 2147483647u;
    h = (h ^ h >> 13) * 1274126177u;
    return (h ^ h >> 16) * (1.f / 4294967296.f);
  };
  float sum = 0.f, share = 0.5f;
  for (int o = 0; o < octaves; ++o) {
    const float x = px * frequency, y = py * frequency;
    const int ix = floorf(x), iy = floorf(y), iz = floorf(z);
    float fx = x - ix, fy = y - iy, fz = z - iz;
    fx = fx * fx * (3.f - 2.f * fx);
    fy = fy * fy * (3.f - 2.f * fy);
    fz = fz * fz * (3.f - 2.f * fz);
    float corner[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float a = hash(ix, iy, iz + k), b = hash(ix + 1, iy, iz + k), c = hash(ix, iy + 1, iz + k),
                  d = hash(ix + 1, iy + 1, iz + k);
      corner[k] = a + fx * (b - a) + fy * (c - a + fx * (a - b - c + d));
    }
    sum += share * (corner[0] + fz * (corner[1] - corner[0]));
    share *= 0.5f;
    frequency *= 2.f;
    z *= 2.f;
  }
  out[py * width + px] = sum;
}

extern "C" __global__ void spherical_to_cartesian(const float* radius, const float* theta, const float* phi,
                                                  float3* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float st, ct, sp, cp;
  sincosf(theta[i], &st, &ct);
  sincosf(phi[i], &sp, &cp);
  const float r = radius[i];
  out[i] = make_float3(r * st * cp, r * st * sp, r * ct);
}

extern "C" __global__ void mri_q(const float4* samples, int count, const float3* points, float2* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 p = points[i];
  float re = q[i].x, im = q[i].y;
  for (int k = 0; k < count; ++k) {
    const float4 s = samples[k];
    const float angle = 6.2831853f * (s.x * p.x + s.y * p.y + s.z * p.z);
    re += s.w * cosf(angle);
    im += s.w * sinf(angle);
  }
  q[i] = make_float2(re, im);
}

extern "C" __global__ void logistic_gradient(const float* features, const float* labels, const float* weights,
                                             float* gradient, int samples, int width, float rate) {
  extern __shared__ float w[];
  for (int k = threadIdx.x; k < width; k += blockDim.x) w[k] = weights[k];
  __syncthreads();
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= samples) return;
  float z = 0.f;
  for (int k = 0; k < width; ++k) z += w[k] * features[k * samples + s];
  const float error = 1.f / (1.f + expf(-z)) - labels[s];
  for (int k = 0; k < width; ++k) atomicAdd(&gradient[k], rate * error * features[k * samples + s]);
}

extern "C" __global__ void colour_hsv(const float3* in, float3* out, int n, float turn, float gain) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 c = in[i];
  const float high = fmaxf(c.x, fmaxf(c.y, c.z)), low = fminf(c.x, fminf(c.y, c.z)), span = high - low;
  float h = 0.f;
  if (span > 0.f) {
    if (high == c.x)
      h = (c.y - c.z) / span;
    else if (high == c.y)
      h = 2.f + (c.z - c.x) / span;
    else
      h = 4.f + (c.x - c.y) / span;
  }
  h = h / 6.f + turn;
  h -= floorf(h);
  const float s = high > 0.f ? powf(span / high, gain) : 0.f;
  auto channel = [&](float k) {
    const float t = fmodf(k + h * 6.f, 6.f);
    return high * (1.f - s * fmaxf(0.f, fminf(fminf(t, 4.f - t), 1.f)));
  };
  out[i] = make_float3(channel(5.f), channel(3.f), channel(1.f));
}
