#include "components/sm/shared_bank_conflicts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "simcore/config/limits.h"

namespace gpusim::comp {

namespace {

constexpr uint32_t kMaxBanks = core::kMaxSharedBanks;

/// Steps of one group of lanes for 32-bit words at `word[lane]` (word index). In each step one word is
/// broadcast to all lanes that want it, and every other bank serves one lane (half-warp rule) or one word
/// (whole-warp rule).
uint32_t request_steps_half_warp(const SharedMemoryRules& rules, const std::array<uint64_t, 32>& word,
                                 uint32_t lanes) {
  uint32_t steps = 0;
  while (lanes != 0) {
    ++steps;
    const uint64_t broadcast = word[std::countr_zero(lanes)];
    uint64_t used_banks = uint64_t{1} << (broadcast % rules.banks);
    uint32_t rest = 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      if (word[lane] == broadcast) continue;
      const uint64_t bank = uint64_t{1} << (word[lane] % rules.banks);
      if ((used_banks & bank) != 0)
        rest |= uint32_t{1} << lane;
      else
        used_banks |= bank;
    }
    lanes = rest;
  }
  return steps;
}

/// True if no bank has to give two words: the common case of irregular accesses.
bool one_word_per_bank(const SharedMemoryRules& rules, const std::array<uint64_t, 32>& word, uint32_t lanes) {
  std::array<uint64_t, kMaxBanks> of_bank;
  uint64_t used = 0;
  bool conflict = false;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const uint64_t w = word[std::countr_zero(bits)];
    const uint32_t bank = w % rules.banks;
    conflict |= (used >> bank & 1) != 0 && of_bank[bank] != w;
    of_bank[bank] = w;
    used |= uint64_t{1} << bank;
  }
  return !conflict;
}

uint32_t request_steps_whole_warp(const SharedMemoryRules& rules, const std::array<uint64_t, 32>& word,
                                  uint32_t lanes) {
  if (one_word_per_bank(rules, word, lanes)) return 1;
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

constexpr uint32_t kHalf = isa::kWarpSize / 2;

/// True for a whole group of 4-byte lanes that read one word, or consecutive words: the cases that matter for
/// speed.
bool regular_group(const isa::MemoryAccess& access, uint32_t first, uint32_t lanes) {
  if (lanes == kHalf && access.half[first / kHalf] != isa::AccessShape::kOther) return true;
  const uint64_t* a = &access.address[first];
  const Offsets& expected = a[1] == a[0] ? kOneWord : kConsecutiveWords;
  uint64_t difference = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) difference |= a[lane] ^ (a[0] + expected[lane]);
  return difference == 0;
}

/// Steps of a whole warp of 4-byte lanes whose halves are regular_group()s: one word, consecutive words, and
/// rows of a 16-wide tile. 0: they are not.
uint32_t steps_of_regular_halves(const SharedMemoryRules& rules, const isa::MemoryAccess& access) {
  if (!regular_group(access, 0, kHalf) || !regular_group(access, kHalf, kHalf)) return 0;
  const uint64_t low = access.address[0] / 4, high = access.address[kHalf] / 4;
  const bool one_low = access.address[1] == access.address[0];
  const bool one_high = access.address[kHalf + 1] == access.address[kHalf];
  if (one_low != one_high) return 0;
  if (low == high || (!one_low && high == low + kHalf)) return 1;
  if (!one_low) return 0;
  return low % rules.banks == high % rules.banks ? 2 : 1;
}

/// Half-warp rule: a word wider than a bank is served as separate requests, one for each bank-wide part.
uint32_t group_steps_half_warp(const SharedMemoryRules& rules, const isa::MemoryAccess& access,
                               uint32_t lanes, uint32_t words) {
  uint32_t steps = 0;
  for (uint32_t part = 0; part < words; ++part) {
    std::array<uint64_t, 32> word;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      word[lane] = access.address[lane] / rules.bank_bytes + part;
      // Sub-word accesses of different addresses in one bank conflict: tell them apart, keep the bank.
      if (access.bytes < rules.bank_bytes)
        word[lane] += access.address[lane] % rules.bank_bytes * rules.banks * (uint64_t{1} << 32);
    }
    steps += request_steps_half_warp(rules, word, lanes);
  }
  return steps;
}

/// Whether the active lanes l and l ^ distance have the same address.
bool pairs_agree(const isa::MemoryAccess& access, uint32_t distance) {
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
    const uint32_t other = lane ^ distance;
    if ((access.lanes.bits() >> other & 1) != 0 && access.address[lane] != access.address[other])
      return false;
  }
  return true;
}

/// The active lanes, of each pair only one: at most every other lane.
uint32_t one_of_each_pair(uint32_t lanes, uint32_t distance) {
  const uint32_t lower = distance == 1 ? 0x55555555u : 0x33333333u;
  return (lanes & lower) | (lanes & ~lower & ~(lanes << distance));
}

/// Whole-warp rule, a request of `words` bank-wide parts of each of `lanes`, 32 parts at most.
uint32_t group_steps_whole_warp(const SharedMemoryRules& rules, const isa::MemoryAccess& access,
                                uint32_t lanes, uint32_t words) {
  std::array<uint64_t, 32> word;
  uint32_t count = 0;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1)
    for (uint32_t part = 0; part < words; ++part)
      word[count++] = access.address[std::countr_zero(bits)] / rules.bank_bytes + part;
  return request_steps_whole_warp(rules, word, count == 32 ? ~0u : (uint32_t{1} << count) - 1);
}

/// Lanes that update the word that most update. Halves of a word are swapped with it.
uint32_t busiest_word(const isa::MemoryAccess& access) {
  constexpr uint64_t kWordBytes = 4;
  uint32_t busiest = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t word = access.address[std::countr_zero(bits)] / kWordBytes;
    uint32_t same = 0;
    for (uint32_t others = bits; others != 0; others &= others - 1)
      same += access.address[std::countr_zero(others)] / kWordBytes == word;
    busiest = std::max(busiest, same);
  }
  return busiest;
}

}  // namespace

SharedMemoryRules shared_memory_rules(const core::MachineConfig& machine) {
  constexpr int64_t kPairsFrom = 70, kLoopsForSumsFrom = 50;
  return {static_cast<uint32_t>(machine.shared.banks), static_cast<uint32_t>(machine.shared.bank_bytes),
          static_cast<uint32_t>(machine.shared.lanes_per_access),
          machine.gpu.compute_capability >= kPairsFrom, machine.gpu.compute_capability >= kLoopsForSumsFrom};
}

SharedMemoryCost shared_access_cost(const SharedMemoryRules& rules, const isa::MemoryAccess& access,
                                    isa::OpKind kind) {
  const uint32_t words = std::max<uint32_t>(1, access.bytes / rules.bank_bytes);
  const bool half_warps = rules.lanes_per_access < isa::kWarpSize;
  // By the whole-warp rule, wide words are served to half or a quarter of the lanes at a time, three words
  // like four; to twice as many where lanes pair up.
  uint32_t distance = 0;
  if (rules.pairs && words > 1 && kind == isa::OpKind::kLoad)
    distance = pairs_agree(access, 1) ? 1 : pairs_agree(access, 2) ? 2 : 0;
  const uint32_t group =
      half_warps ? rules.lanes_per_access : isa::kWarpSize / std::bit_ceil(words) * (distance != 0 ? 2 : 1);
  const uint32_t group_mask = group >= isa::kWarpSize ? ~0u : (1u << group) - 1;
  const bool may_be_regular = access.bytes == 4 && rules.bank_bytes == 4 && rules.banks >= group;
  SharedMemoryCost cost;
  if (may_be_regular && !half_warps && access.shape != isa::AccessShape::kOther && access.lanes.full())
    return {1, 1};
  for (uint32_t first = 0; first < isa::kWarpSize; first += group) {
    uint32_t lanes = access.lanes.bits() & (group_mask << first);
    if (lanes == 0) continue;
    if (distance != 0) lanes = one_of_each_pair(lanes, distance);
    cost.least += half_warps ? words : 1;
    uint32_t steps = 0;
    if (may_be_regular && lanes == group_mask << first) {
      if (group == isa::kWarpSize)
        steps = steps_of_regular_halves(rules, access);
      else if (regular_group(access, first, group))
        steps = 1;
    }
    if (steps == 0)
      steps = half_warps ? group_steps_half_warp(rules, access, lanes, words)
                         : group_steps_whole_warp(rules, access, lanes, words);
    cost.steps += steps;
  }
  return cost;
}

uint32_t shared_atomic_steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access,
                             const SharedMemoryCost& cost, uint32_t rounds) {
  if (rounds != 0) return cost.steps * 2 * rounds;
  if (rules.lanes_per_access < isa::kWarpSize) return cost.steps * busiest_word(access);
  const uint32_t words = std::max<uint32_t>(1, access.bytes / rules.bank_bytes);
  const uint32_t group = isa::kWarpSize / std::bit_ceil(words);
  const uint32_t group_mask = group >= isa::kWarpSize ? ~0u : (1u << group) - 1;
  uint32_t steps = 0;
  for (uint32_t first = 0; first < isa::kWarpSize; first += group) {
    std::array<uint8_t, kMaxBanks> lanes_of{};
    uint32_t busiest = 0;
    for (uint32_t bits = access.lanes.bits() & (group_mask << first); bits != 0; bits &= bits - 1) {
      const uint64_t word = access.address[std::countr_zero(bits)] / rules.bank_bytes;
      for (uint32_t part = 0; part < words; ++part)
        busiest = std::max<uint32_t>(busiest, ++lanes_of[(word + part) % rules.banks]);
    }
    steps += busiest;
  }
  return steps;
}

uint32_t shared_sum_rounds(const SharedMemoryRules& rules, const isa::MicroOp& op,
                           const isa::MemoryAccess& access) {
  if (!rules.loops_for_sums || op.kind != isa::OpKind::kAtomic || !isa::is_float(op.type)) return 0;
  return busiest_word(access);
}

SharedOperationCost shared_operation_cost(const SharedMemoryRules& rules, const isa::MicroOp& op,
                                          const isa::MemoryAccess& access) {
  const bool tests = op.pred_dst[0] != isa::kNoPredicate && !op.memory.asynchronous;
  const isa::OpKind kind = tests ? isa::OpKind::kLoad : op.kind;
  SharedOperationCost of;
  of.cost = shared_access_cost(rules, access, kind);
  if (kind != isa::OpKind::kAtomic) return of;
  of.rounds = shared_sum_rounds(rules, op, access);
  of.cost.steps = shared_atomic_steps(rules, access, of.cost, of.rounds);
  return of;
}

}  // namespace gpusim::comp
