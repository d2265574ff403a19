// Clusters of thread blocks: mapa, getctarank, isspacep, the special registers, and accesses to the shared
// memory of another block by both windows.
#include "isa/exec/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "isa/exec/semantics/table.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa {
namespace {

using test::BlockRunner;
using test::TestMemory;

constexpr uint32_t kThreads = 32, kWords = 8;

std::string kernel_text(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 out)
{
.reg .b64 %rd<12>; .reg .b32 %r<16>; .reg .pred %p<6>; .reg .b16 %h<2>;
.shared .align 16 .b8 table[256];
mov.u32 %r15, %tid.x;
ld.param.u64 %rd10, [out];
mul.wide.u32 %rd11, %r15, 32;
add.u64 %rd10, %rd10, %rd11;
)" + body +
         "\nret;\n}\n";
}

KernelImage lowered(const std::string& body, SimdLevel level = best_simd_level()) {
  ParseResult parsed = parse_module(kernel_text(body));
  EXPECT_TRUE(parsed.ok()) << test::messages(parsed.diagnostics);
  LoweringOptions options;
  options.simd = level;
  auto result = lower_kernel(parsed.module, *parsed.module.find_function("test"), options);
  EXPECT_TRUE(std::holds_alternative<KernelImage>(result)) << test::messages(std::get<Diagnostics>(result));
  return std::get<KernelImage>(std::move(result));
}

/// Two blocks, of which the one of rank 1 runs; the other's table has 100 + i.
class ClusterExec : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (!simd_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << simd_level_name(GetParam());
    for (uint32_t i = 0; i < other_.size(); ++i) other_[i] = 100 + i;
  }
  test::RunResult run(const std::string& body) {
    const KernelImage image = lowered(body, GetParam());
    const uint64_t out = memory_.add(kThreads * kWords * 4);
    BlockRunner runner(image, memory_, test::pack_params({out}), kThreads);
    ClusterMemory cluster;
    cluster.shared[0] = reinterpret_cast<std::byte*>(other_.data());
    cluster.shared[1] = runner.shared();
    runner.join_cluster(cluster, 1, 2);
    const auto result = runner.run();
    words_ = memory_.read<uint32_t>(out, kThreads * kWords);
    std::memcpy(own_.data(), runner.shared(), own_.size() * 4);
    return result;
  }
  [[nodiscard]] uint32_t word(uint32_t thread, uint32_t number) const {
    return words_[thread * kWords + number];
  }

  TestMemory memory_;
  std::vector<uint32_t> other_ = std::vector<uint32_t>(64), own_ = std::vector<uint32_t>(64), words_;
};

TEST_P(ClusterExec, SpecialRegistersHaveTheBlocksPlace) {
  ASSERT_TRUE(run(R"(
    mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x;
    st.global.v4.u32 [%rd10], {%r1, %r2, %r3, %r4};
    mov.u32 %r1, %cluster_ctaid.x; mov.u32 %r2, %cluster_nctaid.x; mov.u32 %r3, %cluster_nctaid.y;
    mov.pred %p1, %is_explicit_cluster; selp.u32 %r4, 7, 0, %p1;
    st.global.v4.u32 [%rd10+16], {%r1, %r2, %r3, %r4};)")
                  .finished);
  const std::vector<uint32_t> expected = {1, 2, 0, 1, 1, 2, 1, 7};
  EXPECT_EQ(std::vector<uint32_t>(words_.begin(), words_.begin() + kWords), expected);
}

TEST_P(ClusterExec, MappedAddressesReachTheOtherBlock) {
  // By the window of .shared::cluster: lanes of even number the other block, the rest their own.
  ASSERT_TRUE(run(R"(
    shl.b32 %r1, %r15, 2; mov.u32 %r2, table; add.u32 %r1, %r1, %r2;
    st.shared.u32 [%r1], %r15;
    and.b32 %r3, %r15, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    getctarank.shared::cluster.u32 %r5, %r4;
    ld.shared::cluster.u32 %r6, [%r4];
    getctarank.shared::cluster.u32 %r7, %r1;
    st.global.v4.u32 [%rd10], {%r5, %r6, %r7, %r7};
    add.u32 %r6, %r6, 1000;
    st.shared::cluster.u32 [%r4+128], %r6;
    atom.shared::cluster.add.u32 %r8, [%r4+128], 5;
    st.global.u32 [%rd10+16], %r8;)")
                  .finished);
  for (uint32_t t = 0; t < kThreads; ++t) {
    const uint32_t value = t % 2 == 0 ? 100 + t : t;
    EXPECT_EQ(word(t, 0), t % 2) << t;
    EXPECT_EQ(word(t, 1), value) << t;
    EXPECT_EQ(word(t, 2), 1u) << t;
    EXPECT_EQ(word(t, 4), value + 1000) << t;
    EXPECT_EQ((t % 2 == 0 ? other_ : own_)[32 + t], value + 1005) << t;
  }
}

TEST_P(ClusterExec, GenericAddressesDoToo) {
  ASSERT_TRUE(run(R"(
    mov.u64 %rd1, table; cvta.shared.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r15, 4; add.u64 %rd2, %rd2, %rd3;
    mov.u32 %r1, 0; mapa.u64 %rd4, %rd2, %r1; mapa.u64 %rd5, %rd4, 1;
    ld.u32 %r2, [%rd4]; st.u32 [%rd5], %r2; red.add.u32 [%rd4], 3;
    getctarank.u64 %r3, %rd4; getctarank.u64 %r4, %rd2;
    isspacep.shared::cluster %p1, %rd4; selp.u32 %r5, 1, 0, %p1;
    isspacep.shared::cta %p2, %rd4; selp.u32 %r6, 2, 0, %p2; or.b32 %r5, %r5, %r6;
    isspacep.shared::cta %p3, %rd5; selp.u32 %r6, 4, 0, %p3; or.b32 %r5, %r5, %r6;
    isspacep.global %p4, %rd4; selp.u32 %r6, 8, 0, %p4; or.b32 %r5, %r5, %r6;
    cvta.to.shared.u64 %rd6, %rd4; cvt.u32.u64 %r7, %rd6; ld.shared::cluster.u32 %r8, [%r7];
    st.global.v4.u32 [%rd10], {%r2, %r3, %r4, %r5}; st.global.u32 [%rd10+16], %r8;)")
                  .finished);
  for (uint32_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(word(t, 0), 100 + t) << t;
    EXPECT_EQ(word(t, 1), 0u) << t;
    EXPECT_EQ(word(t, 2), 1u) << t;
    EXPECT_EQ(word(t, 3), 1u + 4u) << t;
    EXPECT_EQ(word(t, 4), 103 + t) << t;
    EXPECT_EQ(other_[t], 103 + t) << t;
    EXPECT_EQ(own_[t], 100 + t) << t;
  }
}

TEST_P(ClusterExec, FaultsAreThoseOfTheOtherBlocksMemory) {
  const auto faulty = [&](const std::string& access) {
    return run(
        "mov.u32 %r1, table; mapa.shared::cluster.u32 %r2, %r1, 0; mapa.shared::cluster.u32 %r3, %r1, "
        "5;\n" +
        access);
  };
  const auto fault = [&](const std::string& access) { return faulty(access).fault; };
  EXPECT_EQ(fault("ld.shared::cluster.u32 %r4, [%r2+252];"), FaultKind::kNone);
  EXPECT_EQ(fault("ld.shared::cluster.u32 %r4, [%r2+256];"), FaultKind::kOutOfBounds);
  EXPECT_EQ(fault("ld.shared::cluster.u32 %r4, [%r2+2];"), FaultKind::kMisaligned);
  EXPECT_EQ(fault("ld.shared::cluster.u32 %r4, [%r3];"), FaultKind::kAbsentBlock);
  for (const char* const access :
       {"ld.shared::cluster.u32 %r4, [%r3];", "mbarrier.arrive.shared::cluster.b64 _, [%r3];"})
    EXPECT_EQ(faulty(access).access.fault_address, cluster_window(true) + 5 * kClusterStride)
        << "names the block";
  // The window of the own block ends before the others begin.
  EXPECT_EQ(fault("ld.shared.u32 %r4, [%r2];"), FaultKind::kOutOfBounds);
}

INSTANTIATE_TEST_SUITE_P(Levels, ClusterExec,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& level) { return std::string(simd_level_name(level.param)); });

TEST(ClusterLowering, BarriersKeepTheirKind) {
  const KernelImage image = lowered(
      "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire; "
      "fence.mbarrier_init.release.cluster;");
  std::vector<const MicroOp*> barriers;
  for (const MicroOp& op : image.ops)
    if (op.kind == OpKind::kBarrier) barriers.push_back(&op);
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(barriers[0]->modifiers, static_cast<uint8_t>(BarrierAction::kClusterArrive));
  EXPECT_EQ(barriers[0]->imm, kClusterRelaxed);
  EXPECT_EQ(barriers[1]->modifiers, static_cast<uint8_t>(BarrierAction::kClusterWait));
  EXPECT_TRUE(image.has_cluster_barriers);
}

TEST(ClusterForms, RestrictedFencesHaveOneScope) {
  const auto errors = [](const std::string& statement) {
    std::string text = kernel_text(statement);
    text.replace(text.find("8.0"), 3, "8.6");
    const ParseResult parsed = parse_module(text);
    return test::messages(parsed.ok() ? verify_module(parsed.module) : parsed.diagnostics);
  };
  EXPECT_EQ(errors("fence.acquire.sync_restrict::shared::cluster.cluster;"), "");
  EXPECT_EQ(errors("fence.release.sync_restrict::shared::cta.cluster;"), "");
  for (const char* wrong :
       {"fence.acquire.sync_restrict::shared::cta.cluster;", "fence.sc.sync_restrict::shared::cta.cluster;",
        "fence.release.sync_restrict::shared::cta.gpu;"})
    EXPECT_NE(errors(wrong), "") << wrong;
}

TEST(ClusterForms, OperandsAreChecked) {
  const auto wrong = [](const std::string& statement) {
    const ParseResult parsed = parse_module(kernel_text(statement));
    return !parsed.ok() || std::ranges::any_of(verify_module(parsed.module), [](const Diagnostic& d) {
      return d.severity == Diagnostic::Severity::kError;
    });
  };
  EXPECT_FALSE(wrong("mapa.shared::cluster.u32 %r1, table, 1;"));
  EXPECT_FALSE(wrong("mapa.shared::cluster.u64 %rd1, table, %r1;"));
  EXPECT_TRUE(wrong("mapa.u64 %r1, %rd1, %r1;"));
  EXPECT_TRUE(wrong("mapa.u64 %rd1, %rd1;"));
  EXPECT_TRUE(wrong("mapa.shared::cta.u32 %r1, %r2, 1;"));
  EXPECT_TRUE(wrong("getctarank.u64 %rd1, %rd2;"));
  EXPECT_TRUE(wrong("mov.u16 %h1, %cluster_ctarank;"));
  EXPECT_TRUE(wrong("mov.u64 %rd1, %cluster_nctarank;"));
  EXPECT_TRUE(wrong("mov.u32 %r1, %is_explicit_cluster;"));
  EXPECT_TRUE(wrong("mov.pred %p1, %cluster_ctarank;"));
}

}  // namespace
}  // namespace gpusim::isa
