// Double-precision math functions: one result a function, in the order of expected.py.
#include <math.h>

extern "C" __global__ void unary(double* out, const double* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], p = fabs(v) + 1e-3;
  double* o = out + 23 * i;
  o[0] = sin(v);
  o[1] = cos(v);
  o[2] = tan(v);
  o[3] = exp(v / 8);
  o[4] = exp2(v / 4);
  o[5] = expm1(v / 16);
  o[6] = log(p);
  o[7] = log2(p);
  o[8] = log10(p);
  o[9] = log1p(p);
  o[10] = sqrt(p);
  o[11] = cbrt(v);
  o[12] = asin(v / 1000);
  o[13] = acos(v / 1000);
  o[14] = atan(v);
  o[15] = sinh(v / 10);
  o[16] = cosh(v / 10);
  o[17] = tanh(v / 10);
  o[18] = asinh(v);
  o[19] = acosh(p + 1);
  o[20] = atanh(v / 1000);
  o[21] = erf(v / 4);
  o[22] = erfc(v / 100);
}

extern "C" __global__ void binary(double* out, const double* x, const double* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = y[i], p = fabs(a) + 1e-3;
  double* o = out + 4 * i;
  o[0] = pow(p, b / 8);
  o[1] = atan2(a, b);
  o[2] = hypot(a, b);
  o[3] = rsqrt(p);
}

// Results without a rounding error, or with one correct rounding.
extern "C" __global__ void exact(double* out, const double* x, const double* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = y[i];
  double* o = out + 12 * i;
  int exponent;
  double whole;
  o[0] = a / b;
  o[1] = sqrt(fabs(a));
  o[2] = fma(a, b, -a);
  o[3] = fmod(a, b);
  o[4] = floor(a) + ceil(b);
  o[5] = rint(a) - trunc(b);
  o[6] = round(a);
  o[7] = frexp(a, &exponent) + exponent;
  o[8] = ldexp(b, static_cast<int>(i % 40) - 20);
  o[9] = modf(a, &whole) + whole;
  o[10] = copysign(fmax(a, b), fmin(a, b));
  o[11] = __dadd_rz(a, b);
}
