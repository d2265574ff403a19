// The device's part of k-means: the nearest centre of each point, in two dimensions. kmeans.ptx is what nvcc 13
// makes of this: nvcc -ptx -arch=compute_75

extern "C" __global__ void assign(int* nearest, const float* points, const float* centres, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float least = 3e38f;
  int best = 0;
  for (int c = 0; c < k; ++c) {
    const float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
    const float distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  nearest[i] = best;
}
