// Templates: expression templates, variadic folds, compile-time tables, policies, if constexpr, a matrix
// class.
#include "corpus.h"

template <unsigned R, unsigned C>
struct Matrix {
  unsigned at[R][C];
  template <unsigned K>
  __device__ Matrix<R, K> operator*(const Matrix<C, K>& other) const {
    Matrix<R, K> result{};
    for (unsigned r = 0; r < R; ++r)
      for (unsigned k = 0; k < K; ++k)
        for (unsigned c = 0; c < C; ++c) result.at[r][k] += at[r][c] * other.at[c][k];
    return result;
  }
};

template <class L, class R>
struct Sum {
  L left;
  R right;
  __device__ unsigned operator[](unsigned i) const { return left[i] + right[i]; }
};

struct Iota {
  unsigned start;
  __device__ unsigned operator[](unsigned i) const { return start + i; }
};

struct Mixed {
  unsigned seed;
  __device__ unsigned operator[](unsigned i) const { return mix(seed + i); }
};

template <class L, class R>
__device__ Sum<L, R> operator+(L left, R right) {
  return {left, right};
}

template <class... T>
__device__ unsigned long long total(T... values) {
  return (0ull + ... + static_cast<unsigned long long>(values));
}

constexpr unsigned long long power(unsigned base, unsigned exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

constexpr unsigned long long kPower = power(3, 30);

struct Primes {
  unsigned at[16];
};

constexpr Primes primes() {
  Primes p{};
  unsigned count = 0;
  for (unsigned n = 2; count < 16; ++n) {
    bool prime = true;
    for (unsigned d = 2; d * d <= n; ++d) prime = prime && n % d;
    if (prime) p.at[count++] = n;
  }
  return p;
}

__constant__ Primes table = primes();

template <class T>
__device__ T reversed(T value) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(__brevll(value));
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(__brev(value));
  else
    return static_cast<T>(__brev(value) >> (32 - 8 * sizeof(T)));
}

extern "C" __global__ void templates(unsigned long long* out, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  Matrix<2, 3> a;
  Matrix<3, 4> b;
  for (unsigned k = 0; k < 6; ++k) a.at[k / 3][k % 3] = mix(i + k);
  for (unsigned k = 0; k < 12; ++k) b.at[k / 4][k % 4] = i * k + 1;
  auto product = a * b;
  auto sum = Iota{i} + Mixed{2 * i} + Iota{7};
  out[4 * i] = static_cast<unsigned long long>(product.at[i & 1][i % 4]) << 32 | sum[i % 3];
  out[4 * i + 1] =
      total(static_cast<unsigned char>(i * 5), static_cast<short>(-static_cast<int>(i)), i, 3ull << i % 60);
  out[4 * i + 2] = kPower * table.at[i % 16];
  out[4 * i + 3] = reversed(mix64(i)) ^ reversed(mix(i)) ^ reversed(static_cast<unsigned short>(i)) ^
                   reversed(static_cast<unsigned char>(i));
}
