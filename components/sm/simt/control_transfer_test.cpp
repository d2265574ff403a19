// Branches through tables, calls and returns on the SIMT stack: small cases by hand, program errors, then
// random programs of several functions compared lane by lane with threads that run alone.
#include "components/sm/simt/control_transfer.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <vector>

namespace gpusim::comp {
namespace {

using isa::KernelImage;
using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

std::array<uint32_t, 32> targets(const std::function<uint32_t(uint32_t)>& of) {
  std::array<uint32_t, 32> t;
  for (uint32_t lane = 0; lane < 32; ++lane) t[lane] = of(lane);
  return t;
}

TEST(SimtStackTable, SidesRunFromTheLowestPlaceAndJoin) {
  // 0: lanes 0, 3, .. to 4, lanes 1, 4, .. to the join 9, the others to 2; lanes from 24 on do not branch
  SimtStack stack;
  stack.reset(LaneMask::all());
  const auto to = targets([](uint32_t lane) { return std::array{4u, 9u, 2u}[lane % 3]; });
  EXPECT_TRUE(stack.branch_many(to.data(), LaneMask::first(24), 9));
  EXPECT_EQ(stack.pc(), 1u);
  EXPECT_EQ(stack.mask(), LaneMask(0xff000000u));
  EXPECT_EQ(stack.alive(), LaneMask::all());
  stack.advance();
  EXPECT_EQ(stack.pc(), 2u) << "behind the branch; joins at 9, not at the side that starts here";
  EXPECT_EQ(stack.mask(), LaneMask(0xff000000u));
  for (int i = 0; i < 7; ++i) stack.advance();
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask(0x00924924u));
  for (int i = 0; i < 7; ++i) stack.advance();
  EXPECT_EQ(stack.pc(), 4u);
  EXPECT_EQ(stack.mask(), LaneMask(0x00249249u));
  for (int i = 0; i < 5; ++i) stack.advance();
  EXPECT_EQ(stack.pc(), 9u);
  EXPECT_EQ(stack.mask(), LaneMask::all());
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(SimtStackTable, LanesThatAgreeDoNotDiverge) {
  SimtStack stack;
  stack.reset(LaneMask::first(7));
  const auto to = targets([](uint32_t lane) { return lane < 7 ? 5u : 6u; });
  EXPECT_FALSE(stack.branch_many(to.data(), stack.mask(), 8));
  EXPECT_EQ(stack.pc(), 5u);
  EXPECT_FALSE(stack.branch_many(to.data(), LaneMask(), 8));
  EXPECT_EQ(stack.pc(), 6u);
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(SimtStackCalls, TargetsRunOneAfterTheOtherAndLanesMeetBehindTheCall) {
  SimtStack stack;
  stack.reset(LaneMask::all());
  stack.advance();
  const auto to = targets([](uint32_t lane) { return lane < 8 ? 30u : 20u; });
  EXPECT_TRUE(stack.call(to.data()));
  EXPECT_EQ(stack.pc(), 20u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xffu));
  stack.leave_function();
  EXPECT_EQ(stack.pc(), 30u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffu));
  stack.exit(LaneMask(0xfu));
  EXPECT_EQ(stack.pc(), 31u);
  stack.leave_function();
  EXPECT_EQ(stack.pc(), 2u);
  EXPECT_EQ(stack.mask(), LaneMask(~0xfu));
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(SimtStackCalls, ARecursiveCallDoesNotJoinAtItsCallersJoin) {
  // A function at 10: 10 branches to 12, join 13; 11 calls 10 again; 14 returns.
  SimtStack stack;
  stack.reset(LaneMask::all());
  const auto again = targets([](uint32_t) { return 10u; });
  EXPECT_FALSE(stack.call(again.data()));
  MicroOp branch;
  branch.kind = OpKind::kBranch;
  branch.target = 12;
  branch.reconverge = 13;
  EXPECT_TRUE(stack.branch(branch, LaneMask(0xffffu)));
  EXPECT_EQ(stack.pc(), 11u);
  EXPECT_FALSE(stack.call(again.data()));  // the upper half goes one level deeper
  EXPECT_FALSE(stack.branch(branch, stack.mask()));
  stack.advance();
  EXPECT_EQ(stack.pc(), 13u) << "the join of the inner activation is no end for its lanes";
  EXPECT_EQ(stack.mask(), LaneMask(0xffff0000u));
  stack.advance();
  stack.leave_function();
  EXPECT_EQ(stack.pc(), 12u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffff0000u));
  stack.advance();
  EXPECT_EQ(stack.pc(), 12u);
  EXPECT_EQ(stack.mask(), LaneMask(0xffffu));
  stack.advance();
  EXPECT_EQ(stack.pc(), 13u);
  EXPECT_EQ(stack.mask(), LaneMask::all());
  stack.advance();
  stack.leave_function();
  EXPECT_EQ(stack.pc(), 1u);
  EXPECT_EQ(stack.depth(), 0u);
}

// --- program errors ---

struct Machine {
  alignas(64) std::array<uint32_t, 32> words{};
  alignas(64) std::array<uint64_t, 32> addresses{};
  isa::WarpContext context;
  SimtStack stack;
  KernelImage image;
  MicroOp op;
  Machine() {
    context.bank[0] = reinterpret_cast<std::byte*>(words.data());
    context.bank[1] = reinterpret_cast<std::byte*>(addresses.data());
    stack.reset(LaneMask::first(4));
    image.functions = {{"f", 10, 32, 1}, {"declared", isa::kNoTarget, 0, 1}, {"other", 20, 64, 2}};
    image.stack_bytes = 64;
    image.stack_end = 100;
    image.branch_targets = {7, 5, 6};
  }
  Transfer run() { return transfer_control(image, op, context, stack.mask(), stack); }
  void indirect_call(uint64_t address) {
    op.kind = OpKind::kCall;
    op.num_src = 2;
    op.src[1].bank = isa::Bank::kConstant;
    op.imm = 1;
    addresses.fill(isa::function_address(0));
    addresses[2] = address;
  }
};

TEST(ControlTransfer, AnIndexOutsideTheTable) {
  Machine m;
  m.op.kind = OpKind::kBranchTable;
  m.op.num_src = 1;
  m.op.target = 1;
  m.op.imm = 2;
  m.words[3] = 2;
  const Transfer t = m.run();
  EXPECT_EQ(t.fault_lane, 3);
  EXPECT_EQ(t.fault, "index 2 of a branch table with 2 targets");
  EXPECT_EQ(m.stack.pc(), 0u);
  m.words[3] = 1;
  EXPECT_EQ(m.run().fault_lane, -1);
  EXPECT_EQ(m.stack.pc(), 5u);
}

TEST(ControlTransfer, CallsOfWhatIsNoFunction) {
  const auto fault = [](uint64_t address) {
    Machine m;
    m.indirect_call(address);
    const Transfer t = m.run();
    EXPECT_EQ(m.stack.depth() == 0, t.fault_lane >= 0);
    if (t.fault_lane >= 0) {
      EXPECT_EQ(t.fault_lane, 2);
    }
    return t.fault;
  };
  EXPECT_EQ(fault(isa::function_address(0)), "");
  EXPECT_EQ(fault(0), "call of address 0x0, where no function is");
  EXPECT_EQ(fault(isa::function_address(0) + 8), "call of address 0x3000008, where no function is");
  EXPECT_EQ(fault(isa::function_address(3)), "call of address 0x3000030, where no function is");
  EXPECT_EQ(fault(isa::function_address(0) + (uint64_t{1} << 32)),
            "call of address 0x103000000, where no function is");
  EXPECT_EQ(fault(isa::function_address(1)), "call of 'declared', which has no code");
  EXPECT_EQ(fault(isa::function_address(2)), "call of 'other' with parameters that are not its own");
}

TEST(ControlTransfer, TheStackIsFullWhenAFrameWouldReachOverItsEnd) {
  Machine m;
  m.op.kind = OpKind::kCall;
  m.op.num_src = 1;
  m.op.target = 0;
  m.words.fill(68);
  EXPECT_EQ(m.run().fault_lane, -1) << "32 bytes from 68 end at 100";
  EXPECT_EQ(m.stack.pc(), 10u);
  m.words[1] = 69;
  const Transfer t = m.run();
  EXPECT_EQ(t.fault_lane, 1);
  EXPECT_EQ(
      t.fault,
      "the call stack of 64 bytes is full: 'f' needs 32 more; if the recursion is meant to be that deep, "
      "raise 'stack' of the [[launch]] in a launch file, cudaDeviceSetLimit(cudaLimitStackSize) in a "
      "program");
}

// --- random programs ---

/// Operations of several functions; operation 0 is the kernel's first.
struct Code {
  std::vector<MicroOp> ops;
  std::vector<std::vector<uint32_t>> choices;  ///< of an operation that each lane leads elsewhere
  std::vector<uint32_t> functions;             ///< first operations
};

/// Structured code with branches, switches, loops, exits and calls. Joins are at the end of each construct,
/// or left to the end of the function.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  Code make() {
    count_ = 2 + random_() % 3;
    for (size_t f = 0; f < count_; ++f) {
      code_.functions.push_back(here());
      function_ = f;
      block(0);
      emit(f == 0 ? OpKind::kExit : OpKind::kReturn);
    }
    for (const uint32_t at : calls_) {
      code_.choices[at] = {code_.functions.back()};  // the last function calls nothing
      for (size_t f = 1; f + 1 < count_; ++f) code_.choices[at].push_back(code_.functions[f]);
    }
    return std::move(code_);
  }

 private:
  uint32_t emit(OpKind kind) {
    code_.ops.emplace_back();
    code_.ops.back().kind = kind;
    code_.choices.emplace_back();
    return here() - 1;
  }
  [[nodiscard]] uint32_t here() const { return static_cast<uint32_t>(code_.ops.size()); }
  void join(uint32_t at) { code_.ops[at].reconverge = random_() % 4 == 0 ? isa::kNoTarget : here(); }
  void block(int depth) {
    const uint64_t statements = 1 + random_() % 3;
    for (uint64_t i = 0; i < statements; ++i) statement(depth);
  }
  void statement(int depth) {
    const uint64_t kind = depth > 2 ? random_() % 3 : random_() % 8;
    if (kind == 1 && function_ + 1 < count_) {
      calls_.push_back(emit(OpKind::kCall));
    } else if (kind == 2 && random_() % 3 == 0) {
      emit(OpKind::kTrap);  // stands for a guarded exit
    } else if (kind == 3 || kind == 4) {
      switch_of(depth, 1 + random_() % 4);
    } else if (kind == 5) {
      const uint32_t head = here();
      block(depth + 1);
      const uint32_t back = emit(OpKind::kBranch);
      code_.ops[back].target = head;
      join(back);
    } else {
      emit(OpKind::kNop);
    }
  }
  /// Lanes choose an arm or go on at once.
  void switch_of(int depth, uint64_t arms) {
    const uint32_t at = emit(OpKind::kBranchTable);
    std::vector<uint32_t> ends, choices;
    ends.push_back(emit(OpKind::kBarrier));  // stands for an unguarded jump
    for (uint64_t a = 0; a < arms; ++a) {
      choices.push_back(here());
      block(depth + 1);
      ends.push_back(emit(OpKind::kBarrier));
    }
    for (const uint32_t e : ends) code_.ops[e].target = here();
    choices.push_back(here());
    code_.choices[at] = choices;
    join(at);
    emit(OpKind::kNop);
  }

  std::mt19937_64 random_;
  Code code_;
  std::vector<uint32_t> calls_;
  size_t function_ = 0, count_ = 0;
};

/// One thread: decides by what it has done so far, and remembers where it was.
struct Thread {
  uint64_t state = 0;
  uint32_t depth = 0;
  uint64_t calls = 0;
  std::vector<uint32_t> path;
  std::vector<uint32_t> visits;

  uint64_t random(uint32_t pc) {
    state = (state ^ pc) * 0x9e3779b97f4a7c15ull + 1;
    return (state ^ state >> 31) >> 20;
  }
  bool takes(const Code& code, uint32_t pc) {
    if (visits.empty()) visits.assign(code.ops.size(), 0);
    if (code.ops[pc].kind == OpKind::kTrap) return random(pc) % 8 == 0;
    return ++visits[pc] < 40 && random(pc) % 3 == 0;  // a loop goes round again
  }
  uint32_t choose(const Code& code, uint32_t pc) {
    const std::vector<uint32_t>& c = code.choices[pc];
    const bool call = code.ops[pc].kind == OpKind::kCall;
    if (call && (depth > 4 || ++calls > 60)) return c.front();
    const uint64_t r = random(pc);
    if (code.ops[pc].kind == OpKind::kBranchTable && r % 5 == 0) return pc + 1;
    return c[r % c.size()];
  }
};

std::vector<uint32_t> run_alone(const Code& code, uint64_t seed) {
  Thread t{seed, 0, 0, {}, {}};
  std::vector<uint32_t> returns;
  for (uint32_t pc = 0;;) {
    t.path.push_back(pc);
    switch (code.ops[pc].kind) {
      case OpKind::kExit:
        return t.path;
      case OpKind::kTrap:
        if (t.takes(code, pc)) return t.path;
        ++pc;
        break;
      case OpKind::kBarrier:
        pc = code.ops[pc].target;
        break;
      case OpKind::kBranch:
        pc = t.takes(code, pc) ? code.ops[pc].target : pc + 1;
        break;
      case OpKind::kBranchTable:
        pc = t.choose(code, pc);
        break;
      case OpKind::kCall:
        returns.push_back(pc + 1);
        pc = t.choose(code, pc);
        ++t.depth;
        break;
      case OpKind::kReturn:
        --t.depth;
        pc = returns.back();
        returns.pop_back();
        break;
      default:
        ++pc;
        break;
    }
  }
}

class RandomCalls : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomCalls, EveryLaneRunsItsOwnPath) {
  size_t calls = 0;
  for (uint64_t seed = GetParam() * 200; seed < (GetParam() + 1) * 200; ++seed) {
    const Code code = Generator(seed).make();
    std::array<Thread, 32> lanes;
    for (uint64_t l = 0; l < 32; ++l) lanes[l].state = seed * 77 + l / 2;  // pairs of lanes stay together
    SimtStack stack;
    stack.reset(LaneMask::all());
    uint64_t steps = 0;
    while (!stack.done()) {
      ASSERT_LT(++steps, 1'000'000u) << "seed " << seed;
      const uint32_t pc = stack.pc();
      ASSERT_LT(pc, code.ops.size()) << "seed " << seed;
      const MicroOp& op = code.ops[pc];
      LaneMask taken;
      std::array<uint32_t, 32> to{};
      for (uint32_t l = 0; l < 32; ++l) {
        if (!stack.mask().test(static_cast<int>(l))) continue;
        lanes[l].path.push_back(pc);
        const bool many = op.kind == OpKind::kBranchTable || op.kind == OpKind::kCall;
        if (many) to[l] = lanes[l].choose(code, pc);
        if (op.kind == OpKind::kCall) ++lanes[l].depth;
        if (op.kind == OpKind::kReturn) --lanes[l].depth;
        const bool always = op.kind == OpKind::kExit || op.kind == OpKind::kBarrier;
        const bool sometimes = op.kind == OpKind::kTrap || op.kind == OpKind::kBranch;
        if (many ? to[l] != pc + 1 : always || (sometimes && lanes[l].takes(code, pc)))
          taken |= LaneMask(1u << l);
      }
      switch (op.kind) {
        case OpKind::kBranch:
        case OpKind::kBarrier:
          stack.branch(op, taken);
          break;
        case OpKind::kBranchTable:
          stack.branch_many(to.data(), taken, op.reconverge);
          break;
        case OpKind::kCall:
          calls += stack.call(to.data());
          break;
        case OpKind::kReturn:
          stack.leave_function();
          break;
        case OpKind::kExit:
        case OpKind::kTrap:
          stack.exit(taken);
          break;
        default:
          stack.advance();
          break;
      }
    }
    for (uint64_t l = 0; l < 32; ++l)
      ASSERT_EQ(lanes[l].path, run_alone(code, seed * 77 + l / 2)) << "seed " << seed << ", lane " << l;
  }
  EXPECT_GT(calls, 100u) << "calls that diverged";
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCalls, testing::Range(uint64_t{0}, uint64_t{5}));

}  // namespace
}  // namespace gpusim::comp
