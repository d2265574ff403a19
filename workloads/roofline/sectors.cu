// Reads of sectors that lie anywhere: each opens a row of DRAM, and takes one of the registers of misses (MSHRs) for itself. The same
// bytes by the row need neither. As limits.cu for the roofline model's diagnosis (regress/suites/); sectors.toml runs both.
// sectors.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75

static __device__ void keep(float* out, float x) {
  if (x == 123456795.0f) out[threadIdx.x] = x;
}

/// Reads of `group` lanes' neighbouring elements somewhere in n (a power of two), of which none depends on another:
/// eight lanes take a sector of their own, and each sector opens a row of DRAM.
static __device__ void read_groups(float* out, const int* in, int n, int steps, int group) {
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  int all = 0;
#pragma unroll 8
  for (int s = 0; s < steps; ++s) {
    const unsigned at = ((thread + s * threads) / group * 2654435761u >> 4) * group;
    all += in[(at & n - 1) + thread % group];
    sum = __fadd_rn(sum, 1.0f);
  }
  keep(out, sum + all);
}
extern "C" __global__ void read_sectors(float* out, const int* in, int n, int steps) { read_groups(out, in, n, steps, 8); }
extern "C" __global__ void read_rows(float* out, const int* in, int n, int steps) { read_groups(out, in, n, steps, 2048); }
