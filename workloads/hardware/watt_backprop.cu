// A layer of a neural network forwards, and the change of its weights: bpnn_layerforward_CUDA and
// bpnn_adjust_weights_cuda of Rodinia's backprop, as profiled on a V100 (accel-sim, AccelWattch). The same:
// 16 hidden units, blocks of 16 x 16 in the grid's second dimension, rows of 17 weights, products in shared
// memory folded in four steps whose distance is a power computed in floating point and tested with a
// remainder, barriers as there; factors of 0.3 are doubles, so that the changes are computed in double
// precision.
constexpr int kSide = 16;

extern "C" __global__ void layer_forward(float* input, float* hidden, float* weights, float* partial,
                                         int inputs, int units) {
  __shared__ float node[kSide];
  __shared__ float product[kSide][kSide];
  const int by = blockIdx.y;
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int at = (units + 1) * (kSide * by + y + 1) + x + 1;
  if (x == 0) node[y] = input[kSide * by + y + 1];
  __syncthreads();
  product[y][x] = weights[at];
  __syncthreads();
  product[y][x] = product[y][x] * node[y];
  __syncthreads();
  for (int i = 1; i <= __log2f(kSide); ++i) {
    const int reach = __powf(2, i);
    if (y % reach == 0) product[y][x] = product[y][x] + product[y + reach / 2][x];
    __syncthreads();
  }
  weights[at] = product[y][x];
  __syncthreads();
  if (x == 0) partial[by * units + y] = product[x][y];
}

extern "C" __global__ void adjust_weights(float* delta, int units, float* layer, int inputs, float* weights,
                                          float* changes) {
  const int by = blockIdx.y;
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int at = (units + 1) * (kSide * by + y + 1) + x + 1;
  const int row = kSide * by + y + 1;
  const int column = x + 1;
  weights[at] += (0.3 * delta[column] * layer[row]) + (0.3 * changes[at]);
  changes[at] = (0.3 * delta[column] * layer[row]) + (0.3 * changes[at]);
  __syncthreads();
  if (y == 0 && by == 0) {
    weights[column] += (0.3 * delta[column]) + (0.3 * changes[column]);
    changes[column] = (0.3 * delta[column]) + (0.3 * changes[column]);
  }
}
