// Streams as a program of the driver library sees them: values in memory that they write and wait for,
// batches of copies, the stream of a thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/driver/work_test.h"

extern "C" {
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
int cuMemAllocManaged(CUdeviceptr*, size_t, unsigned);
int cuStreamSynchronize(cudaStream_t);
int cuStreamQuery(cudaStream_t);
int cuStreamGetPriority(cudaStream_t, int*);
int cuStreamGetFlags(cudaStream_t, unsigned*);
int cuStreamGetCtx(cudaStream_t, void**);
int cuStreamGetId(cudaStream_t, unsigned long long*);
int cuStreamBeginCapture_v2(cudaStream_t, int);
int cuStreamEndCapture(cudaStream_t, cudaGraph_t*);
int cuStreamWriteValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWriteValue64_v2(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
int cuStreamWaitValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWaitValue64_v2(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
int cuGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
int cuMemcpyBatchAsync(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                       const size_t*, size_t, size_t*, cudaStream_t);
int cuMemcpyBatchAsync_v2(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                          const size_t*, size_t, cudaStream_t);
int cuStreamBatchMemOp_v2(cudaStream_t, unsigned, void*, unsigned);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuLaunchKernel_ptsz(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        cudaStream_t, void**, void**);
int cuMemsetD32Async_ptsz(CUdeviceptr, unsigned, size_t, cudaStream_t);
int cuMemcpyDtoH_v2_ptds(void*, CUdeviceptr, size_t);
int cuStreamGetId_ptsz(cudaStream_t, unsigned long long*);
}

namespace gpusim::runtime {
namespace {

/// CUstreamBatchMemOpParams, as cuda.h lays it out.
struct MemoryOperation {
  int kind;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  uint64_t rest[2] = {};
};
TEST_F(DriverWork, AStreamWritesAndWaitsForValues) {
  constexpr unsigned kNotLess = 0, kEqual = 1, kAnd = 2;
  ASSERT_EQ(cuStreamWriteValue64_v2(stream_, word_, (uint64_t{5} << 32) + 7, 0), 0);
  ASSERT_EQ(cuStreamWaitValue64_v2(stream_, word_, uint64_t{5} << 32, kNotLess), 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(stream_, word_, 8, 0), 0);
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, word_, 8, kEqual), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 8);
  // What is not there yet: another stream writes it, or the host.
  cudaStream_t other = nullptr;
  CUdeviceptr flag = 0;
  ASSERT_EQ(cuStreamCreateWithPriority(&other, 1, 0), 0);
  ASSERT_EQ(cuMemAllocManaged(&flag, 4, 1), 0);
  *reinterpret_cast<volatile uint32_t*>(flag) = 0;
  uint32_t v = 100;
  void* arguments[] = {&word_, &v};
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, flag, 4, kAnd), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  EXPECT_EQ(cuStreamQuery(stream_), error(Code::kNotReady));
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(word_), 8u);
  ASSERT_EQ(cuStreamWriteValue32_v2(other, flag, 6, 0), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(word_), 108u);
  // The program calls nothing meanwhile.
  const std::atomic_ref<uint32_t> written(*reinterpret_cast<uint32_t*>(flag)),
      answer(*reinterpret_cast<uint32_t*>(word_));
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, flag, 8, kAnd), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  written = 8;
  const auto begin = std::chrono::steady_clock::now();
  while (answer != 208 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::yield();
  EXPECT_EQ(answer, 208u);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_ + 2, 0, kEqual), error(Code::kInvalidValue));
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 0, 9), error(Code::kInvalidValue));
}

TEST_F(DriverWork, ABatchWritesAndWaitsInOrder) {
  constexpr int kWait32 = 1, kWrite32 = 2, kFlush = 3, kWait64 = 4, kWrite64 = 5, kBarrier = 6;
  constexpr unsigned kEqual = 1;
  const uint64_t wide = (uint64_t{5} << 32) + 7;
  std::vector<MemoryOperation> batch{{kWrite64, word_, wide, 0},     {kBarrier, 0, 0, 0},
                                     {kWait64, word_, wide, kEqual}, {kFlush, 0, 0, 0},
                                     {kWrite32, word_, 9, 0},        {kWait32, word_, 9, kEqual}};
  const auto count = static_cast<unsigned>(batch.size());
  ASSERT_EQ(cuStreamBatchMemOp_v2(stream_, count, batch.data(), 0), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 9);
  // One of an unknown kind: nothing is done.
  batch[0].value = 1;
  batch[5].kind = 7;
  EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, count, batch.data(), 0), error(Code::kInvalidValue));
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 9);
  EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, 0, nullptr, 1), error(Code::kInvalidValue));
}

TEST_F(DriverWork, ANullStreamIsTheThreadsForProgramsThatSayPerThread) {
  unsigned long long of_thread = 0, legacy = 0;
  EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &of_thread), 0);
  EXPECT_EQ(cuStreamGetId(nullptr, &legacy), 0);
  EXPECT_NE(of_thread, legacy);
  // The thread's stream can be captured, as the legacy default stream cannot.
  constexpr auto kThreadsStream = 2;
  cudaStream_t const thread = reinterpret_cast<cudaStream_t>(kThreadsStream);
  uint32_t v = 3;
  void* arguments[] = {&word_, &v};
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_v2(thread, 0), 0);
  EXPECT_EQ(cuMemsetD32Async_ptsz(word_, 1, 1, nullptr), 0);
  EXPECT_EQ(cuLaunchKernel_ptsz(add_, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), 0);
  ASSERT_EQ(cuStreamEndCapture(thread, &graph), 0);
  size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  uint32_t present = 9;
  EXPECT_EQ(cuMemcpyDtoH_v2_ptds(&present, word_, 4), 0);
  EXPECT_EQ(present, 0u);
  void* function = nullptr;
  constexpr unsigned long long kPerThread = 2;
  ASSERT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &function, 13000, kPerThread, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(cuLaunchKernel_ptsz));
  ASSERT_EQ(cuGetProcAddress_v2("cuInit", &function, 13000, kPerThread, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(cuInit));
}

class TimedDriverWork : public DriverWork {
 protected:
  [[nodiscard]] bool functional() const override { return false; }
};

TEST_F(TimedDriverWork, OnlyWhatIsSubmittedBeforeIsWaitedFor) {
  constexpr unsigned kEqual = 1;
  ASSERT_EQ(cuStreamWriteValue32_v2(stream_, word_, 8, 0), 0);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 8, kEqual), 0);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 9, kEqual), error(Code::kNotSupported));
  EXPECT_EQ(value(), 8u);
}

TEST_F(DriverWork, WhatAStreamIs) {
  int priority = 0;
  unsigned flags = 0;
  void* context = nullptr;
  unsigned long long id = 0, of_null = 1;
  EXPECT_EQ(cuStreamGetPriority(stream_, &priority), 0);
  EXPECT_EQ(priority, -2);
  EXPECT_EQ(cuStreamGetFlags(stream_, &flags), 0);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(cuStreamGetCtx(stream_, &context), 0);
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(cuStreamGetId(stream_, &id), 0);
  EXPECT_EQ(cuStreamGetId(nullptr, &of_null), 0);
  EXPECT_NE(id, of_null);
}

TEST_F(DriverWork, CopiesComeInBatches) {
  const uint32_t from[] = {3, 4};
  const CUdeviceptr to_device[] = {word_, word_ + 4};
  const CUdeviceptr from_host[] = {reinterpret_cast<CUdeviceptr>(from),
                                   reinterpret_cast<CUdeviceptr>(from + 1)};
  const size_t bytes[] = {4, 4}, too_many[] = {4, 4096};
  size_t failed = 9;
  EXPECT_EQ(cuMemcpyBatchAsync(to_device, from_host, too_many, 2, nullptr, nullptr, 0, &failed, stream_),
            error(Code::kInvalidValue));
  EXPECT_EQ(failed, 1u);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 0u);
  ASSERT_EQ(cuMemcpyBatchAsync_v2(to_device, from_host, bytes, 2, nullptr, nullptr, 0, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 3 + (uint64_t{4} << 32));
}

}  // namespace
}  // namespace gpusim::runtime
