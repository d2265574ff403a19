// Groups of a warp's lanes that go separate ways: who runs, who waits, and when they are together again.
#include "components/sm/simt/divergent_groups.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "components/functional/spin_detector.h"
#include "isa/ptx/opcodes.h"

namespace gpusim::comp {
namespace {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

/// A kernel of `n` operations and a warp with one register row, the members of every .sync operation.
struct Code {
  explicit Code(size_t n) : image() {
    image.ops.resize(n);
    image.num_rows = image.num_predicates = 1;
    context.bank[0] = reinterpret_cast<std::byte*>(members.data());
    context.predicates = &predicate;
  }
  MicroOp& sync(size_t pc, bool with_result) {
    MicroOp& op = image.ops[pc];
    op.kind = OpKind::kSync;
    op.num_src = 1;
    op.num_dst = with_result ? 1 : 0;
    op.exec = with_result ? [](const MicroOp&, isa::WarpContext&, LaneMask) {} : isa::ExecFn{};
    return op;
  }
  [[nodiscard]] const MicroOp* ops() const { return image.ops.data(); }
  isa::KernelImage image;
  alignas(128) std::array<uint32_t, 32> members{};
  uint32_t predicate = 0;
  isa::WarpContext context;
};

MicroOp branch(uint32_t target, uint32_t reconverge) {
  MicroOp op;
  op.kind = OpKind::kBranch;
  op.target = target;
  op.reconverge = reconverge;
  return op;
}

/// At 1 the lanes in `taken` go to 5, the others on to 2; both join at 9.
SimtStack diverged(LaneMask taken) {
  SimtStack stack;
  stack.reset(LaneMask::all());
  stack.advance();
  EXPECT_TRUE(stack.branch(branch(5, 9), taken));
  return stack;
}

TEST(SimtStackSplit, BothPartsKeepThePointsAtWhichTheirLanesJoin) {
  SimtStack stack = diverged(LaneMask::first(8));
  SimtStack apart = stack.split(LaneMask(0xf00));
  EXPECT_EQ(apart.pc(), 2u);
  EXPECT_EQ(apart.mask(), LaneMask(0xf00));
  EXPECT_EQ(apart.alive(), LaneMask(0xf00));
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xfffu));
  EXPECT_EQ(stack.alive(), LaneMask(~0xf00u));
  for (int i = 0; i < 7; ++i) apart.advance();
  EXPECT_EQ(apart.pc(), 9u);
  EXPECT_EQ(apart.mask(), LaneMask(0xf00));
  EXPECT_EQ(apart.depth(), 0u);
}

TEST(SimtStackSplit, TheLanesBelowGoOnWhenNothingIsLeftOnTop) {
  SimtStack stack = diverged(LaneMask::first(8));
  const SimtStack apart = stack.split(stack.mask());
  EXPECT_EQ(apart.mask(), LaneMask(~0xffu));
  EXPECT_EQ(stack.pc(), 5u);
  EXPECT_EQ(stack.mask(), LaneMask::first(8));
}

TEST(SimtStackSplit, PartsMergeOnlyWhereAllTheirPlacesAgree) {
  SimtStack stack;
  stack.reset(LaneMask::all());
  stack.advance();
  EXPECT_TRUE(stack.branch(branch(9, 9), LaneMask::first(8)));
  SimtStack apart = stack.split(LaneMask(0xf00));
  apart.advance();
  EXPECT_FALSE(stack.merge(apart)) << "another place";
  stack.advance();
  EXPECT_TRUE(stack.merge(apart));
  EXPECT_EQ(stack.mask(), LaneMask(~0xffu));
  SimtStack straight;
  straight.reset(LaneMask(1));
  for (int i = 0; i < 3; ++i) straight.advance();
  EXPECT_EQ(straight.pc(), stack.pc());
  EXPECT_FALSE(stack.merge(straight)) << "the same place, but nothing to join at";
}

TEST(DivergentGroups, WhoYieldsLetsTheLanesBelowRunAndThenComesBack) {
  Code code(10);
  DivergentGroups groups;
  SimtStack stack = diverged(LaneMask::first(8));
  groups.yield(code.ops(), code.context, stack);
  EXPECT_EQ(stack.pc(), 5u);
  EXPECT_EQ(stack.mask(), LaneMask::first(8));
  EXPECT_EQ(groups.apart(), LaneMask(~0xffu));
  stack.exit(LaneMask::first(8));
  EXPECT_TRUE(stack.done());
  ASSERT_TRUE(groups.next(code.ops(), code.context, stack));
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xffu));
  EXPECT_TRUE(groups.empty());
}

TEST(DivergentGroups, GroupsThatLeaveABarrierTogetherJoin) {
  Code code(12);
  DivergentGroups groups;
  SimtStack stack = diverged(LaneMask::first(8));
  for (int i = 0; i < 7; ++i) stack.advance();  // the others wait at 9, lanes 0-7 start at 5
  for (int i = 0; i < 4; ++i) stack.advance();
  EXPECT_EQ(stack.mask(), LaneMask::all());
  groups.wait_at_barrier(stack, LaneMask::first(8), 3);
  EXPECT_EQ(stack.pc(), 10u) << "whose guard is false goes on";
  groups.wait_at_barrier(stack, stack.mask(), 3);
  EXPECT_TRUE(stack.done());
  EXPECT_FALSE(groups.next(code.ops(), code.context, stack));
  groups.release(4, [](uint32_t, LaneMask) { FAIL() << "another barrier"; });
  LaneMask released;
  groups.release(3, [&](uint32_t, LaneMask lanes) { released |= lanes; });
  EXPECT_EQ(released, LaneMask::all());
  ASSERT_TRUE(groups.next(code.ops(), code.context, stack));
  EXPECT_EQ(stack.pc(), 10u);
  EXPECT_EQ(stack.mask(), LaneMask::first(8)) << "the others are one behind the second barrier";
  EXPECT_EQ(groups.apart(), LaneMask(~0xffu));
}

TEST(DivergentGroups, TilesMeetWithoutWaitingForEachOther) {
  Code code(10);
  code.sync(2, true);
  for (uint32_t lane = 0; lane < 32; ++lane) code.members[lane] = lane < 16 ? 0xffffu : 0xffff0000u;
  DivergentGroups groups;
  SimtStack stack = diverged(LaneMask(0xff000000u));
  // Lanes 0-23 are at 2: the lower tile is complete, the upper one waits for lanes 24-31.
  EXPECT_EQ(groups.meet(code.ops(), code.context, stack.mask(), stack), LaneMask(0xffffu));
  EXPECT_EQ(stack.pc(), 3u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffffu));
  stack.exit(stack.mask());
  EXPECT_EQ(stack.pc(), 5u);
  EXPECT_EQ(stack.mask(), LaneMask(0xff000000u));
  // They exit without coming: whoever waits for them need not any more.
  stack.exit(stack.mask());
  ASSERT_TRUE(stack.done());
  ASSERT_TRUE(groups.next(code.ops(), code.context, stack));
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(groups.meet(code.ops(), code.context, stack.mask(), stack), LaneMask(0x00ff0000u));
  EXPECT_EQ(stack.pc(), 3u);
}

TEST(DivergentGroups, TheLastToComeExecutesForAll) {
  Code code(10);
  code.sync(2, true);
  code.members.fill(~0u);
  DivergentGroups groups;
  SimtStack stack;
  stack.reset(LaneMask::all());
  stack.advance();
  EXPECT_TRUE(stack.branch(branch(2, 9), LaneMask(0xff)));  // both sides come to 2, one after the other
  EXPECT_TRUE(groups.meet(code.ops(), code.context, stack.mask(), stack).none());
  EXPECT_EQ(groups.longest_waiting().pc, 2u);
  EXPECT_TRUE(groups.longest_waiting().at_sync);
  EXPECT_EQ(stack.mask(), LaneMask(0xff));
  EXPECT_EQ(groups.meet(code.ops(), code.context, stack.mask(), stack), LaneMask::all());
  EXPECT_EQ(stack.pc(), 3u);
  EXPECT_EQ(stack.mask(), LaneMask::all()) << "they stay together";
  EXPECT_TRUE(groups.empty());
}

TEST(DivergentGroups, AMatrixOperationIsNeverGoneThroughByParts) {
  Code code(10);
  code.sync(2, true);
  code.sync(5, true);
  code.image.ops[2].whole_warp = code.image.ops[5].whole_warp = true;
  code.members.fill(~0u);
  DivergentGroups groups;
  SimtStack stack = diverged(LaneMask(0xff));
  EXPECT_TRUE(groups.meet(code.ops(), code.context, stack.mask(), stack).none());
  EXPECT_TRUE(groups.meet(code.ops(), code.context, stack.mask(), stack).none());
  EXPECT_FALSE(groups.next(code.ops(), code.context, stack));
}

TEST(DivergentGroups, OnlyBarriersWithoutAResultMeetAtDifferentPlaces) {
  for (const bool with_result : {false, true}) {
    Code code(10);
    code.sync(2, with_result);
    code.sync(5, with_result);
    code.members.fill(~0u);
    DivergentGroups groups;
    SimtStack stack = diverged(LaneMask(0xff));
    EXPECT_TRUE(groups.meet(code.ops(), code.context, stack.mask(), stack).none());
    EXPECT_EQ(stack.pc(), 5u);
    const LaneMask met = groups.meet(code.ops(), code.context, stack.mask(), stack);
    EXPECT_EQ(met, with_result ? LaneMask() : LaneMask::all());
    if (!with_result) continue;
    // All have come, and nobody else will: each place by itself, once.
    EXPECT_TRUE(stack.done());
    for (const auto& [pc, lanes] : {std::pair{2u, LaneMask(0xffffff00u)}, {5u, LaneMask(0xffu)}}) {
      ASSERT_TRUE(groups.next(code.ops(), code.context, stack));
      EXPECT_EQ(stack.pc(), pc);
      EXPECT_EQ(groups.meet(code.ops(), code.context, stack.mask(), stack), lanes);
      EXPECT_EQ(stack.pc(), pc + 1);
      stack.exit(stack.mask());
    }
    EXPECT_FALSE(groups.next(code.ops(), code.context, stack));
  }
}

/// Backward branches until the lanes on top yield, in a loop of micro-ops 2 to 4.
int laps_until_yield(const Code& code) {
  DivergentGroups groups;
  const SimtStack stack = diverged(LaneMask(0xff));
  SpinDetector watch;
  int laps = 0;
  do {
    while (!watch.lap(4, false)) ++laps;
    ++laps;
  } while (!watch.must_yield(code.image, code.context, 4, stack, groups, false));
  return laps;
}

TEST(SpinDetector, OnlyALoopThatMayWaitYieldsSoon) {
  Code code(10);
  EXPECT_EQ(laps_until_yield(code), 64 * 256);
  code.image.ops[4].may_wait = true;
  EXPECT_EQ(laps_until_yield(code), 64) << "unless it is looked at earlier";
  SpinDetector watch;
  EXPECT_FALSE(watch.lap(4, false));
  EXPECT_TRUE(watch.lap(4, true));
}

TEST(SpinDetector, WhoIsSeenToWaitYieldsAtOnceUnlessHeIsAlone) {
  const Code code(10);
  DivergentGroups groups;
  SpinDetector watch;
  EXPECT_TRUE(watch.must_yield(code.image, code.context, 4, diverged(LaneMask(0xff)), groups, true));
  SimtStack together;
  together.reset(LaneMask::all());
  EXPECT_FALSE(watch.must_yield(code.image, code.context, 4, together, groups, true));
}

/// A warp that goes round the loop of micro-ops 2 to 4, and is looked at whenever its watch asks for it.
struct Rounds {
  Code code{10};
  SimtStack stack;
  SpinDetector watch;
  uint64_t now = 0;
  Rounds() { stack.reset(LaneMask::all()); }
  bool accesses = true;
  bool look(uint32_t branch = 4) {
    const MicroOp& op = code.image.ops[3];
    do {
      const bool memory = op.kind == OpKind::kStore || op.kind == OpKind::kAtomic;
      if (accesses && memory) watch.access(op, code.context);
    } while (!watch.lap(branch, false));
    return watch.unchanged(code.image, 2, 4, code.context, stack, ++now);
  }
  /// How many of the next looks find it unchanged.
  int unchanged(int looks) {
    int found = 0;
    for (int i = 0; i < looks; ++i) found += look();
    return found;
  }
};

TEST(SpinDetector, AWarpIsUnchangedFromTheSecondComparisonOn) {
  Rounds r;
  EXPECT_EQ(r.unchanged(31), 0) << "comparisons are 16 looks apart until it is unchanged";
  EXPECT_EQ(r.unchanged(10), 10) << "and then at every look";
  EXPECT_EQ(r.watch.unchanged_since(), 16u);
  EXPECT_EQ(r.watch.unchanged_until(), 41u);
}

TEST(SpinDetector, RegistersPredicatesAndOtherLoopsAreChanges) {
  Rounds r;
  EXPECT_EQ(r.unchanged(40), 9);
  r.code.members[7] = 1;
  EXPECT_FALSE(r.look());
  EXPECT_EQ(r.watch.unchanged_since(), 41u);
  EXPECT_EQ(r.unchanged(16), 1);
  r.code.predicate = 4;
  EXPECT_FALSE(r.look());
  EXPECT_EQ(r.unchanged(16), 1);
  (void)r.watch.lap(9, false);  // once round an outer loop, and back with the same registers
  EXPECT_FALSE(r.look());
  EXPECT_EQ(r.unchanged(16), 1);
}

TEST(SpinDetector, ALoopThatMayChangeMemoryIsNeverUnchanged) {
  using isa::AtomOp;
  for (const AtomOp operation : {AtomOp::kAdd, AtomOp::kInc, AtomOp::kDec, AtomOp::kXor, AtomOp::kCas,
                                 AtomOp::kExch, AtomOp::kAnd, AtomOp::kOr, AtomOp::kMin, AtomOp::kMax}) {
    Rounds r;
    r.code.image.ops[3].kind = OpKind::kAtomic;
    r.code.image.ops[3].modifiers = static_cast<uint8_t>(operation);
    const bool changes = operation == AtomOp::kAdd || operation == AtomOp::kInc ||
                         operation == AtomOp::kDec || operation == AtomOp::kXor;
    EXPECT_EQ(r.unchanged(40), changes ? 0 : 9);
  }
  // Adding 0 is a way to load. Operands are constants of the kernel, or lie in registers, of which nobody
  // knows.
  std::array<std::byte, isa::kRowBytes> constants{};
  for (const uint32_t constant : {0u, 7u})
    for (const isa::Bank bank : {isa::Bank::kConstant, isa::Bank::kRegister}) {
      std::memcpy(constants.data(), &constant, sizeof constant);
      Rounds r;
      r.code.context.bank[static_cast<size_t>(isa::Bank::kConstant)] = constants.data();
      isa::MicroOp& op = r.code.image.ops[3];
      op.kind = OpKind::kAtomic;
      op.modifiers = static_cast<uint8_t>(AtomOp::kAdd);
      op.memory.element_bytes = 4;
      op.src[0] = {bank, 0};
      EXPECT_EQ(r.unchanged(40), constant == 0 && bank == isa::Bank::kConstant ? 9 : 0);
    }
  for (const OpKind kind : {OpKind::kStore, OpKind::kCall}) {
    Rounds r;
    r.code.image.ops[3].kind = kind;
    EXPECT_EQ(r.unchanged(40), 0);
  }
  // What the loop would store on another way through it is no change.
  Rounds r;
  r.code.image.ops[3].kind = OpKind::kStore;
  r.accesses = false;
  EXPECT_EQ(r.unchanged(40), 9);
  r.accesses = true;
  EXPECT_EQ(r.unchanged(1), 0);
}

}  // namespace
}  // namespace gpusim::comp
