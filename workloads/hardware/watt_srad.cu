// Derivatives and diffusion coefficient of an image: srad (the first kernel of an iteration) of Rodinia's
// srad_v1, as profiled on a V100 (accel-sim, AccelWattch). The same: a pixel a thread in blocks of 512, row
// and column by remainder and division of integers, neighbours through four index arrays, divisions rounded
// to nearest, and constants that are doubles, so that parts of the formula are computed in double precision.
extern "C" __global__ void diffusion(float lambda, int rows, int columns, long pixels, int* north, int* south,
                                     int* east, int* west, float* to_north, float* to_south, float* to_east,
                                     float* to_west, float level, float* coefficient, float* image) {
  const int at = blockIdx.x * 512 + threadIdx.x;
  int row = (at + 1) % rows - 1;
  int column = (at + 1) / rows + 1 - 1;
  if ((at + 1) % rows == 0) {
    row = rows - 1;
    column = column - 1;
  }
  if (at >= pixels) return;
  const float here = image[at];
  const float n = image[north[row] + rows * column] - here;
  const float s = image[south[row] + rows * column] - here;
  const float w = image[row + rows * west[column]] - here;
  const float e = image[row + rows * east[column]] - here;
  const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
  const float laplacian = (n + s + w + e) / here;
  const float above = (0.5 * gradient) - ((1.0 / 16.0) * (laplacian * laplacian));
  float below = 1 + (0.25 * laplacian);
  const float q = above / (below * below);
  below = (q - level) / (level * (1 + level));
  float c = 1.0 / (1.0 + below);
  if (c < 0) {
    c = 0;
  } else if (c > 1) {
    c = 1;
  }
  to_north[at] = n;
  to_south[at] = s;
  to_west[at] = w;
  to_east[at] = e;
  coefficient[at] = c;
}
