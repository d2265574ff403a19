// Breadth-first search with a flag: one launch per level, and a host that goes on until a launch has found no
// new vertex. bfs_flag.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75

extern "C" __global__ void expand(int* level, int* changed, const int* row_start, const int* column,
                                  int vertices, int now) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || level[vertex] != now) return;
  for (int k = row_start[vertex]; k < row_start[vertex + 1]; ++k) {
    const int neighbour = column[k];
    // True for -1, and for now + 1: what others set meanwhile does not change the way through this code.
    if (static_cast<unsigned>(level[neighbour]) <= now) continue;
    level[neighbour] = now + 1;
    *changed = 1;
  }
}

// cudaMemset(level, -1, vertices * sizeof(int)); level[source] = 0;
// do {
//   cudaMemset(changed, 0, sizeof(int));
//   expand<<<blocks, 128>>>(level, changed, row_start, column, vertices, now++);
//   cudaMemcpy(&flag, changed, sizeof(int), cudaMemcpyDeviceToHost);
// } while (flag);
