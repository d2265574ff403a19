// A driven oscillation whose phase grows without bound: cosf reduces large angles by many digits of 2 / pi, in a way
// of its own that a part of the lanes takes. A phase that is kept within a turn needs none of it.
extern "C" __global__ void before(float* out, const float* phases, float step, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float phase = phases[i], x = 0, v = 0;
  for (int s = 0; s < steps; ++s) {
    v += step * (cosf(phase) - x);
    x += step * v;
    phase += step;
  }
  out[i] = x;
}

extern "C" __global__ void after(float* out, const float* phases, float step, int steps) {
  constexpr float kTurn = 6.2831853f;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float phase = phases[i], x = 0, v = 0;
  phase -= kTurn * rintf(phase * (1 / kTurn));
  for (int s = 0; s < steps; ++s) {
    v += step * (__cosf(phase) - x);
    x += step * v;
    phase += step;
  }
  out[i] = x;
}
