// Kernels of the kinds of the Parboil suite (Stratton et al., IMPACT-12-01, 2012), written from their
// mathematics. kernels.ptx: nvcc -ptx -arch=compute_75.

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// sgemm: C = A B^T, stored by columns as in Fortran (A: M x K, B: N x K). A block of 16 x 8 threads makes 128
// rows of 16 columns; each thread owns a row, 16 x 8 values of B lie in shared memory.
extern "C" __global__ void sgemm(float* C, const float* A, const float* B, int m, int n, int depth) {
  constexpr int kColumns = 16, kDeep = 8;
  __shared__ float tile[kDeep][kColumns];
  const int number = threadIdx.y * 16 + threadIdx.x, i = blockIdx.x * 128 + number,
            first = blockIdx.y * kColumns;
  float sum[kColumns] = {};
  for (int k = 0; k < depth; k += kDeep) {
    tile[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + first + threadIdx.x];
    __syncthreads();
    for (int d = 0; d < kDeep; ++d) {
      const float a = A[(k + d) * m + i];
      for (int j = 0; j < kColumns; ++j) sum[j] += a * tile[d][j];
    }
    __syncthreads();
  }
  for (int j = 0; j < kColumns; ++j) C[(first + j) * m + i] = sum[j];
}

// spmv: rows sorted by length and stored by diagonals (JDS): value d of row i at starts[d] + i, as long as
// the row has one.
extern "C" __global__ void spmv_jds(float* y, const float* values, const int* columns, const int* starts,
                                    const int* lengths, const int* rows_before, const float* x, int rows) {
  const int i = thread_number();
  if (i >= rows) return;
  float sum = 0;
  const int length = lengths[i];
  for (int d = 0; d < length; ++d) {
    const int at = starts[d] + i;
    sum += values[at] * x[columns[at]];
  }
  y[rows_before[i]] = sum;
}

// stencil: seven points, each thread walks along z and keeps its column's three cells in registers.
extern "C" __global__ void stencil7(float* next, const float* now, float c0, float c1, int nx, int ny,
                                    int nz) {
  const int i = thread_number(), j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
  const int plane = nx * ny;
  int at = j * nx + i;
  float below = now[at], here = now[at + plane];
  for (int k = 1; k < nz - 1; ++k) {
    at += plane;
    const float above = now[at + plane];
    next[at] = c1 * (above + below + now[at + nx] + now[at - nx] + now[at + 1] + now[at - 1]) - c0 * here;
    below = here;
    here = above;
  }
}

// mri-q: Q(x) = sum over samples k of |phi_k|^2 exp(2 pi i k x); samples lie in global memory, all threads
// read the same one.
extern "C" __global__ void mri_q(float* real, float* imaginary, const float* x, const float* y,
                                 const float* z, const float4* samples, int count, int points) {
  const int i = thread_number();
  if (i >= points) return;
  float sum_real = 0, sum_imaginary = 0;
  const float px = x[i], py = y[i], pz = z[i];
  for (int k = 0; k < count; ++k) {
    const float4 s = samples[k];
    const float angle = 6.2831853071795864769f * (s.x * px + s.y * py + s.z * pz);
    sum_real += s.w * cosf(angle);
    sum_imaginary += s.w * sinf(angle);
  }
  real[i] = sum_real;
  imaginary[i] = sum_imaginary;
}

// lbm: a step of the lattice-Boltzmann method with 19 velocities (D3Q19, BGK) on a periodic box, each
// velocity in an array of its own; a thread for each cell collects what streams into it and relaxes it.
__constant__ int kVelocity[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},
                                     {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0}, {1, -1, 0},
                                     {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                                     {0, 1, 1},  {0, -1, -1}, {0, 1, -1},  {0, -1, 1}};
extern "C" __global__ void lbm(float* next, const float* now, float omega, int nx, int ny, int nz) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y, cells = nx * ny * nz;
  float f[19], density = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int q = 0; q < 19; ++q) {
    int fx = x - kVelocity[q][0], fy = y - kVelocity[q][1], fz = z - kVelocity[q][2];
    fx += fx < 0 ? nx : fx >= nx ? -nx : 0;
    fy += fy < 0 ? ny : fy >= ny ? -ny : 0;
    fz += fz < 0 ? nz : fz >= nz ? -nz : 0;
    f[q] = now[q * cells + (fz * ny + fy) * nx + fx];
    density += f[q];
    ux += f[q] * kVelocity[q][0];
    uy += f[q] * kVelocity[q][1];
    uz += f[q] * kVelocity[q][2];
  }
  ux /= density, uy /= density, uz /= density;
  const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < 19; ++q) {
    const float along = kVelocity[q][0] * ux + kVelocity[q][1] * uy + kVelocity[q][2] * uz;
    const float weight = q == 0 ? 1.f / 3 : q < 7 ? 1.f / 18 : 1.f / 36;
    next[q * cells + (z * ny + y) * nx + x] =
        (1 - omega) * f[q] + omega * weight * density * (1 + 3 * along + 4.5f * along * along - square);
  }
}

// tpacf: how many pairs of directions (one of `left`, one of `right`) lie in each bin of the cosine between
// them; edges fall.
extern "C" __global__ void tpacf(unsigned* bins, const float* left, const float* right, const float* edges,
                                 int n, int edge_count) {
  __shared__ unsigned own[32];
  if (threadIdx.x < 32) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x;
  const float x = left[i], y = left[n + i], z = left[2 * n + i];
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    const float cosine = x * right[j] + y * right[n + j] + z * right[2 * n + j];
    int low = 0, high = edge_count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (cosine >= edges[middle])
        high = middle;
      else
        low = middle + 1;
    }
    atomicAdd(&own[low], 1u);
  }
  __syncthreads();
  if (threadIdx.x <= edge_count) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// histo: counts of a picture's values, 255 at most each, in global memory: adds that would wrap are undone at
// the end.
extern "C" __global__ void histogram(unsigned* bins, const unsigned* picture, int pixels, int bin_count) {
  for (int i = thread_number(); i < pixels; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[picture[i] % bin_count], 1u);
}
extern "C" __global__ void saturate(unsigned char* result, const unsigned* bins, int bin_count) {
  for (int i = thread_number(); i < bin_count; i += gridDim.x * blockDim.x)
    result[i] = bins[i] > 255 ? 255 : bins[i];
}

// sad: sums of absolute differences of 4 x 4 pixel blocks of a picture and the blocks of a reference that lie
// up to `range` pixels away; a thread for each displacement, a block for each 4 x 4 pixels.
extern "C" __global__ void sad(unsigned short* sums, const unsigned short* picture,
                               const unsigned short* reference, int width, int height, int range) {
  const int side = 2 * range + 1, at_x = blockIdx.x * 4, at_y = blockIdx.y * 4;
  for (int d = threadIdx.x; d < side * side; d += blockDim.x) {
    const int dx = d % side - range, dy = d / side - range;
    int sum = 0;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) {
        const int rx = min(max(at_x + x + dx, 0), width - 1), ry = min(max(at_y + y + dy, 0), height - 1);
        const int difference = picture[(at_y + y) * width + at_x + x] - reference[ry * width + rx];
        sum += difference < 0 ? -difference : difference;
      }
    sums[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + d] = sum;
  }
}
