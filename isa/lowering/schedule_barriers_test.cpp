// What the schedule moves across barriers and operations of whole warps, and where it leaves the test that
// closes a loop.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Schedule, OnlyWhatSeesWritesOfOtherThreadsHeedsABarrier) {
  // As ptxas 13 orders it for 7.5, 8.0 and 9.0: during the wait for what is stored to shared memory,
  // arithmetic and loads of what nobody writes come from behind the barrier. There shuffles do, too; here
  // they stay, because --check race takes them for an order of the lanes' accesses.
  const auto text = [](std::string_view barrier) {
    return thread_kernel(".reg .b32 %r<20>; .shared .align 4 .b8 s[512];", fmt::format(R"(
    mov.u32 %r1, s;
    mad.lo.u32 %r1, %tid0, 4, %r1;
    ld.global.u32 %r0, [%in];
    st.shared.u32 [%r1], %r0;
    {}
    ld.shared.u32 %r2, [%r1];
    ld.global.u32 %r3, [%in+8];
    ld.global.nc.u32 %r4, [%in+16];
    mad.lo.u32 %r5, %tid0, %tid0, 77;
    shfl.sync.bfly.b32 %r6, %tid0, 3, 31, -1;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    add.u32 %r2, %r2, %r5;
    add.u32 %r2, %r2, %r6;
    st.global.u32 [%out], %r2;
    ret;)",
                                                                                       barrier));
  };
  for (const char* barrier : {"bar.sync 0;", "bar.warp.sync -1;", "barrier.sync 1, 32;"}) {
    SCOPED_TRACE(barrier);
    expect_same_everywhere(text(barrier), 32);
    const KernelImage image = scheduled(text(barrier), 80);
    std::string word(barrier);
    word.pop_back();
    const size_t store = position(image, "st.shared.u32 [%r1], %r0"), wall = position(image, word);
    EXPECT_LT(store, wall);
    EXPECT_LT(wall, position(image, "ld.shared.u32 %r2, [%r1]"));
    EXPECT_LT(wall, position(image, "ld.global.u32 %r3, [%in+8]"));
    EXPECT_LT(position(image, "ld.global.nc.u32 %r4, [%in+16]"), store);
    EXPECT_LT(position(image, "mad.lo.u32 %r5, %tid0, %tid0, 77"), store);
    EXPECT_LT(wall, position(image, "shfl.sync.bfly.b32 %r6, %tid0, 3, 31, -1"));
  }
  // Of the compilers for older machines nothing is known.
  const KernelImage old = scheduled(text("bar.sync 0;"), 35);
  EXPECT_LT(position(old, "bar.sync 0"), position(old, "mad.lo.u32 %r5, %tid0, %tid0, 77"));
}

TEST(Schedule, LoadsOfWhatNobodyWritesPassStoresAndAtomics) {
  // ptxas 13 for 7.5 and 9.0 (probes): all four loads come first, whatever stands between them; without .nc
  // each waits for the store before it, which could be to its place.
  const auto text = [](std::string_view load, std::string_view store) {
    std::string body;
    for (int i = 0; i < 4; ++i)
      body += fmt::format("{} %f{}, [%in+{}]; mul.f32 %f{}, %f{}, 0f40200000; {} [%out+{}], %f{};\n", load, i,
                          4 * i, i, i, store, 4 * i, i);
    return thread_kernel(".reg .f32 %f<4>;", body + "ret;");
  };
  for (const std::string store : {"st.global.f32", "st.volatile.global.f32", "red.global.add.f32"}) {
    for (const int capability : {75, 80, 90}) {
      const KernelImage image = scheduled(text("ld.global.nc.f32", store), capability);
      EXPECT_LT(position(image, "ld.global.nc.f32 %f3, [%in+12]"), position(image, store + " [%out+0], %f0"));
      const KernelImage other = scheduled(text("ld.global.f32", store), capability);
      EXPECT_LT(position(other, store + " [%out+0], %f0"), position(other, "ld.global.f32 %f1, [%in+4]"));
    }
    expect_same_everywhere(text("ld.global.nc.f32", store), 32);
  }
  const std::string store = "st.global.f32 [%out+0], %f0";
  const KernelImage old = scheduled(text("ld.global.nc.f32", "st.global.f32"), 35);
  EXPECT_LT(position(old, store), position(old, "ld.global.nc.f32 %f3, [%in+12]"));
}

TEST(Schedule, WhatIsNeededLateTakesNoRegisterBeforeABarrier) {
  // Rounds of a loop that ptxas unrolls: the sums of later rounds are not made in the gaps of the first.
  std::string rounds;
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; ++i) {
    const std::string n = std::to_string(i);
    rounds += "mad.lo.u32 %a" + n + ", %tid0, %tid0, " + std::to_string(i * 77 + 5) + "; xor.b32 %b" + n +
              ", %a" + n + ", %r0;\nld.shared.u32 %c" + n + ", [%r1]; xor.b32 %r0, %r0, %c" + n +
              "; mul.lo.u32 %r0, %r0, %r0; xor.b32 %r0, %r0, %b" + n +
              ";\nbar.sync 0; st.shared.u32 [%r1], %r0; bar.sync 0;\n";
  }
  const std::string whole =
      thread_kernel(".reg .b32 %r<4>, %a<8>, %b<8>, %c<8>; .shared .align 4 .b8 s[512];",
                    "mov.u32 %r1, s; mad.lo.u32 %r1, %tid0, 4, %r1; mov.u32 %r0, %tid0; st.shared.u32 [%r1], "
                    "%r0; bar.sync 0;\n" +
                        rounds + "st.global.u32 [%out], %r0; ret;");
  expect_same_everywhere(whole, 64);
  EXPECT_LE(scheduled(whole, 80).registers, 14u);
}

TEST(Schedule, LoadsOfMatricesPassProducts) {
  // ptxas 13 loads the operands of several steps first: a product of 16 x 16 tiles from global memory that it
  // unrolls takes 64 registers for 7.5.
  const auto fragment = [](std::string_view name, int step) {
    std::string list;
    for (int i = 0; i < 8; ++i) list += fmt::format("{}%{}{}", i == 0 ? "{" : ",", name, 8 * step + i);
    return list + "}";
  };
  const auto step = [&](int i) {
    const std::string a = fragment("a", i), b = fragment("b", i), c = fragment("c", 0);
    return fmt::format(
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {0}, [%in+{3}], %w;\n"
        "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {1}, [%out+{3}], %w;\n"
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {2}, {0}, {1}, {2};\n",
        a, b, c, 32 * i);
  };
  std::string body = "mov.u32 %w, 64;\n";
  for (int i = 0; i < 8; ++i) body += fmt::format("mov.f32 %c{}, 0f00000000;\n", i);
  for (int i = 0; i < 4; ++i) body += step(i);
  for (int i = 0; i < 8; ++i) body += fmt::format("st.global.f32 [%out+{}], %c{};\n", 4096 + 4 * i, i);
  const KernelImage image =
      scheduled(thread_kernel(".reg .b32 %a<32>, %b<32>, %w; .reg .f32 %c<8>;", body + "ret;"), 80);
  size_t first_product = 0, loads = 0;
  for (; first_product < image.ops.size(); ++first_product) {
    const MicroOp& op = image.ops[first_product];
    if (op.op_class == OpClass::kMmaHalf) break;
    loads += op.op_class == OpClass::kLoadGlobal ? 1 : 0;
  }
  size_t all = 0;
  for (const MicroOp& op : image.ops) all += op.op_class == OpClass::kLoadGlobal ? 1 : 0;
  EXPECT_GT(loads, all / 4) << "of the first step alone";
}

TEST(Schedule, AMatrixIsLoadedBehindTheStoresOfItsWarp) {
  // Each lane names the address of a row that other lanes stored: no address tells them apart.
  const KernelImage image = scheduled(thread_kernel(".reg .b32 %r<12>; .shared .align 16 .b8 s[1024];", R"(
    mov.u32 %r1, s;
    mad.lo.u32 %r1, %tid0, 16, %r1;
    ld.global.u32 %r0, [%in];
    st.shared.u32 [%r1], %r0;
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r1+512];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%out], %r2;
    ret;)"),
                                      80);
  const size_t store = position(image, "st.shared.u32 [%r1], %r0");
  size_t load = 0;
  while (load < image.ops.size() && image.ops[load].op_class != OpClass::kLoadShared) ++load;
  EXPECT_LT(store, load);
}

TEST(Schedule, TheTestOfALoopWaitsForTheCodeUnderACondition) {
  // Both predicates have one register, so that the comparison comes behind what the first one guards, as in
  // code of ptxas 13 for 7.5, 8.0 and 9.0; and behind the barrier, which is as ready.
  const auto loop = [](std::string_view condition, std::string_view label) {
    return thread_kernel(".reg .b32 %r<20>; .reg .pred %p<3>; .shared .align 4 .b8 s[512];",
                         fmt::format(R"(
    mov.u32 %r1, s;
    mad.lo.u32 %r1, %tid0, 4, %r1;
    st.shared.u32 [%r1], %tid0;
    bar.sync 0;
    mov.u32 %r9, 16;
    .pragma "nounroll";
    LOOP: {}
    ld.shared.u32 %r2, [%r1];
    ld.shared.u32 %r3, [%r1+4];
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r1], %r2;
    {} bar.sync 0;
    shr.u32 %r9, %r9, 1;
    setp.ne.u32 %p1, %r9, 0;
    @%p1 bra LOOP;
    ld.shared.u32 %r4, [%r1];
    st.global.u32 [%out], %r4;
    ret;)",
                                     condition, label));
  };
  const std::string guarded = loop("setp.ge.u32 %p0, %tid0, %r9; @%p0 bra SKIP;", "SKIP:");
  for (const int capability : {75, 80, 90}) {
    SCOPED_TRACE(capability);
    const KernelImage image = scheduled(guarded, capability);
    const size_t test = position(image, "setp.ne.u32 %p1, %r9, 0");
    EXPECT_LT(position(image, "st.shared.u32 [%r1], %r2"), test);
    size_t barriers = 0;
    for (size_t i = 0; i < test; ++i) barriers += image.ops[i].kind == OpKind::kBarrier ? 1 : 0;
    EXPECT_EQ(barriers, 2u);
  }
  expect_same_everywhere(guarded, 32);
  // Without a condition the predicate is free: the comparison fills the wait for the load.
  const KernelImage free = scheduled(loop("", ""), 80);
  EXPECT_LT(position(free, "setp.ne.u32 %p1, %r9, 0"), position(free, "st.shared.u32 [%r1], %r2"));
}

}  // namespace
}  // namespace gpusim::isa
