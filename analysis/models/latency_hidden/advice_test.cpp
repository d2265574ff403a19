// What the model reads, with one thing changed.
#include "analysis/models/latency_hidden/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "analysis/models/latency_hidden/testing.h"

namespace gpusim::analysis::latency_hidden {
namespace {

/// A load and a store that a program can place, and a load whose place a loaded index says.
const char* const kIndexed = R"(
.version 1.4
.target sm_13
.entry k(.param .u32 in, .param .u32 out)
{
  .reg .u32 %r<9>;
  .reg .f32 %f<3>;
  ld.param.u32 %r1, [in];
  ld.param.u32 %r2, [out];
  cvt.u32.u16 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  add.u32 %r4, %r1, %r3;
  ld.global.u32 %r5, [%r4];
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r1, %r6;
  ld.global.f32 %f1, [%r7];
  add.u32 %r8, %r2, %r3;
  st.global.f32 [%r8], %f1;
  exit;
}
)";

/// Operations of the kernel's three accesses.
std::vector<size_t> accesses_of(const Code& code) {
  std::vector<size_t> found;
  for (size_t pc = 0; pc < code.image.ops.size(); ++pc)
    if (is_long(code.image.ops[pc])) found.push_back(pc);
  return found;
}

/// Each access takes 16 transactions of 32 bytes for the 128 bytes that its warp asks for.
Code scattered() {
  Code code = test::code_of(kIndexed, [](uint32_t) { return 1.0; });
  for (const size_t pc : accesses_of(code)) code.counts[pc] = {1, 16, 128, 512};
  code.shape.blocks = 10;
  code.shape.warps_per_block = 2;
  return code;
}

TEST(AdvisedChange, CoalescedAccessesTakeTheFewestTransactions) {
  Code code = scattered();
  const std::vector<size_t> at = accesses_of(code);
  Counts c;
  c.accesses = 60;
  c.requests = 960;
  c.to_busiest = 480;  // four times the mean of eight partitions
  c.dram_requests = 480;
  c.dram_to_busiest = 240;  // half of all, of sixteen channels
  c.rows = 96;
  c.pages = 600;
  c.sm_page_misses = 60;
  coalesce(13, 8, 16, code, c);
  // Half-warps come one after the other on 1.x.
  EXPECT_DOUBLE_EQ(code.counts[at[0]].transactions, 2);
  EXPECT_DOUBLE_EQ(code.counts[at[0]].transferred, 128);
  EXPECT_DOUBLE_EQ(code.counts[at[1]].transactions, 16);
  EXPECT_DOUBLE_EQ(code.counts[at[2]].transactions, 2);
  // 20 of 48 transactions are left, and 16 of these 20 go where they went.
  EXPECT_DOUBLE_EQ(c.requests, 400);
  EXPECT_DOUBLE_EQ(c.rows, 40);
  EXPECT_DOUBLE_EQ(c.to_busiest, 50 + (200 - 50) * 0.8);
  EXPECT_DOUBLE_EQ(c.dram_requests, 200);
  EXPECT_DOUBLE_EQ(c.dram_to_busiest, 12.5 + (100 - 12.5) * 0.8);
  EXPECT_DOUBLE_EQ(c.pages, 250);
  EXPECT_DOUBLE_EQ(c.sm_page_misses, 25);
  Code newer = scattered();
  coalesce(70, 8, 16, newer, c);
  EXPECT_DOUBLE_EQ(newer.counts[at[0]].transactions, 1);
  Code few = scattered();  // of whose lanes hardly any asks: a sector is moved anyway
  few.counts[at[0]].requested = 8;
  coalesce(70, 8, 16, few, c);
  EXPECT_DOUBLE_EQ(few.counts[at[0]].transferred, 32 * few.counts[at[0]].executed);
}

TEST(AdvisedChange, CachesServeWhatIsStillAskedFor) {
  Code code = scattered();
  Counts c;
  c.accesses = 60;
  c.requests = 960;
  c.l1_loads = 640;  // 20 warps, two loads of 16 lines
  c.l1_hits = 500;
  c.l2_reads = 640;
  c.l2_read_hits = 600;
  c.l2_sectors = 960;
  c.dram_read = 40 * 32;
  c.dram_written = 960 * 32;
  coalesce(70, 64, 64, code, c);
  // One line for the load that is coalesced now, 16 for the other.
  EXPECT_DOUBLE_EQ(c.l1_loads, 640 * 17 / 32.0);
  EXPECT_DOUBLE_EQ(c.l1_hits, 640 * 17 / 32.0 - 140) << "what missed misses";
  EXPECT_DOUBLE_EQ(c.l2_reads, 20 * (4 + 16));
  EXPECT_DOUBLE_EQ(c.l2_read_hits, 20 * (4 + 16) - 40);
  EXPECT_DOUBLE_EQ(c.l2_sectors, 20 * (4 + 16) + 20 * 4);
  EXPECT_DOUBLE_EQ(c.dram_read, 40 * 32);
  EXPECT_DOUBLE_EQ(c.dram_written, 20 * 4 * 32) << "no more than is stored";
}

TEST(AdvisedChange, HalfOfWhatIsLoadedIsReused) {
  Code code = scattered();
  const std::vector<size_t> at = accesses_of(code);
  Counts c;
  c.accesses = 60;
  c.requests = 960;
  c.rows = 96;
  reuse_half(code, c);
  EXPECT_DOUBLE_EQ(code.counts[at[0]].transactions, 8);
  EXPECT_DOUBLE_EQ(code.counts[at[1]].transferred, 256);
  EXPECT_DOUBLE_EQ(code.counts[at[2]].transactions, 16) << "a store";
  EXPECT_DOUBLE_EQ(c.requests, 640);
  EXPECT_DOUBLE_EQ(c.rows, 64);
}

/// Three loads: of one place twice, with something between the two, and of another place.
Code read_again(const char* between) {
  std::string ptx = kIndexed;
  const std::string index = "  shl.b32 %r6, %r5, 2;\n";
  ptx.replace(ptx.find(index), index.size(),
              std::string("  add.u32 %r7, %r4, 512;\n  ld.global.f32 %f2, [%r7];\n") + between);
  const std::string gather = "  add.u32 %r7, %r1, %r6;\n  ld.global.f32 %f1, [%r7];\n";
  ptx.replace(ptx.find(gather), gather.size(),
              "  ld.volatile.global.u32 %r6, [%r4];\n  add.u32 %r5, %r5, %r6;\n"
              "  cvt.rn.f32.u32 %f1, %r5;\n  add.f32 %f1, %f1, %f2;\n");
  Code code = test::code_of(ptx, [](uint32_t) { return 1.0; });
  for (const size_t pc : accesses_of(code)) code.counts[pc] = {1, 1, 128, 128};
  code.shape.blocks = 10;
  code.shape.warps_per_block = 2;
  return code;
}

TEST(AdvisedChange, WhatIsReadAgainIsKept) {
  // A third of the bytes are read again: not the half that the change promises.
  Code code = read_again("");
  Counts c;
  c.requests = 80;
  EXPECT_FALSE(keep_what_is_read_again(code, c));
  EXPECT_EQ(accesses_of(code).size(), 4u);
  EXPECT_EQ(c.requests, 80);

  // Nearly all of them are.
  std::vector<size_t> at = accesses_of(code);
  code.counts[at[1]].transferred = code.counts[at[1]].requested = 0;
  EXPECT_TRUE(keep_what_is_read_again(code, c));
  EXPECT_EQ(accesses_of(code), (std::vector{at[0], at[1], at[3]}));
  EXPECT_DOUBLE_EQ(code.counts[at[2]].transferred, 0);
  EXPECT_EQ(code.image.ops[at[2]].num_sb_writes, 0u) << "nobody waits for it";
  EXPECT_DOUBLE_EQ(c.requests, 60);

  // Behind a barrier others may have written there.
  code = read_again("  bar.sync 0;\n");
  at = accesses_of(code);
  code.counts[at[1]].transferred = code.counts[at[1]].requested = 0;
  EXPECT_FALSE(keep_what_is_read_again(code, c));
}

TEST(AdvisedChange, TheWarpsOfAnotherLaunchDoTheirPartAndWaitOnce) {
  Subject s;
  s.parameters = test::plain_machine();
  s.parameters.limits = test::c1060().limits;
  Segment first, second;
  first.weight = first.passes = second.weight = second.passes = 1;
  first.chain = 64;
  first.wait = 500;
  first.read = 3200;
  first.busy = {32};
  second.chain = 16;
  second.wait = 400;
  second.read = 320;
  second.busy = {8};
  s.workload = test::workload({first, second}, 10, 8, 1);
  s.workload.shape.registers = 16;
  LaunchShape launch = s.workload.shape;
  launch.blocks = 160;
  launch.threads_per_block = 128;
  launch.warps_per_block = 4;
  give_to(launch, s);
  // Eight times as many warps: all wait for the longer latency, and one in eight of the other.
  const Workload& w = s.workload;
  EXPECT_EQ(w.shape.blocks, 160u);
  EXPECT_EQ(w.shape.warps_per_block, 4u);
  EXPECT_EQ(w.blocks_per_sm, 8u);
  EXPECT_DOUBLE_EQ(w.segments[0].passes, 1);
  EXPECT_DOUBLE_EQ(w.segments[0].wait, 500);
  EXPECT_DOUBLE_EQ(w.segments[0].chain, 8);
  EXPECT_DOUBLE_EQ(w.segments[1].passes, 1 / 8.0);
  double read = 0, busy = 0;
  for (const Segment& seg : w.segments) {
    read += seg.weight * seg.read;
    busy += seg.weight * seg.busy[0];
  }
  EXPECT_DOUBLE_EQ(read, 3520 / 8.0) << "no more is read";
  EXPECT_DOUBLE_EQ(busy, 40 / 8.0);
  EXPECT_EQ(s.parameters.used_sms, 10);
  // A loop goes round less often; each round is what it was.
  s.workload.segments[0].passes = s.workload.segments[0].weight = 64;
  launch.blocks *= 8;
  give_to(launch, s);
  EXPECT_DOUBLE_EQ(s.workload.segments[0].passes, 8);
  EXPECT_DOUBLE_EQ(s.workload.segments[0].chain, 8);
}

TEST(AdvisedChange, SharedMemoryWithoutConflicts) {
  Code code = test::code_of(test::workload_text("matmul/tiled_16x16.ptx"), [](uint32_t) { return 3.0; });
  size_t shared = 0;
  const auto each = [&](const std::function<void(OpCounts&, bool conflicts)>& look) {
    shared = 0;
    for (size_t pc = 0; pc < code.counts.size(); ++pc)
      if (is_shared(code.image.ops[pc])) look(code.counts[pc], ++shared % 2 != 0);
  };
  each([](OpCounts& c, bool conflicts) {
    c.transactions = (conflicts ? 16 : 1) * 3;
    c.replays = conflicts ? 14 * 3 : 0;
  });
  ASSERT_GT(shared, 2u);
  without_conflicts(code);
  each([](OpCounts& c, bool conflicts) {
    EXPECT_DOUBLE_EQ(c.transactions, conflicts ? 6 : 3);
    EXPECT_DOUBLE_EQ(c.replays, 0);
  });
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
