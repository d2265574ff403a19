// Graphs in compressed sparse rows: searches, shortest paths, ranks, components, colours, triangles.

extern "C" __global__ void bfs_level(const int* row, const int* column, int* level, int* changed,
                                     int vertices, int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now) return;
  bool any = false;
  for (int e = row[v]; e < row[v + 1]; ++e) {
    const int to = column[e];
    if (level[to] < 0) {
      level[to] = now + 1;
      any = true;
    }
  }
  if (any) *changed = 1;
}

// A warp a vertex; new vertices are gathered in shared memory before they go to the queue.
extern "C" __global__ void bfs_warp_queue(const int* row, const int* column, int* level, const int* frontier,
                                          int frontier_size, int* next, int* next_size, int now) {
  __shared__ int queue[1024];
  __shared__ int queued, base;
  if (threadIdx.x == 0) queued = 0;
  __syncthreads();
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (warp < frontier_size) {
    const int v = frontier[warp];
    for (int e = row[v] + lane, end = row[v + 1]; e < end; e += 32) {
      const int to = column[e];
      if (level[to] == -1 && atomicCAS(&level[to], -1, now + 1) == -1) {
        const int at = atomicAdd(&queued, 1);
        if (at < 1024)
          queue[at] = to;
        else
          next[atomicAdd(next_size, 1)] = to;
      }
    }
  }
  __syncthreads();
  const int count = min(queued, 1024);
  if (threadIdx.x == 0) base = atomicAdd(next_size, count);
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) next[base + i] = queue[i];
}

extern "C" __global__ void sssp_relax(const int* row, const int* column, const float* weight,
                                      const float* distance, unsigned* new_distance, bool* active,
                                      int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || !active[v]) return;
  active[v] = false;
  const float mine = distance[v];
  for (int e = row[v]; e < row[v + 1]; ++e) {
    const float through = mine + weight[e];
    const unsigned bits = __float_as_uint(through);
    const int to = column[e];
    if (atomicMin(&new_distance[to], bits) > bits) active[to] = true;
  }
}

extern "C" __global__ void pagerank_pull(const int* row, const int* column, const int* out_degree,
                                         const double* rank, double* next, double* change, int vertices,
                                         double damping) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  double difference = 0;
  if (v < vertices) {
    double sum = 0;
    for (int e = row[v]; e < row[v + 1]; ++e) {
      const int from = column[e];
      sum += rank[from] / out_degree[from];
    }
    const double value = (1.0 - damping) / vertices + damping * sum;
    next[v] = value;
    difference = fabs(value - rank[v]);
  }
  for (int d = 16; d > 0; d >>= 1) difference += __shfl_down_sync(~0u, difference, d);
  if (threadIdx.x % 32 == 0) atomicAdd(change, difference);
}

extern "C" __global__ void components_hook(const int2* edges, int* parent, int* changed, int count) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const int2 ends = edges[e];
  int u = parent[ends.x], v = parent[ends.y];
  while (u != v) {
    if (u < v) {
      const int t = u;
      u = v;
      v = t;
    }
    const int old = atomicCAS(&parent[u], u, v);
    if (old == u) {
      *changed = 1;
      break;
    }
    u = parent[old];
    v = parent[v];
  }
}

extern "C" __global__ void components_jump(int* parent, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int p = parent[v];
  while (p != parent[p]) p = parent[p];
  parent[v] = p;
}

extern "C" __global__ void colour_first_fit(const int* row, const int* column, int* colour, const int* order,
                                            int* conflicts, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || colour[v] >= 0) return;
  unsigned long long used = 0;
  const int mine = order[v];
  for (int e = row[v]; e < row[v + 1]; ++e) {
    const int u = column[e];
    if (u == v) continue;
    const int c = colour[u];
    if (c < 0 && order[u] > mine) {
      atomicAdd(conflicts, 1);
      return;
    }
    if (c >= 0 && c < 64) used |= 1ull << c;
  }
  colour[v] = __ffsll(~used) - 1;
}

extern "C" __global__ void triangles(const int* row, const int* column, unsigned long long* total,
                                     int vertices) {
  unsigned found = 0;
  for (int v = blockIdx.x; v < vertices; v += gridDim.x)
    for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x) {
      const int u = column[e];
      if (u <= v) continue;
      int i = row[v], j = row[u];
      const int ie = row[v + 1], je = row[u + 1];
      while (i < ie && j < je) {
        const int a = column[i], b = column[j];
        if (a == b && a > u) ++found;
        i += a <= b;
        j += b <= a;
      }
    }
  for (int d = 16; d > 0; d >>= 1) found += __shfl_xor_sync(~0u, found, d);
  if ((threadIdx.x & 31) == 0 && found) atomicAdd(total, (unsigned long long)found);
}

extern "C" __global__ void betweenness_back(const int* row, const int* column, const int* level,
                                            const float* paths, float* dependency, float* centrality,
                                            int vertices, int depth, int source) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != depth) return;
  float sum = 0.f;
  for (int e = row[v]; e < row[v + 1]; ++e) {
    const int u = column[e];
    if (level[u] == depth + 1) sum += paths[v] / paths[u] * (1.f + dependency[u]);
  }
  dependency[v] = sum;
  if (v != source) centrality[v] += sum;
}
