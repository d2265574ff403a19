// Pitched and three-dimensional memory: copies of parts, and fills.
#include <vector>

#include "../common/check.h"

__global__ void twice(cudaPitchedPtr volume, cudaExtent size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= size.width / sizeof(int)) return;
  char* const slice = static_cast<char*>(volume.ptr) + z * volume.pitch * size.height;
  reinterpret_cast<int*>(slice + y * volume.pitch)[x] *= 2;
}

int main() {
  constexpr int kX = 37, kY = 11, kZ = 5;
  const cudaExtent size = make_cudaExtent(kX * sizeof(int), kY, kZ);
  cudaPitchedPtr volume;
  MUST(cudaMalloc3D(&volume, size));
  MUST(cudaMemset3D(volume, 1, size));
  std::vector<int> in(kX * kY * kZ), out(kX * kY * kZ);
  for (size_t i = 0; i < in.size(); ++i) in[i] = int(i);
  // All but the last slice is copied; it keeps the fill.
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), kX * sizeof(int), kX, kY);
  copy.dstPtr = volume;
  copy.extent = make_cudaExtent(kX * sizeof(int), kY, kZ - 1);
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  twice<<<dim3((kX + 31) / 32, kY, kZ), 32>>>(volume, size);
  MUST(cudaGetLastError());
  cudaMemcpy3DParms back{};
  back.srcPtr = volume;
  back.dstPtr = make_cudaPitchedPtr(out.data(), kX * sizeof(int), kX, kY);
  back.extent = size;
  back.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3D(&back));
  bool good = true;
  for (size_t i = 0; i < in.size(); ++i)
    good = good && out[i] == (i < size_t(kX * kY * (kZ - 1)) ? 2 * in[i] : 0x02020202);
  std::vector<int> rows(10 * 4);
  int* pitched;
  size_t pitch = 0;
  MUST(cudaMallocPitch(&pitched, &pitch, 10 * sizeof(int), 4));
  MUST(cudaMemset2D(pitched, pitch, 0, 10 * sizeof(int), 4));
  MUST(cudaMemcpy2D(pitched, pitch, in.data(), kX * sizeof(int), 10 * sizeof(int), 3, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy2D(rows.data(), 10 * sizeof(int), pitched, pitch, 10 * sizeof(int), 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 10; ++x) good = good && rows[y * 10 + x] == (y < 3 ? in[y * kX + x] : 0);
  return verdict(good);
}
