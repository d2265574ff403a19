// Fourier transforms of 512 complex numbers, forward and back: SHOC's FFT (vetter/shoc), which takes V.
// Volkov's. The same: a block of 64 threads a transform, eight numbers a thread 64 apart, three passes of
// radix 8 in registers, factors between them from approximate sine and cosine in single precision (the angle
// is computed in double precision), and two exchanges through shared memory, real parts and imaginary parts
// one after the other, with rows of 66 and 72 words and a barrier after each step but the last. The inverse
// transform divides by 512. Different: fewer transforms.
constexpr double kPi = 3.14159265358979323846;

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

template <typename T>
__device__ Complex<T> product(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename T>
__device__ void butterfly(Complex<T>& a, Complex<T>& b) {
  const Complex<T> sum = {a.re + b.re, a.im + b.im};
  b = {a.re - b.re, a.im - b.im};
  a = sum;
}

/// Where the value of that frequency is after radix_8.
__device__ constexpr int reversed(int i) { return (i & 1) * 4 + (i & 2) + (i & 4) / 4; }

/// kSign: that of the exponent.
template <typename T, int kSign>
__device__ void quarter_turn(Complex<T>& a) {
  a = {-kSign * a.im, kSign * a.re};
}

template <typename T, int kSign>
__device__ void radix_4(Complex<T>* a) {
  butterfly(a[0], a[2]);
  butterfly(a[1], a[3]);
  quarter_turn<T, kSign>(a[3]);
  butterfly(a[0], a[1]);
  butterfly(a[2], a[3]);
}

template <typename T, int kSign>
__device__ void radix_8(Complex<T>* a) {
  const T half_root = T(0.70710678118654752440);
#pragma unroll
  for (int i = 0; i < 4; ++i) butterfly(a[i], a[i + 4]);
  a[5] = {(a[5].re - kSign * a[5].im) * half_root, (a[5].im + kSign * a[5].re) * half_root};
  quarter_turn<T, kSign>(a[6]);
  a[7] = {(-a[7].re - kSign * a[7].im) * half_root, (kSign * a[7].re - a[7].im) * half_root};
  radix_4<T, kSign>(a);
  radix_4<T, kSign>(a + 4);
}

template <typename T, int kSign>
__device__ void turn(Complex<T>* a, int i, int n) {
#pragma unroll
  for (int j = 1; j < 8; ++j) {
    const float angle = static_cast<float>(static_cast<T>(kSign * 2 * kPi * reversed(j) / n * i));
    a[j] = product(a[j], Complex<T>{T(__cosf(angle)), T(__sinf(angle))});
  }
}

template <typename T>
__device__ void exchange(Complex<T>* a, T* to, int to_step, const T* from, bool last) {
#pragma unroll
  for (int j = 0; j < 8; ++j) to[j * to_step] = a[reversed(j)].re;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 8; ++j) a[j].re = from[j * 8];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 8; ++j) to[j * to_step] = a[reversed(j)].im;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 8; ++j) a[j].im = from[j * 8];
  if (!last) __syncthreads();
}

template <typename T, int kSign>
__device__ void transform(Pair<T>* data, T* shared) {
  const int t = threadIdx.x;
  const int row = t / 8;
  const int column = t % 8;
  data += (blockIdx.y * gridDim.x + blockIdx.x) * 512 + t;
  Complex<T> a[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const Pair<T> value = data[64 * j];
    a[j] = {value.re, value.im};
  }
  radix_8<T, kSign>(a);
  turn<T, kSign>(a, t, 512);
  exchange(a, shared + row * 8 + column, 66, shared + column * 66 + row, false);
  radix_8<T, kSign>(a);
  turn<T, kSign>(a, row, 64);
  exchange(a, shared + row * 8 + column, 72, shared + row * 72 + column, true);
  radix_8<T, kSign>(a);
  const T scale = kSign > 0 ? T(1) / 512 : T(1);
#pragma unroll
  for (int j = 0; j < 8; ++j) data[64 * j] = {a[reversed(j)].re * scale, a[reversed(j)].im * scale};
}

extern "C" __global__ void forward_f32(Pair<float>* data) {
  __shared__ float shared[576];
  transform<float, -1>(data, shared);
}
extern "C" __global__ void inverse_f32(Pair<float>* data) {
  __shared__ float shared[576];
  transform<float, 1>(data, shared);
}
extern "C" __global__ void forward_f64(Pair<double>* data) {
  __shared__ double shared[576];
  transform<double, -1>(data, shared);
}
extern "C" __global__ void inverse_f64(Pair<double>* data) {
  __shared__ double shared[576];
  transform<double, 1>(data, shared);
}
