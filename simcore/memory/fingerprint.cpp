#include "simcore/memory/fingerprint.h"

#include <array>
#include <bit>
#include <cstring>

namespace gpusim::core {
namespace {

constexpr uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;    // 2^64 by the golden ratio
constexpr uint64_t kOther = 0xd1b5'4a32'd192'ed03;  // odd, with bits as irregular
constexpr size_t kLanes = 4, kWord = sizeof(uint64_t);

/// A bijection of 64-bit numbers in which each bit of the argument reaches all of the result.
uint64_t spread(uint64_t x) {
  x ^= x >> 32;
  x *= kOdd;
  x ^= x >> 29;
  x *= kOdd;
  return x ^ (x >> 32);
}

uint64_t word_at(const std::byte* place) {
  uint64_t word = 0;
  std::memcpy(&word, place, kWord);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// For a given word a bijection of the state, and the other way round: one word that differs always shows.
/// The product carries each bit of the word upwards and the rotation the uppermost ones down again, so that
/// what differs by a bit spreads before the next word comes, which could undo it otherwise.
uint64_t mixed(uint64_t state, uint64_t word) { return std::rotl(state + word * kOther, 31) * kOdd; }

}  // namespace

uint64_t fingerprint(std::span<const std::byte> bytes) {
  // Words go to the lanes in turn, so that four multiplications are under way at a time.
  std::array<uint64_t, kLanes> lanes{1, 2, 3, 4};
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= kLanes * kWord; left -= kLanes * kWord, at += kLanes * kWord)
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = mixed(lanes[i], word_at(at + i * kWord));
  std::array<std::byte, kLanes * kWord> rest{};
  if (left != 0) std::memcpy(rest.data(), at, left);
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = mixed(lanes[i], word_at(rest.data() + i * kWord));
  uint64_t all = spread(bytes.size());
  for (const uint64_t lane : lanes) all = spread(all ^ spread(lane)) * kOdd;
  return spread(all);
}

}  // namespace gpusim::core
