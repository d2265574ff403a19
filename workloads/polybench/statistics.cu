// Correlation and covariance of the PolyBench suite (Pouchet): `points` observations of `variables`
// variables, stored by observation. Written from their formulas, a thread for each variable or pair; sums
// stand in memory while they grow. statistics.ptx: nvcc -ptx -arch=compute_75.

__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void mean(float* means, const float* data, int points, int variables) {
  const int j = column();
  if (j >= variables) return;
  means[j] = 0;
  for (int i = 0; i < points; ++i) means[j] += data[i * variables + j];
  means[j] /= points;
}

// A variable that does not vary counts as of deviation 1.
extern "C" __global__ void deviation(float* deviations, const float* means, const float* data, int points,
                                     int variables) {
  const int j = column();
  if (j >= variables) return;
  deviations[j] = 0;
  for (int i = 0; i < points; ++i)
    deviations[j] += (data[i * variables + j] - means[j]) * (data[i * variables + j] - means[j]);
  deviations[j] = sqrtf(deviations[j] / points);
  if (deviations[j] <= 0.005f) deviations[j] = 1;
}

extern "C" __global__ void center(float* data, const float* means, int points, int variables) {
  const int j = column(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < points && j < variables) data[i * variables + j] -= means[j];
}

extern "C" __global__ void standardize(float* data, const float* means, const float* deviations, int points,
                                       int variables) {
  const int j = column(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= points || j >= variables) return;
  data[i * variables + j] -= means[j];
  data[i * variables + j] /= sqrtf(points) * deviations[j];
}

// Products of variable `first` with itself and all behind it; scale: 1 / (points - 1) for covariances, 1 for
// correlations.
extern "C" __global__ void pairs(float* result, const float* data, float scale, int points, int variables) {
  const int first = column();
  if (first >= variables) return;
  for (int second = first; second < variables; ++second) {
    result[first * variables + second] = 0;
    for (int i = 0; i < points; ++i)
      result[first * variables + second] += data[i * variables + first] * data[i * variables + second];
    result[first * variables + second] *= scale;
    result[second * variables + first] = result[first * variables + second];
  }
}
