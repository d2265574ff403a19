// System calls through comp::Simulation, as a program that embeds the simulator sees them: the text of
// printf() at its sink, the sizes of buffer and heap, and which kind of fault ended a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

/// A kernel of one block of 32 threads and a buffer `out` of 32 64-bit words, with `body`; %rd0 is its
/// address and %r0 the thread.
SimulationOptions kernel(const std::string& body, uint32_t launches = 1) {
  std::string launch = "[[buffer]]\nname = \"out\"\ntype = \"u64\"\ncount = 32\n";
  for (uint32_t i = 0; i < launches; ++i)
    launch += "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\nargs = [\"out\"]\n";
  SimulationOptions o = test::program(R"(.version 7.3
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 format[8] = {116, 37, 117, 61, 37, 117, 10, 0};
.visible .entry k(.param .u64 out)
{
  .local .align 8 .b8 buffer[16];
  .reg .b32 %r<8>; .reg .b64 %rd<16>; .reg .pred %p;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 8;
  add.s64 %rd0, %rd0, %rd1;
)" + body + "\n  ret;\n}\n",
                                      launch);
  o.functional = true;
  return o;
}

struct Ran {
  SimulationResult result;
  std::vector<std::string> texts;
  std::vector<uint64_t> out;
};
Ran run(SimulationOptions options) {
  Ran ran;
  options.on_print = [&ran](std::string_view text) { ran.texts.emplace_back(text); };
  Simulation simulation(std::move(options));
  ran.result = simulation.run();
  const auto bytes = simulation.buffer(0);
  ran.out.resize(bytes.size() / 8);
  std::memcpy(ran.out.data(), bytes.data(), bytes.size());
  return ran;
}

const std::string kPrint = R"(
  mov.u64 %rd2, buffer;
  cvta.local.u64 %rd3, %rd2;
  st.local.u32 [%rd2], %r0;
  add.u32 %r1, %r0, 100;
  st.local.u32 [%rd2+4], %r1;
  mov.u64 %rd4, format;
  cvta.global.u64 %rd4, %rd4;
  setp.lt.u32 %p, %r0, 3;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd4; st.param.b64 [b], %rd3;
    @%p call.uni (r), vprintf, (a, b);
    ld.param.b32 %r2, [r]; }
  cvt.u64.u32 %rd5, %r2;
  @%p st.global.u64 [%rd0], %rd5;)";

TEST(SystemCalls, TheSinkGetsEachLaunchAtItsEnd) {
  const Ran ran = run(kernel(kPrint, 2));
  ASSERT_EQ(ran.result.status, SimulationResult::Status::kComplete) << ran.result.reason;
  const std::string text = "t0=100\nt1=101\nt2=102\n";
  EXPECT_EQ(ran.texts, (std::vector{text, text}));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(ran.out[i], i < 3 ? 2u : 0u) << "arguments that were printed";
}

TEST(SystemCalls, TheBufferHasTheSizeThatIsAskedFor) {
  SimulationOptions options = kernel(kPrint);
  options.printf_fifo_bytes = 2 * 32;  // a record: 16 bytes and two arguments
  EXPECT_EQ(run(std::move(options)).texts, std::vector<std::string>{"t1=101\nt2=102\n"});
}

const std::string kAllocate = R"(
  { .param .b64 a; .param .b64 r;
    st.param.b64 [a], 100;
    call.uni (r), malloc, (a);
    ld.param.b64 %rd2, [r]; }
  st.global.u64 [%rd0], %rd2;)";

TEST(SystemCalls, TheHeapHasTheSizeThatIsAskedFor) {
  SimulationOptions options = kernel(kAllocate);
  options.malloc_heap_bytes = 1024;
  const Ran ran = run(std::move(options));
  constexpr uint64_t kBlock = 16 + 112;  // the gap before it, and 100 bytes in units of 16
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(ran.out[i] != 0, i < 1024 / kBlock) << i;
    if (i > 0 && ran.out[i] != 0) {
      EXPECT_EQ(ran.out[i], ran.out[i - 1] + kBlock);
    }
  }
}

TEST(SystemCalls, AFreeBlockIsGivenAgain) {
  SimulationOptions options = kernel(kAllocate + R"(
  { .param .b64 a;
    st.param.b64 [a], %rd2;
    call.uni free, (a); })",
                                     3);
  options.malloc_heap_bytes = 32 * 128;  // room for one launch's blocks
  const Ran ran = run(std::move(options));
  ASSERT_EQ(ran.result.status, SimulationResult::Status::kComplete) << ran.result.reason;
  for (const uint64_t at : ran.out) EXPECT_NE(at, 0u);
}

TEST(SystemCalls, TheDeviceRuntimeIsOfProgramsOnly) {
  SimulationOptions options = kernel(R"(
  { .param .b32 r;
    call.uni (r), __cudaCDP2GetLastError, ();
    ld.param.b32 %r1, [r]; })");
  options.ptx_text.insert(options.ptx_text.find(".global"),
                          ".extern .func (.param .b32 r) __cudaCDP2GetLastError ();\n");
  try {
    run(std::move(options));
    FAIL() << "it ran";
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("only `gpusim run` carries that out"));
  }
}

/// A function with `body`, which %rd2 of the kernel is passed to and comes back from.
void with_function(SimulationOptions& options, const std::string& body) {
  options.ptx_text.insert(options.ptx_text.find(".global"), R"(.func (.param .b64 r) f (.param .b64 a)
{
  .reg .b64 %rd<8>;
  ld.param.b64 %rd1, [a];
)" + body + "\n  st.param.b64 [r], %rd3;\n  ret;\n}\n");
}

TEST(Stack, AllocaGivesEachThreadItsOwn) {
  const Ran ran = run(kernel(R"(
  mul.wide.u32 %rd2, %r0, 8;
  add.u64 %rd2, %rd2, 8;
  alloca.u64 %rd3, %rd2, 32;
  and.b64 %rd4, %rd3, 31;
  alloca.u64 %rd5, 8;
  sub.u64 %rd6, %rd5, %rd3;
  st.local.u64 [%rd3], %rd6;
  add.u64 %rd7, %rd3, %rd2;
  st.local.u64 [%rd7+-8], %rd6;
  st.local.u64 [%rd5], %rd4;
  ld.local.u64 %rd8, [%rd7+-8];
  ld.local.u64 %rd9, [%rd5];
  add.u64 %rd8, %rd8, %rd9;
  st.global.u64 [%rd0], %rd8;)"));
  ASSERT_EQ(ran.result.status, SimulationResult::Status::kComplete) << ran.result.reason;
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], 8 * i + 8) << "aligned, one behind the other";
}

TEST(Stack, IsAsBeforeWhenAFunctionReturnsOrIsRestored) {
  SimulationOptions options = kernel(R"(
  stacksave.u64 %rd5;
  mov.u32 %r1, 0;
again:
  mov.u64 %rd2, 1024;
  { .param .b64 a; .param .b64 r;
    st.param.b64 [a], %rd2;
    call.uni (r), f, (a);
    ld.param.b64 %rd3, [r]; }
  stacksave.u64 %rd6;
  alloca.u64 %rd7, 512;
  stackrestore.u64 %rd6;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 100;
  @%p bra again;
  stacksave.u64 %rd6;
  sub.u64 %rd6, %rd6, %rd5;
  sub.u64 %rd3, %rd3, %rd5;
  add.u64 %rd6, %rd6, %rd3;
  st.global.u64 [%rd0], %rd6;)");
  with_function(options, "  alloca.u64 %rd3, %rd1;");
  const Ran ran = run(std::move(options));
  ASSERT_EQ(ran.result.status, SimulationResult::Status::kComplete) << ran.result.reason;
  for (const uint64_t distance : ran.out) EXPECT_EQ(distance, 0u);
}

TEST(Stack, OverflowIsAFault) {
  const Ran ran =
      run(kernel("  mov.u64 %rd2, 5000;\n  alloca.u64 %rd3, %rd2;\n  st.global.u64 [%rd0], %rd3;"));
  EXPECT_EQ(ran.result.status, SimulationResult::Status::kFailed);
  EXPECT_EQ(ran.result.fault, isa::FaultKind::kStack);
  EXPECT_THAT(ran.result.reason,
              ::testing::HasSubstr("alloca of 5000 bytes does not fit the stack of 4096 bytes"));
}

isa::FaultKind fault_of(const std::string& body) {
  const Ran ran = run(kernel(body));
  EXPECT_EQ(ran.result.status, SimulationResult::Status::kFailed);
  return ran.result.fault;
}

TEST(SystemCalls, AFailedRunSaysWhichFaultItWas) {
  EXPECT_EQ(fault_of("trap;"), isa::FaultKind::kTrap);
  EXPECT_EQ(fault_of("st.global.u64 [%rd0+4096], %rd0;"), isa::FaultKind::kOutOfBounds);
  EXPECT_EQ(fault_of("st.global.u64 [%rd0+4], %rd0;"), isa::FaultKind::kMisaligned);
  EXPECT_EQ(fault_of("{ .param .b64 a; st.param.b64 [a], %rd0; call.uni free, (a); }"),
            isa::FaultKind::kBadFree);
  EXPECT_EQ(fault_of(R"(mov.u64 %rd4, format; cvta.global.u64 %rd4, %rd4;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd4; st.param.b64 [b], %rd4; st.param.b32 [c], 7; st.param.b64 [d], %rd4; st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e); })"),
            isa::FaultKind::kAssert);
}

}  // namespace
}  // namespace gpusim::comp
