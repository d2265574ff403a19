// Temperatures of a chip, several steps a launch on tiles with a halo: calculate_temp of Rodinia's hotspot,
// as measured on V100s (blackjack2015/NV-DVFS-Benchmark with four steps a launch, accel-sim's AccelWattch
// with two). The same: blocks of 16 x 16 threads whose inner part, smaller by two for each step, is written;
// temperatures, powers and new temperatures in shared memory, neighbours clamped to the valid part of the
// tile, two barriers a step, 2.0 a double, so that parts of the sum are computed in double precision. The
// argument for the elapsed time that nothing uses is left out.
constexpr int kTile = 16;

__device__ __forceinline__ bool within(int x, int least, int most) { return x >= least && x <= most; }

extern "C" __global__ void step_temperatures(int steps, float* power, float* from, float* to, int columns,
                                             int rows, int border_columns, int border_rows, float capacity,
                                             float rx, float ry, float rz, float step) {
  __shared__ float now[kTile][kTile];
  __shared__ float powers[kTile][kTile];
  __shared__ float next[kTile][kTile];
  const float ambient = 80.0;
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const float share = step / capacity;
  const float along_x = 1 / rx;
  const float along_y = 1 / ry;
  const float along_z = 1 / rz;
  const int inner = kTile - steps * 2;
  const int top = inner * blockIdx.y - border_rows;
  const int left = inner * blockIdx.x - border_columns;
  const int bottom = top + kTile - 1;
  const int right = left + kTile - 1;
  const int row = top + y;
  const int column = left + x;
  const int at = columns * row + column;
  if (within(row, 0, rows - 1) && within(column, 0, columns - 1)) {
    now[y][x] = from[at];
    powers[y][x] = power[at];
  }
  __syncthreads();
  const int first_y = top < 0 ? -top : 0;
  const int last_y = bottom > rows - 1 ? kTile - 1 - (bottom - rows + 1) : kTile - 1;
  const int first_x = left < 0 ? -left : 0;
  const int last_x = right > columns - 1 ? kTile - 1 - (right - columns + 1) : kTile - 1;
  const int north = max(y - 1, first_y);
  const int south = min(y + 1, last_y);
  const int west = max(x - 1, first_x);
  const int east = min(x + 1, last_x);
  bool computed;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (within(x, i + 1, kTile - i - 2) && within(y, i + 1, kTile - i - 2) && within(x, first_x, last_x) &&
        within(y, first_y, last_y)) {
      computed = true;
      next[y][x] =
          now[y][x] + share * (powers[y][x] + (now[south][x] + now[north][x] - 2.0 * now[y][x]) * along_y +
                               (now[y][east] + now[y][west] - 2.0 * now[y][x]) * along_x +
                               (ambient - now[y][x]) * along_z);
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) now[y][x] = next[y][x];
    __syncthreads();
  }
  if (computed) to[at] = next[y][x];
}
