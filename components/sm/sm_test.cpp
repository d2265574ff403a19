// One SM with its real front end, between a scripted block dispatcher and memories of fixed latency. The
// kernel is small PTX; issue events give the exact cycle of every operation. Shipped configuration: a slot
// every 2 cycles, int and fp32 4 cycles on the sp pipe and 24 to a dependent operation, shared memory 36,
// branch and barrier 24.
#include "components/sm/sm.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "components/sm/register_banks.h"
#include "components/testing/mocks.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/parser/parser.h"

namespace gpusim::comp {
namespace {

class Buffer : public isa::GlobalMemory {
 public:
  static constexpr uint64_t kBase = 0x1000'0000;
  [[nodiscard]] isa::MemoryWindow window(uint64_t address) const override {
    if (address < kBase || address >= kBase + sizeof data_) return {};
    return {kBase, kBase + sizeof data_, data_, true};
  }
  [[nodiscard]] uint32_t word(uint32_t i) const {
    uint32_t v;
    std::memcpy(&v, data_ + size_t{i} * 4, 4);
    return v;
  }

 private:
  mutable std::byte data_[1 << 16]{};
};

class SmTest : public testing::Test {
 protected:
  static constexpr uint64_t kStart = 100, kMemory = 300;

  void build(const std::string& body, uint32_t threads, uint32_t blocks = 1,
             const std::vector<std::string>& sets = {}) {
    machine = test::tesla_c1060(sets);
    const std::string text =
        ".version 1.4\n.target sm_13\n.entry k(.param .u64 out)\n{\n.reg .u32 %r<32>;\n.reg .u64 "
        "%d<8>;\n.reg .pred %p<8>;\n"
        ".reg .f32 %f<32>;\n" +
        body + "\n}\n";
    isa::ParseResult parsed = isa::parse_module(text);
    ASSERT_TRUE(parsed.ok()) << parsed.diagnostics.at(0).message;
    auto lowered = isa::lower_kernel(parsed.module, *parsed.module.entries().at(0), {});
    ASSERT_TRUE(std::holds_alternative<isa::KernelImage>(lowered));
    image = std::move(std::get<isa::KernelImage>(lowered));
    std::string problem;
    timing = build_timing(machine, problem);
    ASSERT_EQ(problem, "");
    prepare_run(threads, blocks);
    connect();
    for (uint32_t b = 0; b < blocks; ++b) dispatcher.send(kStart - 1, {&run, b});
  }

  void simulate() {
    sm->open_kernel(run);
    run.start = core::Cycle(0);
    const auto outcome = engine.run();
    EXPECT_EQ(outcome,
              error.empty() ? core::Engine::Outcome::kNothingScheduled : core::Engine::Outcome::kStopped);
    if (!error.empty() || reports.taken.empty()) return;
    EXPECT_TRUE(reports.taken.back().drained);
    run.end = core::Cycle((reports.taken_at.back() + 1) / 2 * 2);
    sm->close_kernel(run);
    // Exact accounting: every slot of every scheduler has one cause, in total and summed over the operations
    // and idle slots.
    const auto& slots = run.sm[0].slots;
    const uint64_t expected = run.end.count() / 2 * machine.scheduler.count * machine.scheduler.issue_width;
    EXPECT_EQ(std::accumulate(slots.begin(), slots.end(), uint64_t{0}), expected);
    const uint64_t idle = slots[StallCause::kNoWarp] + slots[StallCause::kLaunch] + slots[StallCause::kDrain];
    EXPECT_EQ(idle, sm->idle_slots()) << "booked one by one";
    EXPECT_GE(run.first_block.count(), kStart);
    EXPECT_EQ(slots[StallCause::kLaunch],
              (run.first_block.count() + 1) / 2 * machine.scheduler.count * machine.scheduler.issue_width)
        << "until the first block";
    uint64_t at_pcs = 0;
    for (const PcStats& pc : run.pc) at_pcs = std::accumulate(pc.slots.begin(), pc.slots.end(), at_pcs);
    EXPECT_EQ(at_pcs + idle, expected);
    EXPECT_EQ(run.sm[0].inst_executed, issues.events.size());
    for (const core::IssueEvent& e : issues.events) EXPECT_EQ(e.scheduler, e.warp % machine.scheduler.count);
  }

  /// Cycles at which `warp` issued operations of this class.
  [[nodiscard]] std::vector<uint64_t> cycles_of(isa::OpClass c, uint16_t warp = 0) const {
    std::vector<uint64_t> cycles;
    for (const core::IssueEvent& e : issues.events)
      if (e.warp == warp && image.ops[e.pc].op_class == c) cycles.push_back(e.cycle);
    return cycles;
  }
  [[nodiscard]] uint64_t slots_of(StallCause c) const { return run.sm[0].slots[c]; }

  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  core::MachineConfig machine;
  TimingTables timing;
  isa::KernelImage image;
  KernelLaunch run;
  Buffer buffer;
  EventSink events;
  core::PageArena arena;
  isa::MemoryAccess access;
  test::EventList<core::IssueEvent> issues;
  test::Source<BlockStart> dispatcher{"dispatcher", domain};
  test::Sink<SmReport> reports{"reports", domain};
  test::FixedMemory memory{"memory", domain, kMemory},
      cluster{"cluster", domain, 80, MemoryLevel::kConstantL2};
  std::unique_ptr<Sm> sm;
  std::string error;

  void prepare_run(uint32_t threads, uint32_t blocks) {
    run.image = &image;
    run.grid = {blocks, 1, 1};
    run.block = {threads, 1, 1};
    run.threads_per_block = threads;
    run.warps_per_block = (threads + 31) / 32;
    run.num_blocks = blocks;
    run.blocks_per_sm = std::max(blocks, 1u);
    run.shared_bytes = image.static_shared_bytes;
    run.pc.resize(image.ops.size());
    run.sm.resize(1);
    run.residence.resize(1);
    run.params.resize(8);
    const uint64_t base = Buffer::kBase;
    std::memcpy(run.params.data(), &base, 8);
  }
  void connect() {
    run.events.issue = &issues;
    SmEnvironment environment;
    environment.machine = &machine;
    environment.timing = &timing;
    environment.memory = &buffer;
    environment.events = &events;
    environment.arena = &arena;
    environment.access = &access;
    environment.local_memory_base = uint64_t{1} << 40;
    environment.on_error = [this](ProgramError e) {
      engine.stop();
      error = std::move(e.message);
    };
    sm = std::make_unique<Sm>("sm", domain, 0, environment);
    request = std::make_unique<core::Link<MemoryRequest>>(*sm, memory, 8);
    reply = std::make_unique<core::Link<MemoryReply>>(memory, *sm, 1024);
    constant_request = std::make_unique<core::Link<MemoryRequest>>(*sm, cluster, 8);
    constant_reply = std::make_unique<core::Link<MemoryReply>>(cluster, *sm, 1024);
    starts = std::make_unique<core::Link<BlockStart>>(dispatcher, *sm, 8, 0, 8);
    ends = std::make_unique<core::Link<SmReport>>(*sm, reports, 8);
    memory.in = request.get(), memory.out = reply.get();
    cluster.in = constant_request.get(), cluster.out = constant_reply.get();
    dispatcher.out = starts.get();
    reports.in = ends.get();
    sm->connect({request.get(), reply.get(), constant_request.get(), constant_reply.get()}, *starts, *ends);
  }
  std::unique_ptr<core::Link<MemoryRequest>> request, constant_request;
  std::unique_ptr<core::Link<MemoryReply>> reply, constant_reply;
  std::unique_ptr<core::Link<BlockStart>> starts;
  std::unique_ptr<core::Link<SmReport>> ends;
};

constexpr const char* kStoreR0 = "ld.param.u64 %d0, [out];\nst.global.u32 [%d0], %r0;\nexit;";
using Times = std::vector<uint64_t>;

/// Differences between neighbours.
Times gaps(const Times& t) {
  Times d;
  for (size_t i = 1; i < t.size(); ++i) d.push_back(t[i] - t[i - 1]);
  return d;
}

TEST_F(SmTest, DependentOperationsAre24CyclesApart) {
  // The barrier lets the pipe drain: the latch in front of a busy one would add two cycles to the first
  // distance.
  std::string body = "mov.u32 %r0, %clock;\nbar.sync 0;\n";
  for (int i = 0; i < 6; ++i) body += "mad.f32 %f0, %f0, %f0, %f0;\n";
  build(body + "cvt.rzi.u32.f32 %r1, %f0;\nadd.u32 %r0, %r0, %r1;\n" + kStoreR0, 32);
  simulate();
  EXPECT_EQ(gaps(cycles_of(isa::OpClass::kFp32)), (Times{24, 24, 24, 24, 24}));
}

TEST_F(SmTest, FirstOperationIssuesInTheSlotAfterTheBlockArrives) {
  build(std::string("mov.u32 %r0, %clock;\n") + kStoreR0, 32);
  simulate();
  // gpu.block_start_cycles is the latency of the dispatcher's link, which has none here: seen at kStart.
  EXPECT_EQ(cycles_of(isa::OpClass::kSpecial), Times{kStart + 2});
}

TEST_F(SmTest, IndependentOperationsFillThePipe) {
  std::string body = "mov.u32 %r0, %clock;\n";
  for (int i = 1; i < 12; ++i) body += "mad.f32 %f" + std::to_string(i) + ", %f0, %f0, %f0;\n";
  for (int i = 1; i < 12; ++i)
    body += "cvt.rzi.u32.f32 %r1, %f" + std::to_string(i) + ";\nadd.u32 %r0, %r0, %r1;\n";
  build(body + kStoreR0, 32);
  simulate();
  const Times t = cycles_of(isa::OpClass::kFp32);
  ASSERT_GE(t.size(), 11u);
  // The pipe takes one every 4 cycles. The latch in front of it may let one in 2 cycles early, once.
  EXPECT_EQ(t[10] - t[1], 9u * 4u);
}

/// Independent multiply-adds, and what keeps their results alive.
std::string independent_mads(int count) {
  std::string body = "mov.u32 %r0, %clock;\n";
  for (int i = 1; i <= count; ++i) body += "mad.f32 %f" + std::to_string(i) + ", %f0, %f0, %f0;\n";
  for (int i = 1; i <= count; ++i)
    body += "cvt.rzi.u32.f32 %r1, %f" + std::to_string(i) + ";\nadd.u32 %r0, %r0, %r1;\n";
  return body;
}

TEST_F(SmTest, SchedulersShareAPipe) {
  build(independent_mads(11) + kStoreR0, 64, 1, {"scheduler.count=2"});
  simulate();
  Times all = cycles_of(isa::OpClass::kFp32, 0);
  const Times other = cycles_of(isa::OpClass::kFp32, 1);
  all.insert(all.end(), other.begin(), other.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), 22u);
  EXPECT_GE(all.back() - all.at(1), 20u * 4u) << "not more than one every four cycles, whosever it is";
}

TEST_F(SmTest, SchedulersTakeTurnsAtASharedPipe) {
  build(independent_mads(11) + kStoreR0, 128, 1, {"scheduler.count=4", "scheduler.share_in_turn=true"});
  simulate();
  const Times first = cycles_of(isa::OpClass::kFp32, 0);
  ASSERT_EQ(first.size(), 11u);
  for (uint16_t w = 1; w < 4; ++w) {
    const Times t = cycles_of(isa::OpClass::kFp32, w);
    ASSERT_EQ(t.size(), 11u);
    for (size_t i = 0; i < 11; ++i)
      EXPECT_LE(std::max(t[i], first[i]) - std::min(t[i], first[i]), 4u * 4u) << "warp " << w << ", " << i;
  }
}

TEST_F(SmTest, SubCoresHavePipesOfTheirOwn) {
  build(independent_mads(11) + kStoreR0, 64, 1, {"scheduler.count=2", "pipes.sp.per_scheduler=true"});
  simulate();
  for (const uint16_t w : {uint16_t{0}, uint16_t{1}}) {
    const Times t = cycles_of(isa::OpClass::kFp32, w);
    EXPECT_EQ(t.at(10) - t.at(1), 9u * 4u);
  }
  EXPECT_EQ(cycles_of(isa::OpClass::kFp32, 0), cycles_of(isa::OpClass::kFp32, 1));
}

TEST_F(SmTest, DualIssueTakesTwoIndependentOperationsOfAWarp) {
  // A multiply goes to the SFU while a multiply-add takes the SP.
  std::string body = "mov.u32 %r0, %clock;\n";
  for (int i = 1; i < 9; i += 2)
    body += "mad.f32 %f" + std::to_string(i) + ", %f0, %f0, %f0;\nmul.f32 %f" + std::to_string(i + 1) +
            ", %f0, %f0;\n";
  for (int i = 1; i < 9; ++i)
    body += "cvt.rzi.u32.f32 %r1, %f" + std::to_string(i) + ";\nadd.u32 %r0, %r0, %r1;\n";
  build(body + kStoreR0, 32, 1, {"scheduler.issue_width=2", "pipes.sfu.fp32_mul=4"});
  simulate();
  EXPECT_EQ(cycles_of(isa::OpClass::kFp32), cycles_of(isa::OpClass::kFp32Mul));
  EXPECT_EQ(cycles_of(isa::OpClass::kFp32).size(), 4u);
}

TEST_F(SmTest, DualIssueWaitsForOperands) {
  std::string body = "cvt.rn.f32.u16 %f1, %tid.x;\n";
  for (int i = 0; i < 4; ++i) body += "mad.f32 %f1, %f1, %f1, %f1;\n";
  build(body + "cvt.rzi.u32.f32 %r0, %f1;\n" + kStoreR0, 32, 1, {"scheduler.issue_width=2"});
  simulate();
  EXPECT_EQ(gaps(cycles_of(isa::OpClass::kFp32)), (Times{24, 24, 24}));
}

TEST_F(SmTest, RegistersOfOneBankKeepThePipeBusy) {
  std::string body =
      "cvt.rn.f32.u16 %f1, %tid.x;\nadd.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\nmov.f32 %f4, %f3;\n";
  for (int i = 0; i < 4; ++i) body += "mad.f32 %f4, %f1, %f2, %f4;\n";
  build(body + "add.f32 %f4, %f4, %f3;\ncvt.rzi.u32.f32 %r0, %f4;\n" + kStoreR0, 64);
  run.bank_delay.assign(image.ops.size(), 0);
  for (size_t pc = 0; pc < image.ops.size(); ++pc)
    if (image.ops[pc].op_class == isa::OpClass::kFp32 && image.ops[pc].num_src == 3) run.bank_delay[pc] = 9;
  simulate();
  const Times first = cycles_of(isa::OpClass::kFp32), second = cycles_of(isa::OpClass::kFp32, 1);
  ASSERT_EQ(first.size(), second.size());
  EXPECT_EQ(gaps(first).at(first.size() - 3), 26u) << "both warps' pipe time: 4 + 9 cycles each";
  EXPECT_EQ(run.sm[0].register_bank_cycles, 2 * 4 * 9u);
}

TEST_F(SmTest, DivisionWithASubroutineIsNotOverlappedAndCallsItForZero) {
  // Lane 0 of the first warp has the dividend 0; the second warp's threads are 32 and more.
  const std::string body =
      "cvt.rn.f32.u16 %f1, %tid.x;\nmov.f32 %f2, 0f40400000;\ndiv.full.f32 %f3, %f1, %f2;\n"
      "add.f32 %f4, %f1, %f1;\nadd.f32 %f3, %f3, %f4;\ncvt.rzi.u32.f32 %r0, %f3;\n";
  build(body + kStoreR0, 64);
  for (size_t pc = 0; pc < image.ops.size(); ++pc)
    if (isa::MicroOp& op = image.ops[pc]; op.op_class == isa::OpClass::kFp32Div) {
      op.op_class = isa::OpClass::kFp32DivRn;
      op.has_subroutine = true;
      ASSERT_EQ(image.ops[pc + 1].sb_reads[0], image.ops[pc].sb_reads[0]) << "does not need the quotient";
    }
  simulate();
  EXPECT_EQ(run.sm[0].special_operands, 1u);
  EXPECT_EQ(run.sm[0].subroutine_instructions, 37u);
  EXPECT_EQ(slots_of(StallCause::kIssued), run.sm[0].inst_executed + 37);
  const uint64_t usual = machine.latency.at("fp32_div_rn");
  const auto wait = [&](uint16_t warp) {
    const uint64_t division = cycles_of(isa::OpClass::kFp32DivRn, warp).at(0);
    for (const core::IssueEvent& e : issues.events)
      if (e.warp == warp && e.cycle > division) return e.cycle - division;
    return uint64_t{0};
  };
  EXPECT_GE(wait(1), usual);
  EXPECT_LE(wait(1), usual + 4) << "behind the other warp's division in its pipe";
  EXPECT_GE(wait(0), usual + 216);
  EXPECT_LE(wait(0), usual + 216 + 37) << "steps of an odd number of cycles wait for the next slot";
}

TEST_F(SmTest, SharedLoadIs36Cycles) {
  std::string body = ".shared .align 4 .b8 s[256];\nmov.u32 %r1, 0;\nst.shared.u32 [s], %r1;\nbar.sync 0;\n";
  for (int i = 0; i < 4; ++i) body += "ld.shared.u32 %r1, [%r1+0];\n";  // pointer chase at offset 0
  build(body + "mov.u32 %r0, %r1;\n" + kStoreR0, 32);
  simulate();
  EXPECT_EQ(gaps(cycles_of(isa::OpClass::kLoadShared)), (Times{36, 36, 36}));
  EXPECT_EQ(run.sm[0].shared_loads, 4u);
  EXPECT_EQ(run.sm[0].shared_replays, 0u);
}

TEST_F(SmTest, BankConflictsAddTwoCyclesAStep) {
  // Stride of 4 words: 4 steps instead of 1 for each of two half-warps, 6 replays of 2 cycles.
  std::string body =
      ".shared .align 4 .b8 s[2048];\ncvt.u32.u16 %r2, %tid.x;\nshl.b32 %r2, %r2, 4;\n"
      "st.shared.u32 [%r2], %r2;\nbar.sync 0;\n";
  for (int i = 0; i < 3; ++i) body += "ld.shared.u32 %r2, [%r2+0];\n";  // each lane finds its own address
  build(body + "mov.u32 %r0, %r2;\n" + kStoreR0, 32);
  simulate();
  const Times loads = cycles_of(isa::OpClass::kLoadShared);
  EXPECT_EQ(gaps(loads), (Times{36 + 12, 36 + 12}));
  EXPECT_EQ(run.sm[0].shared_replays, 4u * 6u);
}

TEST_F(SmTest, BarrierOfOneWarpIs24Cycles) {
  build(std::string("bar.sync 0;\nbar.sync 0;\nbar.sync 0;\nmov.u32 %r0, %clock;\n") + kStoreR0, 32);
  simulate();
  EXPECT_EQ(gaps(cycles_of(isa::OpClass::kBarrier)), (Times{24, 24}));
  EXPECT_EQ(run.sm[0].barriers, 3u);
}

TEST_F(SmTest, BarrierReleasesAllWarpsWithTheLastOne) {
  build(std::string("bar.sync 0;\nmov.u32 %r0, %clock;\n") + kStoreR0, 128);
  simulate();
  Times arrive, leave;
  for (uint16_t w = 0; w < 4; ++w) {
    arrive.push_back(cycles_of(isa::OpClass::kBarrier, w).at(0));
    leave.push_back(cycles_of(isa::OpClass::kSpecial, w).at(0));
  }
  EXPECT_EQ(gaps(arrive), (Times{2, 2, 2})) << "a barrier takes an issue slot";
  EXPECT_EQ(*std::min_element(leave.begin(), leave.end()), arrive.back() + 24);
}

TEST_F(SmTest, GlobalLoadIsServedByTheMemoryBelow) {
  build(std::string("ld.param.u64 %d1, [out];\nld.global.u32 %r1, [%d1];\nadd.u32 %r0, %r1, 1;\n") + kStoreR0,
        32);
  simulate();
  const uint64_t issued = cycles_of(isa::OpClass::kLoadGlobal).at(0);
  // All lanes read one word: one transaction each half-warp, at the next send (+1), +2, then +1 to memory and
  // its latency.
  ASSERT_GE(memory.seen.size(), 2u);
  const uint64_t answered = memory.seen_at[1] + kMemory;
  EXPECT_EQ(memory.seen_at[1], memory.seen_at[0] + 2);
  EXPECT_LE(memory.seen_at[0], issued + 2);
  EXPECT_EQ(cycles_of(isa::OpClass::kInt).at(0), (answered + 1) / 2 * 2)
      << "the first slot after the last reply";
  EXPECT_EQ(buffer.word(0), 1u);
  EXPECT_GT(slots_of(StallCause::kDram), kMemory / 2 - 20);
}

TEST_F(SmTest, DivergentSidesRunOneAfterTheOther) {
  build(std::string("cvt.u32.u16 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 8;\n@%p0 bra THEN;\nmul.lo.u32 %r0, "
                    "%r1, 3;\nbra JOIN;\n"
                    "THEN:\ndiv.u32 %r0, %r1, 3;\nJOIN:\nld.param.u64 %d0, [out];\ncvt.u64.u32 %d1, "
                    "%r1;\nshl.b64 %d1, %d1, 2;\n"
                    "add.u64 %d0, %d0, %d1;\nst.global.u32 [%d0], %r0;\nexit;"),
        32);
  simulate();
  EXPECT_EQ(run.sm[0].divergent_branches, 1u);
  EXPECT_EQ(cycles_of(isa::OpClass::kIntMul).size(), 1u);
  EXPECT_EQ(cycles_of(isa::OpClass::kIntDivU32).size(), 1u);
  EXPECT_LT(cycles_of(isa::OpClass::kIntMul)[0], cycles_of(isa::OpClass::kIntDivU32)[0])
      << "the side that falls through goes first";
  for (const core::IssueEvent& e : issues.events) {
    const uint32_t lanes = e.lanes;
    switch (image.ops[e.pc].op_class) {
      case isa::OpClass::kIntMul:
        EXPECT_EQ(lanes, 0xffffff00u);
        break;
      case isa::OpClass::kIntDivU32:
        EXPECT_EQ(lanes, 0xffu);
        break;
      case isa::OpClass::kStoreGlobal:
        EXPECT_EQ(lanes, ~0u) << "together again";
        break;
      default:
        break;
    }
  }
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(buffer.word(t), t < 8 ? t / 3 : t * 3);
}

TEST_F(SmTest, ThroughputOfManyWarpsIsThePipes) {
  // 16 warps x 32 independent operations: the sp pipe takes one every 4 cycles, whatever the scheduler does.
  std::string body = "mov.u32 %r0, %clock;\n";
  for (int i = 0; i < 32; ++i) body += "mad.f32 %f1, %f1, %f1, %f1;\n";
  build(body + "cvt.rzi.u32.f32 %r1, %f1;\nadd.u32 %r0, %r0, %r1;\n" + kStoreR0, 512);
  simulate();
  uint64_t first = ~0ull, last = 0, count = 0;
  for (const core::IssueEvent& e : issues.events) {
    if (image.ops[e.pc].op_class != isa::OpClass::kFp32) continue;
    const uint64_t cycle = e.cycle;
    first = std::min(first, cycle), last = std::max(last, cycle), ++count;
  }
  EXPECT_EQ(count, 512u);
  EXPECT_NEAR(static_cast<double>(last - first), 511 * 4, 0.03 * 511 * 4);
}

TEST_F(SmTest, FenceWaitsForTheWarpsStores) {
  build(
      "ld.param.u64 %d0, [out];\nmov.u32 %r0, 7;\nst.global.u32 [%d0], %r0;\nmembar.gl;\nmov.u32 %r0, "
      "%clock;\nst.global.u32 [%d0+4], %r0;\nexit;",
      32);
  simulate();
  ASSERT_GE(memory.seen_at.size(), 2u);
  EXPECT_GE(cycles_of(isa::OpClass::kSpecial).at(0), memory.seen_at[1] + kMemory);
  EXPECT_GT(slots_of(StallCause::kFence), 100u);
}

std::string store_and_fence(std::string_view fence) {
  return fmt::format(
      "ld.param.u64 %d0, [out];\nmov.u32 %r0, 7;\nst.global.u32 [%d0], %r0;\n{};\n"
      "mov.u32 %r0, %clock;\nst.global.u32 [%d0+4], %r0;\nexit;",
      fence);
}

std::string store_and_meet() {
  return std::string(
             ".shared .align 4 .b8 s[256];\nmov.u32 %r1, 5;\nst.shared.u32 [s], %r1;\nbar.sync 0;\n"
             "mov.u32 %r0, %clock;\n") +
         kStoreR0;
}

TEST_F(SmTest, ABarrierAwaitsStoresToSharedMemoryWhereTheMachineSaysSo) {
  build(store_and_meet(), 32, 1, {"scheduler.barrier_awaits_stores=true", "latency.store_shared=50"});
  simulate();
  EXPECT_EQ(cycles_of(isa::OpClass::kSpecial).at(0), cycles_of(isa::OpClass::kStoreShared).at(0) + 50 + 24);
}

TEST_F(SmTest, ABarrierAwaitsNoStoresOfOtherMachines) {
  build(store_and_meet(), 32, 1, {"latency.store_shared=50"});
  simulate();
  EXPECT_EQ(cycles_of(isa::OpClass::kSpecial).at(0), cycles_of(isa::OpClass::kBarrier).at(0) + 24);
}

TEST_F(SmTest, FenceOfTheDeviceTakesItsTimeHoweverSoonStoresEnd) {
  build(store_and_fence("membar.gl"), 32, 1, {"latency.fence=3000", "latency.fence_block=20"});
  simulate();
  EXPECT_EQ(cycles_of(isa::OpClass::kSpecial).at(0), cycles_of(isa::OpClass::kFence).at(0) + 3000);
  EXPECT_GT(slots_of(StallCause::kFence), 1400u);
}

TEST_F(SmTest, FenceOfABlockDoesNotTakeTheDevicesTime) {
  build(store_and_fence("membar.cta"), 32, 1, {"latency.fence=3000", "latency.fence_block=20"});
  simulate();
  EXPECT_LT(cycles_of(isa::OpClass::kSpecial).at(0), cycles_of(isa::OpClass::kFenceBlock).at(0) + 2000);
}

TEST_F(SmTest, TwoSchedulersIssueSideBySide) {
  build(std::string("bar.sync 0;\nmov.u32 %r0, %clock;\n") + kStoreR0, 64, 1, {"scheduler.count=2"});
  simulate();
  EXPECT_EQ(cycles_of(isa::OpClass::kExit, 0).size(), 1u);
  EXPECT_EQ(cycles_of(isa::OpClass::kExit, 1).size(), 1u);
}

TEST_F(SmTest, PartialWarpRunsItsThreadsOnly) {
  build(
      "cvt.u32.u16 %r1, %tid.x;\nld.param.u64 %d0, [out];\ncvt.u64.u32 %d1, %r1;\nshl.b64 %d1, %d1, "
      "2;\nadd.u64 %d0, %d0, %d1;\n"
      "mov.u32 %r0, 9;\nst.global.u32 [%d0], %r0;\nexit;",
      40);
  simulate();
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(buffer.word(t), t < 40 ? 9u : 0u);
  EXPECT_EQ(run.sm[0].warps, 2u);
}

TEST_F(SmTest, FaultNamesTheThread) {
  build("mov.u64 %d0, 64;\nmov.u32 %r0, 1;\nst.global.u32 [%d0], %r0;\nexit;", 32);
  simulate();
  EXPECT_THAT(error, testing::HasSubstr("thread (0,0,0)"));
  EXPECT_THAT(error, testing::HasSubstr("out of bounds"));
}

}  // namespace
}  // namespace gpusim::comp
