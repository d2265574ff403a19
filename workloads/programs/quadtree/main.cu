// Dynamic parallelism: a quadtree of points in the unit square. A kernel counts and sorts the points of a
// node into quarters and launches itself for those with many; another kernel sorts in place, recursively, in
// streams of its own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../common/check.h"

struct Point {
  float x, y;
};
struct Node {
  float x, y, side;  // its lower corner
  int first, count;  // of its points
  int child;         // the first of four; 0: a leaf
};

constexpr int kLeaf = 32, kMostDepth = 12, kThreads = 64;

__device__ int next_node;

__device__ int quarter_of(const Node& n, Point p) {
  return (p.x >= n.x + n.side / 2 ? 1 : 0) + (p.y >= n.y + n.side / 2 ? 2 : 0);
}

/// A block for each node: its points go from `from` to `to`, quarter by quarter.
__global__ void divide(Node* nodes, int first, Point* from, Point* to, int depth) {
  __shared__ int counts[4], places[4], child;
  Node& n = nodes[first + blockIdx.x];
  if (n.count <= kLeaf || depth == kMostDepth) {
    // A leaf's points end in both arrays.
    for (int i = threadIdx.x; i < n.count; i += blockDim.x) to[n.first + i] = from[n.first + i];
    return;
  }
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n.count; i += blockDim.x)
    atomicAdd(&counts[quarter_of(n, from[n.first + i])], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    child = atomicAdd(&next_node, 4);
    int at = n.first;
    for (int q = 0; q < 4; ++q) {
      places[q] = at;
      nodes[child + q] = {
          n.x + (q & 1) * n.side / 2, n.y + (q >> 1) * n.side / 2, n.side / 2, at, counts[q], 0};
      at += counts[q];
    }
    n.child = child;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n.count; i += blockDim.x) {
    const Point p = from[n.first + i];
    to[atomicAdd(&places[quarter_of(n, p)], 1)] = p;
  }
  __syncthreads();
  if (threadIdx.x == 0) divide<<<4, kThreads>>>(nodes, child, to, from, depth + 1);
}

/// Sorts in place: few by insertion, more by partition, whose halves have streams of their own.
__global__ void sort_part(int* values, int low, int high, int depth) {
  if (high - low <= 16 || depth == kMostDepth) {
    for (int i = low + 1; i < high; ++i) {
      const int v = values[i];
      int at = i;
      for (; at > low && values[at - 1] > v; --at) values[at] = values[at - 1];
      values[at] = v;
    }
    return;
  }
  const int pivot = values[(low + high) / 2];
  int left = low, right = high - 1;
  while (left <= right) {
    while (values[left] < pivot) ++left;
    while (values[right] > pivot) --right;
    if (left > right) break;
    const int v = values[left];
    values[left++] = values[right];
    values[right--] = v;
  }
  cudaStream_t lower, upper;
  cudaStreamCreateWithFlags(&lower, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&upper, cudaStreamNonBlocking);
  if (right + 1 - low > 1) sort_part<<<1, 1, 0, lower>>>(values, low, right + 1, depth + 1);
  if (high - left > 1) sort_part<<<1, 1, 0, upper>>>(values, left, high, depth + 1);
  cudaStreamDestroy(lower);
  cudaStreamDestroy(upper);
}

/// Every point of a leaf lies in it, and leaves have few.
bool is_right(const std::vector<Node>& nodes, const std::vector<Point>& points, int n, int depth, int& seen) {
  const Node& node = nodes[n];
  if (node.child != 0) {
    int below = 0;
    for (int q = 0; q < 4; ++q) {
      below += nodes[node.child + q].count;
      if (!is_right(nodes, points, node.child + q, depth + 1, seen)) return false;
    }
    return below == node.count;
  }
  seen += node.count;
  for (int i = node.first; i < node.first + node.count; ++i) {
    const Point p = points[i];
    if (p.x < node.x || p.y < node.y || p.x >= node.x + node.side || p.y >= node.y + node.side) return false;
  }
  return node.count <= kLeaf || depth == kMostDepth;
}

int main() {
  constexpr int kPoints = 4000, kNodes = 4096, kValues = 500;
  std::vector<Point> points(kPoints);
  unsigned state = 1;
  const auto random = [&state] {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0f;
  };
  // Denser towards a corner, so that the tree is deeper there.
  for (Point& p : points) p = {random() * random(), random() * random()};
  Node* nodes;
  Point *a, *b;
  MUST(cudaMalloc(&nodes, kNodes * sizeof(Node)));
  MUST(cudaMalloc(&a, kPoints * sizeof(Point)));
  MUST(cudaMalloc(&b, kPoints * sizeof(Point)));
  const Node root{0, 0, 1, 0, kPoints, 0};
  const int one = 1;
  MUST(cudaMemcpy(nodes, &root, sizeof root, cudaMemcpyHostToDevice));
  MUST(cudaMemcpyToSymbol(next_node, &one, sizeof one));
  MUST(cudaMemcpy(a, points.data(), kPoints * sizeof(Point), cudaMemcpyHostToDevice));
  divide<<<1, kThreads>>>(nodes, 0, a, b, 0);
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  int count = 0;
  MUST(cudaMemcpyFromSymbol(&count, next_node, sizeof count));
  std::vector<Node> tree(count);
  MUST(cudaMemcpy(tree.data(), nodes, count * sizeof(Node), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(points.data(), a, kPoints * sizeof(Point), cudaMemcpyDeviceToHost));
  // Leaves of odd and of even depth have theirs in both arrays.
  int seen = 0;
  bool good = is_right(tree, points, 0, 0, seen) && seen == kPoints && count > 200;

  std::vector<int> values(kValues), sorted(kValues);
  for (int& v : values) v = static_cast<int>(random() * 1000);
  int* device;
  MUST(cudaMalloc(&device, kValues * sizeof(int)));
  MUST(cudaMemcpy(device, values.data(), kValues * sizeof(int), cudaMemcpyHostToDevice));
  sort_part<<<1, 1>>>(device, 0, kValues, 0);
  MUST(cudaMemcpy(sorted.data(), device, kValues * sizeof(int), cudaMemcpyDeviceToHost));
  std::sort(values.begin(), values.end());
  good = good && values == sorted;
  return verdict(good);
}
