// Shared by the sources of the pentadiagonal systems (sp*.cu): their matrix, and 2 x 2 blocks for cyclic
// reduction.
#pragma once
#include "common.h"

__device__ int line_start(int line, int n, int inner) { return line / inner * inner * n + line % inner; }

// Row i of a line's matrix: coefficients of the cells i - 2 to i + 2, 0 outside.
__device__ void row(double (&c)[5], const double* s, int i, int n, int inner) {
  c[0] = i >= 2 ? 0.0625 : 0;
  c[1] = i >= 1 ? -0.25 - 0.125 * s[(i - 1) * inner] : 0;
  c[2] = 2 + 0.25 * s[i * inner];
  c[3] = i + 1 < n ? -0.25 + 0.125 * s[(i + 1) * inner] : 0;
  c[4] = i + 2 < n ? 0.0625 : 0;
}

struct Matrix {
  double a, b, c, d;
};
__device__ Matrix operator*(Matrix l, Matrix r) {
  return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d};
}
__device__ double2 operator*(Matrix l, double2 r) { return {l.a * r.x + l.b * r.y, l.c * r.x + l.d * r.y}; }
__device__ Matrix operator-(Matrix l, Matrix r) { return {l.a - r.a, l.b - r.b, l.c - r.c, l.d - r.d}; }
__device__ double2 operator-(double2 l, double2 r) { return {l.x - r.x, l.y - r.y}; }
__device__ Matrix inverse(Matrix m) {
  const double scale = 1 / (m.a * m.d - m.b * m.c);
  return {m.d * scale, -m.b * scale, -m.c * scale, m.a * scale};
}

// Two rows: low * pair[p - step] + own * pair[p] + high * pair[p + step] = right.
struct Pair {
  Matrix low, own, high;
  double2 right;
};
