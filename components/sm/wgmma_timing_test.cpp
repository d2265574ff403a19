// How long wgmma takes, against what the configuration says: steps follow one another as fast as the tensor
// cores take them, unless shared memory brings the matrices more slowly, which it does once for four warps.
#include "components/testing/recorded_run.h"
#include "simcore/config/load.h"

namespace gpusim::comp {
namespace {

using namespace test;  // NOLINT: helpers of this folder

const std::vector<std::string> kFolders{GPUSIM_SOURCE_DIR "/configs"};
constexpr uint64_t kRows = 64, kLineBytes = 32;  // of A, of a row of A or a column of B

struct Product {
  uint64_t n = 0;
  bool a_in_registers = false;
  std::string types = "k16.f32.f16.f16";
  int left = 0;  ///< groups of one product that the wait at the end leaves
};

std::string registers(char name, uint64_t count) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return "{" + text + "}";
}

/// `count` products into the same sums, and a look at the clock.
std::string kernel(const Product& p, int count) {
  const uint64_t sums = p.n / 2, b_place = kRows * kLineBytes;
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{{\n"
      ".shared .align 1024 .b8 s[16384];\n.reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>; .reg .b32 "
      "%a<4>;\n.reg .f32 %d<{}>;\n"
      "mov.u32 %r0, s; shr.u32 %r0, %r0, 4; cvt.u64.u32 %rd0, %r0; add.u32 %r1, %r0, {};\n"
      "cvt.u64.u32 %rd1, %r1; or.b64 %rd0, %rd0, {}; or.b64 %rd1, %rd1, {};\n"
      "setp.eq.u32 %p1, %r0, %r0;\nwgmma.fence.sync.aligned;\n",
      sums, b_place / 16, uint64_t{16} << 32 | uint64_t{8} << 16, uint64_t{16} << 32 | uint64_t{8} << 16);
  for (int i = 0; i < 4; ++i) text += fmt::format("mov.u32 %a{}, 0;\n", i);
  for (uint64_t i = 0; i < sums; ++i) text += fmt::format("mov.f32 %d{}, 0f00000000;\n", i);
  for (int i = 0; i < count; ++i) {
    text += fmt::format("wgmma.mma_async.sync.aligned.m64n{}{} {}, {}, %rd1, %p1, 1, 1", p.n, p.types,
                        registers('d', sums), p.a_in_registers ? registers('a', 4) : "%rd0");
    text += !p.types.starts_with("k16") ? ";\n" : p.a_in_registers ? ", 0;\n" : ", 0, 0;\n";
    text += "wgmma.commit_group.sync.aligned;\n";
  }
  text += fmt::format("wgmma.wait_group.sync.aligned {};\nmov.u32 %r2, %clock; st.shared.u32 [s], %r2;\n",
                      p.left);
  for (uint64_t i = 0; i < sums; ++i) text += fmt::format("st.shared.f32 [s+{}], %d{};\n", 4 * i, i);
  return text + "ret;\n}\n";
}

core::MachineConfig h200(const std::vector<std::string>& sets = {}) {
  return core::load_machine("h200", sets, kFolders);
}

/// When the first of `groups` times four warps that multiply `count` times has waited for its products.
uint64_t cycles_of(const Product& p, int count, int groups, const std::vector<std::string>& sets) {
  SimulationOptions o =
      program(kernel(p, count),
              fmt::format("[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [{}]\nargs = []\n", groups * 128));
  o.machine = h200(sets);
  o.sms = 1;  // the others would only have to be built
  const std::vector<RecordedKernel> run = record_run(std::move(o));
  const std::vector<uint64_t> looks = run.size() == 1 ? run[0].cycles_of("special") : std::vector<uint64_t>{};
  EXPECT_EQ(looks.size(), 1u);
  return looks.empty() ? 0 : looks[0];
}

/// Cycles from one product to the next.
double cycles_each(const Product& p, const std::vector<std::string>& sets = {}, int groups = 1) {
  constexpr int kFew = 24, kMany = 56;
  return static_cast<double>(cycles_of(p, kMany, groups, sets) - cycles_of(p, kFew, groups, sets)) /
         (kMany - kFew);
}

/// Core cycles for which a tensor core is busy with a step.
int64_t step_cycles(const std::string& op_class) {
  const core::MachineConfig machine = h200();
  for (const core::MachineConfig::Pipe& pipe : machine.pipes)
    if (const auto found = pipe.interval.find(op_class); found != pipe.interval.end()) return found->second;
  return 0;
}

/// Core cycles in which shared memory brings so many bytes.
double memory_cycles(uint64_t bytes) {
  const core::MachineConfig machine = h200();
  return static_cast<double>(bytes) / (machine.shared.banks * machine.shared.bank_bytes);
}

TEST(WgmmaTiming, LargeProductsKeepTheTensorCoresBusy) {
  const auto half = static_cast<double>(step_cycles("wgmma_half")),
             eight = static_cast<double>(step_cycles("wgmma_int8"));
  for (const bool in_registers : {false, true}) {
    EXPECT_NEAR(cycles_each({256, in_registers}) / (32 * half), 1, 0.01);
    EXPECT_NEAR(cycles_each({128, in_registers}) / (16 * half), 1, 0.01);
    EXPECT_NEAR(cycles_each({64, in_registers}) / (8 * half), 1, 0.03);
  }
  EXPECT_NEAR(cycles_each({256, false, "k8.f32.tf32.tf32"}) / (32 * half), 1, 0.01) << "half the products";
  EXPECT_NEAR(cycles_each({256, false, "k32.f32.e4m3.e4m3"}) / (64 * eight), 1, 0.01) << "twice of them";
}

TEST(WgmmaTiming, SharedMemoryBringsBOnceForFourWarps) {
  for (const uint64_t n : {8, 16, 32, 64})
    EXPECT_NEAR(cycles_each({n}), memory_cycles((kRows + n) * kLineBytes), 1) << "n = " << n;
  EXPECT_NEAR(cycles_each({64}, {}, 2), 2 * memory_cycles((kRows + 64) * kLineBytes), 2) << "two groups";
}

TEST(WgmmaTiming, ShortChainsTakeTheLatency) {
  const auto latency = static_cast<double>(h200().latency.at("wgmma_half"));
  EXPECT_NEAR(cycles_each({8, true}), latency, 1);
  EXPECT_NEAR(cycles_each({8, true}, {"latency.wgmma_half=40"}), 40, 1);
}

TEST(WgmmaTiming, WithoutFetchingAheadEachWarpWaitsForWhatItLoads) {
  EXPECT_GT(cycles_each({256}, {"shared.tensor_queue=0"}), 2 * cycles_each({256}));
}

TEST(WgmmaTiming, AWaitForGroupsTakesUntilTheirLastStepIsDone) {
  constexpr int64_t kLatency = 513;
  const std::vector<std::string> later{fmt::format("latency.wgmma_half={}", kLatency)};
  const int64_t more = kLatency - h200().latency.at("wgmma_half");
  const auto longer = [&](int left) {
    const Product p{8, true, "k16.f32.f16.f16", left};
    return static_cast<int64_t>(cycles_of(p, 2, 1, later)) - static_cast<int64_t>(cycles_of(p, 2, 1, {}));
  };
  EXPECT_EQ(longer(0), 2 * more) << "one product waits for the sums of the other";
  EXPECT_EQ(longer(1), more);
}

}  // namespace
}  // namespace gpusim::comp
