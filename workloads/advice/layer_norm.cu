// Layer normalisation: a thread walks along its row twice, and a warp takes a row together.
extern "C" __global__ void before(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int c = 0; c < columns; ++c) {
    const float value = x[row * columns + c];
    sum += value;
    squares += value * value;
  }
  const float mean = sum / columns, scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  for (int c = 0; c < columns; ++c) y[row * columns + c] = (x[row * columns + c] - mean) * scale;
}

extern "C" __global__ void after(const float* x, float* y, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int c = lane; c < columns; c += 32) {
    const float value = x[row * columns + c];
    sum += value;
    squares += value * value;
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    squares += __shfl_xor_sync(0xffffffffu, squares, apart);
  }
  const float mean = sum / columns, scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  for (int c = lane; c < columns; c += 32) y[row * columns + c] = (x[row * columns + c] - mean) * scale;
}
