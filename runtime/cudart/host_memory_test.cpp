// Kernels that leave registered memory of the host, and such as wait for what the host writes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                                unsigned);
cudaError_t cudaLibraryGetKernel(void**, void*, const char*);
}

namespace gpusim::runtime::test_program {
namespace {

constexpr size_t kPage = 4096;

/// Adds one to the two words at `pair`.
const char* const kPair = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry pair(.param .u64 pair)
{
  .reg .b32 %r<2>; .reg .b64 %rd;
  ld.param.u64 %rd, [pair];
  ld.global.v2.u32 {%r0, %r1}, [%rd];
  add.u32 %r0, %r0, 1; add.u32 %r1, %r1, 1;
  st.global.v2.u32 [%rd], {%r0, %r1};
  ret;
}
)";

class HostMemory : public Cudart {
 protected:
  /// Pages of the host, of which bytes 100 to 300 of the second one are registered.
  void SetUp() override {
    Cudart::SetUp();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, 4 * kPage)));
    std::memset(memory_.get(), 0, 4 * kPage);
    page_ = memory_.get() + kPage;
    void* library = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, kPair, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel_, library, "pair"), 0);
    ASSERT_EQ(cudaHostRegister(page_ + 100, 200, 0), 0);
  }
  cudaError_t add_at(std::ptrdiff_t offset) {
    void* pair = page_ + offset;
    void* arguments[] = {&pair};
    const cudaError_t launched = cudaLaunchKernel(kernel_, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
    return launched != 0 ? launched : cudaDeviceSynchronize();
  }
  [[nodiscard]] unsigned word_at(size_t offset) const {
    unsigned word = 0;
    std::memcpy(&word, page_ + offset, sizeof word);
    return word;
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* page_ = nullptr;
  void* kernel_ = nullptr;
};

TEST_F(HostMemory, TheDeviceHasTheWholePagesOfWhatIsRegistered) {
  testing::internal::CaptureStderr();
  // Inside, over both ends, and at both ends of the page.
  for (const std::ptrdiff_t offset : {200, 96, 296, 0, 4088}) ASSERT_EQ(add_at(offset), 0) << offset;
  for (const size_t offset : {200, 204, 96, 100, 296, 300, 0, 4, 4088, 4092})
    EXPECT_EQ(word_at(offset), 1u) << offset;
  // Another piece of the same page begins behind it.
  ASSERT_EQ(cudaHostRegister(page_ + 400, 8, 0), 0);
  ASSERT_EQ(add_at(400), 0);
  ASSERT_EQ(add_at(392), 0);
  EXPECT_EQ(word_at(396), 1u);
  EXPECT_EQ(word_at(404), 1u);
  ASSERT_EQ(cudaHostUnregister(page_ + 100), 0);
  ASSERT_EQ(add_at(200), 0) << "the page is still there";
  const std::string told = testing::internal::GetCapturedStderr();
  const size_t first =
      told.find("kernel 'pair' uses memory outside of 'registered host memory 1' (200 bytes)");
  EXPECT_NE(first, std::string::npos) << told;
  EXPECT_EQ(told.find("memory 1'", first + 60), std::string::npos) << "it is said once";
}

TEST_F(HostMemory, ThePageBehindItIsAFault) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(add_at(kPage), error(Code::kIllegalAddress));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out of bounds"), std::string::npos);
}

TEST_F(HostMemory, ThePageBeforeItIsAFault) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(add_at(-8), error(Code::kIllegalAddress));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out of bounds"), std::string::npos);
}

TEST_F(HostMemory, MoreThanThereAreAddressesIsNotAllocated) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocHost(&memory, ~size_t{0}), error(Code::kMemoryAllocation));
  EXPECT_EQ(cudaMallocHost(&memory, 64), 0) << "that was no fault";
}

TEST_F(HostMemory, WhatIsNotThereIsNotRegistered) {
  const auto address = reinterpret_cast<uint64_t>(page_ + 2048);
  for (const uint64_t bytes : {uint64_t{0}, ~uint64_t{0}, ~address + 1, ~address, uint64_t{1} << 46})
    EXPECT_EQ(cudaHostRegister(page_ + 2048, bytes, 0), error(Code::kInvalidValue)) << bytes;
  EXPECT_EQ(cudaHostRegister(reinterpret_cast<void*>(~uint64_t{0} - kPage + 1), kPage, 0),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaHostRegister(reinterpret_cast<void*>(kPage), 8, 0), error(Code::kInvalidValue));
  EXPECT_EQ(cudaHostRegister(page_ + 2048, 4096, 0), 0);
}

class CheckedHostMemory : public HostMemory {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CHECK", "memory", 1);
    HostMemory::SetUp();
  }
};

TEST_F(CheckedHostMemory, OutsideOfItIsAMistake) {
  EXPECT_EQ(add_at(200), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(add_at(296), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("error: out_of_bounds (memory)"), std::string::npos) << told;
  EXPECT_EQ(word_at(300), 0u);
}

/// words[1] = words[0] + 1 as soon as words[0] is not 0, three times; words[0] is 0 then.
const char* const kAnswer = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry answer(.param .u64 words)
{
  .reg .b32 %r<3>; .reg .b64 %rd; .reg .pred %p;
  ld.param.u64 %rd, [words];
  mov.u32 %r2, 0;
wait:
  ld.volatile.global.u32 %r0, [%rd];
  setp.eq.u32 %p, %r0, 0;
  @%p bra wait;
  add.u32 %r1, %r0, 1;
  st.volatile.global.u32 [%rd], 0;
  st.volatile.global.u32 [%rd+4], %r1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 3;
  @%p bra wait;
  ret;
}
)";

class WaitingKernel : public Cudart {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    void *library = nullptr, *memory = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, kAnswer, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel_, library, "answer"), 0);
    ASSERT_EQ(cudaHostAlloc(&memory, 8, 0), 0);
    words_ = static_cast<unsigned*>(memory);
    words_[0] = words_[1] = 0;
  }
  cudaError_t launch(cudaStream_t stream = nullptr) {
    void* arguments[] = {&words_};
    return cudaLaunchKernel(kernel_, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream);
  }
  /// Looks at memory for the answer, and calls nothing.
  void ask(unsigned asked) {
    const std::atomic_ref<unsigned> question(words_[0]), answer(words_[1]);
    question = asked;
    const auto begin = std::chrono::steady_clock::now();
    while (answer != asked + 1 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
      std::this_thread::yield();
    EXPECT_EQ(answer, asked + 1);
  }
  void ask_all() {
    for (unsigned asked : {10, 20, 30}) ask(asked);
  }
  void* kernel_ = nullptr;
  unsigned* words_ = nullptr;
};

TEST_F(WaitingKernel, GoesOnBesideTheProgram) {
  ASSERT_EQ(launch(), 0);
  ask_all();
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
}

/// What waits for the kernel waits as long as it gets questions, which are answered beside.
TEST_F(WaitingKernel, IsNotGivenUpWhileItAnswers) {
  ASSERT_EQ(launch(), 0);
  std::thread host([this] {
    for (unsigned asked : {10, 20, 30}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1200));
      ask(asked);
    }
  });
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  host.join();
}

TEST_F(WaitingKernel, NeedsNoThread) {
  pthread_attr_t standard, impossible;
  pthread_getattr_default_np(&standard);
  pthread_attr_init(&impossible);
  pthread_attr_setstacksize(&impossible, size_t{1} << 46);
  pthread_setattr_default_np(&impossible);
  EXPECT_EQ(launch(), 0);
  pthread_setattr_default_np(&standard);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);
  std::thread host([this] {
    for (unsigned asked : {10, 20, 30}) ask(asked);
  });
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  host.join();
}

/// A program may give access to its memory when it is touched.
TEST_F(WaitingKernel, HasTheProgramsHandlerOfFaults) {
  static void* page = nullptr;
  page = std::aligned_alloc(kPage, kPage);
  words_ = static_cast<unsigned*>(page);
  words_[0] = words_[1] = 0;
  ASSERT_EQ(cudaHostRegister(page, kPage, 0), 0);
  ASSERT_EQ(launch(), 0);
  struct sigaction gives_access {
  }, before{};
  gives_access.sa_handler = [](int) { mprotect(page, kPage, PROT_READ | PROT_WRITE); };
  sigaction(SIGSEGV, &gives_access, &before);
  mprotect(page, kPage, PROT_NONE);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ask_all();
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  sigaction(SIGSEGV, &before, nullptr);
}

TEST_F(WaitingKernel, AFunctionBehindItThatThrowsIsAFault) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(launch(), 0);
  ASSERT_EQ(cudaLaunchHostFunc(
                nullptr, [](void*) { throw std::runtime_error("the ring is full"); }, nullptr),
            0);
  ask_all();
  EXPECT_EQ(cudaDeviceSynchronize(), error(Code::kUnknown));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("error: the ring is full"));
}

/// Waits for word 0 by more than a load: with a barrier of two warps in its loop (word 2 is 0), with a
/// counter (1), or with a clock (2). Then word 1 is what it has read, plus 1.
const char* const kBusy = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry busy(.param .u64 words)
{
  .reg .b32 %r<4>; .reg .b64 %rd, %t, %u; .reg .pred %p, %q;
  .shared .u32 seen;
  ld.param.u64 %rd, [words];
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %q, %r2, 0;
  ld.volatile.global.u32 %r3, [%rd+8];
  setp.eq.u32 %p, %r3, 1;
  @%p bra count;
  setp.eq.u32 %p, %r3, 2;
  @%p bra look;
meet:
  @%q bra met;
  ld.volatile.global.u32 %r0, [%rd];
  st.shared.u32 [seen], %r0;
met:
  bar.sync 0;
  ld.shared.u32 %r0, [seen];
  bar.sync 0;
  setp.eq.u32 %p, %r0, 0;
  @%p bra meet;
  bra.uni done;
count:
  mov.u64 %t, 0;
again:
  add.u64 %t, %t, 1;
  ld.volatile.global.u32 %r0, [%rd];
  setp.eq.u32 %p, %r0, 0;
  @%p bra again;
  bra.uni done;
look:
  mov.u64 %t, %clock64;
late:
  mov.u64 %u, %clock64;
  sub.u64 %u, %u, %t;
  ld.volatile.global.u32 %r0, [%rd];
  setp.ne.u32 %p, %r0, 0;
  @%p bra done;
  setp.lt.u64 %p, %u, 1000000000000;
  @%p bra late;
done:
  add.u32 %r1, %r0, 1;
  @!%q st.volatile.global.u32 [%rd+4], %r1;
  ret;
}
)";

class BusyKernel : public WaitingKernel {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    void *library = nullptr, *memory = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, kBusy, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel_, library, "busy"), 0);
    ASSERT_EQ(cudaHostAlloc(&memory, 12, 0), 0);
    words_ = static_cast<unsigned*>(memory);
    words_[0] = words_[1] = words_[2] = 0;
  }
  cudaError_t launch_busy(unsigned how, cudaStream_t stream = nullptr) {
    words_[2] = how;
    void* arguments[] = {&words_};
    return cudaLaunchKernel(kernel_, {2, 1, 1}, {64, 1, 1}, arguments, 0, stream);
  }
};

TEST_F(BusyKernel, GoesOnBesideTheProgram) {
  for (const unsigned how : {0, 1, 2}) {
    words_[0] = words_[1] = 0;
    ASSERT_EQ(launch_busy(how), 0);
    EXPECT_EQ(cudaStreamQuery(nullptr), error(Code::kNotReady)) << how;
    ask(how + 5);
    EXPECT_EQ(cudaDeviceSynchronize(), 0);
  }
}

/// Events around it are those of any kernel: who has waited for the last one may ask for the time between.
TEST_F(BusyKernel, IsBetweenItsEvents) {
  cudaEvent_t from = nullptr, to = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(cudaEventCreate(&from), 0);
  ASSERT_EQ(cudaEventCreate(&to), 0);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 4), 0);
  ASSERT_EQ(cudaMemsetAsync(device, 0, 4, nullptr), 0);
  ASSERT_EQ(cudaEventRecord(from, nullptr), 0);
  ASSERT_EQ(launch_busy(1), 0);
  ASSERT_EQ(cudaEventRecord(to, nullptr), 0);
  words_[0] = 7;
  ASSERT_EQ(cudaEventSynchronize(to), 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, from, to), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cudaEventQuery(to), 0);
}

/// It is given up by nobody who waits for it, for it does something: another thread has its turn.
TEST_F(BusyKernel, LetsOtherThreadsCallTheDevice) {
  ASSERT_EQ(launch_busy(1), 0);
  std::thread host([this] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocHost(&memory, 4), 0);
    ask(7);
  });
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  host.join();
}

constexpr std::string_view kLong = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry long_sum(.param .u64 out, .param .u32 rounds) {
  .reg .u64 %rd;
  .reg .u32 %r<4>;
  .reg .pred %p;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r0, 0;
again:
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p, %r0, %r1;
  @%p bra again;
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p, %r2, 0;
  @%p st.global.u32 [%rd], %r0;
  ret;
}
)";

/// A program may read what it has copied to memory that is not pinned, also behind a kernel whose launch is
/// over before it is done.
TEST_F(Cudart, ACopyToMemoryThatIsNotPinnedWaitsForALongKernel) {
  void *library = nullptr, *device = nullptr, *kernel = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, kLong.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "long_sum"), 0);
  ASSERT_EQ(cudaMalloc(&device, 4), 0);
  ASSERT_EQ(cudaMemset(device, 0, 4), 0);
  unsigned rounds = 1u << 23, copied = 1;  // four warps with three operations a round
  void* arguments[] = {&device, &rounds};
  ASSERT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {128, 1, 1}, arguments, 0, nullptr), 0);
  EXPECT_EQ(cudaStreamQuery(nullptr), error(Code::kNotReady)) << "the kernel is not long enough";
  EXPECT_EQ(cudaMemcpyAsync(&copied, device, 4, cudaMemcpyDefault, nullptr), 0);
  EXPECT_EQ(copied, rounds);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
}

class HostFunction : public WaitingKernel {
 protected:
  void TearDown() override { gate_ = true; }
  cudaError_t call(void (*function)(void*)) { return cudaLaunchHostFunc(nullptr, function, this); }
  static void wait(void* test) {
    while (!static_cast<HostFunction*>(test)->gate_) std::this_thread::yield();
  }
  static void wait_for_itself(void* test) {
    wait(test);
    static_cast<HostFunction*>(test)->answer_ = cudaDeviceSynchronize();
  }
  std::atomic<bool> gate_{false};
  std::atomic<int> answer_{-1};
};

TEST_F(HostFunction, MayWaitForWhatTheProgramDoesNext) {
  ASSERT_EQ(call(wait), 0);
  words_[0] = 1;
  ASSERT_EQ(cudaMemsetAsync(words_, 0, 4, nullptr), 0);
  EXPECT_EQ(cudaStreamQuery(nullptr), error(Code::kNotReady));
  EXPECT_EQ(words_[0], 1u) << "what comes after it waits for it";
  gate_ = true;
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(words_[0], 0u);
}

TEST_F(HostFunction, OfADestroyedStreamIsWaitedForByTheDefaultStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait, this), 0);
  ASSERT_EQ(cudaMemsetAsync(words_, 1, 4, stream), 0);
  ASSERT_EQ(cudaStreamDestroy(stream), 0);
  EXPECT_EQ(cudaStreamQuery(nullptr), error(Code::kNotReady));
  ASSERT_EQ(cudaMemsetAsync(words_, 2, 4, nullptr), 0);
  gate_ = true;
  EXPECT_EQ(cudaStreamSynchronize(nullptr), 0);
  EXPECT_EQ(words_[0], 0x02020202u);
}

/// As long as it takes: longer than anybody waits for a kernel that nobody answers.
TEST_F(HostFunction, BehindAKernelMayWaitForAThreadThatCallsTheDevice) {
  ASSERT_EQ(launch(), 0);
  ASSERT_EQ(call(wait), 0);
  ask_all();
  std::thread host([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocHost(&memory, 4), 0);
    gate_ = true;
  });
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  host.join();
}

TEST_F(HostFunction, MayNotWaitForItself) {
  ASSERT_EQ(call(wait_for_itself), 0);
  gate_ = true;
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(answer_, error(Code::kNotPermitted));
}

/// As a GPU ends it.
TEST_F(WaitingKernel, EndsWithTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [this] {
    EXPECT_EQ(launch(), 0);
    std::exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "kernel 'answer' was under way when the program ended");
}

}  // namespace
}  // namespace gpusim::runtime::test_program
