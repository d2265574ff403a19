#include "simcore/launch/random.h"

#include <bit>
#include <cmath>

namespace gpusim::core {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

double unit_of(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

double portable_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);  // [1, 2)
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln(m) = 2 atanh(t), t = (m-1)/(m+1), |t| < 0.172: the series ends below 2^-60 after t^23.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double t2 = t * t;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * t2;
  return exponent * 0.6931471805599453 + 2 * (t + t * series);
}

BufferRandom::BufferRandom(uint64_t seed, std::string_view buffer_name)
    : key_(mix64(seed + kGolden) ^ mix64(fnv1a64(buffer_name))) {}

uint64_t BufferRandom::bits(uint64_t index) const { return mix64(key_ + (index + 1) * kGolden); }

double BufferRandom::unit(uint64_t index) const { return unit_of(bits(index)); }

int64_t BufferRandom::integer(uint64_t index, int64_t low, int64_t high) const {
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const auto offset = static_cast<uint64_t>((static_cast<unsigned __int128>(bits(index)) * span) >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double BufferRandom::normal(uint64_t index) const {
  uint64_t state = bits(index);  // a SplitMix64 sequence of the element's own
  for (;;) {
    const double u = 2 * unit_of(mix64(state += kGolden)) - 1;
    const double v = 2 * unit_of(mix64(state += kGolden)) - 1;
    const double s = u * u + v * v;
    if (s > 1e-300 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

}  // namespace gpusim::core
