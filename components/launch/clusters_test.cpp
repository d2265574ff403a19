// Thread block clusters in whole programs: values with and without timing, where the blocks of a cluster run,
// what remote accesses and the cluster's barrier cost, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "components/launch/occupancy_limits.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::Outcome;
using testing::HasSubstr;

/// `rotate`: every thread hands its number to the same thread of the next block of its cluster, `rounds`
/// times, and writes what it has then, with the number of its SM. `chain`: one thread of the first block
/// follows a list in the shared memory of the last one. `push`: all warps store to the next block.
constexpr const char* kClusterProgram = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rotate(.param .u64 out, .param .u64 places, .param .u32 rounds)
{
  .reg .b32 %r<24>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  .shared .align 4 .b8 box[256];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank;
  add.u32 %r7, %r5, 1; rem.u32 %r7, %r7, %r6;
  shl.b32 %r8, %r1, 2; mov.u32 %r9, box; add.u32 %r8, %r8, %r9;
  st.shared.u32 [%r8], %r4;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  ld.param.u32 %r10, [rounds]; mov.u32 %r11, 0;
L:
  xor.b32 %r12, %r11, 1;
  mad.lo.u32 %r13, %r11, 128, %r8;
  mad.lo.u32 %r14, %r12, 128, %r8;
  ld.shared.u32 %r15, [%r13];
  mapa.shared::cluster.u32 %r16, %r14, %r7;
  st.shared::cluster.u32 [%r16], %r15;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r11, %r12;
  sub.u32 %r10, %r10, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra L;
  mad.lo.u32 %r13, %r11, 128, %r8;
  ld.shared.u32 %r15, [%r13];
  mul.wide.u32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [out]; add.u64 %rd3, %rd2, %rd1; st.global.u32 [%rd3], %r15;
  mov.u32 %r17, %smid;
  ld.param.u64 %rd4, [places]; add.u64 %rd5, %rd4, %rd1; st.global.u32 [%rd5], %r17;
  ret;
}
.visible .entry chain(.param .u64 out, .param .u32 steps)
{
  .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 4 .b8 cell[4];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; sub.u32 %r2, %r2, 1;
  mov.u32 %r3, cell; mapa.shared::cluster.u32 %r4, %r3, %r2;
  st.shared.u32 [%r3], %r4;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
  ld.param.u32 %r5, [steps];
L:
  ld.shared::cluster.u32 %r4, [%r4];
  sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;
  ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r4;
END:
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
.visible .entry poll(.param .u64 out, .param .u32 steps)
{
  .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 8 .b8 barrier[8];
  mov.u32 %r1, barrier; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;
  @!%p1 mbarrier.init.shared.b64 [%r1], 1;
  bar.sync 0;
  ld.param.u32 %r5, [steps]; mov.u32 %r6, 0;
L:
  mbarrier.test_wait.parity.shared.b64 %p3, [%r1], 0;
  @%p3 add.u32 %r6, %r6, 1;
  sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;
  ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r6;
  ret;
}
.visible .entry read(.param .u64 out, .param .u32 steps)
{
  .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 8 .b8 word[8];
  mov.u32 %r1, word; mov.u32 %r6, 0;
  ld.param.u32 %r5, [steps];
L:
  ld.shared.u32 %r7, [%r1];
  add.u32 %r6, %r6, %r7;
  sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;
  ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r6;
  ret;
}
.visible .entry push(.param .u64 out, .param .u32 steps)
{
  .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 16 .b8 area[16384];
  mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 4;
  mov.u32 %r3, area; add.u32 %r3, %r3, %r2; mapa.shared::cluster.u32 %r4, %r3, %r1;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.param.u32 %r5, [steps];
L:
  st.shared::cluster.v4.u32 [%r4], {%r5, %r2, %r3, %r4};
  sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
.visible .entry leaves(.param .u64 out)
{
  .reg .b32 %r<16>; .reg .pred %p<4>;
  .shared .align 4 .b8 cell[4];
  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  @%p1 exit;
  mov.u32 %r2, 20000;
W:
  sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra W;
  mov.u32 %r3, cell; mapa.shared::cluster.u32 %r4, %r3, 1; ld.shared::cluster.u32 %r5, [%r4];
  st.shared.u32 [%r3], %r5;
  ret;
}
.visible .entry misses(.param .u64 out)
{
  .reg .b32 %r<16>; .reg .pred %p<4>;
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; shr.u32 %r2, %r2, 5; and.b32 %r1, %r1, %r2;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra B;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
B:
  bar.sync 1, 64;
  ret;
}
.visible .entry twice(.param .u64 out)
{
  barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
.visible .entry early(.param .u64 out)
{
  barrier.cluster.wait;
  ret;
}
.visible .entry fixed(.param .u64 out)
.explicitcluster
.reqnctapercluster 2
{
  ret;
}
.visible .entry asks(.param .u64 out)
.explicitcluster
{
  ret;
}
.visible .entry limited(.param .u64 out)
.maxclusterrank 2
{
  ret;
}
.visible .entry counted(.param .u64 out)
.blocksareclusters
.reqnctapercluster 4
{
  ret;
}
)";

core::MachineConfig h200(std::vector<std::string> sets) {
  const std::vector<std::string> folders = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
  return core::load_machine("h200", sets, folders);
}

SimulationOptions cluster_options(const std::string& launch, const std::vector<std::string>& sets = {}) {
  SimulationOptions o;
  o.machine = h200(sets);
  o.ptx_name = "test.ptx";
  o.ptx_text = kClusterProgram;
  o.launch = core::parse_launch(launch, "test.toml", {}, 1, false);
  o.direct_driver = true;
  o.lowering = isa::LoweringLevel::kClean;  // so that what is timed stands where the text has it
  return o;
}

constexpr const char* kClusterBuffers = R"toml([[buffer]]
name = "out"
type = "u32"
count = 1536
[[buffer]]
name = "places"
type = "u32"
count = 1536
)toml";

std::string rotation(uint32_t blocks, uint32_t cluster, uint32_t rounds, const std::string& more = "") {
  std::string values;
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t t = 0; t < 32; ++t) {
      const uint32_t rank = b % cluster;
      const uint32_t from = b - rank + (rank + cluster * rounds - rounds) % cluster;
      values += fmt::format("{}{}", values.empty() ? "" : ", ", from * 32 + t);
    }
  return std::string(R"toml([[buffer]]
name = "out"
type = "u32"
count = )toml") +
         fmt::format("{}", blocks * 32) +
         "\n[[buffer]]\nname = \"places\"\ntype = \"u32\"\ncount = " + fmt::format("{}", blocks * 32) +
         fmt::format(
             "\n[[launch]]\nkernel = \"rotate\"\ngrid = {}\nblock = 32\ncluster = {}\nargs = [\"out\", "
             "\"places\", {}]\n{}",
             blocks, cluster, rounds, more) +
         "[[expect]]\nbuffer = \"out\"\nvalues = [" + values + "]\n";
}

std::string cluster_launch(const std::string& kernel, const std::string& sizes,
                           const std::string& more_args = "") {
  return std::string(kClusterBuffers) + "[[launch]]\nkernel = \"" + kernel + "\"\n" + sizes +
         "args = [\"out\"" + more_args + "]\n";
}

/// What a run without timing says: it may be made any number of times in a process.
SimulationResult for_values(const std::string& text, const std::string& checks = "") {
  SimulationOptions o = cluster_options(text);
  o.functional = true;
  if (!checks.empty()) o.checks = parse_checks(checks);
  Simulation simulation(std::move(o));
  return simulation.run();
}

double cycles_of_run(const std::string& text, const std::vector<std::string>& sets = {}) {
  const Outcome o = test::run_apart(cluster_options(text, sets));
  EXPECT_EQ(o.status, "complete") << o.reason;
  const size_t at = o.timing.find(": ");
  return at == std::string::npos ? -1 : std::stod(o.timing.substr(at + 2));
}

TEST(Clusters, ValuesAreThoseOfTheProgram) {
  for (const uint32_t cluster : {1u, 2u, 4u, 8u}) {
    const SimulationResult r = for_values(rotation(48, cluster, 5));
    EXPECT_EQ(r.status, SimulationResult::Status::kComplete) << r.reason;
    EXPECT_TRUE(r.expectations_met()) << cluster;
  }
  const SimulationResult r = for_values(rotation(48, 16, 5, "non_portable_cluster = true\n"));
  EXPECT_TRUE(r.expectations_met());
}

TEST(Clusters, TimedRunsComputeTheSameAndDoNotDependOnHowTheyAreDriven) {
  SimulationOptions o = cluster_options(rotation(48, 4, 5));
  const Outcome direct = test::run_apart(o);
  ASSERT_EQ(direct.status, "complete") << direct.reason;
  SimulationOptions values = cluster_options(rotation(48, 4, 5));
  values.functional = true;
  // %smid is part of what is written.
  const auto out = [](const Outcome& r) { return r.values.substr(0, r.values.find('\n')); };
  EXPECT_EQ(out(test::run_apart(values)), out(direct));
  o.direct_driver = false;
  EXPECT_EQ(test::run_apart(o), direct);
  EXPECT_EQ(test::counter(direct, "remote_shared"), 48 * 5);
  EXPECT_EQ(test::counter(direct, "remote_shared_packets"), 48 * 5 * 4) << "128 bytes a warp";
}

TEST(Clusters, BlocksOfOneRunOnDifferentSmsOfOnePartOfTheChip) {
  const core::MachineConfig machine = h200({});
  EXPECT_EQ(clusters_together(machine, 132, 1, 16), 8u) << "each part has 16 or 18 SMs";
  EXPECT_EQ(clusters_together(machine, 132, 1, 2), 66u);
  EXPECT_EQ(clusters_together(machine, 132, 1, 4), 8u * 4);
  EXPECT_EQ(clusters_together(machine, 6, 1, 8), 0u);
  SimulationOptions o = cluster_options(rotation(48, 8, 1));
  const std::function<std::string()> work = [&o] {
    Simulation simulation(std::move(o));
    if (simulation.run().status != SimulationResult::Status::kComplete) return std::string();
    const auto bytes = simulation.buffer(1);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const core::ChildAnswer answer = core::run_in_children({&work, 1}, 1).front();
  ASSERT_EQ(answer.text.size(), 48u * 32 * 4);
  for (uint32_t first = 0; first < 48; first += 8) {
    std::set<uint32_t> sms, parts;
    for (uint32_t b = first; b < first + 8; ++b) {
      uint32_t sm = 0;
      std::memcpy(&sm, answer.text.data() + size_t{b} * 128, sizeof sm);
      sms.insert(sm);
      parts.insert(gpc_of(machine, sm));
    }
    EXPECT_EQ(sms.size(), 8u) << first;
    EXPECT_EQ(parts.size(), 1u) << first;
  }
}

TEST(Clusters, RemoteLoadsAndBarriersTakeTheTimeOfTheirKeys) {
  const auto chain = [](uint32_t steps) {
    return cluster_launch("chain", "grid = 4\nblock = 32\ncluster = 4\n", fmt::format(", {}", steps));
  };
  const double base = cycles_of_run(chain(10));
  EXPECT_EQ(cycles_of_run(chain(10), {"block_clusters.latency=280"}) - base, 10 * 100);
  EXPECT_EQ(cycles_of_run(chain(20)) - base, cycles_of_run(chain(30)) - cycles_of_run(chain(20)));
  EXPECT_GE(cycles_of_run(chain(20)) - base, 10 * 180);
  // Each round of the other kernel has one barrier.
  const auto four_rounds = [](const std::vector<std::string>& sets) {
    return cycles_of_run(rotation(8, 4, 9), sets) - cycles_of_run(rotation(8, 4, 5), sets);
  };
  // Which of the greedy warps comes first at a barrier may change by a cycle.
  EXPECT_NEAR(four_rounds({"block_clusters.barrier_latency=280"}) - four_rounds({}), 4 * 100, 2);
}

TEST(Clusters, AskingAnMbarrierTakesTheTimeOfARead) {
  // Of eight warps, so that what the shared memory takes shows and not a warp's latency.
  const auto cycles = [](const char* kernel, uint32_t steps) {
    return cycles_of_run(cluster_launch(kernel, "grid = 1\nblock = 256\n", fmt::format(", {}", steps)));
  };
  const double polls = cycles("poll", 100) - cycles("poll", 50);
  const double reads = cycles("read", 100) - cycles("read", 50);
  EXPECT_GT(reads, 50);
  EXPECT_LT(polls, 2 * reads);
}

TEST(Clusters, StoresToAnotherSmTakeItsRate) {
  // 16 bytes a thread: 512 a warp, of 8 warps in both blocks, each way.
  const auto push = [](uint32_t steps) {
    return cluster_launch("push", "grid = 2\nblock = 256\ncluster = 2\n", fmt::format(", {}", steps));
  };
  const double bytes = 100.0 * 8 * 512;
  const double at_16 = cycles_of_run(push(200)) - cycles_of_run(push(100));
  EXPECT_NEAR(at_16, bytes / 16, bytes / 16 * 0.02);
  const double at_32 = cycles_of_run(push(200), {"block_clusters.bytes_per_cycle=32"}) -
                       cycles_of_run(push(100), {"block_clusters.bytes_per_cycle=32"});
  EXPECT_NEAR(at_32, bytes / 32, bytes / 32 * 0.02);
}

TEST(Clusters, SizesThatCannotBeAreRefused) {
  const auto refusal = [](const std::string& text, const std::vector<std::string>& sets = {},
                          uint32_t sms = 0) {
    SimulationOptions o = cluster_options(text, sets);
    o.functional = true;
    o.sms = sms;
    try {
      Simulation simulation(std::move(o));
      return simulation.run().reason;
    } catch (const core::InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal(rotation(10, 4, 1)),
              HasSubstr("the grid 10x1x1 is not divisible into clusters of 4x1x1"));
  EXPECT_THAT(refusal(rotation(16, 16, 1)), HasSubstr("a cluster of 16 blocks, machine 'H200' allows 8"));
  EXPECT_THAT(refusal(rotation(16, 16, 1)), HasSubstr("non_portable_cluster"));
  EXPECT_THAT(refusal(rotation(8, 4, 1), {"block_clusters.gpcs=0"}),
              HasSubstr("has no thread block clusters"));
  EXPECT_THAT(refusal(rotation(8, 8, 1, "dynamic_shared = 200000\n"), {}, 6),
              HasSubstr("no part of 'H200' has room for the 8 blocks"));
  EXPECT_THAT(refusal(cluster_launch("fixed", "grid = 3\nblock = 32\n")),
              HasSubstr("not divisible into clusters of 2x1x1"));
  EXPECT_THAT(refusal(cluster_launch("fixed", "grid = 4\nblock = 32\ncluster = 4\n")),
              HasSubstr("differs from the kernel's .reqnctapercluster 2x1x1"));
  EXPECT_THAT(refusal(cluster_launch("asks", "grid = 4\nblock = 32\n")), HasSubstr(".explicitcluster"));
  EXPECT_EQ(refusal(cluster_launch("fixed", "grid = 4\nblock = 32\n")), "");
  EXPECT_EQ(refusal(cluster_launch("asks", "grid = 4\nblock = 32\ncluster = [2, 1]\n")), "");
  EXPECT_EQ(refusal(cluster_launch("limited", "grid = 4\nblock = 32\ncluster = 2\n")), "");
  EXPECT_THAT(refusal(cluster_launch("limited", "grid = 4\nblock = 32\ncluster = 4\n")),
              HasSubstr("a cluster of 4 blocks exceeds the kernel's .maxclusterrank 2"));
  // The grid of this kernel counts clusters: 3 are 12 blocks, and so many are more than 32 bits count.
  EXPECT_EQ(refusal(cluster_launch("counted", "grid = 3\nblock = 32\n")), "");
  EXPECT_THAT(refusal(cluster_launch("counted", "grid = 0x40000000\nblock = 32\n")),
              HasSubstr("a grid of 1073741824x1x1 clusters of 4x1x1 blocks"));
}

TEST(Clusters, MistakesAtTheBarrierEndTheRun) {
  const std::string two = "grid = 2\nblock = 64\ncluster = 2\n";
  for (const bool timed : {false, true}) {
    const auto reason = [&](const std::string& kernel) {
      if (!timed) return for_values(cluster_launch(kernel, two)).reason;
      return test::run_apart(cluster_options(cluster_launch(kernel, two))).reason;
    };
    EXPECT_THAT(reason("leaves"), HasSubstr("shared memory of block 1 of the cluster, which does not run"))
        << timed;
    EXPECT_THAT(reason("misses"), HasSubstr("the barrier of its cluster")) << timed;
    EXPECT_THAT(reason("twice"), HasSubstr("arrives at the barrier of its cluster again")) << timed;
    EXPECT_THAT(reason("early"), HasSubstr("without having arrived")) << timed;
  }
}

TEST(Clusters, ChecksFollowTheBarrierAndSayWhatTheyDoNotCompare) {
  const SimulationResult r = for_values(rotation(8, 4, 3), "all");
  EXPECT_EQ(r.status, SimulationResult::Status::kComplete) << r.reason;
  EXPECT_TRUE(r.findings.empty()) << (r.findings.empty() ? "" : r.findings.front().detail.message);
  EXPECT_EQ(r.check_counts.uncompared, 8u * 3 * 32);
}

}  // namespace
}  // namespace gpusim::comp
