// Virtual calls: abstract bases, multiple inheritance, virtual bases, objects in local and in shared memory.
#include <new>

#include "corpus.h"

struct Node {
  __device__ virtual unsigned value(unsigned x) const = 0;
  __device__ virtual unsigned twice(unsigned x) const { return value(value(x)); }
};

struct Named {
  unsigned name;
  __device__ explicit Named(unsigned n) : name(n) {}
  __device__ virtual unsigned tag() const { return name; }
};

struct Add : Node {
  unsigned amount;
  __device__ explicit Add(unsigned a) : amount(a) {}
  __device__ unsigned value(unsigned x) const override { return x + amount; }
};

struct Scale : Node, Named {
  unsigned factor;
  __device__ Scale(unsigned f, unsigned n) : Named(n), factor(f) {}
  __device__ unsigned value(unsigned x) const override { return x * factor + tag(); }
  __device__ unsigned tag() const override { return name * 3 + factor; }
};

struct Chain : Node {
  const Node* first;
  const Node* second;
  __device__ Chain(const Node* a, const Node* b) : first(a), second(b) {}
  __device__ unsigned value(unsigned x) const override { return second->value(first->value(x)); }
  __device__ unsigned twice(unsigned x) const override { return first->twice(x) ^ second->twice(x); }
};

struct Root : virtual Node {
  unsigned seed = 5;
};

struct Diamond : Root, virtual Named {
  __device__ explicit Diamond(unsigned n) : Named(n) {}
  __device__ unsigned value(unsigned x) const override { return (x ^ seed) + tag(); }
};

__device__ __noinline__ unsigned call(const Node* node, unsigned x) {
  return node->value(x) + 7 * node->twice(x);
}

extern "C" __global__ void local_objects(unsigned* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  Add add(i * 3 + 1);
  Scale scale(i % 5 + 2, i);
  Chain chain(&add, &scale);
  Diamond diamond(i + 11);
  Chain all(&chain, &diamond);
  const Node* nodes[5] = {&add, &scale, &chain, &diamond, &all};
  const Named* named = i % 2 ? static_cast<const Named*>(&scale) : &diamond;
  out[i] = call(nodes[mix(i) % 5], i) + named->tag();
}

extern "C" __global__ void shared_objects(unsigned* out) {
  __shared__ alignas(16) char storage[64][sizeof(Scale)];
  __shared__ Node* nodes[64];
  unsigned t = threadIdx.x;
  if (mix(t) & 1)
    nodes[t] = new (storage[t]) Add(t);
  else
    nodes[t] = new (storage[t]) Scale(t + 1, 2 * t);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned k = 0; k < 8; ++k) sum = sum * 5 + nodes[(t + k * k) % 64]->value(blockIdx.x + k);
  out[thread_index()] = sum;
}
