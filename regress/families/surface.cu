// A picture is turned upside down through surfaces, and its edge is read from beyond.
extern "C" __global__ void flip(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int* beyond, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int v;
  surf2Dread(&v, from, x * 4, y);
  surf2Dwrite(v, to, x * 4, height - 1 - y);
  surf2Dread(&v, from, (x + 3) * 4, y + 5, cudaBoundaryModeClamp);
  beyond[y * width + x] = v;
}
