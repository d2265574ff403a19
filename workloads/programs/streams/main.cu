// Copies and kernels of four streams overlap; events measure them.
#include <vector>

#include "../common/check.h"

__global__ void square(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i];
}

int main() {
  constexpr int kStreams = 4, kCount = 1 << 14;
  cudaStream_t streams[kStreams];
  cudaEvent_t begin, end, done[kStreams];
  float *host, *device;
  MUST(cudaMallocHost(&host, kStreams * kCount * sizeof(float)));
  MUST(cudaMalloc(&device, kStreams * kCount * sizeof(float)));
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  for (int i = 0; i < kStreams * kCount; ++i) host[i] = float(i % 1000);
  for (int s = 0; s < kStreams; ++s) {
    MUST(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  MUST(cudaEventRecord(begin));
  for (int s = 0; s < kStreams; ++s) {
    float* const part = device + s * kCount;
    MUST(cudaMemcpyAsync(part, host + s * kCount, kCount * sizeof(float), cudaMemcpyHostToDevice, streams[s]));
    square<<<kCount / 128, 128, 0, streams[s]>>>(part, kCount);
    MUST(cudaMemcpyAsync(host + s * kCount, part, kCount * sizeof(float), cudaMemcpyDeviceToHost, streams[s]));
    MUST(cudaEventRecord(done[s], streams[s]));
    MUST(cudaStreamWaitEvent(0, done[s]));
  }
  MUST(cudaEventRecord(end));
  MUST(cudaEventSynchronize(end));
  float milliseconds = 0;
  MUST(cudaEventElapsedTime(&milliseconds, begin, end));
  bool good = milliseconds > 0;
  for (int i = 0; i < kStreams * kCount; ++i) good = good && host[i] == float(i % 1000) * float(i % 1000);
  for (int s = 0; s < kStreams; ++s) MUST(cudaStreamDestroy(streams[s]));
  MUST(cudaFreeHost(host));
  return verdict(good);
}
