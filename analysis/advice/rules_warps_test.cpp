// Rules of warps, blocks and operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

TEST_F(RulesTest, OnlyAccessesThatThePtxDoesNotMakeAreSpills) {
  operation("load_local", "ld.local.f32 %f1, [%rd1]", 8, {{"transferred_bytes", 1024}});
  EXPECT_FALSE(spills(facts()));
  operation("load_local", "add.f32 %f1, %f2, %f3", 4, {{"transferred_bytes", 512}});
  const auto p = spills(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->counter, "local traffic of spills");
  EXPECT_EQ(p->value, 512.0 * kWarps);
  EXPECT_EQ(p->pc, 1);
}

TEST_F(RulesTest, WarpsThatSharedMemoryKeepsOffTheSmWouldHideLatency) {
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 40,
            {{"transactions", 40},
             {"requested_bytes", 5120},
             {"transferred_bytes", 5120},
             {"awaited_memory_dram", 100}});
  for (auto& cycles : kernel.per_sm.numbers["active_warp_cycles"]) cycles = kCycles * 16;
  resources.shared_bytes = 48 * 1024;
  kernel.occupancy_limiter = "shared memory";
  const Facts f = facts();
  const auto p = occupancy(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 16);
  EXPECT_THAT(p->what, HasSubstr("2 blocks of 256 threads"));
  EXPECT_NEAR(p->after.rounds, f.estimator().recorded().rounds / 4, 1e-9);
  kernel.occupancy_limiter = "warps";
  EXPECT_FALSE(occupancy(facts()));
}

TEST_F(RulesTest, FullWarpsTakeHalfTheWorkOfHalfFullOnes) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  // 320 schedulers: 95,000 cycles are 475 operations of two cycles for each of their 100 warps.
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 0);
  EXPECT_EQ(p->value, 16);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'500, 500);
  EXPECT_THAT(gain(f, *p), DoubleNear(2, 0.1));
}

/// A loop whose lanes all stay until its end, but that does half of its work for half of them.
TEST_F(RulesTest, LanesThatAPredicateLeavesOutAreNotParted) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = 1;
  operation("int", "add.u32 %r1, %r1, 1", 475, {{"active_lanes", 475 * 32}});
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  operation("branch", "@%p1 bra $L1", 475, {{"active_lanes", 474 * 32}, {"divergent", 1}});
  EXPECT_FALSE(divergence(facts()));
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 400, {{"active_lanes", 400 * 8}});
  const auto p = divergence(facts());
  ASSERT_TRUE(p) << "behind the loop they are";
  EXPECT_NEAR(p->value, 32 * (2 * 475 + 400 * 0.25) / (2 * 475 + 400), 0.01);
}

TEST_F(RulesTest, RegistersOfOneBankGoWithTheOperationsThatReadThem) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  // Half as many operations for the same time of the pipe: each keeps it twice as long as its class does.
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 237, {{"active_lanes", 237 * 16}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'500, 500);
}

TEST_F(RulesTest, LanesThatPredicatesLeaveIdleAreDivergenceToo) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  operation("int", "setp.eq.s32 %p1, %r1, 0", 1);
  operation("fp32", "@%p1 fma.rn.f32 %f1, %f2, %f3, %f1", 400, {{"active_lanes", 400 * 8}});
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 75);
  operation("store_global", "@%p2 st.global.f32 [%rd1], %f1", 60, {{"active_lanes", 60}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1);
  EXPECT_NEAR(p->value, 32 * (1 - 300 / 536.0), 0.01) << "a lane that stores for its warp is not to be more";
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 95'000 * (475 - 300) / 475.0, 500);
  EXPECT_THAT(p->what, HasSubstr("under predicates"));
}

TEST_F(RulesTest, LanesWithoutAThreadAreNoDivergence) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  resources.threads = 16;
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  EXPECT_FALSE(divergence(facts()));
  resources.threads = 32;
  EXPECT_TRUE(divergence(facts()));
}

TEST_F(RulesTest, SingleAndDoublePrecisionDifferByTheirPipes) {
  unit("pipe_fp64", "scheduler", 320, 0.95);
  unit("pipe_fp32", "scheduler", 320, 0.0);
  operation("fp64", "fma.rn.f64 %fd1, %fd2, %fd3, %fd1", 237);
  const Facts f = facts();
  const auto p = precision(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.units.at("pipe_fp64"), 0, 300);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'400, 300) << "two cycles an operation instead of four";
  const auto proposed_at = [&](uint64_t busy) {
    kernel.units.front().busy = busy * 320;
    kernel.units.front().most = busy;
    return precision(facts()).has_value();
  };
  EXPECT_TRUE(proposed_at(31'000));
  EXPECT_FALSE(proposed_at(29'000)) << "what else there is matters more";
}

TEST_F(RulesTest, TheLongestBlockIsNoShorterOnAnotherSm) {
  for (uint64_t sm = 1; sm < kSms; ++sm) kernel.per_sm.numbers["inst_executed"][sm] = 100;
  unit("pipe_fp32", "SM", 80, 0.9);
  const auto gain_with = [&](BlockLives lives) {
    const Facts f(kernel, machine, resources, program, lives);
    return gain(f, *wave_quantisation(f));
  };
  EXPECT_GT(gain_with({}), 3);
  EXPECT_GT(gain_with({80'000, 80'000}), 3) << "blocks that are alike are long because of their own warps";
  EXPECT_NEAR(gain_with({5000, 80'000}), 100'000.0 / (80'000 + facts().estimator().recorded().start), 0.01);
}

TEST_F(RulesTest, ConversionsGoWithDoublePrecision) {
  unit("pipe_fp64", "scheduler", 320, 0.25);
  unit("pipe_sfu", "scheduler", 320, 0.96);
  unit("pipe_fp32", "scheduler", 320, 0.0);
  operation("cvt64", "cvt.f64.f32 %fd1, %f1", 60);
  operation("fp64", "fma.rn.f64 %fd2, %fd1, 0d3FE0000000000000, %fd1", 60);
  operation("cvt64", "cvt.rn.f32.f64 %f2, %fd2", 60);
  const auto p = precision(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1);
  EXPECT_THAT(p->counter, HasSubstr("sfu pipe, with conversions between single and double precision"));
  EXPECT_NEAR(p->after.units.at("pipe_sfu"), 0, 300);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 60 * 100 * 2, 300);
  operation("store_global", "st.global.f64 [%rd1], %fd2", 1);
  EXPECT_NEAR(precision(facts())->after.units.at("pipe_sfu"), 48'000, 300) << "an array of doubles stays one";
  kernel.per_pc.texts["ptx"] = {"cvt.f64.f32 %wide, %x", "fma.rn.f64 %sum, %wide, 0d3FE0000000000000, %wide",
                                "cvt.rn.f32.f64 %y, %sum", "st.global.f64 [%wide+8], {%one, %sum}"};
  EXPECT_NEAR(precision(facts())->after.units.at("pipe_sfu"), 48'000, 300) << "whatever registers are called";
}

TEST_F(RulesTest, ManyBlocksOfAUsualSizeAreToBecomeFewer) {
  unit("dispatcher", "GPU", 1, 0.8);
  const auto p = block_size(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("start 640 blocks"));
  EXPECT_NEAR(p->after.units.at("dispatcher"), 80'000.0 * 640 / (kWarps / 8.0), 1);
  kernel.units.back().busy = kernel.units.back().most = 30'000;
  EXPECT_FALSE(block_size(facts())) << "their starts take little of the time";
  kernel.units.back().busy = kernel.units.back().most = 80'000;
  kernel.counters["warps"] = 2 * 640 * 8;
  EXPECT_TRUE(block_size(facts()));
  kernel.counters["warps"] -= 8;
  EXPECT_FALSE(block_size(facts())) << "a place of the SMs has hardly more than one";
}

TEST_F(RulesTest, SmsWithLessWorkThanTheBusiestAreATail) {
  EXPECT_FALSE(wave_quantisation(facts()));
  for (uint64_t sm = 1; sm < kSms; ++sm) kernel.per_sm.numbers["inst_executed"][sm] = 500;
  const auto p = wave_quantisation(facts());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->value, 100 * (1000 + 79 * 500) / 80'000.0, 1e-9);
}

TEST_F(RulesTest, BlocksElsewhereAreNotShorter) {
  // One block for each of 16 SMs, that waits for its own results.
  kernel.counters["warps"] = 16 * 8;
  for (uint64_t sm = 0; sm < kSms; ++sm) {
    kernel.per_sm.numbers["warps"][sm] = sm < 16 ? 8 : 0;
    kernel.per_sm.numbers["inst_executed"][sm] = sm < 16 ? 1000 : 0;
    kernel.per_sm.numbers["active_cycles"][sm] = sm < 16 ? kCycles : 0;
    kernel.per_sm.numbers["active_warp_cycles"][sm] = sm < 16 ? 8 * kCycles : 0;
  }
  unit("issue", "scheduler", 320, 0.02);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1, {{"awaited_memory_dram", 1000}});
  const auto p = wave_quantisation(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->after.rounds, 1) << "a warp takes as long on another SM";
  const Facts f = facts();
  EXPECT_LT(gain(f, *p), 1.05);
}

/// Two blocks, each alone on its SM, whose warps wait for themselves and use what no other warp does.
TEST_F(RulesTest, BlocksThatAreAloneAreNoQuickerInParts) {
  kernel.counters["warps"] = 2 * 8;
  for (uint64_t sm = 0; sm < kSms; ++sm) {
    kernel.per_sm.numbers["warps"][sm] = sm < 2 ? 8 : 0;
    kernel.per_sm.numbers["inst_executed"][sm] = sm < 2 ? 1000 : 0;
  }
  unit("lsu_port", "SM", 80, 0.6);
  const auto gain_with = [&](uint64_t issued) {
    kernel.causes = {{"issued", issued}, {"memory_l1", 1000 - issued}};
    const Facts f(kernel, machine, resources, program, {95'000, 95'000});
    return gain(f, *wave_quantisation(f));
  };
  EXPECT_LT(gain_with(100), 1.1);
  EXPECT_GT(gain_with(900), 1.4) << "two warps of a scheduler issue in turn";
}

/// 2 blocks of a warp on 40 SMs and one on the others, all at once: none waits for another's place.
TEST_F(RulesTest, WarpsThatFitBesideEachOtherAreOneRound) {
  kernel.counters["warps"] = 120;
  for (uint64_t sm = 0; sm < kSms; ++sm) {
    const uint64_t warps = sm < 40 ? 2 : 1;
    kernel.per_sm.numbers["warps"][sm] = warps;
    kernel.per_sm.numbers["inst_executed"][sm] = 500 * warps;
    kernel.per_sm.numbers["active_warp_cycles"][sm] = warps * kCycles;
  }
  resources.threads = 32;
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1, {{"awaited_memory_dram", 1000}});
  EXPECT_EQ(facts().estimator().recorded().rounds, 1);
  unit("issue", "scheduler", 320, 0.02);
  EXPECT_THAT(named(), testing::Not(testing::Contains("wave_quantisation")));
}

/// 40 blocks of 8 warps for 80 SMs are 4 warps an SM, and no fraction of one for a scheduler.
TEST_F(RulesTest, BlocksAreDividedIntoWholeWarps) {
  const auto launch = [&](uint64_t warps) {
    kernel.counters["warps"] = static_cast<double>(warps * 40);
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["warps"][sm] = sm < 40 ? warps : 0;
      kernel.per_sm.numbers["inst_executed"][sm] = sm < 40 ? 1000 : 0;
    }
    return wave_quantisation(facts());
  };
  unit("issue", "scheduler", 320, 0.8);
  unit("lsu_port", "SM", 80, 0.8);
  unit("request_in", "cluster", 40, 0.4);
  kernel.units.back().most = 80'000;
  const auto even = launch(8);
  ASSERT_TRUE(even);
  EXPECT_NEAR(even->after.units.at("issue"), 40'000, 1);
  EXPECT_NEAR(even->after.units.at("request_in"), 40'000, 1) << "the port of SMs without a block";
  const auto rest = launch(10);
  ASSERT_TRUE(rest);
  EXPECT_NEAR(rest->after.units.at("lsu_port"), 40'000, 1) << "5 warps an SM";
  EXPECT_NEAR(rest->after.units.at("issue"), 40'000 * 2 / 1.25, 1) << "one of four schedulers has 2";
}

TEST_F(RulesTest, FewWarpsThatWaitAreToBecomeMore) {
  const auto launch = [&](uint64_t warps, uint64_t turns) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    kernel.counters["warps"] = static_cast<double>(warps * kSms);
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["warps"][sm] = warps;
      kernel.per_sm.numbers["active_warp_cycles"][sm] = warps * kCycles;
    }
    kernel.causes = {{"issued", 20}, {"memory_dram", 980}};
    operation("load_global", "ld.global.f32 %f1, [%rd1]", turns * warps * kSms / kWarps + 1);
    kernel.per_pc.numbers["executed"].back() = turns * warps * kSms;
    kernel.per_pc.numbers["awaited_memory_dram"].back() = 1000;
  };
  launch(4, 100);
  const auto p = more_warps(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("launch 16 times as many threads"));
  EXPECT_THAT(p->what, HasSubstr("200 warps an SM would hide the latency, and it holds 64"));
  EXPECT_NEAR(p->after.chain_sum(), facts().estimator().recorded().chain_sum() / 16, 1e-6);
  launch(4, 1);
  EXPECT_FALSE(more_warps(facts())) << "a thread that does all once cannot do less";
  launch(4, 8);
  EXPECT_THAT(more_warps(facts())->what, HasSubstr("launch 8 times as many threads"))
      << "there are no more turns";
  launch(4, 128);
  operation("barrier", "bar.sync 0", 0);
  kernel.per_pc.numbers["executed"].back() = 16 * 4 * kSms;
  const auto in_turn = more_warps(facts());
  ASSERT_TRUE(in_turn);
  EXPECT_THAT(in_turn->what, HasSubstr("launch 8 times as many threads"))
      << "16 of 128 turns are those of all";
  launch(64, 100);
  EXPECT_FALSE(more_warps(facts())) << "no more fit";
  // What a thread does once stays, also if some do it again; of three turns one is left.
  launch(4, 100);
  for (const double turns : {1.5, 3.0}) {
    operation("load_global", "ld.global.f32 %f2, [%rd2]", 0);
    kernel.per_pc.numbers["executed"].back() = static_cast<uint64_t>(turns * 4 * kSms);
    kernel.per_pc.numbers["awaited_memory_dram"].back() = 1000;
  }
  const auto chain = facts().estimator().recorded().chain;
  const auto fewer = more_warps(facts());
  ASSERT_TRUE(fewer);
  ASSERT_GT(chain[1], 0);
  EXPECT_NEAR(fewer->after.chain[1] / chain[1], 1, 1e-9);
  EXPECT_NEAR(fewer->after.chain[2] / chain[2], 1.0 / 3, 1e-9);
  // Of few blocks some SMs have nothing, and of more all have the same; what a thread does once, all do.
  launch(4, 100);
  operation("int", "mov.u32 %r1, %tid.x", 0);
  kernel.per_pc.numbers["executed"].back() = 4 * kSms;
  unit("lsu_port", "SM", kSms, 0.3);
  kernel.units.back().busy /= 10;
  unit("issue", "scheduler", 4 * kSms, 0.01);
  const auto spread = more_warps(facts());
  ASSERT_TRUE(spread);
  EXPECT_NEAR(spread->after.units.at("lsu_port"), 0.03 * kCycles, 1);
  EXPECT_NEAR(spread->after.units.at("issue"), 0.01 * kCycles + 15, 0.1) << "15 more of one operation each";
  kernel.units.clear();
  // Where the estimate is no good, a unit that is busy for more than half of the time would soon be full.
  for (const double share : {0.45, 0.55}) {
    unit("issue", "scheduler", 320, share);
    EXPECT_EQ(more_warps(facts()).has_value(), share < 0.5) << share;
    kernel.units.pop_back();
  }
}

TEST_F(RulesTest, ARootWhoseReciprocalIsUsedIsOneOperation) {
  unit("pipe_fp32", "scheduler", 320, 0.9);
  unit("pipe_sfu", "scheduler", 320, 0.0);
  unit("issue", "scheduler", 320, 0.5);
  operation("fp32_sqrt_rn", "sqrt.rn.f32 %f11, %f29", 28);
  operation("fp32_rcp_rn", "rcp.rn.f32 %f12, %f11", 28);
  const auto p = fast_math(facts());
  ASSERT_TRUE(p);
  // 100 warps a scheduler, eight cycles for a reciprocal root.
  EXPECT_NEAR(p->after.units.at("pipe_sfu"), 28 * 100 * 8, 1);
  kernel.per_pc.texts["ptx"][1] = "rcp.rn.f32 %f12, %f13";
  EXPECT_NEAR(fast_math(facts())->after.units.at("pipe_sfu"), 28 * 100 * (16 + 8), 1) << "of another value";
}

TEST_F(RulesTest, AQuotientByWhatStaysIsAProduct) {
  unit("pipe_fp32", "scheduler", 320, 0.9);
  unit("pipe_sfu", "scheduler", 320, 0.0);
  unit("issue", "scheduler", 320, 0.5);
  operation("load_param", "ld.param.f32 %f2, [a]", 1);
  operation("fp32_div_rn", "div.rn.f32 %f1, %f1, %f2", 28);
  const auto sfu = [&] {
    const auto p = fast_math(facts());
    return p ? p->after.units.at("pipe_sfu") : -1;
  };
  operation("fp32", "add.f32 %f22, %f22, %f1", 28);
  EXPECT_EQ(sfu(), 0);
  for (const char* const writes :
       {"add.f32 %f2, %f2, %f1", "@%p1 add.f32 %f2, %f2, %f1", "@%p1 ld.shared.v2.f32 {%f4, %f2}, [%rd1]"}) {
    kernel.per_pc.texts["ptx"].back() = writes;
    EXPECT_NEAR(sfu(), 28 * 100 * 8, 1) << "100 warps a scheduler, eight cycles for a reciprocal: " << writes;
  }
}

TEST_F(RulesTest, LoopsOfDifferentLengthLeaveSchedulersUneven) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  const auto loop = [&](uint64_t lanes) {
    kernel.per_pc.numbers["active_lanes"][1] = lanes * kWarps;
    return divergence(facts())->after.units.at("pipe_fp32");
  };
  operation("int", "setp.ne.s32 %p1, %r1, 0", 1);
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  const double ways = loop(32), lengths = loop(16);
  EXPECT_GT(lengths, 1.02 * ways) << "few lanes come to the branch: the others have left the loop";
}

/// A quarter of the lanes of each warp goes a long way that the others go around: with ordered data, a
/// quarter of the warps goes it, and each of these waits as long as now.
TEST_F(RulesTest, OrderedDataLeaveTheLongestWayAsLongAsItIs) {
  unit("issue", "scheduler", 320, 0.2);
  kernel.counters["divergent_branch"] = kWarps;
  kernel.name = "k";
  machine.latency["int"] = 40;
  const auto add = [&](const char* op_class, const std::string& ptx, uint64_t times, uint64_t lanes) {
    program += ptx + ";\n";
    operation(op_class, ptx.c_str(), times,
              {{"slots_issued", times}, {"active_lanes", lanes}, {"divergent", op_class[0] == 'b' ? 1 : 0}});
  };
  add("int", "add.s32 %r1, %r2, 1", 1, 32);
  add("branch", "@%p1 bra $BEHIND", 1, 24);
  for (int i = 0; i < 8; ++i) add("int", "add.s32 %r3, %r3, " + std::to_string(i + 2), 100, 8 * 100);
  program += "$BEHIND:\n";
  add("int", "add.s32 %r4, %r3, 1", 1, 32);
  program = ".visible .entry k () {\n" + program + "ret;\n}";
  kernel.per_pc.numbers["slots_alu_dependency"].assign(kernel.per_pc.rows, 100 * kWarps);
  for (uint64_t& warps : kernel.per_sm.numbers["warps"]) warps = 1;
  for (uint64_t& warps : kernel.per_sm.numbers["active_warp_cycles"]) warps = kCycles;
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(f.estimator().cycles(p->after), kCycles, 0.05 * kCycles);
  // Where the others have as long a way of their own, a warp that goes one of them does not go the other.
  program.replace(program.find("add.s32 %r3, %r3, 6;"), 20,
                  "bra.uni $BEHIND;\n$OTHER:\nadd.s32 %r3, %r3, 6;");
  program.replace(program.find("@%p1 bra $BEHIND"), 16, "@%p1 bra $OTHER");
  kernel.per_pc.texts["ptx"][1] = "@%p1 bra $OTHER";
  const Facts two = facts();
  EXPECT_NEAR(two.estimator().cycles(divergence(two)->after), kCycles / 2.0, 0.1 * kCycles);
}

}  // namespace
}  // namespace gpusim::analysis::advice
