#include "microbench/set_index_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gpusim::microbench {

namespace {

constexpr uint64_t kPeriods = 6;

/// Distances that must not share a set under "modulo", and some that must.
bool is_modulo(const SetIndexQuestion& q, const SameSet& same_set) {
  const uint64_t period = q.sets * q.line, end = uint64_t{1} << q.bits;
  std::vector<uint64_t> inside, outside;
  for (uint64_t k = 1; k <= kPeriods && q.anchor + k * period < end; ++k)
    inside.push_back(q.anchor + k * period);
  // Far periods show hashes of high bits.
  for (uint64_t far = kPeriods * period; q.anchor + far < end; far *= 2)
    inside.push_back(q.anchor + far / period * period);
  for (uint64_t d = q.line; d < end; d *= 2) {
    if (d % period != 0 && q.anchor + d < end) outside.push_back(q.anchor + d);
    if (3 * d % period != 0 && q.anchor + 3 * d < end) outside.push_back(q.anchor + 3 * d);
  }
  if (inside.empty()) return false;
  const std::vector<bool> in = same_set(inside), out = same_set(outside);
  return std::find(in.begin(), in.end(), false) == in.end() &&
         std::find(out.begin(), out.end(), true) == out.end();
}

/// Masks of one to `most` of the bits from `low` to `high`, the highest one of each being a column whose sum
/// with the others may be zero.
std::vector<uint64_t> masks_of(unsigned low, unsigned high, unsigned count) {
  std::vector<uint64_t> masks;
  for (unsigned k = low; k < high; ++k) {
    const uint64_t top = uint64_t{1} << k;
    if (count == 1) masks.push_back(top);
    for (unsigned i = low; count >= 2 && i < k; ++i) {
      if (count == 2) masks.push_back(top | uint64_t{1} << i);
      for (unsigned j = low; count >= 3 && j < i; ++j) {
        if (count == 3) masks.push_back(top | uint64_t{1} << i | uint64_t{1} << j);
        for (unsigned l = low; count >= 4 && l < j; ++l)
          masks.push_back(top | uint64_t{1} << i | uint64_t{1} << j | uint64_t{1} << l);
      }
    }
  }
  return masks;
}

/// Which lower bits each bit is equal to: found sums that leave the set, by their highest bit.
class Columns {
 public:
  Columns(unsigned low, unsigned high) : low_(low), equal_(high, 0), known_(high, false) {}

  void add(uint64_t mask) {
    const auto top = static_cast<unsigned>(std::bit_width(mask) - 1);
    if (known_[top]) return;
    known_[top] = true;
    equal_[top] = mask & ~(uint64_t{1} << top);
  }
  /// Bits that no sum explains: those of the index.
  [[nodiscard]] std::vector<unsigned> pivots() const {
    std::vector<unsigned> p;
    for (unsigned k = low_; k < known_.size(); ++k)
      if (!known_[k]) p.push_back(k);
    return p;
  }
  [[nodiscard]] std::string words() const {
    // Sums of pivots only, lowest bits first.
    std::vector<uint64_t> of_pivots(equal_.size(), 0);
    for (unsigned k = low_; k < known_.size(); ++k) {
      if (!known_[k]) of_pivots[k] = uint64_t{1} << k;
      for (uint64_t rest = known_[k] ? equal_[k] : 0; rest != 0; rest &= rest - 1)
        of_pivots[k] ^= of_pivots[static_cast<size_t>(std::countr_zero(rest))];
    }
    std::string text;
    for (const unsigned p : pivots()) {
      if (!text.empty()) text += ' ';
      text += fmt::format("a{}", p);
      for (unsigned k = p + 1; k < known_.size(); ++k)
        if ((of_pivots[k] >> p & 1) != 0) text += fmt::format("^a{}", k);
    }
    return text;
  }

 private:
  unsigned low_;
  std::vector<uint64_t> equal_;
  std::vector<bool> known_;
};

}  // namespace

std::string set_index_form(const SetIndexQuestion& q, const SameSet& same_set) {
  if (q.sets == 1) return "one set";
  if (is_modulo(q, same_set)) return "modulo";
  if (!std::has_single_bit(q.sets)) return "unknown";
  const auto low = static_cast<unsigned>(std::countr_zero(q.line));
  const auto index_bits = static_cast<size_t>(std::countr_zero(q.sets));
  Columns columns(low, q.bits);
  for (unsigned count = 1; count <= 4 && columns.pivots().size() > index_bits; ++count) {
    const std::vector<uint64_t> masks = masks_of(low, q.bits, count);
    std::vector<uint64_t> addresses;
    for (const uint64_t mask : masks) addresses.push_back(q.anchor ^ mask);
    const std::vector<bool> same = same_set(addresses);
    for (size_t i = 0; i < masks.size(); ++i)
      if (same[i]) columns.add(masks[i]);
  }
  return columns.pivots().size() == index_bits ? columns.words() : "unknown";
}

}  // namespace gpusim::microbench
