// Host functions between the kernels of a stream, and a callback.
#include "../common/check.h"

__global__ void increment(int* x) { *x += 1; }

struct State {
  int* mapped;
  int seen[3];
  int calls;
};

int main() {
  State state{};
  MUST(cudaHostAlloc(&state.mapped, sizeof(int), cudaHostAllocMapped));
  *state.mapped = 0;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  for (int i = 0; i < 3; ++i) {
    increment<<<1, 1, 0, stream>>>(state.mapped);
    MUST(cudaLaunchHostFunc(
        stream,
        [](void* p) {
          State& s = *static_cast<State*>(p);
          s.seen[s.calls++] = *s.mapped;
        },
        &state));
  }
  MUST(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void* p) { static_cast<State*>(p)->calls += 10; }, &state, 0));
  MUST(cudaStreamSynchronize(stream));
  return verdict(state.calls == 13 && state.seen[0] == 1 && state.seen[1] == 2 && state.seen[2] == 3);
}
