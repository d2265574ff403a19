#include "runtime/embed/include/gpusim/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <thread>

namespace gpusim {
namespace {

using testing::HasSubstr;

constexpr char kPtx[] = R"(
.version 6.0
.target sm_70
.address_size 64
.global .u32 calls;
.visible .entry add(.param .u64 values, .param .u32 more)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  mov.u32 %r0, %tid.x;
  ld.param.u32 %r1, [more];
  ld.param.u64 %d0, [values];
  mad.wide.u32 %d1, %r0, 4, %d0;
  ld.global.u32 %r2, [%d1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1], %r2;
  mov.u64 %d2, calls;
  red.global.add.u32 [%d2], 1;
  ret;
}
)";

GpuOptions options(bool functional) {
  GpuOptions o;
  o.config = GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg";
  o.functional = functional;
  return o;
}

void expect_values(Gpu& gpu) {
  const uint32_t program = gpu.load("add.ptx", kPtx);
  std::array<uint32_t, 64> values{};
  std::iota(values.begin(), values.end(), 0u);
  auto* const on_gpu = static_cast<uint32_t*>(gpu.allocate(sizeof values));
  gpu.copy_to_device(on_gpu, values.data(), sizeof values);
  gpu.run(program, "add", {1}, {64}, on_gpu, uint32_t{5});
  gpu.run(program, "add", {1}, {64}, on_gpu, uint32_t{7});
  std::array<uint32_t, 64> result{};
  gpu.copy_to_host(result.data(), on_gpu, sizeof result);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], i + 12);
  const Gpu::Variable calls = gpu.variable(program, "calls");
  ASSERT_EQ(calls.bytes, 4u);
  uint32_t count = 0;
  gpu.copy_to_host(&count, calls.address, sizeof count);
  EXPECT_EQ(count, 128u);
  gpu.fill(on_gpu, 0xff, sizeof values);
  gpu.synchronize();
  EXPECT_EQ(on_gpu[63], ~0u);
  gpu.release(on_gpu);
}

TEST(EmbeddedGpu, Values) {
  Gpu gpu(options(true));
  expect_values(gpu);
  EXPECT_TRUE(gpu.kernels().empty());
}

TEST(EmbeddedGpu, Time) {
  Gpu gpu(options(false));
  expect_values(gpu);
  const std::vector<KernelTime> kernels = gpu.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].name, "add");
  EXPECT_EQ(kernels[1].launch, 1u);
  EXPECT_GT(kernels[0].cycles, 0u);
  EXPECT_GT(gpu.seconds(), kernels[0].seconds + kernels[1].seconds);
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const GpuError& error) {
    EXPECT_NE(error.code(), 0);
    return error.what();
  }
  return "no error";
}

TEST(EmbeddedGpu, Errors) {
  GpuOptions wrong = options(true);
  wrong.config = GPUSIM_SOURCE_DIR "/configs/tesla_v10.cfg";
  EXPECT_THAT(error_of([&] { const Gpu gpu(wrong); }), HasSubstr("tesla_v10.cfg"));
  GpuOptions o = options(true);
  std::string warned;
  o.warn = [&warned](const std::string& text) { warned += text; };
  Gpu gpu(o);
  EXPECT_THAT(error_of([&] { gpu.load("bad.ptx", ".version 6.0\n.target sm_70\nnonsense"); }),
              HasSubstr("bad.ptx:3:1"));
  const uint32_t program = gpu.load("add.ptx", kPtx);
  void* const memory = gpu.allocate(64);
  EXPECT_THAT(error_of([&] { gpu.run(program, "ad", {1}, {32}, memory, 1u); }), HasSubstr("'ad'"));
  EXPECT_THAT(error_of([&] { gpu.run(program, "add", {1}, {32}, memory); }),
              HasSubstr("takes 2 arguments, not 1"));
  EXPECT_THAT(error_of([&] { gpu.run(program + 1, "add", {1}, {32}, memory, 1u); }), HasSubstr("no program"));
  EXPECT_THAT(error_of([&] { gpu.copy_to_device(memory, kPtx, 65); }), HasSubstr("leaves its device memory"));
  EXPECT_THAT(error_of([&] { (void)gpu.variable(program, "call"); }), HasSubstr("'call'"));
  EXPECT_THAT(error_of([&] { gpu.release(kPtx == nullptr ? nullptr : &o); }), HasSubstr("begins there"));
  EXPECT_THAT(error_of([&] { (void)gpu.allocate(uint64_t{1} << 50); }), HasSubstr("memory"));
  // A fault of a kernel stays.
  void* const far = static_cast<std::byte*>(memory) + (4 << 20);
  EXPECT_THAT(error_of([&] { gpu.run(program, "add", {1}, {32}, far, 1u); }),
              HasSubstr("add.ptx, PTX line 14"));
  EXPECT_THAT(warned, HasSubstr("add.ptx, PTX line 14"));
  EXPECT_THAT(error_of([&] { gpu.synchronize(); }), HasSubstr("add.ptx, PTX line 14"));
}

TEST(EmbeddedGpu, BehindTheEnd) {
  GpuOptions o = options(true);
  std::string warned;
  o.warn = [&warned](const std::string& text) { warned += text; };
  Gpu gpu(o);
  const uint32_t program = gpu.load("add.ptx", kPtx);
  auto* const memory = static_cast<uint32_t*>(gpu.allocate(64));
  gpu.run(program, "add", {1}, {32}, memory, 1u);
  gpu.run(program, "add", {1}, {32}, memory, 1u);
  gpu.synchronize();
  EXPECT_EQ(memory[15], 2u);
  const size_t first = warned.find("kernel 'add' uses memory behind the end of 'allocation 1' (64 bytes)");
  EXPECT_NE(first, std::string::npos) << warned;
  EXPECT_EQ(warned.find("behind the end", first + 40), std::string::npos) << "it is said once";
  // Over the gap into the next allocation, as on a GPU, and where there is none.
  auto* const next = static_cast<uint32_t*>(gpu.allocate(4096));
  const auto distance = static_cast<uint32_t>(next - memory);
  ASSERT_LT(distance, 1600u);
  gpu.run(program, "add", {1}, {1024}, memory + distance - 512, 1u);
  gpu.synchronize();
  EXPECT_EQ(next[0], 1u);
  EXPECT_EQ(next[511], 1u);
  EXPECT_EQ(next[512], 0u);
  gpu.run(program, "add", {1}, {1024}, memory + (1 << 18), 1u);
  // Later allocations keep out of it, and what was freed is a fault.
  auto* const large = static_cast<uint32_t*>(gpu.allocate(1 << 24));
  EXPECT_EQ(large[0], 0u);
  gpu.run(program, "add", {1}, {32}, large, 1u);
  gpu.synchronize();
  EXPECT_EQ(large[31], 1u);
  gpu.release(next);
  EXPECT_THROW(gpu.run(program, "add", {1}, {32}, next, 1u), GpuError);
}

TEST(EmbeddedGpu, AnAccessThatEndsBehindTheEnd) {
  constexpr const char* kPairs = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry _Z4pairPKjPj(.param .u64 from, .param .u64 to)
{
  .reg .b64 %d<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [to];
  ld.global.v2.u32 {%r0, %r1}, [%d0];
  st.global.v2.u32 [%d1], {%r1, %r0};
  ret;
}
)";
  GpuOptions o = options(true);
  std::string warned;
  o.warn = [&warned](const std::string& text) { warned += text; };
  Gpu gpu(o);
  const uint32_t program = gpu.load("pair.ptx", kPairs);
  auto* const memory = static_cast<uint32_t*>(gpu.allocate(4));
  auto* const to = static_cast<uint32_t*>(gpu.allocate(8));
  memory[0] = 7;
  // A GPU has pages: it notices neither the load nor the store.
  gpu.run(program, "_Z4pairPKjPj", {1}, {1}, memory, to);
  gpu.run(program, "_Z4pairPKjPj", {1}, {1}, to, memory);
  gpu.synchronize();
  EXPECT_EQ(to[1], 7u);
  EXPECT_EQ(memory[0], 7u);
  EXPECT_NE(warned.find("kernel 'pair' uses memory behind the end of 'allocation 1' (4 bytes)"),
            std::string::npos)
      << warned;
}

// Addresses are those that ptxas makes of the same statements: of 32 bits before they are extended.
TEST(EmbeddedGpu, LoadsAndStoresNameElementsOfArrays) {
  constexpr const char* kElements = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .global .align 8 .v2 .u16 pairs[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
.visible .const .align 8 .u64 wide[3] = {10, 20, 30};
.visible .entry elements(.param .u64 to, .param .u32 one)
{
  .reg .b64 %d<3>;
  .reg .b32 %r<10>;
  .reg .b16 %h<2>;
  .reg .pred %p;
  .local .align 4 .b32 own[8];
  .shared .align 4 .b32 shared[8];
  ld.param.u64 %d0, [to];
  ld.param.u32 %r0, [one];
  st.local.u32 own[3], 7;
  st.local.u32 own[%r0+1], 5;
  st.shared.u32 shared[%r0], 9;
  setp.eq.u32 %p, %r0, 0;
  @%p st.shared.u32 shared[%r0], 8;
  ld.local.u32 %r1, own[2];
  ld.local.u32 %r2, [own+12];
  ld.shared.u32 %r3, shared[1];
  ld.const.u64 %d1, wide[%r0];
  cvt.u32.u64 %r4, %d1;
  ld.global.u16 %h0, pairs[1];
  cvt.u32.u16 %r5, %h0;
  cvt.u64.u32 %d2, %r0;
  add.u64 %d2, %d2, 0x100000001;
  ld.global.u16 %h1, pairs[%d2];
  cvt.u32.u16 %r6, %h1;
  mov.u64 %d1, pairs[%r0];
  mov.u64 %d2, pairs[3];
  sub.u64 %d2, %d2, %d1;
  cvt.u32.u64 %r7, %d2;
  cvt.u16.u32 %h0, %r0;
  ld.shared.u32 %r8, shared[%h0];
  cvta.global.u64 %d1, pairs[%h0+1];
  cvta.global.u64 %d2, pairs[3];
  sub.u64 %d2, %d2, %d1;
  cvt.u32.u64 %r9, %d2;
  st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4};
  st.global.v2.u32 [%d0+16], {%r5, %r6};
  st.global.u32 [%d0+24], %r7;
  st.global.u32 [%d0+28], %r8;
  st.global.u32 [%d0+32], %r9;
  ret;
}
)";
  Gpu gpu(options(true));
  const uint32_t program = gpu.load("elements.ptx", kElements);
  auto* const to = static_cast<uint32_t*>(gpu.allocate(36));
  gpu.run(program, "elements", {1}, {1}, to, 1u);
  gpu.synchronize();
  const uint32_t expected[] = {5, 7, 9, 20, 2, 3, 4, 9, 2};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(to[i], expected[i]) << i;
}

/// The device goes on with kernels that wait while the program does not call it, and does not when it does.
TEST(EmbeddedGpu, KernelsThatWaitGoOnBesideTheProgram) {
  constexpr const char* kWait = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry answer(.param .u64 words)
{
  .reg .b64 %d;
  .reg .b32 %r;
  .reg .pred %p;
  ld.param.u64 %d, [words];
wait:
  ld.volatile.global.u32 %r, [%d];
  setp.eq.u32 %p, %r, 0;
  @%p bra wait;
  st.volatile.global.u32 [%d+4], %r;
  ret;
}
)";
  Gpu gpu(options(true));
  const uint32_t program = gpu.load("wait.ptx", kWait);
  auto* const words = static_cast<uint32_t*>(gpu.allocate(8));
  const std::atomic_ref<uint32_t> question(words[0]), answer(words[1]);
  for (uint32_t asked = 1; asked <= 3; ++asked) {
    question = 0;
    gpu.run(program, "answer", {1}, {1}, words);
    question = asked;
    const auto begin = std::chrono::steady_clock::now();
    while (answer != asked && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
      std::this_thread::yield();
    EXPECT_EQ(answer, asked);
    gpu.synchronize();
    // A wait, in which the kernel gets its question.
    question = 0;
    gpu.run(program, "answer", {1}, {1}, words);
    std::thread host([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      question = asked;
    });
    gpu.synchronize();
    host.join();
  }
}

/// Adds up a hundred products of pairs, the first with the last, so that all are alive at a time.
std::string many_registers() {
  constexpr int kValues = 200;
  std::string text = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry many(.param .u64 values, .param .u64 to)
{
  .reg .b32 %t;
  .reg .f32 %f<201>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [values];
  ld.param.u64 %d1, [to];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %d2, %t, 4, %d1;
)";
  for (int i = 0; i < kValues; ++i)
    text += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%d0+" + std::to_string(4 * i) + "];\n";
  text += "  mov.f32 %f200, 0f00000000;\n";
  for (int i = 0; i < kValues / 2; ++i)
    text += "  fma.rn.f32 %f200, %f" + std::to_string(i) + ", %f" + std::to_string(kValues - 1 - i) +
            ", %f200;\n";
  return text + "  st.global.f32 [%d2], %f200;\n  ret;\n}\n";
}

TEST(EmbeddedGpu, BlocksThatNeedFewerRegistersThanAreEstimated) {
  for (const bool functional : {true, false}) {
    GpuOptions o = options(functional);
    std::string warned;
    o.warn = [&warned](const std::string& text) { warned += text; };
    Gpu gpu(o);
    const uint32_t program = gpu.load("many.ptx", many_registers());
    std::array<float, 200> values{};
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
    auto* const from = static_cast<float*>(gpu.allocate(sizeof values));
    auto* const to = static_cast<float*>(gpu.allocate(1024 * sizeof(float)));
    gpu.copy_to_device(from, values.data(), sizeof values);
    float sum = 0;
    for (size_t i = 0; i < values.size() / 2; ++i) sum += values[i] * values[values.size() - 1 - i];
    gpu.run(program, "many", {1}, {32}, from, to);
    EXPECT_EQ(warned, "");
    gpu.run(program, "many", {1}, {1024}, from, to);
    gpu.synchronize();
    EXPECT_EQ(to[0], sum);
    EXPECT_EQ(to[1023], sum);
    EXPECT_THAT(warned, HasSubstr("with which no block of 1024 threads runs"));
  }
}

TEST(EmbeddedGpu, Checks) {
  GpuOptions o = options(true);
  o.check = "init";
  std::string warned;
  o.warn = [&warned](const std::string& text) { warned += text; };
  Gpu gpu(o);
  const uint32_t program = gpu.load("add.ptx", kPtx);
  void* const memory = gpu.allocate(128);
  gpu.fill(memory, 0, 64);
  gpu.run(program, "add", {1}, {32}, memory, 1u);
  EXPECT_EQ(gpu.findings(), 1u);
  EXPECT_THAT(warned, HasSubstr("thread (16,0,0)"));
}

}  // namespace
}  // namespace gpusim
