// Runs whose launch files say what the host does between launches: loops, host steps, memsets and copies that
// bring data, for values and with time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "components/simulation/simulation.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::Outcome;
using test::program;
using test::run_apart;
using testing::HasSubstr;

/// out[i] += step; the first thread sets `again` while the number of the iteration is below `last`.
constexpr const char* kCount = R"(
.version 1.4
.target sm_13
.entry count(.param .u32 out, .param .u32 again, .param .u32 step, .param .u32 now, .param .u32 last)
{
  .reg .u32 %r<12>;
  .reg .pred %p<3>;
  cvt.u32.u16 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  ld.param.u32 %r3, [out];
  add.u32 %r3, %r3, %r2;
  ld.param.u32 %r4, [step];
  ld.global.u32 %r5, [%r3];
  add.u32 %r5, %r5, %r4;
  st.global.u32 [%r3], %r5;
  ld.param.u32 %r6, [now];
  ld.param.u32 %r7, [last];
  setp.ge.u32 %p1, %r6, %r7;
  @%p1 exit;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 exit;
  ld.param.u32 %r8, [again];
  mov.u32 %r9, 1;
  st.global.u32 [%r8], %r9;
  exit;
}
)";
constexpr const char* kCountBuffers = R"toml(
[params]
LAST = 4
[[buffer]]
name = "A"
type = "u32"
count = 32
init = "zeros"
[[buffer]]
name = "B"
type = "u32"
count = 32
init = "fill(100)"
[[buffer]]
name = "again"
type = "u32"
count = 1
)toml";
constexpr const char* kCountLoop = R"toml(
[[loop]]
name = "i"
while = "again[0] != 0"
[[memset]]
buffer = "again"
value = 0
loop = "i"
[[launch]]
grid = 1
block = 32
args = ["A", "again", "A[0] + 1", "i", "LAST"]
loop = "i"
[[host]]
step = "swap(A, B)"
loop = "i"
[[copy]]
buffer = "again"
direction = "from_device"
loop = "i"
[[expect]]
buffer = "A"
values = [403]
[[expect]]
buffer = "B"
values = [7]
)toml";

/// Five launches, into A and B in turn: A = 2A + 1 three times from 0, B = 2B + 1 twice from 100.
SimulationOptions count_program(const std::string& steps = kCountLoop) {
  return program(kCount, std::string(kCountBuffers) + steps);
}

TEST(Steps, TheHostGoesOnAsLongAsTheDeviceSaysSo) {
  const Outcome direct = run_apart(count_program());
  EXPECT_EQ(direct.status, "complete") << direct.reason;
  EXPECT_EQ(std::ranges::count(direct.counts, '\n'), 5);
  SimulationOptions systemc = count_program();
  systemc.direct_driver = false;
  EXPECT_EQ(run_apart(systemc), direct) << "and the same again under SystemC";
  SimulationOptions functional = count_program();
  functional.functional = true;
  EXPECT_EQ(run_apart(functional).values, direct.values);
}

TEST(Steps, ExpectationsTakeTheNamesAsTheyAreAtTheEnd) {
  SimulationOptions o = count_program();
  o.functional = true;
  Simulation simulation(std::move(o));
  const SimulationResult r = simulation.run();
  ASSERT_EQ(r.expects.size(), 2u);
  EXPECT_TRUE(r.expectations_met()) << r.expects[0].message << "; " << r.expects[1].message;
}

TEST(Steps, WarmCachesSeeTheSameValues) {
  const Outcome cold = run_apart(count_program());
  SimulationOptions o = count_program();
  o.caches = CacheState::kWarm;
  const Outcome warm = run_apart(o);
  EXPECT_EQ(warm.status, "complete") << warm.reason;
  EXPECT_EQ(warm.values, cold.values);
  EXPECT_EQ(warm.counts, cold.counts);
}

TEST(Steps, ALoopWithoutAConditionIsIssuedAhead) {
  // More launches than the host may be ahead, of two streams.
  const std::string steps = R"toml(
[[loop]]
name = "i"
times = 700
[[launch]]
grid = 1
block = 32
args = ["A", "again", 1, 1, 0]
loop = "i"
[[launch]]
grid = 1
block = 32
args = ["B", "again", "i", 1, 0]
loop = "i"
stream = 1
[[expect]]
buffer = "A"
values = [700]
[[expect]]
buffer = "B"
values = [244750]
)toml";
  const std::function<std::string()> work = [&] {
    Simulation simulation(count_program(steps));
    const SimulationResult r = simulation.run();
    return fmt::format("{} {} {}", r.kernels.size(), r.expectations_met(), r.reason);
  };
  EXPECT_EQ(core::run_in_children({&work, 1}, 1).front().text, "1400 true ");
}

TEST(Steps, WhatIsWrongWhenItsTurnComesEndsTheRun) {
  const auto failing = [](const std::string& steps, bool functional) {
    SimulationOptions o = count_program(steps + kCountLoop);
    o.functional = functional;
    return run_apart(o);
  };
  for (const bool functional : {false, true}) {
    const Outcome first = failing("[[host]]\nstep = \"set(A, B[0], 1)\"\n", functional);
    EXPECT_EQ(first.status, "failed");
    EXPECT_THAT(first.reason, HasSubstr("element 100 is outside: there are 32 elements"));
    const Outcome endless = failing(
        "[[loop]]\nname = \"forever\"\nwhile = \"B[0] == 100\"\nmost = 3\n[[launch]]\ngrid = 1\nblock = 32\n"
        "args = [\"A\", \"again\", 1, 1, 0]\nloop = \"forever\"\n",
        functional);
    EXPECT_EQ(endless.status, "failed");
    EXPECT_THAT(endless.reason, HasSubstr("loop 'forever' has run 3 times"));
  }
}

TEST(Steps, DataArriveInTheOrderOfTheFile) {
  const std::string steps = R"toml(
[[memset]]
buffer = "A"
value = 0x0102
width = 2
bytes = 8
[[launch]]
grid = 1
block = 32
args = ["A", "again", 1, 1, 0]
[[copy]]
buffer = "B"
from = "A"
from_offset = 4
bytes = 8
offset = 16
[[copy]]
buffer = "A"
init = [7, "address(B)"]
offset = 4
[[launch]]
grid = 1
block = 32
args = ["A", "again", 1, 1, 0]
[[expect]]
buffer = "B"
values = [100, 100, 100, 100, 0x1020103, 1, 100]
)toml";
  for (const bool functional : {false, true}) {
    const std::function<std::string()> work = [&] {
      SimulationOptions o = count_program(steps);
      o.functional = functional;
      Simulation simulation(std::move(o));
      const SimulationResult r = simulation.run();
      const auto a = simulation.buffer(0);
      uint32_t words[4];
      std::memcpy(words, a.data(), sizeof words);
      return fmt::format("{} {:x} {} {} {}", r.expectations_met(), words[0], words[1],
                         words[2] == simulation.buffer_address(1) + 1, words[3]);
    };
    EXPECT_EQ(core::run_in_children({&work, 1}, 1).front().text, "true 1020104 8 true 2");
  }
}

TEST(Steps, MemsetsAndDataOfCopiesCountAsWriting) {
  const auto findings = [](const std::string& steps) {
    SimulationOptions o = program(kCount, std::string(kCountBuffers) + R"toml(
[[buffer]]
name = "U"
type = "u32"
count = 32
[[buffer]]
name = "V"
type = "u32"
count = 32
)toml" + steps + "[[launch]]\ngrid = 1\nblock = 32\nargs = [\"U\", \"again\", 1, 1, 0]\n");
    o.functional = true;
    o.checks.init = true;
    Simulation simulation(std::move(o));
    return simulation.run().check_counts.occurrences;
  };
  EXPECT_NE(findings(""), 0u);
  EXPECT_EQ(findings("[[memset]]\nbuffer = \"U\"\nvalue = 1\n"), 0u);
  EXPECT_NE(findings("[[memset]]\nbuffer = \"U\"\nvalue = 1\nbytes = 64\n"), 0u);
  EXPECT_EQ(findings("[[copy]]\nbuffer = \"U\"\ninit = \"iota()\"\n"), 0u);
  EXPECT_EQ(findings("[[copy]]\nbuffer = \"U\"\nfrom = \"A\"\n"), 0u);
  EXPECT_NE(findings("[[copy]]\nbuffer = \"U\"\nfrom = \"V\"\n"), 0u);
  EXPECT_EQ(findings("[[memset]]\nbuffer = \"V\"\nvalue = 0\n[[copy]]\nbuffer = \"U\"\nfrom = \"V\"\n"), 0u);
  EXPECT_EQ(findings("[[host]]\nstep = \"fill(U, 3)\"\n"), 0u);
  EXPECT_NE(findings("[[host]]\nstep = \"set(U, 3, 3)\"\n"), 0u);
}

}  // namespace
}  // namespace gpusim::comp
