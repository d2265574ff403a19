// malloc() and free() in kernels: a list that one kernel builds and the next one takes down.
#include <vector>

#include "../common/check.h"

struct Node {
  int value;
  Node* next;
};
__device__ Node* heads[64];

__global__ void build(int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) break;
    node->value = i * int(threadIdx.x + 1);
    node->next = head;
    head = node;
  }
  heads[threadIdx.x] = head;
}
__global__ void take_down(int* sums) {
  int sum = 0;
  for (Node* node = heads[threadIdx.x]; node != nullptr;) {
    Node* const next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  sums[threadIdx.x] = sum;
}

int main() {
  MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
  int* sums;
  MUST(cudaMalloc(&sums, 64 * sizeof(int)));
  build<<<1, 64>>>(20);
  take_down<<<1, 64>>>(sums);
  std::vector<int> result(64);
  MUST(cudaMemcpy(result.data(), sums, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int t = 0; t < 64; ++t) good = good && result[t] == 190 * (t + 1);
  return verdict(good);
}
