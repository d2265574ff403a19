// Warp table (operands, pipes, latch, gates, next wake-up) and the scheduling policies that read it.
#include "components/sm/warp_table.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "components/sm/warp_scheduler.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {
namespace {

constexpr auto kOpen = WarpTable::kOpen;
constexpr uint64_t bit(uint32_t w) { return uint64_t{1} << w; }

/// Warp `w` needs pipe 0 and operands that are there at `ready`.
void wait_until(WarpTable& table, uint32_t w, uint64_t ready, uint64_t now) {
  table.set_next(w, ready, StallCause::kAluDependency, 0, 0, kOpen, now);
}

TEST(WarpTable, OperandsAreReadyInTheirSlotAndNotOneBefore) {
  WarpTable table(2);
  table.add(0, 0);
  table.add(1, 1);
  wait_until(table, 0, 24, 0);
  wait_until(table, 1, 25, 0);  // the next slot after cycle 25 is at 26
  EXPECT_EQ(table.next_issuable(table.resident(), 0), 24u);
  EXPECT_EQ(table.next_issuable(bit(1), 0), 26u);
  table.promote(22);
  EXPECT_EQ(table.issuable(~0ull, 22), 0u);
  table.promote(24);
  EXPECT_EQ(table.issuable(~0ull, 24), bit(0));
  table.promote(26);
  EXPECT_EQ(table.issuable(~0ull, 26), bit(0) | bit(1));
}

TEST(WarpTable, WaitsBeyondTheWheelsReachAreKept) {
  WarpTable table(2);
  table.add(3, 0);
  wait_until(table, 3, 2400, 0);
  EXPECT_EQ(table.next_issuable(bit(3), 0), 2400u);
  table.promote(2398);
  EXPECT_EQ(table.issuable(~0ull, 2398), 0u);
  table.promote(2400);
  EXPECT_EQ(table.issuable(~0ull, 2400), bit(3));
}

TEST(WarpTable, LatchLetsTheNextOperationInOneSlotEarly) {
  WarpTable table(2);
  table.add(0, 0);
  wait_until(table, 0, 0, 0);
  table.promote(0);
  table.take_pipe(0, 4);  // taken at 0 for four cycles: the latch takes another from 2 on
  EXPECT_EQ(table.issuable(~0ull, 0), 0u);
  EXPECT_EQ(table.next_issuable(bit(0), 0), 2u);
  EXPECT_EQ(table.issuable(~0ull, 1), 0u);
  EXPECT_EQ(table.issuable(~0ull, 2), bit(0));
  // That one starts when the pipe is free at 4 and leaves it at 8: the latch is full until 6.
  table.take_pipe(0, 8);
  EXPECT_EQ(table.issuable(~0ull, 5), 0u);
  EXPECT_EQ(table.issuable(~0ull, 6), bit(0));
}

TEST(WarpTable, EitherPipeWillDo) {
  WarpTable table(2);
  table.add(0, 0);
  table.set_next(0, 0, StallCause::kAluDependency, 0, 1, kOpen, 0);
  table.promote(0);
  table.take_pipe(0, 100);
  EXPECT_EQ(table.issuable(~0ull, 0), bit(0));
  table.take_pipe(1, 50);
  EXPECT_EQ(table.issuable(~0ull, 0), 0u);
  EXPECT_EQ(table.next_issuable(bit(0), 0), 48u);
}

TEST(WarpTable, ClosedGateHoldsItsWarpsOnly) {
  WarpTable table(2);
  for (const uint32_t w : {0u, 1u, 2u}) table.add(w, w);
  table.set_next(0, 0, StallCause::kDram, 0, 0, WarpTable::kLoadStoreQueue, 0);
  table.set_next(1, 0, StallCause::kDram, 0, 0, WarpTable::kConstantMisses, 0);
  wait_until(table, 2, 0, 0);
  table.promote(0);
  table.close_gates(WarpTable::gate_bit(WarpTable::kLoadStoreQueue, true));
  EXPECT_EQ(table.issuable(~0ull, 0), bit(1) | bit(2));
  EXPECT_TRUE(table.throttled(0));
  EXPECT_EQ(table.next_issuable(bit(0), 0), kUnknownCycle);
  table.close_gates(static_cast<uint8_t>(WarpTable::gate_bit(WarpTable::kLoadStoreQueue, true) |
                                         WarpTable::gate_bit(WarpTable::kConstantMisses, true)));
  EXPECT_EQ(table.issuable(~0ull, 0), bit(2));
  table.close_gates(WarpTable::gate_bit(WarpTable::kConstantMisses, true));
  EXPECT_EQ(table.issuable(~0ull, 0), bit(0) | bit(2));
}

TEST(WarpTable, BlockedAndRemovedWarpsDoNotIssue) {
  WarpTable table(2);
  table.add(0, 0);
  table.add(1, 1);
  wait_until(table, 0, 0, 0);
  wait_until(table, 1, 10, 0);
  table.set_blocked(0);
  table.remove(1);
  table.promote(10);
  EXPECT_EQ(table.issuable(~0ull, 10), 0u);
  EXPECT_EQ(table.resident(), bit(0));
}

TEST(WarpTable, AgreesWithAPlainListOfWarps) {
  struct Plain {
    uint64_t ready = kUnknownCycle;
    uint8_t pipe = 0, other = 0;
  };
  std::mt19937_64 random(3);
  WarpTable table(2);
  std::array<Plain, 32> plain;
  std::array<uint64_t, 4> pipe_from{};
  for (uint32_t w = 0; w < 32; ++w) table.add(w, w);
  for (uint64_t now = 0; now < 40000; now += 2) {
    table.promote(now);
    uint64_t expected = 0, soonest = kUnknownCycle;
    for (uint32_t w = 0; w < 32; ++w) {
      const uint64_t pipe = std::min(pipe_from[plain[w].pipe], pipe_from[plain[w].other]);
      if (plain[w].ready == kUnknownCycle) continue;
      if (std::max(plain[w].ready, pipe) <= now) expected |= bit(w);
      soonest = std::min(soonest, (std::max({plain[w].ready, pipe, now}) + 1) / 2 * 2);
    }
    ASSERT_EQ(table.issuable(~0ull, now), expected) << "cycle " << now;
    ASSERT_EQ(table.next_issuable(~0ull, now), soonest) << "cycle " << now;
    const auto w = static_cast<uint32_t>(random() % 32);
    if (random() % 4 == 0) {
      const auto p = static_cast<uint32_t>(random() % 4);
      pipe_from[p] = now + random() % 60;
      table.take_pipe(p, pipe_from[p] + 2);
    } else if (random() % 8 == 0) {
      table.set_blocked(w);
      plain[w].ready = kUnknownCycle;
    } else {
      plain[w] = {now + random() % (random() % 16 == 0 ? 700 : 40), static_cast<uint8_t>(random() % 4),
                  static_cast<uint8_t>(random() % 4)};
      table.set_next(w, plain[w].ready, StallCause::kDram, plain[w].pipe, plain[w].other, kOpen, now);
    }
  }
}

struct TableHolder : sc_core::sc_module, WarpTableIf {
  explicit TableHolder(const sc_core::sc_module_name& name) : sc_module(name) {}
  [[nodiscard]] const WarpTable& warp_table() const override { return table; }
  WarpTable table{2};
};

/// Schedulers bound to a table that the test fills; the engine only completes the binding.
struct Schedulers {
  Schedulers(const char* policy, uint32_t count, int64_t group = 8) {
    core::MachineConfig::Scheduler config;
    config.policy = policy;
    config.count = count;
    config.policy_keys.group = group;
    for (uint32_t s = 0; s < count; ++s) {
      all.push_back(std::make_unique<WarpScheduler>(("s" + std::to_string(s)).c_str(), config, s));
      all.back()->sm.bind(holder);
    }
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
  }
  int issue(uint32_t s, uint64_t now) {
    holder.table.promote(now);
    const int w = all[s]->pick(now);
    if (w != WarpScheduler::kNone) all[s]->issued(static_cast<uint32_t>(w));
    return w;
  }
  void ready(std::initializer_list<uint32_t> warps) {
    for (const uint32_t w : warps) {
      holder.table.add(w, 100 - w);  // higher slots are older
      wait_until(holder.table, w, 0, 0);
    }
  }
  core::Engine engine;
  TableHolder holder{"table"};
  std::vector<std::unique_ptr<WarpScheduler>> all;
};

TEST(WarpSchedulerTest, LooseRoundRobinGoesAroundAndSkipsWaiters) {
  Schedulers s("lrr", 1);
  s.ready({1, 4, 9});
  EXPECT_EQ(s.issue(0, 0), 1);
  EXPECT_EQ(s.issue(0, 2), 4);
  EXPECT_EQ(s.issue(0, 4), 9);
  EXPECT_EQ(s.issue(0, 6), 1);
  s.holder.table.set_blocked(4);
  EXPECT_EQ(s.all[0]->candidate(), 4);  // whose turn it is, though it cannot
  EXPECT_EQ(s.issue(0, 8), 9);
}

TEST(WarpSchedulerTest, GreedyThenOldestStaysAndThenTakesTheOldest) {
  Schedulers s("gto", 1);
  s.ready({1, 4, 9});
  EXPECT_EQ(s.issue(0, 0), 9);
  EXPECT_EQ(s.issue(0, 2), 9);
  s.holder.table.set_blocked(9);
  EXPECT_EQ(s.issue(0, 4), 4);
  wait_until(s.holder.table, 9, 0, 4);
  EXPECT_EQ(s.issue(0, 6), 4) << "greedy: an older one does not interrupt";
  s.holder.table.set_blocked(4);
  EXPECT_EQ(s.issue(0, 8), 9);
}

TEST(WarpSchedulerTest, OldestFirstInterrupts) {
  Schedulers s("oldest", 1);
  s.ready({1, 4, 9});
  EXPECT_EQ(s.issue(0, 0), 9);
  s.holder.table.set_blocked(9);
  EXPECT_EQ(s.issue(0, 2), 4);
  wait_until(s.holder.table, 9, 0, 4);
  EXPECT_EQ(s.issue(0, 4), 9);
}

TEST(WarpSchedulerTest, TwoLevelsStayInAGroupUntilAllOfItWaits) {
  Schedulers s("two_level", 1, 4);
  s.ready({0, 2, 5, 6, 9});
  EXPECT_EQ(s.issue(0, 0), 2);
  EXPECT_EQ(s.issue(0, 2), 0);
  EXPECT_EQ(s.issue(0, 4), 2);
  s.holder.table.set_blocked(0);
  s.holder.table.set_blocked(2);
  EXPECT_EQ(s.issue(0, 6), 5) << "the next group";
  wait_until(s.holder.table, 0, 0, 6);
  EXPECT_EQ(s.issue(0, 8), 6) << "ready warps of other groups do not interrupt";
  s.holder.table.set_blocked(5);
  s.holder.table.set_blocked(6);
  EXPECT_EQ(s.issue(0, 10), 9);
  s.holder.table.set_blocked(9);
  EXPECT_EQ(s.issue(0, 12), 0);
}

TEST(WarpSchedulerTest, OneGroupOfAllWarpsIsRoundRobin) {
  Schedulers s("two_level", 1, 64);
  s.ready({3, 63});
  EXPECT_EQ(s.issue(0, 0), 3);
  EXPECT_EQ(s.issue(0, 2), 63);
  EXPECT_EQ(s.issue(0, 4), 3);
}

TEST(WarpSchedulerTest, SeveralSchedulersShareTheWarpsBySlot) {
  Schedulers s("lrr", 2);
  s.ready({0, 1, 2, 3});
  EXPECT_EQ(s.issue(0, 0), 0);
  EXPECT_EQ(s.issue(1, 0), 1);
  EXPECT_EQ(s.issue(0, 2), 2);
  EXPECT_EQ(s.issue(1, 2), 3);
  EXPECT_EQ(s.issue(0, 4), 0);
}

TEST(WarpSchedulerTest, NothingResidentNothingPicked) {
  Schedulers s("gto", 1);
  EXPECT_EQ(s.issue(0, 0), WarpScheduler::kNone);
  EXPECT_EQ(s.all[0]->candidate(), WarpScheduler::kNone);
  EXPECT_EQ(s.all[0]->next_issue(0), kUnknownCycle);
}

}  // namespace
}  // namespace gpusim::comp
