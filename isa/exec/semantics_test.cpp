// The semantic table itself: every SIMD level has the same rows and gives the same bits on random and special
// operands, writes only the lanes of its mask, and the warp-wide operations do what the manual says.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "isa/exec/executor.h"
#include "isa/exec/semantics/table.h"
#include "isa/ptx/wmma.h"
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Sixteen double rows (64-bit capable), of which 0-3 are destinations and 4-9 sources.
struct Bench {
  AlignedBytes rows = AlignedBytes(16ul * 2 * kRowBytes);
  uint32_t predicates[8] = {};
  WarpContext ctx;

  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    const uint32_t special[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00001u, 1,
                                0x3f800000u, 0xffffffffu, 0x7fffffffu, 31,          32,          0x7ff00000u};
    for (size_t i = 0; i < rows.size(); i += 4) {
      const uint32_t v = random() % 3 == 0 ? special[random() % 12] : random() >> (random() % 2 ? 0 : 20);
      std::memcpy(&rows[i], &v, 4);
    }
    for (uint32_t& p : predicates) p = random();
    ctx.bank[0] = rows.data();
    ctx.bank[1] = rows.data();
    ctx.predicates = predicates;
    for (auto& dim : ctx.tid) {
      for (uint32_t& t : dim) t = random() % 100;
    }
  }
};

MicroOp probe(const SemanticRow& row, uint32_t variation) {
  MicroOp op;
  op.exec = row.exec;
  op.num_dst = 1;
  op.num_src = 3;
  for (uint32_t i = 0; i < 4; ++i) op.dst[i].offset = i * 2 * kRowBytes;
  for (uint32_t i = 0; i < 6; ++i) op.src[i].offset = (4 + i) * 2 * kRowBytes;
  op.pred_dst = {0, 1};
  op.pred_src = {2, 3, kNoPredicate};
  op.imm = variation % 4;
  if (row.op_class >= OpClass::kMmaHalf && row.op_class <= OpClass::kWgmmaInt8) {
    const WmmaSum sums[] = {{23, 4}, {24, 8, 1}, {25, 16}};  // of sm_70, sm_75, sm_90
    op.imm = std::bit_cast<uint64_t>(sums[variation % 3]);
  }
  // Small numbers are also enumerators (vote, redux); the others set the upper flags.
  op.modifiers = static_cast<uint8_t>(variation < 16 ? variation : variation % 16 * 17);
  return op;
}

TEST(SemanticTable, LevelsHaveTheSameRowsWithoutDuplicates) {
  const auto base = all_forms(SimdLevel::kBaseline);
  ASSERT_GT(base.size(), 700u);
  for (size_t i = 1; i < base.size(); ++i) EXPECT_LT(base[i - 1].key, base[i].key) << "the same form twice";
  for (const SimdLevel level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    const auto rows = all_forms(level);
    if (rows.empty()) continue;  // GPUSIM_SIMD_SETS leaves it out
    ASSERT_EQ(rows.size(), base.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].key, base[i].key);
      EXPECT_EQ(rows[i].op_class, base[i].op_class);
      EXPECT_EQ(rows[i].flops, base[i].flops);
    }
  }
}

TEST(SemanticTable, LevelsGiveTheSameBits) {
  const auto base = all_forms(SimdLevel::kBaseline);
  for (const SimdLevel level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (!simd_supported(level)) continue;
    const auto rows = all_forms(level);
    for (size_t i = 0; i < base.size(); ++i) {
      if (base[i].exec == nullptr) continue;
      for (uint32_t v = 0; v < 32; ++v) {
        const LaneMask mask(v % 3 == 0 ? ~0u : 0x9e3779b9u * (v + 1));
        Bench a, b;
        a.fill(v);
        b.fill(v);
        base[i].exec(probe(base[i], v), a.ctx, mask);
        rows[i].exec(probe(rows[i], v), b.ctx, mask);
        ASSERT_EQ(a.rows, b.rows) << simd_level_name(level) << " key " << std::hex << base[i].key
                                  << " variation " << v;
        ASSERT_EQ(std::memcmp(a.predicates, b.predicates, sizeof a.predicates), 0) << std::hex << base[i].key;
      }
    }
  }
}

TEST(SemanticTable, OnlyLanesOfTheMaskAreWritten) {
  for (const SemanticRow& row : all_forms(best_simd_level())) {
    if (row.exec == nullptr) continue;
    Bench before, after;
    before.fill(7);
    after.fill(7);
    const LaneMask mask(0x00ff0ff1);
    row.exec(probe(row, 1), after.ctx, mask);
    // A destination is one row of 32-bit or two of 64-bit lanes: accept either reading, nothing else may
    // change.
    for (size_t d = 0; d < 4; ++d) {
      const std::byte* x = &before.rows[d * 2 * kRowBytes];
      const std::byte* y = &after.rows[d * 2 * kRowBytes];
      bool narrow = std::memcmp(x + kRowBytes, y + kRowBytes, kRowBytes) == 0, wide = true;
      for (int l = 0; l < kWarpSize; ++l) {
        if (mask.test(l)) continue;
        narrow = narrow && std::memcmp(x + 4l * l, y + 4l * l, 4) == 0;
        wide = wide && std::memcmp(x + 8l * l, y + 8l * l, 8) == 0;
      }
      EXPECT_TRUE(narrow || wide) << std::hex << row.key;
    }
    for (size_t p = 0; p < 8; ++p)
      EXPECT_EQ((before.predicates[p] ^ after.predicates[p]) & ~mask.bits(), 0u) << std::hex << row.key;
  }
}

/// Runs `body` with 32 threads; word 0 of each thread's output.
std::vector<uint32_t> first_words(std::string_view declarations, std::string_view body) {
  const std::string text = thread_kernel(declarations, body);
  expect_same_everywhere(text, 32);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  EXPECT_TRUE(o.result.finished);
  std::vector<uint32_t> words;
  for (uint32_t t = 0; t < 32; ++t) words.push_back(o.out[t * 64ul]);
  return words;
}

TEST(WarpOperations, VoteBallotAndGuards) {
  const auto ballot =
      first_words(".reg .pred %p; .reg .b32 %r;",
                  "setp.lt.u32 %p, %tid0, 5; vote.ballot.b32 %r, %p; st.global.u32 [%out], %r; ret;");
  EXPECT_EQ(ballot[31], 0x1fu);
  const auto all = first_words(".reg .pred %p, %q, %g; .reg .b32 %r;", R"(
    setp.lt.u32 %p, %tid0, 5; setp.lt.u32 %g, %tid0, 4; mov.pred %q, 0;
    @%g vote.all.pred %q, %p; selp.u32 %r, 1, 0, %q; st.global.u32 [%out], %r; ret;)");
  EXPECT_EQ(all[3], 1u);
  EXPECT_EQ(all[4], 0u);
  const auto uni = first_words(".reg .pred %p, %q; .reg .b32 %r;",
                               "setp.lt.u32 %p, %tid0, 5; vote.uni.pred %q, !%p; selp.u32 %r, 1, 0, %q; "
                               "st.global.u32 [%out], %r; ret;");
  EXPECT_EQ(uni[0], 0u);
}

TEST(WarpOperations, TilesOfAWarpTakePartApart) {
  // Four tiles of eight lanes meet in one operation, each with its own member mask.
  const auto of_tiles = [](const char* operation) {
    return first_words(".reg .pred %p, %q; .reg .b32 %r, %m, %v;",
                       std::string("and.b32 %v, %tid0, 1; setp.ne.u32 %p, %v, 0; and.b32 %m, %tid0, 24; "
                                   "shl.b32 %m, 255, %m; ") +
                           operation + " st.global.u32 [%out], %r; ret;");
  };
  const auto ballot = of_tiles("vote.sync.ballot.b32 %r, %p, %m;");
  const auto all =
      of_tiles("setp.lt.u32 %p, %tid0, 16; vote.sync.all.pred %q, %p, %m; selp.u32 %r, 1, 0, %q;");
  const auto same = of_tiles("match.any.sync.b32 %r, %v, %m;");
  const auto sum = of_tiles("redux.sync.add.u32 %r, %tid0, %m;");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t first = lane / 8 * 8;
    EXPECT_EQ(ballot[lane], 0xaau << first) << lane;
    EXPECT_EQ(all[lane], lane < 16 ? 1u : 0u) << lane;
    EXPECT_EQ(same[lane], (lane % 2 != 0 ? 0xaau : 0x55u) << first) << lane;
    EXPECT_EQ(sum[lane], 8 * first + 28) << lane;
  }
}

TEST(WarpOperations, ShuffleModes) {
  const std::string_view declare = ".reg .pred %p; .reg .b32 %r<4>;";
  const auto up = first_words(
      declare, "shfl.up.b32 %r0|%p, %tid0, 3, 0; selp.u32 %r1, %r0, 99, %p; st.global.u32 [%out], %r1; ret;");
  EXPECT_EQ(up[2], 99u);
  EXPECT_EQ(up[3], 0u);
  EXPECT_EQ(up[31], 28u);
  const auto down = first_words(
      declare,
      "shfl.down.b32 %r0|%p, %tid0, 4, 31; selp.u32 %r1, %r0, 99, %p; st.global.u32 [%out], %r1; ret;");
  EXPECT_EQ(down[27], 31u);
  EXPECT_EQ(down[28], 99u);
  const auto bfly = first_words(declare, "shfl.bfly.b32 %r0, %tid0, 16, 31; st.global.u32 [%out], %r0; ret;");
  EXPECT_EQ(bfly[5], 21u);
  const auto idx = first_words(
      declare, "shfl.idx.b32 %r0, %tid0, 2, 0x181f; st.global.u32 [%out], %r0; ret;");  // segments of 8
  EXPECT_EQ(idx[13], 10u);
}

TEST(WarpOperations, AShuffleFromAnInactiveLaneGivesZero) {
  const auto sum = first_words(".reg .pred %p; .reg .b32 %r<4>;", R"(
    mov.u32 %r0, %tid0; setp.ge.u32 %p, %tid0, 8; @%p bra done;
    shfl.sync.down.b32 %r1, %tid0, 16, 31, 0xff; add.u32 %r0, %tid0, %r1; shfl.sync.down.b32 %r1, %r0, 4, 31, 0xff; add.u32 %r0, %r0, %r1;
    done: st.global.u32 [%out], %r0; ret;)");
  EXPECT_EQ(sum[0], 4u);
  EXPECT_EQ(sum[3], 10u);
  EXPECT_EQ(sum[5], 5u);
}

TEST(WarpOperations, SpecialRegisters) {
  const auto lanes = first_words(".reg .b32 %r<4>;", R"(
    mov.u32 %r0, %laneid; mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %ntid.x; add.u32 %r0, %r0, %r1; mad.lo.u32 %r0, %r2, 1000, %r0;
    st.global.u32 [%out], %r0; ret;)");
  EXPECT_EQ(lanes[4], 32000u + 4 + 15);
}

}  // namespace
}  // namespace gpusim::isa
