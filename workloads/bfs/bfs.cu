// Breadth-first search of a graph in compressed sparse rows, one launch per level, in two forms: every vertex
// looks whether it is of this level (no atomics, all vertices every time), or a queue holds the frontier
// (atomics claim vertices and places). bfs.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75

extern "C" __global__ void start(int* level, int* frontier, int* count, int vertices, int source) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < vertices) level[i] = i == source ? 0 : -1;
  if (i > 0) return;
  frontier[0] = source;
  count[0] = 1;
}

// Several threads may set the same neighbour, all to the same level.
extern "C" __global__ void expand_all(int* level, const int* row_start, const int* column, int vertices,
                                      int now) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || level[vertex] != now) return;
  for (int k = row_start[vertex]; k < row_start[vertex + 1]; ++k) {
    const int neighbour = column[k];
    // True for -1, and for now + 1: what others set meanwhile does not change the way through this code.
    if (static_cast<unsigned>(level[neighbour]) > now) level[neighbour] = now + 1;
  }
}

// count[now] vertices of this level lie in `frontier`, those of the next level go to `next`.
extern "C" __global__ void expand_queue(int* level, int* next, int* count, const int* frontier,
                                        const int* row_start, const int* column, int now) {
  const int found = count[now];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < found; i += gridDim.x * blockDim.x) {
    const int vertex = frontier[i];
    for (int k = row_start[vertex]; k < row_start[vertex + 1]; ++k) {
      const int neighbour = column[k];
      if (atomicCAS(&level[neighbour], -1, now + 1) == -1) next[atomicAdd(&count[now + 1], 1)] = neighbour;
    }
  }
}
