// Control codes by hand, and what they cost in whole programs.
#include "components/sm/control_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "components/sm/dependency_barriers.h"
#include "components/testing/recorded_run.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/parser/parser.h"

namespace gpusim::comp {
namespace {

using test::RecordedKernel;
using Sets = std::vector<std::string>;

/// A machine like Volta in what matters here: fp32 takes 6 cycles, int 4, a slot each cycle; an L1
/// data cache.
Sets volta(const Sets& more = {}) {
  Sets sets{"gpu.compute_capability=5.0",
            "pipes.other.half=2",
            "latency.half=6",
            "scheduler.issue_cycles=1",
            "scheduler.dependences=control_codes",
            "latency.fp32=6",
            "latency.int=4",
            "pipes.sp.int=1",
            "pipes.sp.fp32=1",
            "pipes.lsu.load_global=1",
            "coalescer.rule=cc20",
            "l1.size=16K",
            "lsu.queue=16",
            "latency.load_param=4",
            "pipes.sp.load_param=1",
            "latency.int64=4",
            "pipes.sp.int64=1"};
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

std::string kernel(const std::string& body) {
  return R"(
.version 4.3
.target sm_53
.address_size 64
.const .align 8 .u64 numbers[16];
.visible .entry k(.param .u64 in)
{
  .reg .u32 %r<32>;
  .reg .f32 %f<16>;
  .reg .u64 %rd<8>;
  .reg .pred %p<4>;
)" + body +
         "\n}\n";
}

struct Codes {
  isa::KernelImage image;
  std::vector<ControlCode> codes;
  /// Operations of this class, in order.
  [[nodiscard]] std::vector<size_t> at(isa::OpClass c) const {
    std::vector<size_t> list;
    for (size_t i = 0; i < image.ops.size(); ++i)
      if (image.ops[i].op_class == c) list.push_back(i);
    return list;
  }
};

Codes codes_of(const std::string& body, const Sets& more = {}, int capability = 13) {
  const core::MachineConfig machine = test::tesla_c1060(volta(more));
  std::string problem;
  const TimingTables timing = build_timing(machine, problem);
  EXPECT_EQ(problem, "");
  isa::ParseResult parsed = isa::parse_module(kernel(body));
  EXPECT_TRUE(parsed.ok());
  isa::LoweringOptions options;
  options.level = isa::LoweringLevel::kNone;
  options.machine_capability = capability;
  options.address_of = [](const isa::Variable&) { return isa::kDeviceMemoryBase; };
  auto lowered = isa::lower_kernel(parsed.module, *parsed.module.entries().at(0), options);
  EXPECT_TRUE(std::holds_alternative<isa::KernelImage>(lowered));
  Codes c;
  c.image = std::move(std::get<isa::KernelImage>(lowered));
  c.codes = control_codes(c.image, timing.of_scheduler[0], machine.scheduler);
  return c;
}

TEST(ControlCodes, StallsAreCountedFromOneOperationToTheNext) {
  // Three multiply-adds: the second needs the first, the third both; an addition between.
  const Codes c = codes_of(
      "fma.rn.f32 %f1, %f0, %f0, %f0;\nadd.u32 %r1, %r0, 1;\nfma.rn.f32 %f2, %f1, %f1, %f1;\n"
      "fma.rn.f32 %f3, %f2, %f1, %f1;\nexit;");
  const auto fma = c.at(isa::OpClass::kFp32);
  ASSERT_EQ(fma.size(), 3u);
  const size_t add = c.at(isa::OpClass::kInt).at(0);
  EXPECT_EQ(c.codes[fma[0]].stall, 0);
  EXPECT_EQ(c.codes[add].stall, 5) << "the addition issues in cycle 1, the next in 6";
  EXPECT_EQ(c.codes[fma[1]].stall, 6);
  for (const ControlCode& code : c.codes) EXPECT_EQ(code.sets, ControlCode::kNoBarrier);
}

TEST(ControlCodes, AResultTakesLongerToSomeOperations) {
  const Sets latencies{"scheduler.guard_latency=12", "scheduler.memory_latency=8", "scheduler.sfu_latency=6",
                       "scheduler.other_pipe_latency=5"};
  // Stall counts after the first operation, without and with these.
  struct Case {
    std::string body;
    unsigned plain, longer;
  };
  const Case cases[] = {
      {"setp.lt.u32 %p1, %r1, 5;\n@%p1 add.u32 %r2, %r2, 1;", 4, 12},
      {"setp.lt.u32 %p1, %r1, 5;\n@!%p1 bra L;\nadd.u32 %r2, %r2, 1;\nL:", 4, 12},
      {"setp.lt.u32 %p1, %r1, 5;\nselp.u32 %r2, %r1, %r3, %p1;", 4, 4},
      {"add.u32 %r1, %r1, 5;\nst.shared.u32 [%r1], %r2;", 4, 8},
      {"add.u32 %r1, %r1, 5;\nst.shared.u32 [%r2], %r1;", 4, 8},
      {"add.u32 %r1, %r1, 5;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", 4, 8},
      {"add.u32 %r1, %r1, 5;\npopc.b32 %r2, %r1;", 4, 6},
      {"add.f32 %f1, %f1, %f2;\nsin.approx.f32 %f2, %f1;", 6, 6},  // its own latency is as long
      {"add.u32 %r1, %r1, 5;\nfma.rn.f16x2 %r2, %r1, %r3, %r3;", 4, 5},
      {"add.u32 %r1, %r1, 5;\nadd.u32 %r2, %r1, %r3;", 4, 4},
      {"add.u32 %r1, %r1, 5;\nadd.u32 %r2, %r3, %r3;\nadd.u32 %r2, %r2, %r1;", 0, 0},
      {"sin.approx.f32 %f1, %f2;\nst.shared.f32 [%r1], %f1;", 0, 0},  // sets a barrier
  };
  for (const Case& c : cases) {
    const std::string text = c.body + "\nst.global.u32 [%rd1], %r2;\nexit;";
    const auto stall = [&](const Sets& more) { return unsigned{codes_of(text, more).codes.at(0).stall}; };
    EXPECT_EQ(stall({}), c.plain) << c.body;
    EXPECT_EQ(stall(latencies), c.longer) << c.body;
  }
}

TEST(ControlCodes, LoadsSetBarriersThatTheirFirstUseWaitsFor) {
  const Codes c = codes_of(
      "ld.param.u64 %rd1, [in];\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+128];\n"
      "ld.global.u32 %r3, [%rd1+256];\nadd.u32 %r4, %r3, 1;\nadd.u32 %r5, %r1, %r2;\nadd.u32 %r6, %r1, "
      "1;\nexit;");
  const auto load = c.at(isa::OpClass::kLoadGlobal), add = c.at(isa::OpClass::kInt);
  ASSERT_EQ(load.size(), 3u);
  ASSERT_EQ(add.size(), 3u);
  const uint8_t a = c.codes[load[0]].sets, b = c.codes[load[2]].sets;
  EXPECT_EQ(c.codes[load[1]].sets, a) << "one operation waits for both";
  EXPECT_NE(a, b);
  EXPECT_EQ(c.codes[add[0]].waits, 1u << b);
  EXPECT_EQ(c.codes[add[1]].waits, 1u << a);
  EXPECT_EQ(c.codes[add[2]].waits, 0) << "it was waited for before";
}

TEST(ControlCodes, ConstantsAtKnownAddressesNeedNoBarrier) {
  const std::string body =
      "ld.const.u32 %r1, [numbers+8];\nld.const.u32 %r2, [%rd1];\nadd.u32 %r3, %r1, %r2;\nexit;";
  const Codes before = codes_of(body, {}, 60), since = codes_of(body, {}, 70);
  const auto with_barriers = [](const Codes& c) {
    return std::ranges::count_if(
        c.codes, [](const ControlCode& code) { return code.sets != ControlCode::kNoBarrier; });
  };
  EXPECT_EQ(with_barriers(before), 2);
  EXPECT_EQ(with_barriers(since), 1);
  ASSERT_EQ(since.at(isa::OpClass::kLoadConst).size(), 1u);
  EXPECT_NE(since.codes[since.at(isa::OpClass::kLoadConst)[0]].sets, ControlCode::kNoBarrier);
}

std::string eight_loads() {
  std::string body = "ld.param.u64 %rd1, [in];\n";
  for (int i = 0; i < 8; ++i) body += fmt::format("ld.global.u32 %r{}, [%rd1+{}];\n", i, 4096 * i);
  for (int i = 0; i < 8; ++i) body += fmt::format("add.u32 %r{}, %r{}, 1;\n", 10 + i, i);
  return body;
}

TEST(ControlCodes, EightResultsShareSixBarriers) {
  const Codes six = codes_of(eight_loads() + "exit;"),
              eight = codes_of(eight_loads() + "exit;", {"scheduler.barriers=8"});
  const auto sets = [](const Codes& c) {
    std::vector<int> list;
    for (const size_t i : c.at(isa::OpClass::kLoadGlobal)) list.push_back(c.codes[i].sets);
    return list;
  };
  EXPECT_THAT(sets(eight), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const std::vector<int> shared = sets(six);
  EXPECT_THAT(std::vector<int>(shared.begin(), shared.begin() + 6),
              testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(shared[6], shared[5]) << "with the one that is waited for last";
  EXPECT_EQ(shared[7], shared[5]);
}

TEST(ControlCodes, NobodyWaitsForMemoryWhoNeedsAResultFromSharedMemory) {
  // The next tile on its way to registers while this one is read: ten loads from global memory that are
  // needed at the end, and between them and there ten from shared memory, all on their way at once.
  std::string body = ".shared .align 16 .b8 tile[256];\nld.param.u64 %rd1, [in];\n";
  for (int i = 0; i < 10; ++i) body += fmt::format("ld.global.u32 %r{}, [%rd1+{}];\n", i, 4096 * i);
  for (int i = 10; i < 20; ++i) body += fmt::format("ld.shared.u32 %r{}, [tile+{}];\n", i, 4 * i);
  for (int i = 10; i < 20; ++i) body += fmt::format("add.u32 %r{}, %r{}, 1;\n", i, i);
  for (int i = 0; i < 10; ++i) body += fmt::format("add.u32 %r{}, %r{}, 1;\n", i, i);
  const Codes c = codes_of(body + "exit;");
  uint32_t of_global = 0, of_shared = 0;
  for (const size_t i : c.at(isa::OpClass::kLoadGlobal)) of_global |= 1u << c.codes[i].sets;
  for (const size_t i : c.at(isa::OpClass::kLoadShared)) of_shared |= 1u << c.codes[i].sets;
  EXPECT_EQ(of_global & of_shared, 0u);
  EXPECT_EQ(std::popcount(of_shared), 5) << "what the first leave";
}

TEST(ControlCodes, AResultThatIsNeededInAnotherBlockKeepsNoBarrier) {
  const Codes c = codes_of(
      "ld.param.u64 %rd1, [in];\nld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra skip;\n"
      "ld.shared.u32 %r3, [0];\nadd.u32 %r4, %r3, 1;\nskip:\nadd.u32 %r5, %r1, 1;\nexit;");
  EXPECT_EQ(c.codes[c.at(isa::OpClass::kLoadGlobal)[0]].sets, ControlCode::kNoBarrier)
      << "the scoreboard says when it is there";
  EXPECT_NE(c.codes[c.at(isa::OpClass::kLoadShared)[0]].sets, ControlCode::kNoBarrier);
}

TEST(ControlCodes, ABarrierIsFreeAgainWhereItWasWaitedFor) {
  std::string body = "ld.param.u64 %rd1, [in];\n";
  for (int i = 0; i < 8; ++i)
    body += fmt::format("ld.global.u32 %r1, [%rd1+{}];\nadd.u32 %r2, %r1, 1;\n", 4 * i);
  const Codes c = codes_of(body + "exit;", {"scheduler.barriers=2"});
  const auto load = c.at(isa::OpClass::kLoadGlobal);
  for (size_t i = 1; i < load.size(); ++i)
    EXPECT_NE(c.codes[load[i]].sets, c.codes[load[i - 1]].sets) << "in turn";
}

TEST(DependencyBarriersTest, ABarrierIsWaitedForAsAWhole) {
  DependencyBarriers b(2);
  b.reset(0), b.reset(1);
  b.set_by_load(0, 3, 17);
  b.set_by_load(0, 3, 18);
  b.set_until(0, 1, 50, StallCause::kAluDependency);
  constexpr uint32_t kFirst = 1u << 1, kBoth = 1u << 1 | 1u << 3;
  EXPECT_FALSE(b.wait_of(0, 0).pending) << "nothing is waited for";
  EXPECT_FALSE(b.wait_of(0, kFirst).pending);
  EXPECT_EQ(b.wait_of(0, kFirst).cycle, 50u);
  EXPECT_TRUE(b.wait_of(0, kBoth).pending);
  EXPECT_EQ(b.wait_of(0, kBoth).load, 17u);
  b.complete(0, 17, 80, StallCause::kDram);
  EXPECT_EQ(b.wait_of(0, kBoth).load, 18u);
  b.complete(0, 18, 70, StallCause::kL2);
  EXPECT_FALSE(b.wait_of(0, kBoth).pending);
  EXPECT_EQ(b.wait_of(0, kBoth).cycle, 80u);
  EXPECT_EQ(b.wait_of(0, kBoth).cause, StallCause::kDram);
  EXPECT_EQ(b.barrier_of(0, 18), DependencyBarriers::kMost);
  EXPECT_FALSE(b.wait_of(1, kBoth).pending) << "another warp's";
}

constexpr const char* kLaunch = R"(
[[buffer]]
name = "in"
type = "u32"
count = 16384
[[launch]]
kernel = "k"
grid = [1]
block = [32]
args = ["in"]
)";

/// Seven of the eight lines are in the L1; the last is not.
RecordedKernel seven_hits(const Sets& sets) {
  std::string warm = "ld.param.u64 %rd1, [in];\nmov.u32 %r30, 0;\n";
  for (int i = 0; i < 7; ++i)
    warm += fmt::format("ld.global.u32 %r29, [%rd1+{}];\nadd.u32 %r30, %r30, %r29;\n", 4096 * i);
  std::string rest = "bar.sync 0;\n" + eight_loads();
  for (int i = 0; i < 8; ++i) rest += fmt::format("add.u32 %r30, %r30, %r{};\n", 10 + i);
  SimulationOptions o =
      test::program(kernel(warm + rest + "st.global.u32 [%rd1], %r30;\nexit;"), kLaunch, volta(sets));
  o.lowering = isa::LoweringLevel::kNone;
  return test::record_run(o).at(0);
}

/// How many of the eight additions behind the loads issue before the missing line comes.
size_t early(const RecordedKernel& k) {
  const uint64_t barrier = k.cycles_of("barrier").at(0);
  std::vector<uint64_t> adds;
  for (const uint64_t c : k.cycles_of("int"))
    if (c > barrier) adds.push_back(c);
  uint64_t miss = 0;
  for (const RecordedKernel::Read& r : k.memory)
    if (r.issue > barrier && k.op_class[r.pc] == "load_global" &&
        r.level == static_cast<uint64_t>(core::MemoryLevel::kDram))
      miss = r.complete;
  EXPECT_NE(miss, 0u);
  adds.resize(8);
  return static_cast<size_t>(std::ranges::count_if(adds, [&](uint64_t c) { return c < miss; }));
}

TEST(ControlCodes, MoreResultsThanBarriersAreWaitedForTogether) {
  EXPECT_EQ(early(seven_hits({"scheduler.dependences=scoreboard"})), 7u);
  EXPECT_EQ(early(seven_hits({"scheduler.barriers=8"})), 7u);
  EXPECT_EQ(early(seven_hits({})), 5u) << "loads 5, 6 and 7 have one barrier";
  EXPECT_EQ(early(seven_hits({"scheduler.barriers=2"})), 1u);
}

TEST(ControlCodes, AStallCountRunsFromTheOperationBefore) {
  // Between the first multiply-add and the one that needs it stands an addition that waits for memory: the
  // scoreboard has nothing left to wait for then, the count does.
  const auto gap = [](const char* dependences) {
    SimulationOptions o = test::program(
        kernel("ld.param.u64 %rd1, [in];\nmov.f32 %f0, 0f3f800000;\nld.global.u32 %r1, [%rd1];\n"
               "fma.rn.f32 %f1, %f0, %f0, %f0;\nadd.u32 %r2, %r1, 1;\nfma.rn.f32 %f2, %f1, %f1, %f1;\n"
               "st.global.f32 [%rd1], %f2;\nst.global.u32 [%rd1+4], %r2;\nexit;"),
        kLaunch, volta({dependences}));
    o.lowering = isa::LoweringLevel::kNone;
    const RecordedKernel k = test::record_run(o).at(0);
    EXPECT_EQ(k.all_slots(), k.cycles);
    return k.cycles_of("fp32").back() - k.cycles_of("int").back();
  };
  EXPECT_EQ(gap("scheduler.dependences=scoreboard"), 1u);
  EXPECT_EQ(gap("scheduler.dependences=control_codes"), 5u);
}

TEST(ControlCodes, DriversAgreeAndValuesDoNotChange) {
  const std::string ptx = kernel(R"(
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 0;
  mov.u32 %r3, 1;
LOOP:
  ld.global.u32 %r4, [%rd1];
  ld.global.u32 %r5, [%rd1+8192];
  mad.lo.u32 %r3, %r3, %r4, %r5;
  cvt.rn.f32.u32 %f1, %r3;
  sin.approx.f32 %f2, %f1;
  cvt.rzi.u32.f32 %r6, %f2;
  add.u32 %r3, %r3, %r6;
  atom.global.add.u32 %r7, [%rd1], 3;
  xor.b32 %r3, %r3, %r7;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 5;
  @%p1 bra LOOP;
  st.global.u32 [%rd1+16384], %r3;
  exit;)");
  std::string launch = kLaunch;
  launch.replace(launch.find("block = [32]"), 12, "block = [256]");
  SimulationOptions o = test::program(ptx, launch, volta());
  const test::Outcome direct = test::run_apart(o);
  o.direct_driver = false;
  const test::Outcome ahead = test::run_apart(o);
  const test::Outcome board =
      test::run_apart(test::program(ptx, launch, volta({"scheduler.dependences=scoreboard"})));
  EXPECT_EQ(direct.status, "complete") << direct.reason;
  EXPECT_EQ(direct.timing, ahead.timing);
  EXPECT_EQ(direct.values, board.values);
  EXPECT_EQ(direct.counts, board.counts);
}

}  // namespace
}  // namespace gpusim::comp
