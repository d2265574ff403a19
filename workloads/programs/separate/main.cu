// Relocatable device code (-rdc=true): the device linker's work is done when the program starts.
#include <vector>

#include "../common/check.h"
#include "shared.h"

int main() {
  constexpr int kCount = 200;
  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = float(i % 20);
  float* device;
  MUST(cudaMalloc(&device, kCount * sizeof(float)));
  MUST(cudaMemcpy(device, x.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  launch_apply(device, kCount);
  std::vector<float> result(kCount);
  MUST(cudaMemcpy(result.data(), device, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < kCount; ++i)
    good = good && result[i] == (x[i] < 10.0f ? x[i] * 3.0f : x[i] - 10.0f) + 0.5f + float(i % 4);
  return verdict(good);
}
