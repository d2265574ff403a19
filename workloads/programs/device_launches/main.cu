// What kernels may ask the device runtime for: order in streams, events, tail launches, copies and fills,
// memory, questions, and errors.
#include <algorithm>
#include <vector>

#include "../common/check.h"

__device__ int order[64], position;

__global__ void note(int what) {
  if (threadIdx.x == 0 && blockIdx.x == 0) order[atomicAdd(&position, 1)] = what;
}

/// Launches two of its own kind, so that its completion is theirs.
__global__ void nested(int what, int depth) {
  if (threadIdx.x != 0) return;
  if (depth > 0) {
    nested<<<1, 32>>>(what, depth - 1);
    note<<<1, 32, 0, cudaStreamTailLaunch>>>(what + depth);
  } else {
    note<<<1, 32>>>(what);
  }
}

/// Work of the null stream is in order, with all that it launches; tail launches follow everything.
__global__ void streams() {
  note<<<1, 32, 0, cudaStreamTailLaunch>>>(90);
  nested<<<1, 32>>>(10, 2);
  note<<<1, 32>>>(20);
  note<<<1, 32, 0, cudaStreamTailLaunch>>>(91);
}

/// A stream that waits for another one's event.
__global__ void events(int* data) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaMemsetAsync(data, 1, 256, first);
  note<<<64, 128, 0, first>>>(30);
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  cudaMemcpyAsync(data + 64, data, 256, cudaMemcpyDeviceToDevice, second);
  note<<<1, 32, 0, second>>>(31);
  cudaEventDestroy(event);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  note<<<1, 32, 0, cudaStreamFireAndForget>>>(0);
}

struct Wide {
  char small;
  double real;
  short list[5];
};
__global__ void take(Wide w, char c, short s, long long l, int* out) {
  out[0] = w.small + c + s + static_cast<int>(l >> 40) + static_cast<int>(w.real) + w.list[4];
}
__global__ void give(int* out) { take<<<1, 1>>>({1, 2.5, {0, 0, 0, 0, 4}}, 8, 16, 32LL << 40, out); }

__global__ void __launch_bounds__(64) small() {}
__global__ void errors(int* out) {
  out[0] = cudaPeekAtLastError();
  note<<<1, 2048>>>(0);
  out[1] = cudaPeekAtLastError();
  out[2] = cudaGetLastError();
  out[3] = cudaGetLastError();
  note<<<1, 32, 10 << 20>>>(0);
  out[4] = cudaGetLastError();
  out[5] = cudaMemcpyAsync(out + 32, static_cast<int*>(nullptr) + 5, 16, cudaMemcpyDeviceToDevice, 0);
  cudaGetLastError();
  cudaStream_t stream;
  out[6] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  cudaGetLastError();
  out[7] = cudaEventRecord(reinterpret_cast<cudaEvent_t>(64), 0);
  cudaGetLastError();
  const char* const text = cudaGetErrorString(cudaErrorInvalidValue);
  const char* const name = cudaGetErrorName(cudaErrorInvalidValue);
  out[8] = text[0] == 'i' && name[4] == 'E';
}
__global__ void questions(int* out) {
  int value = 0;
  out[0] = cudaGetDeviceCount(&value) * 100 + value;
  cudaGetDevice(&out[1]);
  cudaDeviceGetAttribute(&out[2], cudaDevAttrWarpSize, 0);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, small);
  out[3] = attributes.maxThreadsPerBlock;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&out[4], small, 64, 0);
  size_t limit = 0;
  cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  out[5] = static_cast<int>(limit);
  int* memory = nullptr;
  out[6] = cudaMalloc(&memory, 100);
  memory[24] = 7;
  out[7] = memory[24];
  out[8] = cudaFree(memory);
  cudaRuntimeGetVersion(&out[9]);
}

/// Each thread launches one: more than may be pending in one stream.
__global__ void count(int* counter) { atomicAdd(counter, 1); }
__global__ void many(int* counter) {
  count<<<1, 1>>>(counter);
  if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) atomicAdd(counter + 1, 1);
}
/// A grid that goes on by launching the next of its kind at its end.
__global__ void loop(int* counter) {
  if (++*counter < 200) loop<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
}
__global__ void deep(int* counter, int depth) {
  *counter = depth;
  deep<<<1, 1>>>(counter, depth + 1);
  counter[1] = cudaGetLastError();
}

bool ends_with(const std::vector<int>& all, const std::vector<int>& last) {
  return all.size() >= last.size() && std::equal(last.rbegin(), last.rend(), all.rbegin());
}

std::vector<int> noted() {
  int count = 0;
  MUST(cudaMemcpyFromSymbol(&count, position, sizeof count));
  std::vector<int> all(64);
  MUST(cudaMemcpyFromSymbol(all.data(), order, 64 * sizeof(int)));
  all.resize(count);
  const int zero = 0;
  MUST(cudaMemcpyToSymbol(position, &zero, sizeof zero));
  return all;
}

int main() {
  int *data, *out;
  MUST(cudaMalloc(&data, 4096));
  MUST(cudaMalloc(&out, 4096));
  const auto results = [out] {
    std::vector<int> r(16);
    MUST(cudaMemcpy(r.data(), out, 16 * sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaMemset(out, 0, 4096));
    return r;
  };
  MUST(cudaMemset(out, 0, 4096));
  bool good = true;
  const auto check = [&good](const char* what, bool right) {
    if (!right) std::printf("wrong: %s\n", what);
    good = good && right;
  };
  streams<<<1, 1>>>();
  note<<<1, 1>>>(99);
  check("streams", noted() == std::vector<int>{10, 11, 12, 20, 90, 91, 99});
  events<<<1, 1>>>(data);
  std::vector<int> seen = noted();
  seen.erase(std::find(seen.begin(), seen.end(), 0));
  check("events", seen == std::vector<int>{30, 31});
  std::vector<int> copied(128);
  MUST(cudaMemcpy(copied.data(), data, 512, cudaMemcpyDeviceToHost));
  check("copies", copied == std::vector<int>(128, 0x01010101));
  give<<<1, 1>>>(out);
  check("parameters", results()[0] == 1 + 8 + 16 + 32 + 2 + 4);
  errors<<<1, 1>>>(out);
  std::vector<int> r = results();
  check("errors", r[0] == 0 && r[1] == cudaErrorInvalidConfiguration && r[2] == r[1] && r[3] == 0 &&
                      r[4] != 0 && r[5] == cudaErrorInvalidValue && r[6] == cudaErrorInvalidValue &&
                      r[7] == cudaErrorInvalidResourceHandle && r[8] == 1);
  questions<<<1, 1>>>(out);
  r = results();
  int version = 0;
  MUST(cudaRuntimeGetVersion(&version));
  check("questions", r[0] == 1 && r[1] == 0 && r[2] == 32 && r[3] == 64 && r[4] > 0 && r[5] == 2048 &&
                         r[6] == 0 && r[7] == 7 && r[8] == 0 && r[9] == version);
  MUST(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  many<<<1, 512>>>(out);
  r = results();
  check("pending launches", r[0] >= 100 && r[0] < 512 && r[0] + r[1] == 512);
  MUST(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  many<<<1, 512>>>(out);
  r = results();
  check("all launches", r[0] == 512 && r[1] == 0);
  loop<<<1, 1>>>(out);
  check("tail launches", results()[0] == 200);
  deep<<<1, 1>>>(out, 0);
  r = results();
  check("depth", r[0] == 24 && r[1] == cudaErrorLaunchMaxDepthExceeded);
  MUST(cudaDeviceSynchronize());
  return verdict(good);
}
