// Texture objects: bilinear filtering from an array with clamped coordinates, and element reads from linear
// memory.
#include <cmath>
#include <vector>

#include "../common/check.h"

__global__ void sample(cudaTextureObject_t image, cudaTextureObject_t table, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = tex2D<float>(image, x + 1.0f, y + 1.0f) + float(tex1Dfetch<int>(table, x));
}

int main() {
  constexpr int kWidth = 40, kHeight = 24;
  std::vector<float> pixels(kWidth * kHeight);
  std::vector<int> numbers(kWidth);
  for (int i = 0; i < kWidth * kHeight; ++i) pixels[i] = float((i * 7) % 64);
  for (int i = 0; i < kWidth; ++i) numbers[i] = 1000 * i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  MUST(cudaMallocArray(&array, &format, kWidth, kHeight));
  MUST(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                           cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture{};
  texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModeLinear;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t image, table;
  MUST(cudaCreateTextureObject(&image, &resource, &texture, nullptr));
  int* linear;
  MUST(cudaMalloc(&linear, kWidth * sizeof(int)));
  MUST(cudaMemcpy(linear, numbers.data(), kWidth * sizeof(int), cudaMemcpyHostToDevice));
  cudaResourceDesc other{};
  other.resType = cudaResourceTypeLinear;
  other.res.linear.devPtr = linear;
  other.res.linear.desc = cudaCreateChannelDesc<int>();
  other.res.linear.sizeInBytes = kWidth * sizeof(int);
  cudaTextureDesc plain{};
  MUST(cudaCreateTextureObject(&table, &other, &plain, nullptr));
  float* out;
  MUST(cudaMalloc(&out, kWidth * kHeight * sizeof(float)));
  sample<<<dim3((kWidth + 15) / 16, (kHeight + 15) / 16), dim3(16, 16)>>>(image, table, out, kWidth, kHeight);
  std::vector<float> result(kWidth * kHeight);
  MUST(cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  // At a whole coordinate, four texels have the same weight; those beyond the edge are the edge's.
  const auto pixel = [&](int x, int y) { return pixels[std::min(y, kHeight - 1) * kWidth + std::min(x, kWidth - 1)]; };
  bool good = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const float filtered = 0.25f * (pixel(x, y) + pixel(x + 1, y) + pixel(x, y + 1) + pixel(x + 1, y + 1));
      good = good && result[y * kWidth + x] == filtered + float(numbers[x]);
    }
  MUST(cudaDestroyTextureObject(image));
  MUST(cudaDestroyTextureObject(table));
  MUST(cudaFreeArray(array));
  return verdict(good);
}
