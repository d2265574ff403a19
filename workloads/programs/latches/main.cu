// Kernels that wait until the host, another stream's kernel or a fill lets them go on. With "ask" the program
// also asks whether a stream is done while its kernel waits.
#include <cstring>

#include "../common/check.h"

__global__ void wait_and_add(volatile int* latch, int* x) {
  while (latch[0] == 0) {
  }
  x[threadIdx.x] += 1;
}
__global__ void open(int* latch) { *latch = 1; }
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

namespace {

constexpr int kCount = 64;

struct Fixture {
  int *x = nullptr, *device_latch = nullptr;
  volatile int* latch = nullptr;
  cudaStream_t a, b;
  Fixture() {
    MUST(cudaMalloc(&x, kCount * sizeof *x));
    MUST(cudaMalloc(&device_latch, sizeof(int)));
    MUST(cudaMallocManaged(const_cast<int**>(&latch), sizeof(int)));
    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    *latch = 0;
    MUST(cudaMemset(device_latch, 0, sizeof(int)));
    MUST(cudaMemset(x, 0, kCount * sizeof *x));
    MUST(cudaDeviceSynchronize());
  }
  ~Fixture() {
    MUST(cudaStreamDestroy(a));
    MUST(cudaStreamDestroy(b));
    MUST(cudaFree(x));
    MUST(cudaFree(device_latch));
    MUST(cudaFree(const_cast<int*>(latch)));
  }
  bool holds(int value) const {
    int result[kCount];
    MUST(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    for (const int r : result)
      if (r != value) return false;
    return true;
  }
};

bool by_host(bool ask) {
  Fixture f;
  int start[kCount], *result = nullptr;
  MUST(cudaMallocHost(&result, kCount * sizeof *result));  // a copy to other memory would wait for the kernel
  std::memset(result, 0, kCount * sizeof *result);
  for (int& s : start) s = 10;
  MUST(cudaMemcpyAsync(f.x, start, sizeof start, cudaMemcpyHostToDevice, f.a));
  wait_and_add<<<1, kCount, 0, f.a>>>(f.latch, f.x);
  twice<<<1, kCount, 0, f.a>>>(f.x);
  MUST(cudaMemcpyAsync(result, f.x, kCount * sizeof *result, cudaMemcpyDeviceToHost, f.a));
  // Behind the kernel, from memory that changes at once.
  MUST(cudaMemcpyAsync(f.x, start, sizeof start, cudaMemcpyHostToDevice, f.a));
  std::memset(start, 0, sizeof start);
  cudaEvent_t event;
  MUST(cudaEventCreate(&event));
  MUST(cudaEventRecord(event, f.a));
  bool good = true;
  if (ask) {
    good = cudaStreamQuery(f.a) == cudaErrorNotReady && cudaEventQuery(event) == cudaErrorNotReady;
    good = good && cudaStreamQuery(f.b) == cudaSuccess && result[0] == 0;
    // What another stream does goes on.
    int one = 0;
    MUST(cudaMemsetAsync(f.device_latch, 1, sizeof(int), f.b));
    MUST(cudaMemcpyAsync(&one, f.device_latch, sizeof one, cudaMemcpyDeviceToHost, f.b));
    MUST(cudaStreamSynchronize(f.b));
    good = good && one == 0x01010101;
    (void)cudaGetLastError();
  }
  *f.latch = 1;
  MUST(cudaEventSynchronize(event));
  MUST(cudaStreamSynchronize(f.a));
  for (int i = 0; i < kCount; ++i) good = good && result[i] == 22;
  good = good && f.holds(10);
  MUST(cudaEventDestroy(event));
  MUST(cudaFreeHost(result));
  return good;
}

bool by_kernel() {
  Fixture f;
  wait_and_add<<<1, kCount, 0, f.a>>>(f.device_latch, f.x);
  open<<<1, 1, 0, f.b>>>(f.device_latch);
  MUST(cudaStreamSynchronize(f.a));
  return f.holds(1);
}

bool by_fill() {
  Fixture f;
  wait_and_add<<<1, kCount, 0, f.a>>>(f.device_latch, f.x);
  MUST(cudaMemsetAsync(f.device_latch, 1, sizeof(int), f.b));
  // This one waits for the kernel, whose stream is another.
  cudaEvent_t event;
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  MUST(cudaEventRecord(event, f.a));
  MUST(cudaStreamWaitEvent(f.b, event, 0));
  twice<<<1, kCount, 0, f.b>>>(f.x);
  MUST(cudaStreamSynchronize(f.b));
  MUST(cudaEventDestroy(event));
  return f.holds(2);
}

}  // namespace

int main(int argc, char** argv) {
  const bool ask = argc > 1 && std::strcmp(argv[1], "ask") == 0;
  if (argc > 1 && std::strcmp(argv[1], "never") == 0) {
    Fixture& f = *new Fixture;  // nothing can be freed after the failure
    wait_and_add<<<1, kCount, 0, f.a>>>(f.latch, f.x);
    MUST(cudaGetLastError());
    return verdict(cudaDeviceSynchronize() != cudaErrorLaunchTimeout);
  }
  const bool host = by_host(ask), kernel = by_kernel(), fill = by_fill();
  std::printf("host %d, kernel %d, fill %d\n", host, kernel, fill);
  return verdict(host && kernel && fill);
}
