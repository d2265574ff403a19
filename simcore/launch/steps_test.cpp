// Memsets, copies that bring data, loops and host steps of launch files: what is read, what is refused, and
// the walk through them.
#include "simcore/launch/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>

#include "simcore/launch/element.h"
#include "simcore/launch/host_step.h"

namespace gpusim::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBuffers = R"toml(
[params]
N = 8
[[buffer]]
name = "A"
type = "s32"
count = "N"
init = "iota(0, 1)"
[[buffer]]
name = "B"
type = "s32"
count = "N"
[[buffer]]
name = "flag"
type = "s32"
count = 1
[[buffer]]
name = "x"
type = "f32"
count = 4
)toml";
constexpr const char* kLaunch = R"toml(
[[launch]]
grid = 1
block = 32
)toml";

LaunchDescription parsed_steps(const std::string& steps) {
  return parse_launch(kBuffers + steps, "w.toml", {}, 1, false);
}
std::string steps_error(const std::string& steps) {
  try {
    (void)parsed_steps(steps + kLaunch);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Device memory of a launch file without a device.
class Host {
 public:
  explicit Host(const std::string& steps) : launch_(parsed_steps(steps)) {
    for (const BufferSpec& b : launch_.buffers) {
      memory_.emplace_back(b.bytes());
      fill_buffer(b, 1, memory_.back());
    }
    names_.resize(memory_.size());
    std::iota(names_.begin(), names_.end(), 0u);
  }
  StepWalker walker() {
    return {launch_,
            {[this](uint32_t b) { return std::span<std::byte>(memory_[names_[b]]); },
             [this](uint32_t a, uint32_t b) { std::swap(names_[a], names_[b]); },
             [this](uint32_t b, uint64_t offset, uint64_t bytes) {
               written_.push_back({launch_.buffers[b].name, offset, bytes});
             }}};
  }
  std::vector<double> values(const std::string& name) {
    const BufferSpec& spec = *launch_.find_buffer(name);
    const auto& bytes = memory_[names_[static_cast<size_t>(&spec - launch_.buffers.data())]];
    std::vector<double> all;
    for (uint64_t i = 0; i < spec.count; ++i)
      all.push_back(load_element(spec.type, bytes.data() + i * element_bytes(spec.type)).as_double());
    return all;
  }
  /// All steps; `at_launch` is called for each launch.
  void run(const std::function<void(const LaunchSpec&)>& at_launch = {}) {
    for (StepWalker w = walker(); !w.done(); w.advance())
      if (w.kind() == StepWalker::Kind::kLaunch && at_launch) at_launch(w.launch());
  }
  void set(const std::string& name, uint64_t index, double value) {
    const auto b = static_cast<size_t>(launch_.find_buffer(name) - launch_.buffers.data());
    store_element(launch_.buffers[b].type, Number::of_real(value),
                  memory_[names_[b]].data() + index * element_bytes(launch_.buffers[b].type));
  }
  LaunchDescription launch_;
  struct Written {
    std::string buffer;
    uint64_t offset, bytes;
    bool operator==(const Written&) const = default;
  };
  std::vector<Written> written_;

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<uint32_t> names_;
};

TEST(Steps, MemsetsAndCopiesAreRead) {
  const LaunchDescription l = parsed_steps(std::string(R"toml(
[[memset]]
buffer = "A"
value = -1
width = 2
offset = 4
bytes = "2*N"
stream = 3
[[copy]]
buffer = "B"
init = "fill(N)"
offset = 8
[[copy]]
buffer = "B"
init = [7, 8]
[[copy]]
buffer = "B"
from = "A"
from_offset = 16
bytes = 8
)toml") + kLaunch);
  ASSERT_EQ(l.memsets.size(), 1u);
  EXPECT_EQ(l.memsets[0].value, -1);
  EXPECT_EQ(l.memsets[0].width, 2u);
  EXPECT_EQ(l.memsets[0].range.offset, 4u);
  EXPECT_EQ(l.memsets[0].range.bytes, 16u);
  EXPECT_EQ(l.memsets[0].stream, 3u);
  ASSERT_EQ(l.copies.size(), 3u);
  EXPECT_EQ(l.copies[0].source->count, 6u) << "to the end";
  EXPECT_EQ(l.copies[1].source->count, 2u);
  EXPECT_EQ(l.copies[1].range.bytes, 8u);
  EXPECT_EQ(l.copies[2].from, 0u);
  EXPECT_EQ(l.copies[2].from_offset, 16u);
  const std::vector<ProgramStep> program = program_of(l);
  ASSERT_EQ(program.size(), 6u);
  EXPECT_EQ(program[0].kind, ProgramStep::Kind::kMemset);
  EXPECT_EQ(program[4].kind, ProgramStep::Kind::kLaunch);
  EXPECT_TRUE(l.has_fixed_launches());
}

TEST(Steps, MistakesInMemsetsAndCopiesAreReportedTogether) {
  const std::string all = steps_error(R"toml(
[[memset]]
buffer = "AA"
value = 0
[[memset]]
buffer = "A"
[[memset]]
buffer = "A"
value = 256
[[memset]]
buffer = "A"
value = 0
width = 3
[[memset]]
buffer = "A"
value = 0
offset = 24
bytes = 12
[[memset]]
buffer = "A"
value = 0
width = 4
bytes = 6
[[memset]]
buffer = "A"
value = 0
offset = 33
[[copy]]
buffer = "A"
from = "b"
[[copy]]
buffer = "A"
from = "flag"
[[copy]]
buffer = "A"
init = "fill(2.5)"
[[copy]]
buffer = "A"
init = [1, 2]
bytes = 4
[[copy]]
buffer = "A"
init = "zeros"
offset = 2
[[copy]]
buffer = "A"
init = "zeros"
direction = "from_device"
[[copy]]
buffer = "A"
init = "zeros"
from = "B"
[[copy]]
buffer = "A"
from_offset = 4
[[copy]]
buffer = "A"
init = "file:x.bin"
[[memset]]
buffer = "A"
vaule = 3
)toml");
  for (const char* text :
       {"w.toml:23:10: error: undefined buffer 'AA'", "[[memset]] has no 'value'",
        "value = 256 is out of range", "width = 3",
        "12 bytes from offset 24 on exceed buffer 'A', which has 32 bytes",
        "w.toml:43:9: error: 6 bytes are no multiple of the pattern's width, 4",
        "offset 33 is outside of buffer 'A'", "undefined buffer 'b'", "did you mean 'B'?",
        "32 bytes from offset 0 on exceed buffer 'flag', which has 4 bytes", "2.5 does not fit into type s32",
        "init has 2 values, the copy 1 elements", "2 bytes are no multiple of the 4 of an element of 'A'",
        "'init' says what arrives in device memory", "[[copy]] has an 'init' and a 'from'",
        "[[copy]] has a 'from_offset' and no 'from'", "files are not allowed here",
        "unknown key 'vaule' in [[memset]]"})
    EXPECT_THAT(all, HasSubstr(text));
}

TEST(Steps, LoopsAreReadAndCounted) {
  Host host(R"toml(
[[loop]]
name = "outer"
times = 2
[[loop]]
name = "inner"
times = "outer + 1"
loop = "outer"
[[launch]]
grid = ["inner + 1", "N"]
block = 32
args = ["A", "10*outer + inner"]
loop = "inner"
[[host]]
step = "set(A, outer, outer + 100)"
loop = "outer"
)toml");
  std::vector<std::array<int64_t, 2>> seen;
  host.run([&seen](const LaunchSpec& spec) {
    seen.push_back({spec.grid[0], spec.arguments[1].number.integer});
    EXPECT_EQ(spec.grid[1], 8u);
  });
  EXPECT_THAT(seen, ElementsAre(std::array<int64_t, 2>{1, 0}, std::array<int64_t, 2>{1, 10},
                                std::array<int64_t, 2>{2, 11}));
  EXPECT_FALSE(host.launch_.has_fixed_launches());
}

TEST(Steps, TheCountOfALoopIsKnownInItsBodyOnly) {
  EXPECT_THAT(steps_error(R"toml(
[[loop]]
name = "i"
times = 2
[[host]]
step = "set(A, 0, i)"
loop = "i"
[[host]]
step = "set(A, 0, i)"
)toml"),
              AllOf(HasSubstr("w.toml:29:19: error: undefined name 'i'"), Not(HasSubstr("w.toml:26"))));
}

TEST(Steps, ALoopEndsWhenItsConditionIsFalse) {
  Host host(R"toml(
[[loop]]
name = "i"
while = "flag[0] != 0"
[[launch]]
grid = 1
block = 32
args = ["i"]
loop = "i"
)toml");
  int64_t count = 0;
  host.set("flag", 0, 1);
  host.run([&](const LaunchSpec& spec) {
    EXPECT_EQ(spec.arguments[0].number.integer, count);
    if (++count == 5) host.set("flag", 0, 0);
  });
  EXPECT_EQ(count, 5);
}

TEST(Steps, ABodyRunsOnceBeforeItsConditionIsAsked) {
  Host host(R"toml(
[[loop]]
name = "i"
while = "flag[0] != 0"
times = 10
[[host]]
step = "add(A, 0, 1)"
loop = "i"
[[loop]]
name = "none"
times = 0
[[host]]
step = "add(A, 1, 1)"
loop = "none"
[[launch]]
grid = 1
block = 32
)toml");
  host.run();
  EXPECT_EQ(host.values("A")[0], 1);
  EXPECT_EQ(host.values("A")[1], 1) << "never";
}

TEST(Steps, ALoopThatDoesNotEndIsAnErrorThatNamesIt) {
  Host host(R"toml(
[[loop]]
name = "i"
while = "flag[0] == 0"
most = 7
[[host]]
step = "add(A, 0, 1)"
loop = "i"
[[launch]]
grid = 1
block = 32
)toml");
  try {
    host.run();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("w.toml:23:8"), HasSubstr("loop 'i' has run 7 times"),
                                    HasSubstr("flag[0] == 0")));
  }
  EXPECT_EQ(host.values("A")[0], 7);
}

TEST(Steps, MistakesInLoopsAreReportedTogether) {
  const std::string all = steps_error(R"toml(
[[loop]]
name = "endless"
[[host]]
step = "add(A, 0, 1)"
loop = "endless"
[[loop]]
name = "empty"
times = 3
[[loop]]
name = "N"
times = 3
[[loop]]
name = "A"
times = 3
[[loop]]
name = "often"
times = 1000001
[[loop]]
name = "parted"
times = 2
[[host]]
step = "add(A, 0, 1)"
loop = "parted"
[[host]]
step = "add(A, 0, 2)"
[[host]]
step = "add(A, 0, 1)"
loop = "parted"
[[host]]
step = "add(A, 0, 1)"
loop = "part"
[[loop]]
name = "blind"
while = "N > 3"
[[loop]]
name = "outside"
while = "flag[1] > 3"
[[loop]]
name = "nothing"
while = "flug[0] > 3"
[[loop]]
name = "no_comparison"
while = "flag[0]"
[[loop]]
name = "one"
loop = "two"
times = 1
[[loop]]
name = "two"
loop = "one"
times = 1
[[loop]]
name = "two"
times = 1
)toml");
  for (const char* text :
       {"loop 'endless' has neither 'while' nor 'times': it would never end", "loop 'empty' has no steps",
        "'N' is a parameter as well", "'A' is a buffer as well", "times = 1000001 is out of range",
        "the steps of loop 'parted' do not stand together", "undefined loop 'part'", "did you mean 'parted'?",
        "'N > 3' reads no element",
        "w.toml:58:15: error: element 1 is outside of 'flag', which has 1 element", "undefined buffer 'flug'",
        "did you mean 'flag'?", "expected a comparison", "stands in itself", "loop 'two' is defined twice"})
    EXPECT_THAT(all, HasSubstr(text));
}

TEST(Steps, NumbersOfLaunchesMayBeElements) {
  Host host(R"toml(
[[launch]]
grid = "max(1, flag[0])"
block = 32
args = ["A", "A[flag[0]] + 1"]
)toml");
  EXPECT_FALSE(host.launch_.has_fixed_launches());
  host.set("flag", 0, 5);
  StepWalker walker = host.walker();
  EXPECT_TRUE(walker.waits());
  EXPECT_EQ(walker.launch().grid[0], 5u);
  EXPECT_EQ(walker.launch().arguments[1].number.integer, 6);
  host.set("flag", 0, 8);
  try {
    (void)walker.launch();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("w.toml:25:17: error: element 8 is outside of 'A'"));
  }
}

TEST(Steps, LateNumbersAreCheckedWhenTheirTurnComes) {
  Host host(R"toml(
[[loop]]
name = "i"
times = 3
[[memset]]
buffer = "A"
value = "i"
offset = "16*i"
bytes = 16
loop = "i"
[[launch]]
grid = 1
block = 32
)toml");
  StepWalker walker = host.walker();
  walker.advance();
  EXPECT_EQ(walker.memset().offset, 0u);
  walker.advance(), walker.advance();
  EXPECT_EQ(walker.memset().offset, 16u);
  EXPECT_EQ(walker.memset().value, 1);
  walker.advance(), walker.advance();
  EXPECT_THROW((void)walker.memset(), InputError);
}

TEST(Steps, SwapExchangesWhatNamesMean) {
  Host host(R"toml(
[[host]]
step = "swap(A, B)"
[[host]]
step = "set(A, 1, 9)"
[[launch]]
grid = 1
block = 32
)toml");
  host.run();
  EXPECT_THAT(host.values("A"), ElementsAre(0, 9, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(host.values("B"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(host.written_, ElementsAre(Host::Written{"A", 4, 4}));
}

TEST(Steps, MistakesInHostStepsAreReportedTogether) {
  const std::string all = steps_error(R"toml(
[[host]]
step = "swop(A, B)"
[[host]]
step = "swap(A)"
[[host]]
step = "swap(A, x)"
[[host]]
step = "copy(A, C)"
[[host]]
step = "set(A, N, 1)"
[[host]]
step = "set(A, 0, M)"
[[host]]
step = "set(A, 0, B[9])"
[[host]]
[[host]]
step = "swap(A, B"
[[host]]
step = "differences(flag, 0, A, x)"
)toml");
  for (const char* text :
       {"unknown host step 'swop'", "did you mean 'swap'?", "swap takes 2 arguments, found 1", "swap(A, B)",
        "what is swapped has one size and type", "w.toml:29:17: error: undefined buffer 'C'",
        "element 8 is outside of 'A', which has 8 elements", "undefined name 'M'",
        "element 9 is outside of 'B'", "[[host]] has no 'step'", "expected '(' and a closing ')'",
        "'A' has 8 elements of type s32, 'x' has 4 elements of type f32"})
    EXPECT_THAT(all, HasSubstr(text));
}

/// The values of a buffer after one step.
std::vector<double> after(const std::string& step, const std::string& buffer,
                          const std::map<std::string, std::vector<double>>& first) {
  Host host("[[host]]\nstep = \"" + step + "\"\n" + kLaunch);
  for (const auto& [name, values] : first)
    for (size_t i = 0; i < values.size(); ++i) host.set(name, i, values[i]);
  host.run();
  return host.values(buffer);
}

TEST(HostSteps, DoWhatTheySay) {
  const std::vector<double> ramp{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(after("copy(B, A)", "B", {}), ramp);
  EXPECT_THAT(after("copy(B, A, 3)", "B", {}), ElementsAre(0, 1, 2, 0, 0, 0, 0, 0));
  EXPECT_THAT(after("copy(x, A)", "x", {}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(after("fill(x, 1/4)", "x", {}), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(after("add(A, 7, A[6] + N)", "A", {}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 21));
  EXPECT_THAT(after("scale(A, 2)", "A", {}), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(after("axpy(x, 1/2, A)", "x", {{"x", {1, 1, 1, 1}}}), ElementsAre(1, 1.5, 2, 2.5));
  EXPECT_THAT(after("divide(A, B, 4)", "A", {{"B", {2, 0}}}), ElementsAre(0, 0, 1, 1, 4, 5, 6, 7));
  EXPECT_THAT(after("scan_exclusive(B, A)", "B", {}), ElementsAre(0, 0, 1, 3, 6, 10, 15, 21));
  EXPECT_THAT(after("scan_inclusive(A, A, 4)", "A", {}), ElementsAre(0, 1, 3, 6, 4, 5, 6, 7));
  EXPECT_THAT(after("sum(flag, 0, A)", "flag", {}), ElementsAre(28));
  EXPECT_THAT(after("min(flag, 0, A)", "flag", {{"A", {3, -2}}}), ElementsAre(-2));
  EXPECT_THAT(after("max(flag, 0, A, 4)", "flag", {}), ElementsAre(3));
  EXPECT_THAT(after("differences(flag, 0, A, B)", "flag", {}), ElementsAre(7));
  EXPECT_THAT(after("accumulate(x, flag, A, 2)", "x", {{"flag", {1}}, {"A", {5, 6}}}),
              ElementsAre(0, 0, 5, 6));
  EXPECT_THAT(after("count(B, A)", "B", {{"A", {3, 3, 3, 0}}}), ElementsAre(1, 0, 0, 3, 1, 1, 1, 1));
  EXPECT_THAT(after("sort(A)", "A", {{"A", {9, -1}}}), ElementsAre(-1, 2, 3, 4, 5, 6, 7, 9));
}

TEST(HostSteps, RefuseWhatDoesNotFit) {
  const auto failure = [](const std::string& step, const std::map<std::string, std::vector<double>>& first) {
    try {
      (void)after(step, "A", first);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(failure("set(A, flag[0], 1)", {{"flag", {8}}}), HasSubstr("element 8 is outside"));
  EXPECT_THAT(failure("set(A, 0, x[0])", {{"x", {0.5}}}), HasSubstr("0.5 does not fit into type s32"));
  EXPECT_THAT(failure("count(B, A)", {{"A", {-1}}}), HasSubstr("element -1 is outside"));
  EXPECT_THAT(failure("accumulate(B, A, A)", {{"A", {8}}}), HasSubstr("key 8 of element 0"));
  EXPECT_THAT(failure("set(A, 0, 1 // flag[0])", {}), HasSubstr("division by zero"));
  EXPECT_THAT(failure("scale(A, 1000000000)", {}), HasSubstr("does not fit into type s32"));
}

TEST(Steps, WhatAConditionReadsMayBeNoNumber) {
  Host host(R"toml(
[[loop]]
name = "i"
while = "x[0] > 1/1000"
[[host]]
step = "add(A, 0, 1)"
loop = "i"
[[launch]]
grid = 1
block = 32
)toml");
  host.set("x", 0, std::numeric_limits<double>::quiet_NaN());
  host.run();
  EXPECT_EQ(host.values("A")[0], 1) << "a comparison with what is no number is false";
}

TEST(Steps, VariablesAreCheckedOnceTheyAreBound) {
  LaunchDescription l = parsed_steps(R"toml(
[[variable]]
name = "stop"
[[memset]]
variable = "table"
value = 1
bytes = 65
[[copy]]
variable = "table"
init = [1, 2, 300]
[[loop]]
name = "i"
while = "stop[1] != 0"
[[launch]]
grid = 1
block = 32
loop = "i"
)toml");
  const DeclaredVariable declared[] = {{"table", "const", "b8", 64, false, false, {}, {"k.ptx", 1, 1}},
                                       {"stop", "global", "u32", 4, false, false, {}, {"k.ptx", 2, 1}}};
  try {
    bind_variables(l, declared, "k.ptx");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("65 bytes from offset 0 on exceed variable 'table'"),
                      HasSubstr("w.toml:30:15: error: element 2: 300 does not fit into type b8"),
                      HasSubstr("element 1 is outside of 'stop'")));
  }
}

TEST(Steps, AReferenceTakesWhatTheFirstCopyBrings) {
  const LaunchDescription l = parsed_steps(std::string(R"toml(
[[copy]]
buffer = "B"
init = "fill(3)"
[[expect]]
buffer = "A"
reference = "copy(B)"
)toml") + kLaunch);
  std::vector<std::byte> three(32);
  for (size_t i = 0; i < 32; i += 4) three[i] = std::byte{3};
  EXPECT_TRUE(check_expect(l, l.expects[0], three).pass);
}

}  // namespace
}  // namespace gpusim::core
