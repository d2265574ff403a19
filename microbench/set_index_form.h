// Which bits of an address choose its set in a cache, written down from addresses that share a set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpusim::microbench {

/// Of the addresses that samples are drawn from by lot, all that lie below 2^bits.
struct AddressSpace {
  uint64_t line = 128;  ///< bytes, a power of two
  unsigned bits = 25;
};

/// Samples of one set that tell its form, but for one case in some thousands.
[[nodiscard]] size_t samples_for_form(const AddressSpace& space);

/// What addresses of one set, drawn by lot, have in common, if nothing else does between `sets` sets.
/// "modulo": lines a multiple of `sets` apart share a set. Else a sum (exclusive or) of address bits for each
/// bit of the index, "a7^a13 a8^a14 ...", and if there are an odd number of times as many sets, the remainder
/// of some high bits: "a7 a8^a20 (a>>17)%25". "unknown": neither.
[[nodiscard]] std::string set_index_form(const AddressSpace& space, uint64_t sets,
                                         std::span<const uint64_t> of_one_set);

}  // namespace gpusim::microbench
