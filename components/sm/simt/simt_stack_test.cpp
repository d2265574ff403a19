// SIMT stack: small cases by hand, then random structured control flow compared lane by lane with threads
// that run alone.
#include "components/sm/simt/simt_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace gpusim::comp {
namespace {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

MicroOp plain() { return MicroOp{}; }
MicroOp branch_to(uint32_t target, uint32_t reconverge) {
  MicroOp op;
  op.kind = OpKind::kBranch;
  op.target = target;
  op.reconverge = reconverge;
  return op;
}

TEST(SimtStack, IfElseReconverges) {
  // 0: branch to 3 (else) join 4   1,2: then, jump 4   3: else   4: join
  SimtStack stack;
  stack.reset(LaneMask::all());
  EXPECT_TRUE(stack.branch(branch_to(3, 4), LaneMask(0xffu)));
  EXPECT_EQ(stack.pc(), 1u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xffu));
  EXPECT_EQ(stack.alive(), LaneMask::all());
  stack.advance();
  EXPECT_FALSE(stack.branch(branch_to(4, isa::kNoTarget), stack.mask()));
  EXPECT_EQ(stack.pc(), 3u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffu));
  stack.advance();
  EXPECT_EQ(stack.pc(), 4u);
  EXPECT_EQ(stack.mask(), LaneMask::all());
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(SimtStack, UniformBranchesDoNotDiverge) {
  SimtStack stack;
  stack.reset(LaneMask::first(20));
  EXPECT_FALSE(stack.branch(branch_to(5, 9), stack.mask()));
  EXPECT_EQ(stack.pc(), 5u);
  EXPECT_FALSE(stack.branch(branch_to(0, 9), LaneMask()));
  EXPECT_EQ(stack.pc(), 6u);
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(SimtStack, IfWithoutElseRunsTheBodyForTheRestOnly) {
  // 0: branch over the body to 2, join 2
  SimtStack stack;
  stack.reset(LaneMask::all());
  EXPECT_TRUE(stack.branch(branch_to(2, 2), LaneMask(0xfu)));
  EXPECT_EQ(stack.mask(), LaneMask(~0xfu));
  stack.advance();
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask::all());
}

TEST(SimtStack, LoopCollectsItsLeaversAtTheExit) {
  // 0: body   1: branch back to 0, join 2. Lane k stays for k + 1 iterations.
  SimtStack stack;
  stack.reset(LaneMask::all());
  for (int round = 1; round < 32; ++round) {
    EXPECT_EQ(stack.pc(), 0u);
    stack.advance();
    EXPECT_TRUE(stack.branch(branch_to(0, 2), LaneMask(~0u << round)));
    EXPECT_EQ(stack.depth(), 1u) << "the exits share one entry";
  }
  stack.advance();
  EXPECT_FALSE(stack.branch(branch_to(0, 2), LaneMask()));
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask::all());
}

TEST(SimtStack, ExitInOneSideLeavesTheOtherAlone) {
  SimtStack stack;
  stack.reset(LaneMask::all());
  EXPECT_TRUE(stack.branch(branch_to(3, isa::kNoTarget), LaneMask(0xffffu)));
  stack.exit(stack.mask());
  EXPECT_EQ(stack.pc(), 3u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffffu));
  EXPECT_EQ(stack.alive(), LaneMask(0xffffu));
  EXPECT_FALSE(stack.done());
  stack.exit(stack.mask());
  EXPECT_TRUE(stack.done());
  EXPECT_TRUE(stack.alive().none());
}

TEST(SimtStack, LanesThatLeftAreMissingAtTheJoin) {
  // 0: branch to 2, join 3   1: exit for some of the lanes that fell through
  SimtStack stack;
  stack.reset(LaneMask::all());
  stack.branch(branch_to(2, 3), LaneMask(0xff00u));
  stack.exit(LaneMask(0xffu));
  EXPECT_EQ(stack.pc(), 2u);
  stack.advance();
  stack.advance();
  EXPECT_EQ(stack.pc(), 3u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xffu));
}

/// Builds random structured code: operations, if, if/else, loops with breaks, guarded exits.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  std::vector<MicroOp> make() {
    block(0);
    emit(OpKind::kExit);
    set_joins();
    return ops_;
  }

 private:
  uint32_t emit(OpKind kind) {
    ops_.push_back(plain());
    ops_.back().kind = kind;
    ops_.back().guard = 0;  // data-dependent; cleared where the operation is for all lanes
    return static_cast<uint32_t>(ops_.size() - 1);
  }
  uint32_t jump() {
    const uint32_t at = emit(OpKind::kBranch);
    ops_[at].guard = isa::kNoPredicate;
    return at;
  }
  [[nodiscard]] uint32_t here() const { return static_cast<uint32_t>(ops_.size()); }
  void block(int depth) {
    const uint64_t statements = 1 + random_() % 4;
    for (uint64_t i = 0; i < statements; ++i) statement(depth);
  }
  void statement(int depth) {
    const uint64_t kind = depth > 3 ? 0 : random_() % 8;
    if (kind == 3 || kind == 4) {
      const uint32_t skip = emit(OpKind::kBranch);
      block(depth + 1);
      if (kind == 4) {
        const uint32_t over = jump();
        ops_[skip].target = here();
        block(depth + 1);
        ops_[over].target = here();
      } else {
        ops_[skip].target = here();
      }
    } else if (kind == 5 || kind == 6) {
      const uint32_t head = here();
      const size_t outer_breaks = breaks_.size();
      ++loops_;
      block(depth + 1);
      ops_[emit(OpKind::kBranch)].target = head;
      --loops_;
      for (size_t b = outer_breaks; b < breaks_.size(); ++b) ops_[breaks_[b]].target = here();
      breaks_.resize(outer_breaks);
    } else if (kind == 7) {
      if (loops_ > 0 && random_() % 2 == 0)
        breaks_.push_back(emit(OpKind::kBranch));
      else
        emit(OpKind::kExit);
    } else {
      emit(OpKind::kNop);
    }
  }
  /// Immediate post-dominators by sets: an operation's are itself and whatever all its successors have in
  /// common.
  void set_joins() {
    const uint32_t end = here();
    std::vector<std::set<uint32_t>> after(end + 1);
    for (uint32_t v = 0; v < end; ++v)
      for (uint32_t d = 0; d <= end; ++d) after[v].insert(d);
    after[end] = {end};
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t v = end; v-- > 0;) {
        std::set<uint32_t> common;
        bool first = true;
        for (const uint32_t s : successors(v)) {
          std::set<uint32_t> kept;
          for (const uint32_t d : after[s])
            if (first || common.contains(d)) kept.insert(d);
          common = std::move(kept);
          first = false;
        }
        common.insert(v);
        if (common != after[v]) {
          after[v] = std::move(common);
          changed = true;
        }
      }
    }
    for (uint32_t v = 0; v < end; ++v) {
      if (ops_[v].kind != OpKind::kBranch || ops_[v].guard == isa::kNoPredicate) continue;
      // The nearest is the one that all others come after.
      for (const uint32_t d : after[v])
        if (d != v && after[d].size() == after[v].size() - 1)
          ops_[v].reconverge = d == end ? isa::kNoTarget : d;
    }
  }
  [[nodiscard]] std::vector<uint32_t> successors(uint32_t v) const {
    const MicroOp& op = ops_[v];
    const bool guarded = op.guard != isa::kNoPredicate;
    if (op.kind == OpKind::kBranch) return guarded ? std::vector{v + 1, op.target} : std::vector{op.target};
    if (op.kind == OpKind::kExit) return v + 1 == here() ? std::vector{here()} : std::vector{v + 1, here()};
    return {v + 1};
  }

  std::mt19937_64 random_;
  std::vector<MicroOp> ops_;
  std::vector<uint32_t> breaks_;
  int loops_ = 0;
};

/// What a lane decides at its n-th visit of an operation; loops end because late visits never take a branch
/// back.
bool decide(uint64_t seed, uint32_t pc, bool backward, uint32_t lane, uint32_t visit) {
  if (backward && visit > 6) return false;
  uint64_t h = seed * 0x9e3779b97f4a7c15ull ^ (uint64_t{pc} << 40) ^ (uint64_t{lane} << 20) ^ visit;
  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ h >> 29) * 0x94d049bb133111ebull;
  return (h >> 40) % (pc % 3 + 2) == 0;
}

struct Threads {
  explicit Threads(size_t ops) {
    for (auto& v : visits) v.assign(ops, 0);
  }
  bool takes(uint64_t seed, const std::vector<MicroOp>& ops, uint32_t pc, uint32_t lane) {
    const MicroOp& op = ops[pc];
    if (op.guard == isa::kNoPredicate || pc + 1 == ops.size()) return true;
    return decide(seed, pc, op.kind == OpKind::kBranch && op.target <= pc, lane, visits[lane][pc]++);
  }
  std::array<std::vector<uint32_t>, 32> visits, path;
};

Threads run_alone(uint64_t seed, const std::vector<MicroOp>& ops, LaneMask lanes) {
  Threads threads(ops.size());
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!lanes.test(static_cast<int>(lane))) continue;
    for (uint32_t pc = 0;;) {
      threads.path[lane].push_back(pc);
      const bool taken = ops[pc].kind != OpKind::kNop && threads.takes(seed, ops, pc, lane);
      if (ops[pc].kind == OpKind::kExit && taken) break;
      pc = ops[pc].kind == OpKind::kBranch && taken ? ops[pc].target : pc + 1;
    }
  }
  return threads;
}

class RandomControlFlow : public testing::TestWithParam<int> {};

TEST_P(RandomControlFlow, EveryLaneRunsItsOwnPathAndTheStackStaysSmall) {
  for (uint64_t seed = static_cast<uint64_t>(GetParam()) * 300;
       seed < static_cast<uint64_t>(GetParam() + 1) * 300; ++seed) {
    const std::vector<MicroOp> ops = Generator(seed).make();
    const LaneMask lanes = seed % 3 == 0 ? LaneMask::first(static_cast<int>(seed % 31) + 1) : LaneMask::all();
    const Threads alone = run_alone(seed, ops, lanes);
    Threads together(ops.size());
    SimtStack stack;
    stack.reset(lanes);
    uint64_t warp_steps = 0;
    while (!stack.done()) {
      ASSERT_LT(++warp_steps, 1'000'000u) << "seed " << seed;
      const uint32_t pc = stack.pc();
      ASSERT_LT(pc, ops.size()) << "seed " << seed;
      LaneMask taken;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!stack.mask().test(static_cast<int>(lane))) continue;
        together.path[lane].push_back(pc);
        if (ops[pc].kind != OpKind::kNop && together.takes(seed, ops, pc, lane))
          taken |= LaneMask(1u << lane);
      }
      if (ops[pc].kind == OpKind::kBranch)
        stack.branch(ops[pc], taken);
      else if (ops[pc].kind == OpKind::kExit)
        stack.exit(taken);
      else
        stack.advance();
      // At most a join and a waiting side for each split of the 32 lanes.
      ASSERT_LE(stack.depth(), 64u + ops.size()) << "seed " << seed;
    }
    for (uint32_t lane = 0; lane < 32; ++lane)
      ASSERT_EQ(together.path[lane], alone.path[lane]) << "seed " << seed << ", lane " << lane;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomControlFlow, testing::Range(0, 5));

}  // namespace
}  // namespace gpusim::comp
