// The two triangular sweeps of lu.cu, tuned: lu_lower_thread has a launch for each plane x + y + z = const,
// in which the lanes of a warp touch cells nx - 1 apart and few SMs have work. Here a launch goes over a
// plane of tiles; a block takes a tile through shared memory, loaded along x, and goes over the tile's own
// planes with a barrier between them: a launch for each kTile planes, and lines of cells that are whole
// sectors. lu_tiles.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

constexpr int kTile = 8;          // cells each way; kTile^2 threads
constexpr int kSide = kTile + 1;  // with the cells before, which the tile needs

// Tiles with x + y + z = step->now, of 0 to the sum of the tiles each way less 3; blocks are (y, z) of the
// tile.
__device__ void sweep_tiles(double* v, Step* step, int nx, int ny, int nz, double a, double b, bool back) {
  __shared__ double cells[kSide][kSide][kSide];
  const int tiles_x = (nx + kTile - 1) / kTile, tiles_y = (ny + kTile - 1) / kTile,
            tiles_z = (nz + kTile - 1) / kTile;
  const int tile_y = blockIdx.x % tiles_y, tile_z = blockIdx.x / tiles_y;
  const int tile_x = static_cast<int>(step->now) - tile_y - tile_z;
  if (tile_x >= 0 && tile_x < tiles_x) {
    const int left = tile_x * kTile - 1, low = tile_y * kTile - 1, down = tile_z * kTile - 1;
    const int last = nx * ny * nz - 1, tid = threadIdx.x;
    for (int i = tid; i < kSide * kSide * kSide; i += kTile * kTile) {
      const int x = left + i % kSide, y = low + i / kSide % kSide, z = down + i / (kSide * kSide);
      const bool inside = x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz;
      const int cell = (z * ny + y) * nx + x;
      cells[i / (kSide * kSide)][i / kSide % kSide][i % kSide] = inside ? v[back ? last - cell : cell] : 0;
    }
    const int y = 1 + tid % kTile, z = 1 + tid / kTile;
    for (int plane = 0; plane < 3 * kTile - 2; ++plane) {
      __syncthreads();
      const int x = 1 + plane - (y - 1) - (z - 1);
      if (x >= 1 && x <= kTile)
        cells[z][y][x] =
            a * cells[z][y][x] + b * (cells[z][y][x - 1] + cells[z][y - 1][x] + cells[z - 1][y][x]);
    }
    __syncthreads();
    for (int i = tid; i < kTile * kTile * kTile; i += kTile * kTile) {
      const int x = i % kTile, y_cell = i / kTile % kTile, z_cell = i / (kTile * kTile);
      const int gx = left + 1 + x, gy = low + 1 + y_cell, gz = down + 1 + z_cell;
      const int cell = (gz * ny + gy) * nx + gx;
      if (gx < nx && gy < ny && gz < nz) v[back ? last - cell : cell] = cells[z_cell + 1][y_cell + 1][x + 1];
    }
  }
  end_step(step, tiles_x + tiles_y + tiles_z - 2);
}
extern "C" __global__ void lu_lower_tiles(double* v, Step* step, int nx, int ny, int nz, double a, double b) {
  sweep_tiles(v, step, nx, ny, nz, a, b, false);
}
extern "C" __global__ void lu_upper_tiles(double* v, Step* step, int nx, int ny, int nz, double b) {
  sweep_tiles(v, step, nx, ny, nz, 1, b, true);
}
