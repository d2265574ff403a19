// Asynchronous copies, bulk copies and mbarriers. What they give is compared with plain computations on the
// host.
#include "isa/exec/async.h"

#include <fmt/format.h>

#include <bit>

#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

// --- cp.async ---

TEST(AsyncCopies, CopyAndFillWithZeros) {
  std::vector<uint32_t> input(32 * 64);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint32_t>(i * 2654435761u + 1);
  const std::vector<uint32_t> out =
      run_warp(warp_kernel(".reg .b32 %r<20>; .reg .pred %p<2>; .shared .align 16 .b8 s[2048];",
                           R"(mov.u32 %r10, s; mad.lo.u32 %r10, %tid0, 64, %r10;
                and.b32 %r1, %tid0, 15; setp.gt.u32 %p0, %tid0, 15;
                cp.async.ca.shared.global [%r10], [%in+16], 16;
                cp.async.cg.shared.global.L2::128B [%r10+16], [%in], 16, %r1;
                cp.async.ca.shared.global [%r10+32], [%in+4], 4;
                cp.async.ca.shared.global [%r10+40], [%in+8], 8, %p0;
                cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
                ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r10]; st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};
                ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r10+16]; st.global.v4.u32 [%out+16], {%r2, %r3, %r4, %r5};
                ld.shared.u32 %r2, [%r10+32]; ld.shared.v2.u32 {%r3, %r4}, [%r10+40];
                st.global.u32 [%out+32], %r2; st.global.v2.u32 [%out+40], {%r3, %r4}; ret;)"),
               input);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t* in = &input[64 * lane];
    const uint32_t* got = &out[64 * lane];
    for (uint32_t w = 0; w < 4; ++w) {
      EXPECT_EQ(got[w], in[4 + w]);
      const uint32_t bytes = lane % 16, kept = bytes <= 4 * w ? 0 : std::min(bytes - 4 * w, 4u);
      EXPECT_EQ(got[4 + w], kept == 4 ? in[w] : in[w] & ((1u << (8 * kept)) - 1)) << lane << " " << w;
    }
    EXPECT_EQ(got[8], in[1]);
    EXPECT_EQ(got[10], lane > 15 ? 0 : in[2]) << "where the predicate holds the source is ignored";
    EXPECT_EQ(got[11], lane > 15 ? 0 : in[3]);
  }
}

TEST(AsyncCopies, FaultsNameTheAddress) {
  const std::string text = warp_kernel(
      ".reg .b32 %r<4>; .shared .align 16 .b8 s[64];",
      "mov.u32 %r0, s; cp.async.ca.shared.global [%r0], [%in+1048576], 16; cp.async.wait_all; ret;");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean, 0, 90)), 32);
  EXPECT_EQ(o.result.fault, FaultKind::kOutOfBounds);
}

TEST(AsyncCopies, ArriveAtAnMbarrier) {
  const std::vector<uint32_t> out = run_warp(
      warp_kernel(".reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<4>; .shared .align 16 .b8 s[512]; "
                  ".shared .align 8 .b64 b;",
                  R"(mov.u32 %r0, b; mov.u32 %r1, s; mad.lo.u32 %r1, %tid0, 16, %r1; mov.u32 %r7, 0;
                setp.eq.u32 %p0, %tid0, 0; @%p0 mbarrier.init.shared.b64 [%r0], 64; bar.sync 0;
                cp.async.ca.shared.global [%r1], [%in], 16;
                cp.async.mbarrier.arrive.shared.b64 [%r0];           // adds itself: no change
                mbarrier.arrive.shared.b64 _, [%r0]; bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0; @%p1 or.b32 %r7, %r7, 1;
                cp.async.mbarrier.arrive.noinc.shared.b64 [%r0]; bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0; @%p1 or.b32 %r7, %r7, 2;
                ld.shared.u32 %r2, [%r1+12]; st.global.v2.u32 [%out], {%r7, %r2}; ret;)"),
      numbered_rows());
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[64ul * lane], 2u) << "32 arrivals of the threads, and 32 of their copies";
    EXPECT_EQ(out[64 * lane + 1], numbered_rows()[64 * lane + 3]);
  }
}

// --- bulk copies ---

TEST(BulkCopies, ComeInAreCountedByAnMbarrierAndGoOutInGroups) {
  // Each of the first lanes copies as many bytes as its part has, to the block's memory and from there.
  const std::vector<uint32_t> input = numbered_rows();
  const std::vector<uint32_t> out = run_warp(
      warp_kernel(".reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<8>; .shared .align 128 .b8 s[4608]; "
                  ".shared .align 8 .b64 b;",
                  R"(mov.u32 %r0, b; mov.u32 %r1, s; mov.u32 %r7, 0;
                setp.eq.u32 %p0, %tid0, 0; setp.lt.u32 %p1, %tid0, 2;
                @%p0 mbarrier.init.shared.b64 [%r0], 1;
                @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 4112;
                bar.sync 0;
                mad.lo.u32 %r2, %tid0, 4096, %r1; selp.u32 %r3, 4096, 16, %p0;
                mov.u64 %d0, %in; setp.eq.u32 %p2, %tid0, 1; @%p2 sub.u64 %d0, %d0, 240;
                @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], %r3, [%r0];
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p3, [%r0], 0; @%p3 or.b32 %r7, %r7, 1;
                mad.lo.u32 %r4, %tid0, 128, %r1; ld.shared.u32 %r5, [%r4+4]; ld.shared.u32 %r6, [%r1+4100];
                @%p0 st.shared.u32 [%r1+16], 77;
                fence.proxy.async.shared::cta; bar.sync 0;
                @%p0 cp.async.bulk.global.shared::cta.bulk_group [%out+64], [%r1+16], 32;
                cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
                cp.async.bulk.prefetch.L2.global [%in], 64;
                st.global.v2.u32 [%out], {%r7, %r5}; st.global.u32 [%out+8], %r6; ret;)"),
      input);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[64 * lane], 1u) << "the bytes of both copies have come";
    EXPECT_EQ(out[64 * lane + 1], input[32 * lane + 1]);
    EXPECT_EQ(out[64 * lane + 2], input[4 + 1]) << "of the copy of 16 bytes behind the other";
  }
  EXPECT_EQ(out[16], 77u);
  for (uint32_t w = 1; w < 8; ++w) EXPECT_EQ(out[16 + w], input[4 + w]) << w;
}

/// What cp.reduce.async.bulk leaves of `old` and `value`, a word each (halves are in the lower part).
uint32_t reduced(const std::string& operation, uint32_t old, uint32_t value) {
  std::vector<uint32_t> input(32 * 64);
  input[0] = old, input[4] = value;
  const std::string text = warp_kernel(
      ".reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 16 .b8 s[16];",
      fmt::format(
          "mov.u32 %r0, s; setp.eq.u32 %p0, %tid0, 0; ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%in+16];\n"
          "@%p0 st.shared.v4.u32 [%r0], {{%r1, %r2, %r3, %r4}};\n"
          "ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%in];\n"
          "@%p0 st.global.v4.u32 [%out], {{%r1, %r2, %r3, %r4}};\n"
          "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%out], [%r0], 16;\n"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;",
          operation));
  return run_warp(text, input)[0];
}

TEST(BulkCopies, Reduce) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  EXPECT_EQ(reduced("add.u32", 7, 0xffffffff), 6u);
  EXPECT_EQ(reduced("add.s32", 7, 0xfffffff0), 0xfffffff7);
  EXPECT_EQ(reduced("min.s32", 7, 0xfffffff0), 0xfffffff0);
  EXPECT_EQ(reduced("max.u32", 7, 0xfffffff0), 0xfffffff0);
  EXPECT_EQ(reduced("max.s32", 7, 0xfffffff0), 7u);
  EXPECT_EQ(reduced("inc.u32", 7, 7), 0u);
  EXPECT_EQ(reduced("inc.u32", 6, 7), 7u);
  EXPECT_EQ(reduced("dec.u32", 0, 7), 7u);
  EXPECT_EQ(reduced("dec.u32", 5, 7), 4u);
  EXPECT_EQ(reduced("and.b32", 0xff0, 0x0ff), 0x0f0u);
  EXPECT_EQ(reduced("or.b32", 0xff0, 0x0ff), 0xfffu);
  EXPECT_EQ(reduced("xor.b32", 0xff0, 0x0ff), 0xf0fu);
  EXPECT_EQ(reduced("add.u64", 0xffffffff, 1), 0u);
  EXPECT_EQ(reduced("xor.b64", 5, 3), 6u);
  EXPECT_EQ(reduced("add.f32", bits(1.5f), bits(2.25f)), bits(3.75f));
  EXPECT_EQ(reduced("add.f32", 1, 1), 0u) << "denormals are zero";
  EXPECT_EQ(reduced("add.noftz.f16", half_of(3), half_of(5)), half_of(8));
  EXPECT_EQ(reduced("add.noftz.f16", 1, 1), 2u) << "denormals are kept";
  EXPECT_EQ(reduced("add.noftz.f16", half_of(2048), half_of(1)), half_of(2048)) << "to the nearest even";
  EXPECT_EQ(reduced("add.noftz.f16", 0x7bff, 0x7bff), 0x7c00u) << "infinity";
  EXPECT_EQ(reduced("min.f16", half_of(3), half_of(-5)), half_of(-5));
  EXPECT_EQ(reduced("max.bf16", bits(3) >> 16, bits(-5) >> 16), bits(3) >> 16);
  EXPECT_EQ(reduced("max.bf16", bits(3) >> 16, 0x7fff), bits(3) >> 16) << "the number, not the NaN";
  EXPECT_EQ(reduced("min.f16", 0, 0x8000), 0x8000u) << "-0 is below 0, as for min and red";
  EXPECT_EQ(reduced("max.bf16", 0x8000, 0), 0u);
  EXPECT_EQ(reduced("add.noftz.bf16", bits(256) >> 16, bits(1) >> 16), bits(256) >> 16);
}

TEST(BulkCopies, AReductionThatElementsDoNotHaveIsNamed) {
  const std::string text = warp_kernel(
      ".shared .align 16 .b8 s[16]; .reg .b32 %r;",
      "mov.u32 %r, s; cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.f32 [%out], [%r], 16; ret;");
  EXPECT_THAT(lower_error(text), testing::HasSubstr("this reduction"));
}

TEST(BulkCopies, PoliciesOfTheCacheAreHints) {
  const std::vector<uint32_t> out = run_warp(
      warp_kernel(".reg .b64 %d<4>; .reg .b32 %r<4>; .shared .align 16 .b8 s[16]; .shared .align 8 .b64 b;",
                  R"(createpolicy.fractional.L2::evict_last.b64 %d0, 1.0; mov.u32 %r0, s; mov.u32 %r1, b;
                mbarrier.init.shared.b64 [%r1], 1;
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], [%in], 16, [%r1], %d0;
                bar.sync 0; ld.shared.u32 %r2, [%r0+4]; st.global.u32 [%out], %r2; ret;)"),
      numbered_rows());
  EXPECT_EQ(out[0], numbered_rows()[64 * 31 + 1]) << "the last lane's";
}

TEST(BulkCopies, FaultsNameTheAddress) {
  for (const char* copy : {"[%r0], [%in+1048576], 16", "[%r0], [%in], 24", "[%r0+8], [%in], 16",
                           "[%r0], [%in+8], 16", "[%r0], [%in], 96"}) {
    const std::string text = warp_kernel(
        ".reg .b32 %r<4>; .shared .align 16 .b8 s[64]; .shared .align 8 .b64 b;",
        fmt::format("mov.u32 %r0, s; mov.u32 %r1, b; mbarrier.init.shared.b64 [%r1], 1;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes {}, [%r1]; ret;",
                    copy));
    const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean, 0, 90)), 32);
    const bool outside = std::string(copy).find("1048576") != std::string::npos ||
                         std::string(copy).find("96") != std::string::npos;
    EXPECT_EQ(o.result.fault, outside ? FaultKind::kOutOfBounds : FaultKind::kMisaligned) << copy;
  }
}

TEST(BulkCopies, WithinTheBlockAndItsOwnMbarrier) {
  const std::vector<uint32_t> out = run_warp(
      warp_kernel(
          ".reg .b32 %r<20>; .reg .pred %p<8>; .shared .align 16 .b8 s[64]; .shared .align 16 .b8 t[64]; "
          ".shared .align 8 .b64 b;",
          R"(mov.u32 %r0, b; mov.u32 %r1, s; mov.u32 %r2, t; mov.u32 %r7, 0;
                setp.eq.u32 %p0, %tid0, 0;
                @%p0 mbarrier.init.shared.b64 [%r0], 1;
                @%p0 st.shared.u32 [%r1], 5; @%p0 st.shared.u32 [%r2+32], 6;
                @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 28;
                bar.sync 0;
                @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [%r1], 16, [%r0];
                @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r2+16], {8, 9}, [%r0];
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0; @%p1 or.b32 %r7, %r7, 1;
                bar.sync 0;
                @%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2+32], 7, [%r0];
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0; @%p1 or.b32 %r7, %r7, 2;
                ld.shared.u32 %r3, [%r2]; ld.shared.v2.u32 {%r4, %r5}, [%r2+16]; ld.shared.u32 %r6, [%r2+32];
                st.global.v4.u32 [%out], {%r7, %r3, %r4, %r5}; st.global.u32 [%out+16], %r6; ret;)"),
      {});
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[64 * lane], 2u) << "24 of 28 bytes are not all";
    EXPECT_EQ(out[64 * lane + 1], 5u);
    EXPECT_EQ(out[64 * lane + 2], 8u);
    EXPECT_EQ(out[64 * lane + 3], 9u);
    EXPECT_EQ(out[64 * lane + 4], 13u);
  }
}

TEST(BulkCopies, SumsOf64BitsMayHaveASign) {
  const std::vector<uint32_t> out =
      run_warp(warp_kernel(".reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p<4>; .shared .align 8 .b64 s; "
                           ".shared .align 8 .b64 b;",
                           R"(mov.u32 %r0, b; mov.u32 %r1, s; setp.eq.u32 %p0, %tid0, 0;
                @%p0 mbarrier.init.shared.b64 [%r0], 1;
                mov.u64 %d0, 5; @%p0 st.shared.u64 [%r1], %d0; mov.u64 %d1, -4294967303;
                @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 8;
                bar.sync 0;
                @%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [%r1], %d1, [%r0];
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0; selp.u32 %r2, 1, 0, %p1;
                ld.shared.u64 %d2, [%r1]; st.global.u64 [%out], %d2; st.global.u32 [%out+8], %r2; ret;)"),
               {});
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t sum = out[64 * lane] | uint64_t{out[64 * lane + 1]} << 32;
    EXPECT_EQ(static_cast<int64_t>(sum), 5 - 4294967303);
    EXPECT_EQ(out[64 * lane + 2], 1u) << "the mbarrier has the eight bytes";
  }
}

// --- mbarrier ---

TEST(Mbarriers, PackedStateKeepsItsParts) {
  for (const int32_t bytes : {0, 1, -1, 1'000'000, -1'000'000}) {
    const Mbarrier b{1'000'000, 77, bytes, true}, back = Mbarrier::unpacked(b.packed());
    EXPECT_EQ(back.expected, b.expected);
    EXPECT_EQ(back.pending, b.pending);
    EXPECT_EQ(back.bytes, bytes);
    EXPECT_TRUE(back.odd);
  }
}

TEST(Mbarriers, PhasesEndWhenAllHaveArrived) {
  const std::vector<uint32_t> out =
      run_warp(warp_kernel(".reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<8>; .shared .align 8 .b64 b;",
                           R"(mov.u32 %r0, b; mov.u32 %r9, 0; setp.eq.u32 %p0, %tid0, 0;
                @%p0 mbarrier.init.shared.b64 [%r0], 33;
                bar.sync 0;
                mbarrier.arrive.shared.b64 %d0, [%r0];
                bar.sync 0;
                mbarrier.test_wait.shared.b64 %p1, [%r0], %d0;          // 32 of 33: not yet
                @%p1 or.b32 %r9, %r9, 1;
                mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 1;      // the phase before
                @%p1 or.b32 %r9, %r9, 2;
                mbarrier.pending_count.b64 %r2, %d0;
                bar.sync 0;
                @%p0 mbarrier.arrive.shared.b64 _, [%r0];
                bar.sync 0;
                mbarrier.test_wait.shared.b64 %p1, [%r0], %d0;          // over now
                @%p1 or.b32 %r9, %r9, 4;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0;
                @%p1 or.b32 %r9, %r9, 8;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 1;     // the current phase
                @%p1 or.b32 %r9, %r9, 16;
                bar.sync 0;
                @%p0 mbarrier.arrive_drop.shared.b64 _, [%r0], 32;
                @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 100;
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 1;     // bytes are to come
                @%p1 or.b32 %r9, %r9, 32;
                bar.sync 0;
                @%p0 mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%r0], 100;
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 1;
                @%p1 or.b32 %r9, %r9, 64;
                bar.sync 0;
                @%p0 mbarrier.arrive.shared.b64 _, [%r0];               // one is left after the drop
                bar.sync 0;
                mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0;
                @%p1 or.b32 %r9, %r9, 128;
                @%p0 mbarrier.inval.shared.b64 [%r0];
                st.global.u32 [%out], %r9; st.global.u32 [%out+4], %r2; ret;)"),
               {});
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[64 * lane], 2u + 4 + 8 + 64 + 128) << lane;
    EXPECT_EQ(out[64 * lane + 1], 33 - lane) << "lanes arrive in ascending order";
  }
}

}  // namespace
}  // namespace gpusim::isa
