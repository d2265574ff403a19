// The reuse-distance model in its default mode: stack distances against counting, traces back and forth, one
// tiny trace for each kind of miss, counted by hand, and properties on random traces.
#include "analysis/models/reuse_distance/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>

#include "analysis/models/reuse_distance/sweep.h"
#include "analysis/models/reuse_distance/trace.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/whole_file.h"

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;
using Steps = std::vector<WarpStep>;

core::MachineConfig machine(std::vector<std::string> sets = {}) {
  // One scheduler, so that warps go in their order, and a set index that is easy to follow.
  sets.insert(sets.begin(), {"scheduler.count=1", "l1.index=modulo"});
  return core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", sets, {});
}

WarpStep access(uint64_t line, WarpStep::Access kind = WarpStep::Access::kLoad) {
  WarpStep s;
  s.kind = WarpStep::Kind::kAccess;
  s.access = kind;
  s.returns = kind != WarpStep::Access::kStore;
  s.cycles = 10;
  s.work = 16;
  s.lanes = 1;
  s.address[0] = 128 * line;
  return s;
}
WarpStep wait(uint32_t back = 0) {
  WarpStep s;
  s.kind = WarpStep::Kind::kWait;
  s.back = back;
  return s;
}
WarpStep plain(WarpStep::Kind kind) {
  WarpStep s;
  s.kind = kind;
  return s;
}
/// Loads of these lines, each waited for.
Steps loads(std::initializer_list<uint64_t> lines) {
  Steps steps;
  for (const uint64_t line : lines) steps.push_back(access(line)), steps.push_back(wait());
  return steps;
}

/// `warps`: those of all blocks, `of_block` in each.
WarpTrace trace_of(const std::vector<Steps>& warps, uint32_t of_block) {
  WarpTraceHeader h;
  h.kernel = "k";
  h.block_threads = 32 * of_block;
  h.block_warps = of_block;
  h.blocks = warps.size() / of_block;
  h.registers = 16;
  WarpTrace trace(h);
  for (uint64_t b = 0; b < h.blocks; ++b) {
    std::vector<WarpEncoder> encoders(of_block);
    for (uint32_t w = 0; w < of_block; ++w)
      for (const WarpStep& s : warps[b * of_block + w]) encoders[w].append(s);
    trace.append_block(encoders);
  }
  return trace;
}
WarpTrace trace_of(const std::vector<Steps>& warps) {
  return trace_of(warps, static_cast<uint32_t>(warps.size()));
}

Steps random_steps(std::mt19937& random, int count, bool wide = true) {
  Steps steps;
  uint32_t loads = 0;
  for (int i = 0; i < count; ++i) {
    if (loads > 0 && random() % 2 == 0) {
      steps.push_back(wait(random() % std::min(loads, 4u)));
      continue;
    }
    WarpStep s = access(0, random() % 8 == 0    ? WarpStep::Access::kStore
                           : random() % 16 == 0 ? WarpStep::Access::kAtomic
                                                : WarpStep::Access::kLoad);
    s.cycles = random() % 100;
    s.work = random() % 200, s.own = random() % 200;
    s.bytes = wide ? 1u << random() % 5 : 4;
    s.lanes = random() % 3 == 0 ? ~0u : static_cast<uint32_t>(random()) | 1u;
    const uint64_t base = 0x1000 + 4 * (random() % 20000), stride = 4 * (random() % 80);
    const bool scattered = random() % 3 == 0;
    for (uint32_t l = 0; l < WarpStep::kLanes; ++l)
      s.address[l] = scattered ? 0x1000 + 4 * (random() % 8000) : base + stride * l;
    loads += s.returns;
    steps.push_back(s);
  }
  return steps;
}

void expect_equal(const WarpStep& a, const WarpStep& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.work, b.work);
  EXPECT_EQ(a.own, b.own);
  if (a.kind == WarpStep::Kind::kWait) {
    EXPECT_EQ(a.back, b.back);
  }
  if (a.kind != WarpStep::Kind::kAccess) return;
  EXPECT_EQ(a.access, b.access);
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.returns, b.returns);
  EXPECT_EQ(a.local, b.local);
  EXPECT_EQ(a.bypasses, b.bypasses);
  EXPECT_EQ(a.read_only, b.read_only);
  EXPECT_EQ(a.by_lines, b.by_lines);
  EXPECT_EQ(a.pc, b.pc);
  for (uint32_t l = 0; l < WarpStep::kLanes; ++l)
    if ((a.lanes >> l & 1) != 0) {
      EXPECT_EQ(a.address[l], b.address[l]);
    }
}

TEST(WarpTrace, GivesBackWhatWentIn) {
  std::mt19937 random(2);
  std::vector<Steps> warps;
  for (int w = 0; w < 6; ++w) {
    warps.push_back(random_steps(random, 60));
    for (WarpStep& s : warps.back()) {
      s.local = random() % 4 == 0, s.bypasses = random() % 4 == 0, s.read_only = random() % 4 == 0;
      s.by_lines = random() % 4 == 0;
      s.pc = random() % 1000;
    }
  }
  // Addresses as far apart as can be.
  warps[0][0] = access(0);
  warps[0][0].lanes = 3;
  warps[0][0].address[0] = 0;
  warps[0][0].address[1] = uint64_t{1} << 63;
  const WarpTrace trace = trace_of(warps, 2);
  for (size_t w = 0; w < warps.size(); ++w) {
    WarpCursor cursor = trace.warp(w / 2, w % 2);
    WarpStep step;
    for (const WarpStep& expected : warps[w]) {
      ASSERT_TRUE(cursor.next(step));
      expect_equal(step, expected);
    }
    EXPECT_FALSE(cursor.next(step));
  }
}

TEST(WarpTrace, ACutOrForeignFileIsRefused) {
  WarpTraceHeader h;
  h.kernel = "k";
  h.block_threads = 32;
  h.block_warps = 1;
  h.blocks = 1;
  WarpEncoder encoder;
  encoder.append(access(7));
  const std::string bytes = encoded_header(h) + encoded_block({encoder});
  EXPECT_EQ(WarpTrace(TraceBytes(bytes), "f").header().blocks, 1u);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(WarpTrace(TraceBytes(bytes.substr(0, length)), "f"), core::InputError) << length;
  EXPECT_THROW(WarpTrace(TraceBytes(bytes + "x"), "f"), core::InputError);
  try {
    const WarpTrace trace(TraceBytes("blocksize: 1 1 1\n"), "f");
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("is not a trace of warps"));
  }
  const std::string step("\x00", 1);
  WarpCursor cursor(step);
  WarpStep s;
  EXPECT_THROW(cursor.next(s), core::InputError);
}

ReuseMisses kinds(const std::vector<Steps>& warps, std::vector<std::string> sets = {},
                  ReuseExtensions with = {}) {
  return predict_reuse(machine(std::move(sets)), trace_of(warps), {.with = with}).kinds;
}
ReuseMisses counted(uint64_t hits, uint64_t compulsory, uint64_t latency, uint64_t written, uint64_t capacity,
                    uint64_t associativity) {
  return {hits, compulsory, latency, written, capacity, associativity};
}

TEST(ReuseModel, FirstUsesAreCompulsory) {
  EXPECT_EQ(kinds({loads({0, 1, 2, 1})}), counted(1, 3, 0, 0, 0, 0));
}

TEST(ReuseModel, ALineOnItsWayIsALatencyMiss) {
  EXPECT_EQ(kinds({loads({5}), loads({5})}), counted(0, 1, 1, 0, 0, 0));
  ReuseExtensions at_once;
  at_once.latency = false;
  EXPECT_EQ(kinds({loads({5}), loads({5})}, {}, at_once), counted(1, 1, 0, 0, 0, 0));
  ReuseExtensions one_by_one;
  one_by_one.threads = false;
  EXPECT_EQ(kinds({loads({5}), loads({5})}, {}, one_by_one), counted(1, 1, 0, 0, 0, 0));
}

TEST(ReuseModel, TooSmallACacheMissesByCapacity) {
  EXPECT_EQ(kinds({loads({0, 1, 2, 3, 4, 0})}, {"l1.size=512"}), counted(0, 5, 0, 0, 1, 0));
  EXPECT_EQ(kinds({loads({0, 1, 2, 3, 0})}, {"l1.size=512"}), counted(1, 4, 0, 0, 0, 0));
}

TEST(ReuseModel, AFullSetOfACacheWithRoomMissesByAssociativity) {
  // Two sets of four: even lines share one.
  EXPECT_EQ(kinds({loads({0, 2, 4, 6, 8, 0})}, {"l1.size=1K"}), counted(0, 5, 0, 0, 0, 1));
  ReuseExtensions one_set;
  one_set.associativity = false;
  EXPECT_EQ(kinds({loads({0, 2, 4, 6, 8, 0})}, {"l1.size=1K"}, one_set), counted(1, 5, 0, 0, 0, 0));
}

TEST(ReuseModel, AStorePutsItsLineOut) {
  Steps steps = loads({3});
  steps.push_back(access(3, WarpStep::Access::kStore));
  steps.push_back(access(3)), steps.push_back(wait());
  EXPECT_EQ(kinds({steps}), counted(0, 1, 0, 1, 0, 0));
  EXPECT_EQ(kinds({steps}, {"l1.write_global=through"}), counted(1, 1, 0, 0, 0, 0));
}

TEST(ReuseModel, FewerMshrsCanSaveMisses) {
  // The third warp comes when the first one's line is on its way; if the second has to wait for the only
  // register, so does the third, and finds the line there.
  const WarpTrace trace = trace_of({loads({0}), loads({1}), loads({0})});
  const ReusePrediction many = predict_reuse(machine(), trace);
  EXPECT_EQ(many.run.global, counted(0, 2, 1, 0, 0, 0));
  EXPECT_EQ(many.mshr, 0);
  const ReusePrediction one = predict_reuse(machine({"l1.mshrs=1"}), trace);
  EXPECT_EQ(one.run.global, counted(1, 2, 0, 0, 0, 0));
  EXPECT_EQ(one.kinds, many.kinds);
  EXPECT_EQ(one.mshr, -1);
}

TEST(ReuseModel, TheFirstSchedulersWarpsUseSharedPipesFirst) {
  // Warps 0 and 2 are the first scheduler's. All ask for one line, after operations that take the SM's pipes
  // wholly: those of the second scheduler come when the line is there.
  const auto hits = [](uint64_t work, uint64_t own, const char* in_turn) {
    Steps steps = loads({5});
    steps.front().cycles = 1000;
    steps.front().work = work * WarpStep::kWorkUnits;
    steps.front().own = own * WarpStep::kWorkUnits;
    const ReuseRun run =
        run_reuse(machine({"scheduler.count=2", in_turn}), trace_of({steps, steps, steps, steps}));
    EXPECT_EQ(run.global.misses() + run.global.hits, 4u);
    return run.global.hits;
  };
  EXPECT_EQ(hits(500, 500, "scheduler.share_in_turn=false"), 2u);
  EXPECT_EQ(hits(500, 500, "scheduler.share_in_turn=true"), 0u);
  // As many operations as a scheduler can issue are half of what both can.
  EXPECT_EQ(hits(500, 1000, "scheduler.share_in_turn=false"), 0u);
  // There is room for all of them.
  EXPECT_EQ(hits(200, 200, "scheduler.share_in_turn=false"), 0u);
}

TEST(ReuseModel, ABarrierKeepsWarpsTogether) {
  // Without it the second warp, which has less to do, would be first.
  Steps slow{plain(WarpStep::Kind::kBarrier)}, fast = slow;
  slow.front().cycles = 1000;
  for (const WarpStep& s : loads({0, 1, 2, 3, 4})) slow.push_back(s);
  fast.push_back(plain(WarpStep::Kind::kEnd));
  fast.back().cycles = 1;
  const ReuseRun with = run_reuse(machine(), trace_of({slow, fast}));
  EXPECT_EQ(with.global.compulsory, 5u);
  EXPECT_GT(with.cycles, 1000);
}

std::vector<Steps> random_kernel(uint32_t seed, int warps) {
  std::mt19937 random(seed);
  std::vector<Steps> all;
  for (int w = 0; w < warps; ++w) {
    Steps steps = random_steps(random, 40, false);
    steps.insert(steps.begin() + 20, plain(WarpStep::Kind::kBarrier));
    steps.push_back(plain(WarpStep::Kind::kFence));
    all.push_back(steps);
  }
  return all;
}

TEST(ReuseModel, KindsAddUpWithEveryExtensionLeftOut) {
  const WarpTrace trace = trace_of(random_kernel(3, 40), 4);
  uint64_t accesses = 0;
  for (uint32_t bits = 0; bits < 32; ++bits) {
    const ReuseExtensions with{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                               (bits & 16) != 0};
    for (const char* mshrs : {"l1.mshrs=64", "l1.mshrs=4"}) {
      const ReusePrediction p = predict_reuse(machine({mshrs, "l1.index=fermi"}), trace, {.with = with});
      EXPECT_EQ(static_cast<int64_t>(p.kinds.misses()) + p.mshr, static_cast<int64_t>(p.run.global.misses()))
          << bits;
      if (accesses == 0) accesses = p.run.global.accesses();
      EXPECT_EQ(p.run.global.accesses(), accesses) << bits;
      if (!with.latency) {
        EXPECT_EQ(p.run.global.latency, 0u);
      }
      if (!with.associativity && !with.latency) {
        EXPECT_EQ(p.run.global.associativity, 0u);
      }
      if (!with.mshrs) {
        EXPECT_EQ(p.mshr, 0);
      }
    }
  }
}

TEST(ReuseModel, IsTheSameEveryTimeAndOneSmHasItsShareOfTheBlocks) {
  const WarpTrace trace = trace_of(random_kernel(4, 56), 2);  // 28 blocks, 14 SMs
  const ReuseRun all = run_reuse(machine(), trace), again = run_reuse(machine(), trace);
  EXPECT_EQ(all.global, again.global);
  EXPECT_EQ(all.cycles, again.cycles);
  uint64_t sum = 0;
  for (int64_t sm = 0; sm < 14; ++sm) sum += run_reuse(machine(), trace, {.only_sm = sm}).global.accesses();
  EXPECT_EQ(sum, all.global.accesses());
}

/// Blocks of one warp, each with lines of its own that it loads twice.
std::vector<Steps> alike_blocks(uint64_t count) {
  std::vector<Steps> all;
  for (uint64_t b = 0; b < count; ++b) {
    Steps steps = loads({100 * b, 100 * b + 1, 100 * b + 2, 100 * b + 1, 100 * b});
    for (uint64_t i = 3; i < 30; ++i) steps.push_back(access(100 * b + i)), steps.push_back(wait());
    all.push_back(steps);
  }
  return all;
}

TEST(ReuseModel, OneSmOfEachKindStandsForAll) {
  // 8 blocks fit an SM: all the same; two kinds, the second with one block less; some without any; all full.
  for (const uint64_t blocks : {14u, 19u, 3u, 200u}) {
    const WarpTrace trace = trace_of(alike_blocks(blocks), 1);
    const ReuseRun all = run_reuse(machine(), trace);
    const ReuseRun one = run_reuse(machine(), trace, {.only_sm = ReuseOptions::kOneOfEachKind});
    EXPECT_EQ(all.global.accesses(), 32 * blocks);
    if (blocks < 8ul * 14) {
      EXPECT_EQ(one.global, all.global) << blocks;
    } else {
      EXPECT_NEAR(one.global.miss_rate(), all.global.miss_rate(), 0.01);
      EXPECT_NEAR(static_cast<double>(one.global.accesses()), 32.0 * static_cast<double>(blocks),
                  0.2 * 32 * 200);
    }
  }
}

TEST(ReuseModel, AnSmWithMoreBlocksIsNotLikeTheOthers) {
  // Caches of 8 lines: two blocks of an SM put out what each of them would find again.
  std::vector<Steps> warps;
  for (uint64_t b = 0; b < 15; ++b) {
    Steps steps;
    for (uint64_t i = 0; i < 60; ++i) steps.push_back(access(100 * b + i % 6)), steps.push_back(wait());
    warps.push_back(steps);
  }
  const WarpTrace trace = trace_of(warps, 1);
  const core::MachineConfig small = machine({"l1.size=1K", "l1.ways=8"});
  const double all = run_reuse(small, trace).global.miss_rate();
  const double first = run_reuse(small, trace, {.only_sm = 0}).global.miss_rate();
  const double last = run_reuse(small, trace, {.only_sm = 13}).global.miss_rate();
  const double each = run_reuse(small, trace, {.only_sm = ReuseOptions::kOneOfEachKind}).global.miss_rate();
  EXPECT_DOUBLE_EQ(last, 0.1);
  EXPECT_GT(first, 0.5);
  EXPECT_NEAR(each, all, 0.001);
}

TEST(ReuseModel, NeighboursSlowMemoryDown) {
  // Streams that want more than memory gives: one SM of 14 takes as long as all of them, within a fifth.
  // Rows, which the model has where all SMs are modelled and which these streams take from each other, cost
  // nothing.
  std::vector<Steps> warps;
  for (uint64_t b = 0; b < 14ul * 8; ++b) {
    Steps steps;
    for (uint64_t i = 0; i < 100; ++i) steps.push_back(access(1000 * b + i));
    warps.push_back(steps);
  }
  const WarpTrace trace = trace_of(warps, 1);
  const core::MachineConfig every = machine({"scheduler.warp_loads=0", "dram.rcd=0ns", "dram.rp=0ns",
                                             "dram.ras=0ns", "dram.rc=0ns", "dram.rrd=0ns", "dram.faw=0ns"});
  const double all = run_reuse(every, trace).cycles;
  const double one = run_reuse(every, trace, {.only_sm = 0}).cycles;
  EXPECT_NEAR(one / all, 1, 0.2);
  // With the machine to itself it is faster, as far as its latency lets it.
  const core::MachineConfig alone = machine({"scheduler.warp_loads=0", "gpu.sms=1"});
  EXPECT_LT(run_reuse(alone, trace_of({warps.begin(), warps.begin() + 8}, 1)).cycles, 0.6 * one);
}

TEST(ReuseModel, AWarpWithAsManyLoadsAsItMayHaveWaitsForTheOldest) {
  Steps steps;
  for (uint64_t i = 0; i < 24; ++i) steps.push_back(access(1000 * i));
  const WarpTrace trace = trace_of({steps}, 1);
  const auto cycles = [&](const char* limit) { return run_reuse(machine({limit}), trace).cycles; };
  const double any = cycles("scheduler.warp_loads=0"), six = cycles("scheduler.warp_loads=6"),
               three = cycles("scheduler.warp_loads=3");
  EXPECT_GT(six, 2 * any);
  EXPECT_NEAR(three / six, 2, 0.3);
}

TEST(ReuseModel, AWarpRemembersWhenItsLast256LoadsArrive) {
  // A load of memory, then hits of one cycle each, which take less time than it; the last step waits for it
  // or not.
  const auto cycles = [](uint32_t hits, bool waits) {
    Steps steps = loads({0});
    steps.push_back(access(1000));
    for (uint32_t i = 0; i < hits; ++i) {
      steps.push_back(access(0));
      steps.back().cycles = 1;
    }
    if (waits) steps.push_back(wait(hits));
    steps.push_back(plain(WarpStep::Kind::kEnd));
    steps.back().cycles = 5000;
    return run_reuse(machine({"scheduler.warp_loads=0"}), trace_of({steps})).cycles;
  };
  EXPECT_EQ(cycles(255, true), cycles(0, true)) << "until the load has arrived, whatever stands behind it";
  EXPECT_GT(cycles(255, true), cycles(255, false));
  EXPECT_EQ(cycles(256, true), cycles(256, false)) << "257 loads ago";
}

TEST(ReuseModel, OneSmReadsItsBlocksOfAFileOnly) {
  const std::vector<Steps> warps = alike_blocks(1400);
  WarpTraceHeader h = trace_of({loads({0})}, 1).header();
  h.blocks = warps.size();
  std::string bytes = encoded_header(h);
  for (const Steps& steps : warps) {
    std::vector<WarpEncoder> encoder(1);
    for (const WarpStep& s : steps) encoder[0].append(s);
    bytes += encoded_block(encoder);
  }
  const std::string path = testing::TempDir() + "one_sm_of_a_file.trc";
  core::write_whole_file(path, bytes);
  const WarpTrace file(TraceBytes::of_file(path), path);
  const WarpTrace memory(TraceBytes(bytes), "memory");
  const ReuseRun of_file = run_reuse(machine(), file, {.only_sm = 3});
  EXPECT_EQ(of_file.global, run_reuse(machine(), memory, {.only_sm = 3}).global);
  // A fourteenth, and the first block of each SM, which tells what lines the SMs share.
  EXPECT_GT(file.bytes_read(), bytes.size() / 20);
  EXPECT_LT(file.bytes_read(), bytes.size() / 10);
  EXPECT_EQ(run_reuse(machine(), file).global, run_reuse(machine(), memory).global);
  // The file is cut while it is read.
  const WarpTrace cut(TraceBytes::of_file(path), path);
  std::filesystem::resize_file(path, bytes.size() / 2);
  EXPECT_THROW((void)run_reuse(machine(), cut), core::InputError);
  std::filesystem::remove(path);
}

TEST(ReuseModel, TheSecondLevelKeepsWhatAKernelLeft) {
  const WarpTrace trace = trace_of({loads({0, 1, 2, 3})});
  ReuseMemory memory(machine(), 14);
  const ReuseRun first = run_reuse(machine(), trace, {.memory = &memory});
  const ReuseRun second = run_reuse(machine(), trace, {.memory = &memory});
  EXPECT_EQ(first.l2_sectors, 16u);
  EXPECT_EQ(first.l2_hits, 0u);
  EXPECT_EQ(second.l2_hits, 16u);
  EXPECT_LT(second.cycles, first.cycles);
}

TEST(ReuseL1, WhoWaitsForASectorLeavesTheLinesEntryWithIt) {
  ReuseMachine m;
  m.sector = 32;
  m.merges = 2;
  m.allocate = core::AllocateOn::kFill;
  ReuseL1 l1(m);
  const auto load = [&](uint32_t sectors, double now, double there) {
    return l1.load({7, sectors, 0, false}, now, true, [there](uint64_t, uint32_t) { return there; });
  };
  // The first sector comes at 100, the second at 150.
  EXPECT_EQ(load(1, 0, 100), 100);
  EXPECT_EQ(load(2, 10, 150), 150);
  EXPECT_EQ(load(1, 20, 0), ReuseL1::kRefused) << "two wait for the line";
  EXPECT_EQ(load(1, 101, 0), 101) << "the first is there";
  EXPECT_EQ(load(2, 102, 0), 150) << "and its room is free";
  EXPECT_EQ(load(4, 103, 0), ReuseL1::kRefused);
  EXPECT_EQ(l1.global().hits, 1u);
  EXPECT_EQ(l1.global().latency, 1u);
  EXPECT_EQ(l1.global().compulsory, 2u);
}

TEST(ReuseL1, WhoWaitsForASectorDoesNotWaitForTheLinesOthers) {
  ReuseMachine m;
  m.sector = 32;
  m.allocate = core::AllocateOn::kFill;
  ReuseL1 l1(m);
  const auto load = [&](uint32_t sectors, double now, double there) {
    return l1.load({7, sectors, 0, false}, now, true, [there](uint64_t, uint32_t) { return there; });
  };
  EXPECT_EQ(load(1, 0, 100), 100);
  EXPECT_EQ(load(2, 10, 150), 150);
  EXPECT_EQ(load(1, 20, 0), 100);
  EXPECT_EQ(load(3, 30, 0), 150);
}

TEST(ReuseModel, PagesAreAskedForAheadWhereTheMachineDoes) {
  // Two loads, of one page or of two, that nobody knows.
  const auto cycles = [](std::vector<std::string> sets, uint64_t page_lines) {
    sets.insert(sets.end(), {"tlb.page=512K", "tlb.l1_entries=16", "tlb.l1_ways=16", "tlb.l2_entries=64",
                             "tlb.l2_ways=8", "tlb.walk_latency=1000ns"});
    Steps steps;
    for (uint64_t i = 0; i < 2; ++i) steps.push_back(access(i * page_lines));
    steps.push_back(wait(1)), steps.push_back(wait());
    return run_reuse(machine(sets), trace_of(std::vector<Steps>{steps})).cycles;
  };
  constexpr uint64_t kPage = 4096;  // lines
  const double walk = 1215, one = cycles({}, 1), two = cycles({}, kPage);
  EXPECT_NEAR(two - one, walk, 0.2 * walk) << "one after the other";
  EXPECT_NEAR(cycles({"tlb.look_ahead=true"}, kPage), one, 0.2 * walk);
}

TEST(ReuseMemory, AFullPartitionHoldsUpWhatStandsBehindItsRequests) {
  const core::MachineConfig m = machine({"interconnect.queue=4"});
  const core::AddressMap map(m.l2);
  uint64_t other = 0;
  while (map.partition(other) == map.partition(0)) other += 128;
  ReuseMemory idle(m, 14);
  const double alone = idle.read(0, 13, other, 1);
  ReuseMemory memory(m, 14);
  for (int i = 0; i < 100; ++i)
    for (uint32_t sm = 0; sm < 13; ++sm) memory.read(0, sm, 0, 1);
  // 1300 requests of one partition, which takes one an interconnect cycle.
  EXPECT_GT(memory.room(12), 500);
  EXPECT_EQ(memory.room(13), 0);
  EXPECT_DOUBLE_EQ(memory.read(0, 13, other, 1), alone) << "of an SM that asks nothing else";
  EXPECT_GT(memory.read(0, 12, other, 1), alone + 500);
}

TEST(ReuseMemory, PacketsHaveHeadersAndRepliesTheirOwnFlits) {
  // Lines of all partitions in turn, which one port brings back.
  const auto last_of_100 = [](const char* header, const char* flit) {
    const core::MachineConfig m = machine(
        {std::string("interconnect.header=") + header, std::string("interconnect.reply_flit=") + flit});
    ReuseMemory memory(m, 14);
    const double first = memory.read(0, 0, 0, 15);
    double last = 0;
    for (uint64_t i = 1; i <= 100; ++i) last = memory.read(0, 0, 4096 * i, 15);
    return last - first;
  };
  const double plain = last_of_100("0", "32");
  EXPECT_NEAR(last_of_100("8", "32"), 1.25 * plain, 0.02 * plain) << "five flits for four";
  EXPECT_LT(last_of_100("8", "72"), 0.6 * plain) << "two";
}

TEST(ReuseModel, PartitionsAreThoseOfTheMachinesHash) {
  // Lines that a partition of the modulo hash has all: with the XOR hash all partitions serve them.
  std::vector<Steps> warps(8);
  for (uint64_t w = 0; w < warps.size(); ++w)
    for (uint64_t i = 0; i < 64; ++i) warps[w].push_back(access(16 * (64 * w + i)));
  const WarpTrace trace = trace_of(warps);
  const auto cycles = [&](const char* hash) {
    const core::MachineConfig m =
        machine({"l2.partitions=8", std::string("l2.hash=") + hash, "scheduler.warp_loads=0"});
    ReuseMemory memory(m, 14);
    (void)run_reuse(m, trace, {.memory = &memory});
    return run_reuse(m, trace, {.memory = &memory}).cycles;  // all of it is in L2
  };
  EXPECT_LT(cycles("xor"), 0.8 * cycles("modulo"));
}

TEST(ReuseModel, NamesRulesThatItDoesNotFollow) {
  EXPECT_TRUE(unmodelled_by_reuse(machine(), false).empty());
  EXPECT_TRUE(unmodelled_by_reuse(machine({"scheduler.policy=gto", "l2.hash=xor"}), false).empty());
  const core::MachineConfig other =
      machine({"l1.replacement=fifo", "l2.replacement=random", "scheduler.policy=two_level"});
  EXPECT_EQ(unmodelled_memory(other).size(), 2u);
  EXPECT_TRUE(
      unmodelled_memory(machine({"dram.page=closed", "dram.refresh=bank", "dram.scheduler=fcfs"})).empty());
  EXPECT_THAT(unmodelled_memory(machine({"interconnect.topology=mesh"})),
              testing::ElementsAre("interconnect.topology = \"mesh\": taken as crossbar"));
  EXPECT_THAT(unmodelled_by_reuse(other, false),
              testing::Contains("scheduler.policy = \"two_level\": taken as lrr"));
  const core::MachineConfig volta =
      core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg",
                         std::vector<std::string>{"l1.tag_lines=4", "tlb.l1_entries=16"}, {});
  EXPECT_EQ(unmodelled_by_reuse(volta, true).size(), 2u) << "pages are followed";
  EXPECT_THAT(unmodelled_by_reuse(volta, false),
              testing::ElementsAre("l1.tag_lines = 4: taken as 1", "l2.dirty_share = 0.5: taken as 1",
                                   "tlb: pages are taken as known"));
}

TEST(ReuseSweep, OnePassIsAsManyRuns) {
  const WarpTrace trace = trace_of(random_kernel(5, 80), 2);
  std::vector<core::MachineConfig> machines;
  for (const uint32_t sets : {1u, 4u, 32u})
    for (const uint32_t ways : {1u, 2u, 3u, 4u, 8u, 16u})
      machines.push_back(machine({"l1.size=" + std::to_string(128 * sets * ways),
                                  "l1.ways=" + std::to_string(ways), "l1.index=fermi"}));
  ReuseOptions options;
  options.with.latency = false;
  const std::vector<SweepPoint> points = sweep_reuse(machines, trace, options);
  for (size_t i = 0; i < machines.size(); ++i) {
    EXPECT_TRUE(points[i].one_pass);
    EXPECT_EQ(points[i].misses, run_reuse(machines[i], trace, options).global.misses()) << i;
  }
  options.with.latency = true;
  for (const SweepPoint& p : sweep_reuse({machines.data(), 2}, trace, options)) EXPECT_FALSE(p.one_pass);
}

/// Set of an address in Fermi's 16 KB, by the bits that strided loads found (HPCA 2014, section 5).
uint32_t fermi_set(uint64_t a) {
  const auto sum = [a](int x, int y) { return static_cast<uint32_t>((a >> x ^ a >> y) & 1); };
  return sum(7, 13) | sum(8, 14) << 1 | sum(9, 15) << 2 | sum(10, 17) << 3 | sum(11, 19) << 4;
}

TEST(ReuseModel, TwoRoundsOfStridedLoadsShowTheHash) {
  for (uint32_t shift = 7; shift < 16; ++shift)
    for (uint32_t count = 4; count <= 256; count *= 2) {
      std::array<uint32_t, 32> in_set{};
      Steps steps;
      for (uint32_t i = 0; i < count; ++i) ++in_set[fermi_set(uint64_t{i} << shift)];
      for (uint32_t i = 0; i < 2 * count; ++i) {
        steps.push_back(access(uint64_t{i % count} << (shift - 7)));
        steps.push_back(wait());
      }
      uint64_t hits = 0;  // a set of four serves the second round if all of its lines fit, else none
      for (const uint32_t lines : in_set) hits += lines <= 4 ? lines : 0;
      const ReuseRun run = run_reuse(machine({"l1.index=fermi"}), trace_of({steps}));
      EXPECT_EQ(run.global.hits, hits) << "stride 2^" << shift << ", " << count << " loads";
      if (shift == 7) {
        EXPECT_EQ(run.global.miss_rate(), count <= 128 ? 0.5 : 1.0);
      }
    }
}

TEST(ReuseModel, TextTracesAreWarpsToo) {
  // Two warps of a block; the second has one thread, whose second load is alone.
  const Trace text =
      parse_trace("blocksize: 33 1 1\n0 0 0 4\n1 0 4 4\n32 0 256 4\n32 0 0 4\n31 1 0 4\n", "t");
  const WarpTrace trace = warps_of(text, "t");
  EXPECT_EQ(trace.header().block_warps, 2u);
  const ReuseRun run = run_reuse(machine(), trace);
  EXPECT_EQ(run.global.accesses(), 3u);
  EXPECT_EQ(run.global.compulsory, 2u);
  EXPECT_EQ(run.global.hits, 1u);
}

TEST(ReuseModel, LimitsOfLoadsAreTheMachines) {
  const WarpTrace trace = trace_of({loads({0})});
  core::MachineConfig config = machine();
  config.l1.mshrs = 48;
  config.scheduler.warp_loads = 5;
  const ReuseMachine r = reuse_machine(config, trace.header());
  EXPECT_EQ(r.mshrs, 48u);
  EXPECT_EQ(r.warp_loads, 5u);
}

TEST(ReuseModel, SaysWhatItCannotModel) {
  const WarpTrace trace = trace_of({loads({0})});
  const core::MachineConfig old =
      core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", std::vector<std::string>{}, {});
  try {
    (void)predict_reuse(old, trace);
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("has no L1 data cache"));
  }
  WarpTraceHeader h = trace.header();
  h.shared_bytes = 1 << 20;
  EXPECT_THROW((void)reuse_machine(machine(), h), core::InputError);
}

}  // namespace
}  // namespace gpusim::analysis
