// Bank conflicts against figures of the CUDA C Programming Guide and a second implementation that hands out
// banks step by step.
#include "components/sm/shared_bank_conflicts.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace gpusim::comp {
namespace {

constexpr SharedMemoryRules kHalfWarps{16, 4, 16};
constexpr SharedMemoryRules kWholeWarps{32, 4, 32};
constexpr SharedMemoryRules kPairs{32, 4, 32, true};
constexpr isa::OpKind kLoad = isa::OpKind::kLoad;

isa::MemoryAccess access_of(uint16_t bytes, uint32_t lanes,
                            const std::function<uint64_t(uint64_t)>& address) {
  isa::MemoryAccess access{};
  access.bytes = bytes;
  access.lanes = isa::LaneMask(lanes);
  for (uint64_t lane = 0; lane < isa::kWarpSize; ++lane) access.address[lane] = address(lane);
  return access;
}

uint32_t steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access) {
  return shared_access_cost(rules, access, kLoad).steps;
}

/// One request of a group as the guide describes it: in each step choose the first remaining thread's word
/// for broadcast; it is read by all who want it; of every other bank one address is served.
uint32_t serve_half_warp(const SharedMemoryRules& rules, std::vector<uint64_t> addresses) {
  uint32_t steps = 0;
  while (!addresses.empty()) {
    ++steps;
    const uint64_t broadcast = addresses.front();
    std::set<uint64_t> busy = {broadcast / rules.bank_bytes % rules.banks};
    std::vector<uint64_t> rest;
    for (const uint64_t a : addresses)
      if (a != broadcast && !busy.insert(a / rules.bank_bytes % rules.banks).second) rest.push_back(a);
    addresses = rest;
  }
  return steps;
}

uint32_t serve_whole_warp(const SharedMemoryRules& rules, const std::vector<uint64_t>& addresses) {
  std::map<uint64_t, std::set<uint64_t>> words_of_bank;
  size_t most = 0;
  for (const uint64_t a : addresses) {
    auto& words = words_of_bank[a / rules.bank_bytes % rules.banks];
    words.insert(a / rules.bank_bytes);
    most = std::max(most, words.size());
  }
  return static_cast<uint32_t>(most);
}

uint32_t reference_steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access) {
  uint32_t total = 0;
  if (rules.lanes_per_access == 32) {  // half or a quarter of the warp at a time if words are wide
    const uint32_t words = std::max(1u, access.bytes / rules.bank_bytes);
    for (uint32_t first = 0; first < 32; first += 32 / words) {
      std::vector<uint64_t> addresses;
      for (uint32_t lane = first; lane < first + 32 / words; ++lane)
        for (uint32_t part = 0; part < words && access.lanes.test(static_cast<int>(lane)); ++part)
          addresses.push_back(access.address[lane] + uint64_t{part} * rules.bank_bytes);
      total += serve_whole_warp(rules, addresses);
    }
    return total;
  }
  for (uint32_t first = 0; first < 32; first += rules.lanes_per_access)
    for (uint32_t part = 0; part < std::max(1u, access.bytes / rules.bank_bytes); ++part) {
      std::vector<uint64_t> addresses;
      for (uint32_t lane = first; lane < first + rules.lanes_per_access; ++lane)
        if (access.lanes.test(static_cast<int>(lane)))
          addresses.push_back(access.address[lane] + uint64_t{part} * rules.bank_bytes);
      total += serve_half_warp(rules, addresses);
    }
  return total;
}

TEST(SharedMemory, BroadcastIsOneStepAHalfWarp) {
  const SharedMemoryCost cost =
      shared_access_cost(kHalfWarps, access_of(4, ~0u, [](uint64_t) { return 64; }), kLoad);
  EXPECT_EQ(cost.steps, 2u);
  EXPECT_EQ(cost.replays(), 0u);
}

TEST(SharedMemory, StrideConflictsByTheGreatestCommonDivisor) {
  // Stride s maps 16 lanes onto 16 / gcd(s, 16) banks.
  for (uint64_t stride = 1; stride <= 17; ++stride) {
    const auto access = access_of(4, ~0u, [&](uint64_t lane) { return lane * stride * 4; });
    EXPECT_EQ(steps(kHalfWarps, access), 2 * std::gcd(stride, uint64_t{16})) << stride;
    EXPECT_EQ(steps(kWholeWarps, access), std::gcd(stride, uint64_t{32})) << stride;
  }
}

TEST(SharedMemory, PairsOnOneWordTakeTwoStepsOnHalfWarpRulesOnly) {
  // Lanes 2k and 2k+1 want word k: only one pair is served by broadcast, each other bank serves one lane a
  // step.
  const auto access = access_of(4, ~0u, [](uint64_t lane) { return lane / 2 * 4; });
  EXPECT_EQ(steps(kHalfWarps, access), 4u);
  EXPECT_EQ(steps(kWholeWarps, access), 1u);
}

TEST(SharedMemory, WideWordsAreSeveralRequests) {
  // Doubles: two requests of stride 2, two steps each, per half-warp (guide: 2-way conflict). Four-word
  // vectors: 4 x 4.
  const SharedMemoryCost doubles =
      shared_access_cost(kHalfWarps, access_of(8, ~0u, [](uint64_t lane) { return lane * 8; }), kLoad);
  EXPECT_EQ(doubles.steps, 8u);
  EXPECT_EQ(doubles.least, 4u);
  const SharedMemoryCost vectors =
      shared_access_cost(kHalfWarps, access_of(16, ~0u, [](uint64_t lane) { return lane * 16; }), kLoad);
  EXPECT_EQ(vectors.steps, 32u);
  EXPECT_EQ(vectors.least, 8u);
}

TEST(SharedMemory, WideWordsOfConsecutiveLanesDoNotConflictFromFermiOn) {
  // Guide, 2.x: 64-bit accesses conflict within half-warps only; 128-bit ones take four quarters.
  const auto wide = [](uint16_t bytes) {
    return shared_access_cost(kWholeWarps, access_of(bytes, ~0u, [&](uint64_t lane) { return lane * bytes; }),
                              kLoad);
  };
  EXPECT_EQ(wide(8).steps, 2u);
  EXPECT_EQ(wide(8).replays(), 0u);
  EXPECT_EQ(wide(16).steps, 4u);
  EXPECT_EQ(wide(16).replays(), 0u);
  EXPECT_EQ(steps(kWholeWarps, access_of(8, ~0u, [](uint64_t lane) { return lane * 16; })), 4u);
}

TEST(SharedMemory, WideLoadsOfPairedLanesTakeHalfTheSteps) {
  // Forum thread 77228: with a byte offset of lane % 4 * 16 a load of 128 bits takes 4 requests, with paired
  // lanes 2, one address for all lanes included; thread 373160: lanes 0-15 at one address and 16-31 at
  // another take 2, 32 bytes between the 16 addresses of each half take 8.
  const auto cost = [](uint16_t bytes, const std::function<uint64_t(uint64_t)>& address,
                       uint32_t lanes = ~0u) {
    return shared_access_cost(kPairs, access_of(bytes, lanes, address), kLoad);
  };
  EXPECT_EQ(cost(16, [](uint64_t l) { return l % 4 * 16; }).steps, 4u);
  EXPECT_EQ(cost(16, [](uint64_t l) { return l / 2 % 4 * 16; }).steps, 2u);
  EXPECT_EQ(cost(16, [](uint64_t l) { return l % 2 * 16; }).steps, 2u);  // l and l ^ 2
  EXPECT_EQ(cost(16, [](uint64_t l) { return l % 2 * 16 + l / 4 * 32; }).steps, 2u);
  EXPECT_EQ(cost(16, [](uint64_t) { return 48; }).steps, 2u);
  EXPECT_EQ(cost(16, [](uint64_t) { return 48; }).replays(), 0u);
  EXPECT_EQ(cost(16, [](uint64_t l) { return l / 16 * 32; }).steps, 2u);
  EXPECT_EQ(cost(16, [](uint64_t l) { return l % 16 * 32; }).steps, 8u);
  EXPECT_EQ(cost(16, [](uint64_t l) { return l * 16; }).steps, 4u);
  EXPECT_EQ(cost(8, [](uint64_t) { return 48; }).steps, 1u);
  EXPECT_EQ(cost(8, [](uint64_t l) { return l / 2 * 8; }).steps, 1u);
  EXPECT_EQ(cost(8, [](uint64_t l) { return l / 2 * 128; }).steps, 16u);  // still a conflict
  EXPECT_EQ(cost(8, [](uint64_t l) { return l * 8; }).steps, 2u);
  EXPECT_EQ(cost(12, [](uint64_t) { return 16; }).steps, 2u);
  EXPECT_EQ(cost(12, [](uint64_t l) { return l * 16; }).steps, 4u);
  // Lanes that are not active pair with any.
  EXPECT_EQ(cost(
                16, [](uint64_t l) { return l / 2 * 16; }, 0x55555555u)
                .steps,
            2u);
  EXPECT_EQ(cost(
                16, [](uint64_t l) { return l * 8; }, 0xaaaaaaaau)
                .steps,
            2u);
  // Stores, and machines before 7.0, take as many as ever.
  EXPECT_EQ(
      shared_access_cost(kPairs, access_of(16, ~0u, [](uint64_t) { return 48; }), isa::OpKind::kStore).steps,
      4u);
  EXPECT_EQ(steps(kWholeWarps, access_of(16, ~0u, [](uint64_t) { return 48; })), 4u);
}

TEST(SharedMemory, RulesOfAMachine) {
  core::MachineConfig machine;
  machine.shared.banks = 32;
  machine.shared.lanes_per_access = 32;
  machine.gpu.compute_capability = 20;
  EXPECT_FALSE(shared_memory_rules(machine).pairs);
  machine.gpu.compute_capability = 70;
  EXPECT_TRUE(shared_memory_rules(machine).pairs);
  EXPECT_EQ(shared_memory_rules(machine).banks, 32u);
  EXPECT_EQ(shared_memory_rules(machine).lanes_per_access, 32u);
}

TEST(SharedMemory, RowsOfTilesAreOneStep) {
  const auto word = [](uint64_t row, uint64_t column, uint64_t width) { return 4 * (row * width + column); };
  const auto row = access_of(4, ~0u, [&](uint64_t l) { return word(3, l % 16, 16); });
  const auto column = access_of(4, ~0u, [&](uint64_t l) { return word(l / 16, 5, 16); });
  const auto clash = access_of(4, ~0u, [&](uint64_t l) { return word(l / 16, 5, 32); });
  const auto both = access_of(4, ~0u, [&](uint64_t l) { return l < 16 ? 4 * l : 0; });
  const auto shifted = access_of(4, ~0u, [&](uint64_t l) { return 4 * (l < 16 ? l : l + 20); });
  EXPECT_EQ(steps(kWholeWarps, row), 1u);
  EXPECT_EQ(steps(kWholeWarps, column), 1u);
  EXPECT_EQ(steps(kWholeWarps, clash), 2u);
  EXPECT_EQ(steps(kWholeWarps, both), 1u);
  EXPECT_EQ(steps(kWholeWarps, shifted), 2u);
  for (const auto& a : {row, column, clash, both, shifted})
    EXPECT_EQ(steps(kWholeWarps, a), reference_steps(kWholeWarps, a));
}

TEST(SharedMemory, SubWordsOfOneBankConflict) {
  // Guide: char array[tid] is a 4-way conflict, short a 2-way conflict; spread over words there is none.
  EXPECT_EQ(steps(kHalfWarps, access_of(1, 0xffff, [](uint64_t lane) { return lane; })), 4u);
  EXPECT_EQ(steps(kHalfWarps, access_of(2, 0xffff, [](uint64_t lane) { return lane * 2; })), 2u);
  EXPECT_EQ(steps(kHalfWarps, access_of(1, 0xffff, [](uint64_t lane) { return lane * 4; })), 1u);
  EXPECT_EQ(steps(kWholeWarps, access_of(1, ~0u, [](uint64_t lane) { return lane; })), 1u);
}

TEST(SharedMemory, HalfWarpWithoutLanesCostsNothing) {
  const auto access = access_of(4, 0xffff0000u, [](uint64_t lane) { return lane * 4; });
  EXPECT_EQ(steps(kHalfWarps, access), 1u);
  EXPECT_EQ(shared_access_cost(kHalfWarps, access, kLoad).least, 1u);
}

TEST(SharedMemory, AgreesWithTheSecondImplementation) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    const uint16_t bytes = static_cast<uint16_t>(1u << (random() % 5));
    const uint64_t span = uint64_t{1} << (random() % 11);
    const uint64_t stride = random() % 20;
    const auto pattern = random() % 3;
    const auto lanes = static_cast<uint32_t>(random() % 2 == 0 ? ~uint64_t{0} : random() | 1);
    const auto access = access_of(bytes, lanes, [&](uint64_t lane) {
      const uint64_t index = pattern == 0   ? random() % span
                             : pattern == 1 ? lane * stride
                                            : lane / (stride + 1);
      return index * bytes;
    });
    ASSERT_EQ(steps(kHalfWarps, access), reference_steps(kHalfWarps, access))
        << "round " << round << ", bytes " << bytes;
    ASSERT_EQ(steps(kWholeWarps, access), reference_steps(kWholeWarps, access))
        << "round " << round << ", bytes " << bytes;
  }
}

uint32_t atomic_steps(const SharedMemoryRules& rules, const isa::MemoryAccess& access) {
  return shared_atomic_steps(rules, access, shared_access_cost(rules, access, isa::OpKind::kAtomic), 0);
}

TEST(SharedMemory, AtomicsOfALockLoopRepeatTheAccess) {
  EXPECT_EQ(atomic_steps(kHalfWarps, access_of(4, ~0u, [](uint64_t lane) { return lane * 4; })), 2u);
  EXPECT_EQ(atomic_steps(kHalfWarps, access_of(4, ~0u, [](uint64_t) { return 0; })), 64u);
  EXPECT_EQ(atomic_steps(kHalfWarps, access_of(4, 0xff, [](uint64_t lane) { return lane % 3 * 4; })), 6u);
}

TEST(SharedMemory, AtomicsTakeTheLanesOfTheBusiestBank) {
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(4, ~0u, [](uint64_t lane) { return lane * 4; })), 1u);
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(4, ~0u, [](uint64_t) { return 0; })), 32u);
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(4, 0xff, [](uint64_t lane) { return lane % 3 * 4; })), 3u);
  // Two words of one bank, the lanes shared out among them: a load would take two steps, each word has 16.
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(4, ~0u, [](uint64_t lane) { return lane % 2 * 128; })), 32u);
  // Three lanes on one word, two on two words of another bank.
  EXPECT_EQ(atomic_steps(kWholeWarps,
                         access_of(4, 0x1f, [](uint64_t lane) { return lane < 3 ? 0 : 4 + lane * 128; })),
            3u);
  // Half a warp of 64-bit words at a time, each in two banks.
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(8, ~0u, [](uint64_t lane) { return lane * 8; })), 2u);
  EXPECT_EQ(atomic_steps(kWholeWarps, access_of(8, ~0u, [](uint64_t lane) { return lane % 16 * 128; })), 32u);
}

TEST(SharedMemory, SumsOfFloatsTakeARoundForEachLaneOfTheBusiestWord) {
  const auto rounds = [](int64_t capability, isa::OpKind kind, isa::Type type, uint64_t words) {
    const auto bytes = static_cast<uint16_t>(isa::type_bytes(type));
    core::MachineConfig machine;
    machine.gpu.compute_capability = capability;
    isa::MicroOp op;
    op.kind = kind;
    op.type = type;
    return shared_sum_rounds(shared_memory_rules(machine), op,
                             access_of(bytes, ~0u, [&](uint64_t lane) { return lane % words * bytes; }));
  };
  using isa::OpKind, isa::Type;
  EXPECT_EQ(rounds(70, OpKind::kAtomic, Type::kF32, 1), 32u);
  EXPECT_EQ(rounds(90, OpKind::kAtomic, Type::kF32, 8), 4u);
  EXPECT_EQ(rounds(70, OpKind::kAtomic, Type::kF64, 32), 1u);
  EXPECT_EQ(rounds(90, OpKind::kAtomic, Type::kF16x2, 32), 1u);
  EXPECT_EQ(rounds(90, OpKind::kAtomic, Type::kF16, 32), 2u) << "two lie in a word";
  EXPECT_EQ(rounds(70, OpKind::kAtomic, Type::kU32, 1), 0u);
  EXPECT_EQ(rounds(70, OpKind::kLoad, Type::kF32, 1), 0u);
  EXPECT_EQ(rounds(35, OpKind::kAtomic, Type::kF32, 1), 0u);
}

TEST(SharedMemory, AnAtomicOperationTakesItsRoundsAndATestOfAnMbarrierIsALoad) {
  core::MachineConfig machine;
  machine.gpu.compute_capability = 90;
  machine.shared.lanes_per_access = 32;
  machine.shared.banks = 32;
  isa::MicroOp op;
  op.kind = isa::OpKind::kAtomic;
  op.type = isa::Type::kU32;
  const auto cost = [&] {
    return shared_operation_cost(shared_memory_rules(machine), op,
                                 access_of(4, ~0u, [](uint64_t) { return 0; }));
  };
  EXPECT_EQ(cost().cost.steps, 32u);
  EXPECT_EQ(cost().rounds, 0u);
  op.type = isa::Type::kF32;
  EXPECT_EQ(cost().cost.steps, 2 * 32u);
  EXPECT_EQ(cost().rounds, 32u);
  op.pred_dst[0] = 0;
  EXPECT_EQ(cost().cost.steps, 1u);
  EXPECT_EQ(cost().rounds, 0u);
}

}  // namespace
}  // namespace gpusim::comp
