// The pentadiagonal systems of sp.cu by cyclic reduction, tuned: sp_solve_block has a block of n / 2 threads
// per line, whose lanes load cells `inner` apart and part at every step of the reduction. Here a block takes
// kLines lines that are neighbours, and
// - cells pass through a tile in shared memory, loaded along whichever of line and neighbours is contiguous;
// - neighbouring lanes have the same pair of neighbouring lines, so that few warps part at a step, and no two
//   lanes of a half-warp want the same bank: the blocks lie in shared memory element by element;
// - a pair's block is inverted once, not by both neighbours.
// sp_lines.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "sp.h"

constexpr int kLines = 8;
constexpr int kElements = sizeof(Pair) / sizeof(double);
constexpr int kPitch = kLines + 1;  // of a cell's row in a tile: cells lie in different banks

// Pairs of all lines, element by element; `place` is kLines * pair + line.
struct Pairs {
  double* first;
  int count;
  __device__ double& at(int element, int place) const { return first[element * count + place]; }
  __device__ Matrix matrix(int element, int place) const {
    return {at(element, place), at(element + 1, place), at(element + 2, place), at(element + 3, place)};
  }
  __device__ void put(const Pair& pair, int place) const {
    const double* element = &pair.low.a;
#pragma unroll
    for (int e = 0; e < kElements; ++e) at(e, place) = element[e];
  }
  __device__ Pair get(int place) const {
    return {matrix(0, place), matrix(4, place), matrix(8, place), {at(12, place), at(13, place)}};
  }
};

// A cell of the block's lines: in the tile, and in the grid (-1: there is no such line).
struct Cell {
  int tile, global;
};
__device__ Cell cell_of(int line, int i, int n, int inner) {
  const int number = blockIdx.x * kLines + line;
  return {i * kPitch + line, number < n * n ? line_start(number, n, inner) + i * inner : -1};
}

// kLines * n / 2 threads (n even) and as many Pairs of dynamic shared memory.
extern "C" __global__ void sp_solve_lines(double* x, const double* s, int n, int inner) {
  extern __shared__ double memory[];
  double *values = memory, *states = memory + kPitch * n;
  const int tid = threadIdx.x, threads = blockDim.x;
  // Threads bring in two cells each, counting along the contiguous direction.
  const bool along = inner == 1;
  const Cell cells[2] = {
      along ? cell_of(tid / n, tid % n, n, 1) : cell_of(tid % kLines, tid / kLines, n, inner),
      along ? cell_of(tid / n + kLines / 2, tid % n, n, 1)
            : cell_of(tid % kLines, tid / kLines + n / 2, n, inner)};
  for (const Cell& cell : cells) {
    values[cell.tile] = cell.global >= 0 ? x[cell.global] : 0;
    states[cell.tile] = cell.global >= 0 ? s[cell.global] : 0;
  }
  __syncthreads();
  const int line = tid % kLines, p = tid / kLines;
  double even[5], odd[5];
  row(even, states + line, 2 * p, n, kPitch);
  row(odd, states + line, 2 * p + 1, n, kPitch);
  Pair own = {{even[0], even[1], 0, odd[0]},
              {even[2], even[3], odd[1], odd[2]},
              {even[4], 0, odd[3], odd[4]},
              {values[2 * p * kPitch + line], values[(2 * p + 1) * kPitch + line]}};
  const Pairs pairs = {memory, threads};
  __syncthreads();
  for (int step = 1; step < n / 2; step *= 2) {
    const Matrix inverted = inverse(own.own);  // once, not by either neighbour
    pairs.put({own.low, inverted, own.high, own.right}, tid);
    __syncthreads();
    if (p >= step) {
      const Pair low = pairs.get(tid - step * kLines);
      const Matrix factor = own.low * low.own;
      own.own = own.own - factor * low.high;
      own.right = own.right - factor * low.right;
      own.low = Matrix{} - factor * low.low;
    }
    if (p + step < n / 2) {
      const Pair high = pairs.get(tid + step * kLines);
      const Matrix factor = own.high * high.own;
      own.own = own.own - factor * high.low;
      own.right = own.right - factor * high.right;
      own.high = Matrix{} - factor * high.high;
    }
    __syncthreads();
  }
  const double2 solved = inverse(own.own) * own.right;
  values[2 * p * kPitch + line] = solved.x;
  values[(2 * p + 1) * kPitch + line] = solved.y;
  __syncthreads();
  for (const Cell& cell : cells)
    if (cell.global >= 0) x[cell.global] = values[cell.tile];
}
