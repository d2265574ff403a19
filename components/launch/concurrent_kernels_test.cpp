// Streams in whole programs: kernels of different streams share the SMs, transfers run beside them, and
// neither values nor what is counted for a kernel depend on it. Every run is a process of its own; what ran
// when is read from the timeline of its recorded file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::Outcome;
using testing::HasSubstr;

/// `chain`: a loop of dependent multiply-adds, few registers. `local`: an array in local memory. `tile`:
/// shared memory and barriers, more warps a block. `wait` and `wake`: one kernel waits for the other's store.
constexpr const char* kProgram = R"(
.version 1.4
.target sm_13
.entry chain(.param .u32 out, .param .u32 in, .param .u32 rounds)
{
  .reg .u32 %r<12>;
  .reg .u16 %h<4>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  mov.u16 %h1, %ctaid.x;
  mov.u16 %h2, %ntid.x;
  mul.wide.u16 %r2, %h1, %h2;
  add.u32 %r2, %r2, %r1;
  shl.b32 %r3, %r2, 2;
  ld.param.u32 %r4, [in];
  add.u32 %r4, %r4, %r3;
  ld.param.u32 %r5, [rounds];
  ld.global.u32 %r6, [%r4];
LOOP:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra LOOP;
  ld.param.u32 %r7, [out];
  add.u32 %r7, %r7, %r3;
  st.global.u32 [%r7], %r6;
  exit;
}
.entry local(.param .u32 out, .param .u32 in, .param .u32 rounds)
{
  .reg .u32 %r<16>;
  .reg .u16 %h<4>;
  .reg .pred %p<2>;
  .local .align 4 .b8 array[64];
  cvt.u32.u16 %r1, %tid.x;
  mov.u16 %h1, %ctaid.x;
  mov.u16 %h2, %ntid.x;
  mul.wide.u16 %r2, %h1, %h2;
  add.u32 %r2, %r2, %r1;
  shl.b32 %r3, %r2, 2;
  ld.param.u32 %r4, [in];
  add.u32 %r4, %r4, %r3;
  ld.param.u32 %r5, [rounds];
  ld.global.u32 %r6, [%r4];
  mov.u32 %r8, array;
  add.u32 %r11, %r8, 64;
CLEAR:
  st.local.u32 [%r8], %r6;
  add.u32 %r8, %r8, 4;
  setp.ne.u32 %p1, %r8, %r11;
  @%p1 bra CLEAR;
  mov.u32 %r8, array;
LOOP:
  and.b32 %r9, %r5, 15;
  shl.b32 %r9, %r9, 2;
  add.u32 %r9, %r8, %r9;
  ld.local.u32 %r10, [%r9];
  add.u32 %r6, %r6, %r10;
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  st.local.u32 [%r9], %r6;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra LOOP;
  ld.param.u32 %r7, [out];
  add.u32 %r7, %r7, %r3;
  st.global.u32 [%r7], %r6;
  exit;
}
.entry tile(.param .u32 out, .param .u32 in, .param .u32 rounds)
{
  .reg .u32 %r<16>;
  .reg .u16 %h<4>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 tile[1024];
  cvt.u32.u16 %r1, %tid.x;
  mov.u16 %h1, %ctaid.x;
  mov.u16 %h2, %ntid.x;
  mul.wide.u16 %r2, %h1, %h2;
  add.u32 %r2, %r2, %r1;
  shl.b32 %r3, %r2, 2;
  ld.param.u32 %r4, [in];
  add.u32 %r4, %r4, %r3;
  ld.param.u32 %r5, [rounds];
  ld.global.u32 %r6, [%r4];
  mov.u32 %r8, tile;
  shl.b32 %r9, %r1, 2;
  add.u32 %r10, %r8, %r9;
  xor.b32 %r11, %r9, 252;
  add.u32 %r11, %r8, %r11;
LOOP:
  st.shared.u32 [%r10], %r6;
  bar.sync 0;
  ld.shared.u32 %r12, [%r11];
  mad.lo.u32 %r6, %r12, 1664525, %r6;
  bar.sync 0;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra LOOP;
  ld.param.u32 %r7, [out];
  add.u32 %r7, %r7, %r3;
  st.global.u32 [%r7], %r6;
  exit;
}
.entry wait(.param .u32 flag)
{
  .reg .u32 %r<4>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [flag];
LOOP:
  ld.volatile.global.u32 %r2, [%r1];
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  exit;
}
.entry wake(.param .u32 flag)
{
  .reg .u32 %r<4>;
  ld.param.u32 %r1, [flag];
  mov.u32 %r2, 1;
  st.global.u32 [%r1], %r2;
  exit;
}
)";

constexpr const char* kBuffers = R"toml(
[[buffer]]
name = "in"
type = "u32"
count = 4096
init = "randint(0, 1000000)"
[[buffer]]
name = "a"
type = "u32"
count = 4096
[[buffer]]
name = "b"
type = "u32"
count = 4096
[[buffer]]
name = "c"
type = "u32"
count = 4096
[[buffer]]
name = "flag"
type = "u32"
count = 1
init = "zeros"
)toml";

struct Launch {
  std::string kernel, out;
  int stream = 0, blocks = 8, threads = 64, rounds = 200;
};
std::string text_of(const Launch& l) {
  return fmt::format(
      "[[launch]]\nkernel = \"{}\"\ngrid = {}\nblock = {}\nargs = [\"{}\", \"in\", {}]\nstream = {}\n",
      l.kernel, l.blocks, l.threads, l.out, l.rounds, l.stream);
}
std::string flag_launch(const std::string& kernel, int stream) {
  return fmt::format("[[launch]]\nkernel = \"{}\"\ngrid = 1\nblock = 1\nargs = [\"flag\"]\nstream = {}\n",
                     kernel, stream);
}
std::string copy(const std::string& buffer, int stream, const std::string& direction = "to_device") {
  return fmt::format("[[copy]]\nbuffer = \"{}\"\ndirection = \"{}\"\nstream = {}\n", buffer, direction,
                     stream);
}

struct Span {
  uint64_t start = 0, end = 0;
  [[nodiscard]] uint64_t length() const { return end - start; }
  [[nodiscard]] bool overlaps(const Span& other) const { return start < other.end && other.start < end; }
};

class ConcurrentKernels : public testing::Test {
 protected:
  /// Runs the items on a C1060 that can do what `sets` say.
  Outcome run(const std::string& items, std::vector<std::string> sets = kWide, uint32_t sms = 0,
              bool direct = true) {
    SimulationOptions o = test::program(kProgram, kBuffers + items, std::move(sets));
    o.direct_driver = direct;
    o.sms = sms;
    o.events = core::EventLevel::kAll;
    o.out = path();
    Outcome outcome = test::run_apart(o);
    if (outcome.status == "complete") read_timeline();
    return outcome;
  }
  [[nodiscard]] static std::string path() {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("gpusim_streams_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    return (folder / "run.h5").string();
  }
  void read_timeline() {
    const core::RecordedFile file(path());
    const auto start = file.numbers("/timeline", "start"), end = file.numbers("/timeline", "end");
    const auto names = file.texts("/timeline", "name");
    spans.clear();
    for (size_t i = 0; i < start.size(); ++i) spans.emplace(names[i], Span{start[i], end[i]});
    total = *std::ranges::max_element(end);
    order = names;
  }
  /// The only item of that name.
  [[nodiscard]] Span span(const std::string& name) const {
    EXPECT_EQ(spans.count(name), 1u) << name;
    return spans.find(name)->second;
  }
  [[nodiscard]] static uint64_t counter(uint64_t kernel, const std::string& name) {
    const core::RecordedFile file(path());
    const std::string table = fmt::format("/kernels/{}/counters", kernel);
    const auto names = file.texts(table, "name");
    const auto at = std::ranges::find(names, name);
    EXPECT_NE(at, names.end()) << name;
    return static_cast<uint64_t>(file.reals(table, "value")[static_cast<size_t>(at - names.begin())]);
  }
  /// Slots of a kernel by cause, from each of the three tables.
  static uint64_t slots(uint64_t kernel, const std::string& table, const std::string& cause) {
    const core::RecordedFile file(path());
    const auto column = file.numbers(fmt::format("/kernels/{}/{}", kernel, table), "slots_" + cause);
    return std::accumulate(column.begin(), column.end(), uint64_t{0});
  }
  static inline const std::vector<std::string> kWide = {"gpu.concurrent_kernels=16", "gpu.launch_queues=8"};

  std::multimap<std::string, Span> spans;
  std::vector<std::string> order;
  uint64_t total = 0;
};

const std::string kApart = text_of({"chain", "a", 1}) + text_of({"tile", "b", 2, 8, 128});
const std::string kTogether = text_of({"chain", "a", 1}) + text_of({"tile", "b", 1, 8, 128});

TEST_F(ConcurrentKernels, TwoStreamsTakeLessTimeAndGiveTheSameValues) {
  const Outcome one = run(kTogether);
  const uint64_t serial = total;
  EXPECT_FALSE(span("chain").overlaps(span("tile")));
  const Outcome two = run(kApart);
  ASSERT_EQ(two.status, "complete") << two.reason;
  EXPECT_TRUE(span("chain").overlaps(span("tile")));
  EXPECT_LT(total, serial * 3 / 4);
  EXPECT_EQ(one.values, two.values);
  EXPECT_EQ(one.counts, two.counts);
  const Outcome narrow = run(kApart, {});
  EXPECT_EQ(total, serial) << "a machine that runs one kernel at a time";
  EXPECT_EQ(narrow.values, one.values);
}

TEST_F(ConcurrentKernels, RunsRepeatExactlyWhateverDrivesThem) {
  const std::string items = kApart + copy("c", 3) + text_of({"local", "c", 3, 8, 32});
  const Outcome first = run(items), second = run(items);
  EXPECT_EQ(first.status, "complete") << first.reason;
  EXPECT_EQ(first, second);
  const Outcome events = run(items, kWide, 0, false);
  EXPECT_EQ(events.values, first.values);
  EXPECT_EQ(events.counts, first.counts);
  EXPECT_EQ(events.timing, first.timing);
}

/// Kernels of different registers, predicates, shared and local memory and block sizes, all on one SM.
TEST_F(ConcurrentKernels, KernelsOfDifferentShapesShareAnSm) {
  const std::string streams[] = {text_of({"chain", "a", 1, 16, 32}) + text_of({"tile", "b", 2, 12, 160}) +
                                     text_of({"local", "c", 3, 10, 96, 60}),
                                 text_of({"chain", "a", 1, 16, 32}) + text_of({"tile", "b", 1, 12, 160}) +
                                     text_of({"local", "c", 1, 10, 96, 60})};
  const Outcome serial = run(streams[1], kWide, 1);
  const Outcome shared = run(streams[0], kWide, 1);
  ASSERT_EQ(shared.status, "complete") << shared.reason;
  EXPECT_EQ(shared.values, serial.values);
  EXPECT_EQ(shared.counts, serial.counts);
  // Blocks of different kernels were resident at the same time.
  const core::RecordedFile file(path());
  bool beside = false;
  const auto start0 = file.numbers("/kernels/0/events/block", "start"),
             end0 = file.numbers("/kernels/0/events/block", "end"),
             start1 = file.numbers("/kernels/1/events/block", "start");
  for (size_t i = 0; i < start0.size(); ++i)
    for (const uint64_t s : start1) beside |= start0[i] <= s && s < end0[i];
  EXPECT_TRUE(beside);
}

TEST_F(ConcurrentKernels, EveryIssueSlotIsOfOneKernelAtMost) {
  const Outcome o = run(kApart, kWide, 1);
  ASSERT_EQ(o.status, "complete") << o.reason;
  uint64_t claimed = 0;
  for (const uint64_t k : {0u, 1u}) {
    uint64_t all = 0;
    for (const auto cause : kStallCauseNames) {
      const uint64_t of_sm = slots(k, "per_sm", std::string(cause));
      all += of_sm;
      if (cause == "no_warp" || cause == "launch" || cause == "drain") continue;
      claimed += of_sm;
      EXPECT_EQ(slots(k, "per_pc", std::string(cause)), of_sm) << cause;
    }
    const Span s = span(k == 0 ? "chain" : "tile");
    EXPECT_EQ(all, s.length() / 2) << "one scheduler, a slot every two cycles";
    EXPECT_EQ(slots(k, "per_sm", "issued"), counter(k, "inst_executed"));
  }
  EXPECT_LE(claimed, total / 2);
  EXPECT_GT(claimed, total / 4);
}

/// With L1 caches, what a kernel looked up there is its own, whoever else is on the SM.
TEST_F(ConcurrentKernels, LookUpsInTheFirstLevelAreCountedForTheirKernel) {
  std::vector<std::string> sets = kWide;
  for (const char* set : {"coalescer.rule=cc20", "l1.size=16K", "l2.size=512K"}) sets.emplace_back(set);
  const std::string items = text_of({"local", "a", 1, 4, 64, 40}) + text_of({"chain", "b", 2, 9, 64, 10});
  const Outcome o = run(items, sets, 1);
  ASSERT_EQ(o.status, "complete") << o.reason;
  EXPECT_TRUE(span("local").overlaps(span("chain")));
  for (const uint64_t k : {0u, 1u}) {
    const uint64_t looked_up = counter(k, "l1_global_load_hit") + counter(k, "l1_global_load_miss") +
                               counter(k, "l1_local_load_hit") + counter(k, "l1_local_load_miss");
    EXPECT_EQ(looked_up, counter(k, "load_transactions")) << k;
  }
  EXPECT_EQ(counter(1, "l1_local_load_hit") + counter(1, "l1_local_load_miss"), 0u);
  EXPECT_EQ(counter(1, "l1_global_load_hit") + counter(1, "l1_global_load_miss"), 9u * 2);
}

TEST_F(ConcurrentKernels, TransfersOverlapKernelsOfOtherStreams) {
  const std::string kernel = text_of({"chain", "a", 1, 8, 64, 2000});
  ASSERT_EQ(run(kernel + copy("c", 2) + copy("b", 2, "from_device")).status, "complete");
  EXPECT_TRUE(span("c").overlaps(span("chain")));
  EXPECT_EQ(span("b").start, (span("c").end + 1) / 2 * 2) << "the next issue slot";
  // 10 us and 16 KB at 5.5 GB/s are 12.98 us, at 1.296 GHz.
  EXPECT_NEAR(static_cast<double>(span("c").length()), (10e-6 + 16384 / 5.5e9) * 1.296e9, 2.0);
  ASSERT_EQ(run(kernel + copy("c", 1)).status, "complete");
  EXPECT_EQ(span("c").start, span("chain").end);
}

TEST_F(ConcurrentKernels, CopyEnginesCarryOneTransferEach) {
  const std::string copies =
      copy("a", 1) + copy("b", 2, "from_device") + text_of({"chain", "c", 3, 1, 32, 1});
  for (const char* engines : {"host.copy_engines=1", "host.copy_engines=2"}) {
    ASSERT_EQ(run(copies, {engines}).status, "complete");
    EXPECT_EQ(span("a").overlaps(span("b")), engines == std::string("host.copy_engines=2")) << engines;
  }
}

TEST_F(ConcurrentKernels, TheDefaultStreamIsAStreamOrLegacy) {
  const std::string items = text_of({"chain", "a", 1}) + text_of({"tile", "b", 0, 8, 128});
  ASSERT_EQ(run(items).status, "complete");
  EXPECT_TRUE(span("chain").overlaps(span("tile")));
  SimulationOptions o = test::program(kProgram, "default_stream = \"legacy\"\n" + (kBuffers + items), kWide);
  o.out = path();
  ASSERT_EQ(test::run_apart(o).status, "complete");
  read_timeline();
  EXPECT_EQ(span("tile").start, span("chain").end);
}

/// The host's transfer takes longer than the time after which idle loops count as a deadlock.
TEST_F(ConcurrentKernels, AKernelMayWaitForAnother) {
  const std::string items = flag_launch("wait", 1) + copy("c", 2) + flag_launch("wake", 2);
  std::vector<std::string> slow = kWide;
  slow.emplace_back("host.link_latency=200us");
  const Outcome o = run(items, slow);
  EXPECT_EQ(o.status, "complete") << o.reason;
  EXPECT_EQ(order, (std::vector<std::string>{"wait", "c", "wake"}));
  slow.front() = "gpu.concurrent_kernels=1";
  const Outcome alone = run(items, slow);
  EXPECT_EQ(alone.status, "failed");
  EXPECT_THAT(alone.reason, HasSubstr("deadlock"));
}

}  // namespace
}  // namespace gpusim::comp
