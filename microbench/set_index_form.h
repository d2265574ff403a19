// Which bits of an address choose its set in a cache, written down from answers to the question whether two
// addresses share a set.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpusim::microbench {

/// For each address, whether it lies in the set of the address `anchor` that the asker knows.
using SameSet = std::function<std::vector<bool>(std::span<const uint64_t> addresses)>;

struct SetIndexQuestion {
  uint64_t anchor = 0;
  uint64_t line = 128;  ///< bytes, a power of two
  uint64_t sets = 1;
  unsigned bits = 25;  ///< of an address that may be asked for
};

/// "modulo": lines a multiple of `sets` apart share a set, and no others. Else a sum (exclusive or) of
/// address bits for each bit of the index: "a7^a13 a8^a14 ...". "unknown" if neither fits: sums of up to four
/// bits of a column are looked for.
[[nodiscard]] std::string set_index_form(const SetIndexQuestion& question, const SameSet& same_set);

}  // namespace gpusim::microbench
