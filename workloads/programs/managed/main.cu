// Managed memory and a managed variable, which host and device both use by their pointers.
#include "../common/check.h"

__managed__ int total = 5;

struct Node {
  int value;
  Node* next;
};

__global__ void sum(const Node* list) {
  for (const Node* n = list; n != nullptr; n = n->next) total += n->value;
}

int main() {
  Node* nodes;
  MUST(cudaMallocManaged(&nodes, 100 * sizeof(Node)));
  int expected = 5;
  for (int i = 0; i < 100; ++i) {
    nodes[i] = {i * i, i == 99 ? nullptr : &nodes[i + 1]};
    expected += i * i;
  }
  sum<<<1, 1>>>(nodes);
  MUST(cudaDeviceSynchronize());
  const bool good = total == expected;
  MUST(cudaFree(nodes));
  return verdict(good);
}
