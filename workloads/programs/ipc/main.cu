// Device memory of two processes: the first one allocates and fills it, the second one, which it starts, adds
// to it, and waits for an event of the first one before.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "../common/check.h"

__global__ void add(int* x, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value + i;
}

constexpr int kCount = 5000, kBlocks = (kCount + 127) / 128;

struct Given {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t filled;
};

static int other_process() {
  Given given;
  if (read(0, &given, sizeof given) != sizeof given) return 2;
  void* opened;
  cudaEvent_t filled;
  MUST(cudaIpcOpenMemHandle(&opened, given.memory, cudaIpcMemLazyEnablePeerAccess));
  MUST(cudaIpcOpenEventHandle(&filled, given.filled));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamWaitEvent(stream, filled, 0));
  add<<<kBlocks, 128, 0, stream>>>(static_cast<int*>(opened), kCount, 1000);
  MUST(cudaStreamSynchronize(stream));
  MUST(cudaIpcCloseMemHandle(opened));
  MUST(cudaEventDestroy(filled));
  MUST(cudaStreamDestroy(stream));
  return 0;
}

int main(int argc, char**) {
  if (argc > 1) return other_process();
  int* memory;
  cudaEvent_t filled;
  Given given;
  MUST(cudaMalloc(&memory, kCount * sizeof(int)));
  MUST(cudaMemset(memory, 0, kCount * sizeof(int)));
  MUST(cudaIpcGetMemHandle(&given.memory, memory));
  MUST(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
  MUST(cudaIpcGetEventHandle(&given.filled, filled));
  add<<<kBlocks, 128>>>(memory, kCount, 1);
  MUST(cudaEventRecord(filled, nullptr));
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], 0);
    close(ends[1]);
    execl("/proc/self/exe", "ipc", "other", nullptr);
    _exit(99);
  }
  bool good = write(ends[1], &given, sizeof given) == sizeof given;
  close(ends[0]);
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::vector<int> result(kCount);
  MUST(cudaMemcpy(result.data(), memory, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) good = good && result[i] == 1001 + 2 * i;
  MUST(cudaEventDestroy(filled));
  MUST(cudaFree(memory));
  return verdict(good);
}
