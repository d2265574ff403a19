#include "microbench/set_index_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

namespace gpusim::microbench {

namespace {

/// Beyond as many as there are bits: each halves the odds that a sum holds by chance.
constexpr size_t kSpare = 12;

/// Address bits of which some sums (exclusive or) are the same for all addresses of a set. Bits from below on
/// are the index; each of the others either changes nothing or leaves the set together with some below it.
class Columns {
 public:
  Columns(unsigned low, unsigned high) : low_(low), equal_(high, 0), known_(high, false) {}

  /// Flipping these bits leads to another address of the set.
  void add(uint64_t mask) {
    while (mask != 0) {
      const auto top = static_cast<unsigned>(std::bit_width(mask) - 1);
      const uint64_t rest = mask & ~(uint64_t{1} << top);
      if (!known_[top]) {
        known_[top] = true;
        equal_[top] = rest;
        return;
      }
      mask = rest ^ equal_[top];
    }
  }
  /// Bits that no sum explains: those of the index.
  [[nodiscard]] std::vector<unsigned> pivots() const {
    std::vector<unsigned> p;
    for (unsigned k = low_; k < known_.size(); ++k)
      if (!known_[k]) p.push_back(k);
    return p;
  }
  /// Each bit of the index with the higher ones that are added to it.
  [[nodiscard]] std::vector<std::string> sums() const {
    std::vector<uint64_t> of_pivots(equal_.size(), 0);
    for (unsigned k = low_; k < known_.size(); ++k) {
      if (!known_[k]) of_pivots[k] = uint64_t{1} << k;
      for (uint64_t rest = known_[k] ? equal_[k] : 0; rest != 0; rest &= rest - 1)
        of_pivots[k] ^= of_pivots[static_cast<size_t>(std::countr_zero(rest))];
    }
    std::vector<std::string> sums;
    for (const unsigned p : pivots()) {
      sums.push_back(fmt::format("a{}", p));
      for (unsigned k = p + 1; k < known_.size(); ++k)
        if ((of_pivots[k] >> p & 1) != 0) sums.back() += fmt::format("^a{}", k);
    }
    return sums;
  }

 private:
  unsigned low_;
  std::vector<uint64_t> equal_;
  std::vector<bool> known_;
};

/// The highest shift behind which all addresses leave the same remainder.
std::optional<unsigned> shift_of_remainder(const AddressSpace& space, uint64_t divisor,
                                           std::span<const uint64_t> addresses) {
  for (unsigned shift = space.bits; shift-- > 0;) {
    uint64_t common = 0;
    for (const uint64_t a : addresses) {
      const uint64_t x = a >> shift, y = addresses.front() >> shift;
      common = std::gcd(common, x > y ? x - y : y - x);
    }
    if (common != 0 && common % divisor == 0) return shift;
  }
  return {};
}

}  // namespace

size_t samples_for_form(const AddressSpace& space) {
  return space.bits - static_cast<unsigned>(std::countr_zero(space.line)) + kSpare;
}

std::string set_index_form(const AddressSpace& space, uint64_t sets, std::span<const uint64_t> of_one_set) {
  if (sets == 1) return "one set";
  if (of_one_set.size() < samples_for_form(space)) return "unknown";
  const auto low = static_cast<unsigned>(std::countr_zero(space.line));
  Columns columns(low, space.bits);
  for (const uint64_t a : of_one_set) columns.add((a ^ of_one_set.front()) >> low << low);
  const std::vector<std::string> sums = columns.sums();
  const auto count = static_cast<unsigned>(sums.size());
  if (sets % (uint64_t{1} << count) != 0) return "unknown";
  const uint64_t rest = sets >> count;
  std::optional<unsigned> shift;
  if (rest != 1) {
    shift = shift_of_remainder(space, rest, of_one_set);
    if (rest % 2 == 0 || !shift) return "unknown";
  }
  bool plain = !shift || *shift == low + count;
  for (unsigned k = 0; k < count; ++k) plain = plain && sums[k] == fmt::format("a{}", low + k);
  if (plain) return "modulo";
  std::string words = fmt::format("{}", fmt::join(sums, " "));
  if (shift) words += fmt::format("{}(a>>{})%{}", words.empty() ? "" : " ", *shift, rest);
  return words;
}

}  // namespace gpusim::microbench
