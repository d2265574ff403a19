#include "components/shared_memory.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gpusim::comp {

namespace {

constexpr uint32_t kMaxBanks = 32;

/// Steps of one group of lanes for 32-bit words at `word[lane]` (word index). In each step one word is
/// broadcast to all lanes that want it, and every other bank serves one lane (half-warp rule) or one word
/// (whole-warp rule).
uint32_t group_steps_half_warp(const SharedMemoryRules& rules, const std::array<uint64_t, 32>& word,
                               uint32_t lanes) {
  uint32_t steps = 0;
  while (lanes != 0) {
    ++steps;
    const uint64_t broadcast = word[std::countr_zero(lanes)];
    uint32_t used_banks = uint32_t{1} << (broadcast % rules.banks);
    uint32_t rest = 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      if (word[lane] == broadcast) continue;
      const uint32_t bank = uint32_t{1} << (word[lane] % rules.banks);
      if ((used_banks & bank) != 0)
        rest |= uint32_t{1} << lane;
      else
        used_banks |= bank;
    }
    lanes = rest;
  }
  return steps;
}

uint32_t group_steps_whole_warp(const SharedMemoryRules& rules, const std::array<uint64_t, 32>& word,
                                uint32_t lanes) {
  std::array<std::array<uint64_t, 32>, kMaxBanks> seen;
  std::array<uint8_t, kMaxBanks> count{};
  uint32_t steps = 1;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const uint64_t w = word[std::countr_zero(bits)];
    const uint32_t bank = w % rules.banks;
    const auto end = seen[bank].begin() + count[bank];
    if (std::find(seen[bank].begin(), end, w) != end) continue;
    seen[bank][count[bank]++] = w;
    steps = std::max<uint32_t>(steps, count[bank]);
  }
  return steps;
}

using Offsets = std::array<uint64_t, isa::kWarpSize>;
constexpr Offsets kOneWord{};
constexpr Offsets kConsecutiveWords = [] {
  Offsets offsets{};
  for (size_t lane = 0; lane < offsets.size(); ++lane) offsets[lane] = 4 * lane;
  return offsets;
}();

/// True for a whole group of 4-byte lanes that read one word, or consecutive words: the cases that matter for
/// speed.
bool regular_group(const isa::MemoryAccess& access, uint32_t first, uint32_t lanes) {
  const uint64_t* a = &access.address[first];
  const Offsets& expected = a[1] == a[0] ? kOneWord : kConsecutiveWords;
  uint64_t difference = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) difference |= a[lane] ^ (a[0] + expected[lane]);
  return difference == 0;
}

uint32_t group_steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access, uint32_t lanes,
                     uint32_t words) {
  const bool half_warp = rules.lanes_per_access < isa::kWarpSize;
  uint32_t steps = 0;
  // A word wider than a bank is served as separate requests, one for each bank-wide part.
  for (uint32_t part = 0; part < words; ++part) {
    std::array<uint64_t, 32> word;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      word[lane] = access.address[lane] / rules.bank_bytes + part;
      // Sub-word accesses of different addresses in one bank conflict on 1.x: tell them apart, keep the bank.
      if (half_warp && access.bytes < rules.bank_bytes)
        word[lane] += access.address[lane] % rules.bank_bytes * rules.banks * (uint64_t{1} << 32);
    }
    steps +=
        half_warp ? group_steps_half_warp(rules, word, lanes) : group_steps_whole_warp(rules, word, lanes);
  }
  return steps;
}

}  // namespace

SharedMemoryCost shared_access_cost(const SharedMemoryRules& rules, const isa::MemoryAccess& access) {
  const uint32_t group = rules.lanes_per_access;
  const uint32_t group_mask = group >= isa::kWarpSize ? ~0u : (1u << group) - 1;
  const uint32_t words = std::max<uint32_t>(1, access.bytes / rules.bank_bytes);
  const bool may_be_regular = access.bytes == 4 && rules.bank_bytes == 4 && rules.banks >= group;
  SharedMemoryCost cost;
  for (uint32_t first = 0; first < isa::kWarpSize; first += group) {
    const uint32_t lanes = access.lanes.bits() & (group_mask << first);
    if (lanes == 0) continue;
    cost.least += words;
    const bool whole = lanes == group_mask << first;
    cost.steps += may_be_regular && whole && regular_group(access, first, group)
                      ? 1
                      : group_steps(rules, access, lanes, words);
  }
  return cost;
}

uint32_t shared_atomic_rounds(const isa::MemoryAccess& access) {
  uint32_t rounds = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t a = access.address[std::countr_zero(bits)];
    uint32_t same = 0;
    for (uint32_t others = bits; others != 0; others &= others - 1)
      same += access.address[std::countr_zero(others)] == a;
    rounds = std::max(rounds, same);
  }
  return rounds;
}

}  // namespace gpusim::comp
