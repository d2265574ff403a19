// Functions of the program that streams call, in runs for values and in timed ones, and what else a program
// may do as it likes while a kernel is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t, void*, unsigned);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                                unsigned);
cudaError_t cudaLibraryGetKernel(void**, void*, const char*);
}

namespace gpusim::runtime::test_program {
namespace {

/// The parameter: values only.
class StreamFunction : public Cudart, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    ASSERT_EQ(cudaStreamCreate(&stream_), 0);
    ASSERT_EQ(cudaStreamCreate(&other_), 0);
  }
  void TearDown() override { gate_ = true; }
  [[nodiscard]] bool functional() const override { return GetParam(); }
  static void wait(void* test) {
    while (!static_cast<StreamFunction*>(test)->gate_) std::this_thread::yield();
  }
  static void wait_for_itself(void* test) {
    static_cast<StreamFunction*>(test)->answer_ = cudaDeviceSynchronize();
  }
  static void note(cudaStream_t, cudaError_t status, void* test) {
    auto& noted = *static_cast<StreamFunction*>(test);
    const std::lock_guard lock(noted.mutex_);
    noted.statuses_.push_back(status);
  }
  /// Once there are `count`: those of a failed context are called beside the program.
  std::vector<cudaError_t> statuses(size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (statuses_.size() >= count || std::chrono::steady_clock::now() > end) return statuses_;
      }
      std::this_thread::yield();
    }
  }
  static void count(void* test) { ++static_cast<StreamFunction*>(test)->counted_; }
  static cudaError_t stray(cudaStream_t stream) {
    return cudaLaunchKernel(&stray_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream);
  }
  cudaStream_t stream_ = nullptr, other_ = nullptr;
  std::atomic<bool> gate_{false};
  std::atomic<int> answer_{-1}, counted_{0};
  std::mutex mutex_;  ///< of statuses_
  std::vector<cudaError_t> statuses_;
};
INSTANTIATE_TEST_SUITE_P(ForValues, StreamFunction, ::testing::Values(true));
INSTANTIATE_TEST_SUITE_P(Timed, StreamFunction, ::testing::Values(false));

TEST_P(StreamFunction, MayWaitForAThreadThatUsesTheDevice) {
  float* const y = device_floats({1, 2, 3});
  ASSERT_EQ(scale(y, 2, 3, stream_), 0);
  ASSERT_EQ(cudaLaunchHostFunc(stream_, wait, this), 0);
  ASSERT_EQ(scale(y, 2, 3, stream_), 0);
  float* z = nullptr;
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 12), 0);
    z = static_cast<float*>(memory);
    EXPECT_EQ(cudaMemsetAsync(z, 0, 12, other_), 0);
    EXPECT_EQ(scale(z, 2, 3, other_), 0);
    EXPECT_EQ(cudaStreamQuery(stream_), error(Code::kNotReady));
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), 0);
    EXPECT_EQ(cudaEventRecord(event, other_), 0);
    EXPECT_EQ(cudaEventDestroy(event), 0);
    gate_ = true;
  });
  EXPECT_EQ(cudaStreamSynchronize(stream_), 0);
  host.join();
  EXPECT_EQ(host_floats(y, 3), (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(host_floats(z, 3), (std::vector<float>{0, 0, 0}));
}

TEST_P(StreamFunction, MayNotWaitForItself) {
  ASSERT_EQ(cudaLaunchHostFunc(stream_, wait_for_itself, this), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(answer_, error(Code::kNotPermitted));
}

/// CUDA Runtime API, cudaStreamAddCallback and cudaLaunchHostFunc.
TEST_P(StreamFunction, OfAFailedContextIsCalledWithTheErrorOrNotAtAll) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(cudaStreamAddCallback(stream_, note, this, 0), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  ASSERT_EQ(stray(stream_), 0);
  EXPECT_EQ(cudaStreamAddCallback(stream_, note, this, 0), 0);
  EXPECT_THAT(cudaLaunchHostFunc(stream_, count, this), testing::AnyOf(0, error(Code::kIllegalAddress)));
  EXPECT_EQ(cudaStreamSynchronize(stream_), error(Code::kIllegalAddress));
  EXPECT_EQ(statuses(2), (std::vector<cudaError_t>{0, error(Code::kIllegalAddress)}));
  EXPECT_EQ(cudaStreamAddCallback(stream_, note, this, 0), error(Code::kIllegalAddress));
  EXPECT_EQ(statuses(2).size(), 2u);
  EXPECT_EQ(counted_, 0);
  testing::internal::GetCapturedStderr();
}

/// It has been queued behind something that takes time.
TEST_P(StreamFunction, MemoryIsFreedOnce) {
  void *memory = nullptr, *more = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 64, stream_), 0);
  ASSERT_EQ(cudaLaunchHostFunc(stream_, wait, this), 0);
  ASSERT_EQ(cudaMalloc(&more, 64), 0);
  EXPECT_EQ(cudaFreeAsync(memory, stream_), 0);
  EXPECT_EQ(cudaFreeAsync(more, stream_), 0);
  EXPECT_EQ(cudaFreeAsync(memory, stream_), error(Code::kInvalidValue));
  EXPECT_EQ(cudaFreeAsync(more, other_), error(Code::kInvalidValue));
  gate_ = true;
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(cudaFree(memory), error(Code::kInvalidValue));
  // Its address may be that of something else now.
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaMallocAsync(&memory, 64, stream_), 0);
    EXPECT_EQ(cudaFreeAsync(memory, stream_), 0);
    ASSERT_EQ(cudaDeviceSynchronize(), 0);
  }
}

/// CUDA Runtime API, "API synchronization behavior".
TEST_P(StreamFunction, ACopyToMemoryThatIsNotPinnedReturnsWhenItIsDone) {
  float* const y = device_floats({1, 2, 3});
  ASSERT_EQ(scale(y, 2, 3, stream_), 0);
  std::vector<float> copied(3), again(3);
  ASSERT_EQ(cudaMemcpyAsync(copied.data(), y, 12, cudaMemcpyDeviceToHost, stream_), 0);
  EXPECT_EQ(copied, (std::vector<float>{2, 4, 6}));
  ASSERT_EQ(cudaMemcpyAsync(again.data(), copied.data(), 12, cudaMemcpyHostToHost, stream_), 0);
  EXPECT_EQ(again, copied);
}

/// Waits for word 0 and adds one to word 1.
const char* const kAwait = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry await(.param .u64 words)
{
  .reg .b32 %r; .reg .b64 %rd; .reg .pred %p;
  ld.param.u64 %rd, [words];
wait:
  ld.volatile.global.u32 %r, [%rd];
  setp.eq.u32 %p, %r, 0;
  @%p bra wait;
  atom.global.add.u32 %r, [%rd+4], 1;
  ret;
}
.visible .entry open(.param .u64 words)
{
  .reg .b32 %r; .reg .b64 %rd;
  ld.param.u64 %rd, [words];
  mov.u32 %r, 1;
  st.volatile.global.u32 [%rd], %r;
  ret;
}
)";

class AwaitingKernel : public Cudart {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    void* library = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, kAwait, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&await_, library, "await"), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&open_, library, "open"), 0);
    ASSERT_EQ(cudaMalloc(&words_, 8), 0);
    ASSERT_EQ(cudaMemset(words_, 0, 8), 0);
    constexpr unsigned kNonBlocking = 1;
    ASSERT_EQ(cudaStreamCreateWithFlags(&first_, kNonBlocking), 0);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second_, kNonBlocking), 0);
  }
  cudaError_t launch(void* kernel, cudaStream_t stream) {
    void* arguments[] = {&words_};
    return cudaLaunchKernel(kernel, {2, 1, 1}, {1, 1, 1}, arguments, 0, stream);
  }
  void expect_answers() {
    EXPECT_EQ(cudaDeviceSynchronize(), 0);
    unsigned words[2] = {};
    EXPECT_EQ(cudaMemcpy(words, words_, 8, cudaMemcpyDeviceToHost), 0);
    EXPECT_EQ(words[1], 2u);
  }
  void *await_ = nullptr, *open_ = nullptr, *words_ = nullptr;
  cudaStream_t first_ = nullptr, second_ = nullptr;
};

/// Nothing writes what it waits for.
TEST_F(AwaitingKernel, ThatIsStuckIsToldToCallbacks) {
  testing::internal::CaptureStderr();
  std::vector<cudaError_t> statuses;
  const auto note = [](cudaStream_t, cudaError_t status, void* list) {
    static_cast<std::vector<cudaError_t>*>(list)->push_back(status);
  };
  ASSERT_EQ(launch(await_, first_), 0);
  ASSERT_EQ(cudaStreamAddCallback(first_, note, &statuses, 0), 0);
  const cudaError_t status = cudaDeviceSynchronize();
  EXPECT_NE(status, 0);
  EXPECT_EQ(statuses, std::vector<cudaError_t>{status});
  testing::internal::GetCapturedStderr();
}

class CheckedWaitingKernel : public AwaitingKernel {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CHECK", "memory,init,sync", 1);
    AwaitingKernel::SetUp();
  }
};

TEST_F(CheckedWaitingKernel, SeesWhatACopyWrites) {
  ASSERT_EQ(launch(await_, first_), 0);
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 4, 0), 0);
  *static_cast<unsigned*>(pinned) = 1;
  ASSERT_EQ(cudaMemcpyAsync(words_, pinned, 4, cudaMemcpyHostToDevice, second_), 0);
  expect_answers();
}

TEST_F(CheckedWaitingKernel, SeesWhatAnotherKernelWrites) {
  ASSERT_EQ(launch(await_, first_), 0);
  ASSERT_EQ(launch(open_, second_), 0);
  expect_answers();
}

}  // namespace
}  // namespace gpusim::runtime::test_program
