// What a capture refuses at its begin, at its end, and of events.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaStreamBeginCapture(cudaStream_t, int);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaStreamIsCapturing(cudaStream_t, int*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, int*, unsigned long long*, cudaGraph_t*,
                                     const cudaGraphNode_t**, const void**, size_t*);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
cudaError_t cudaGraphGetEdges(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, void*, size_t*);
cudaError_t cudaGraphDestroy(cudaGraph_t);
}

namespace gpusim::runtime::test_program {
namespace {

constexpr int kRelaxed = 2;

class CudartCapture : public Cudart {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    constexpr unsigned kNonBlocking = 1;
    for (cudaStream_t* stream : {&first_, &second_})
      ASSERT_EQ(cudaStreamCreateWithFlags(stream, kNonBlocking), 0);
    for (cudaEvent_t* event : {&forked_, &joined_}) ASSERT_EQ(cudaEventCreate(event), 0);
  }
  void TearDown() override {
    for (cudaStream_t stream : {first_, second_}) EXPECT_EQ(cudaStreamDestroy(stream), 0);
    for (cudaEvent_t event : {forked_, joined_}) EXPECT_EQ(cudaEventDestroy(event), 0);
  }
  /// The second stream becomes part of the first one's capture.
  void fork() const {
    ASSERT_EQ(cudaStreamBeginCapture(first_, kRelaxed), 0);
    ASSERT_EQ(cudaEventRecord(forked_, first_), 0);
    ASSERT_EQ(cudaStreamWaitEvent(second_, forked_, 0), 0);
  }
  void expect_end(cudaStream_t stream, Code code) const {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), error(code));
    EXPECT_EQ(graph, nullptr);
  }
  void expect_graph(cudaStream_t stream) const {
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
  }

  cudaStream_t first_ = nullptr, second_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

TEST_F(CudartCapture, BeginsOnceAndNotInTheLegacyStream) {
  const auto legacy = reinterpret_cast<cudaStream_t>(1);
  for (cudaStream_t stream : {cudaStream_t{}, legacy})
    EXPECT_EQ(cudaStreamBeginCapture(stream, kRelaxed), error(Code::kStreamCaptureUnsupported));
  EXPECT_EQ(cudaStreamBeginCapture(first_, -1), error(Code::kInvalidValue));
  EXPECT_EQ(cudaStreamBeginCapture(first_, 3), error(Code::kInvalidValue));
  ASSERT_EQ(cudaStreamBeginCapture(first_, kRelaxed), 0);
  EXPECT_EQ(cudaStreamBeginCapture(first_, kRelaxed), error(Code::kIllegalState));
  int status = -1;
  EXPECT_EQ(cudaStreamIsCapturing(first_, &status), 0);
  EXPECT_EQ(status, 1) << "it goes on";
  expect_graph(first_);
}

TEST_F(CudartCapture, EndsWhereItBegan) {
  expect_end(first_, Code::kIllegalState);
  fork();
  EXPECT_EQ(cudaStreamEndCapture(first_, nullptr), error(Code::kInvalidValue));
  expect_end(second_, Code::kStreamCaptureUnmatched);
  ASSERT_EQ(cudaEventRecord(joined_, second_), 0);
  ASSERT_EQ(cudaStreamWaitEvent(first_, joined_, 0), 0);
  expect_graph(first_);
}

// CCCL's path_builder reads them when the capture has ended.
TEST_F(CudartCapture, TheLastNodesOfAStreamMayBeReadLater) {
  float* const y = device_floats({1});
  const auto capture = [&](cudaStream_t stream, const cudaGraphNode_t*& last) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, kRelaxed), 0);
    ASSERT_EQ(scale(y, 2, 1, stream), 0);
    int status = 0;
    size_t count = 0;
    ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count), 0);
    ASSERT_EQ(count, 1u);
  };
  const cudaGraphNode_t *first = nullptr, *second = nullptr;
  capture(first_, first);
  capture(second_, second);
  for (const auto& [stream, last] : {std::pair{first_, first}, std::pair{second_, second}}) {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    size_t count = 1;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
    ASSERT_EQ(cudaGraphGetNodes(graph, &node, &count), 0);
    EXPECT_EQ(*last, node);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
  }
}

TEST_F(CudartCapture, WhatWasForkedMustJoin) {
  fork();
  float* const y = device_floats({1});
  ASSERT_EQ(scale(y, 2, 1, second_), 0);
  expect_end(first_, Code::kStreamCaptureUnjoined);
  int status = -1;
  EXPECT_EQ(cudaStreamIsCapturing(second_, &status), 0);
  EXPECT_EQ(status, 0) << "all streams leave the capture";
  EXPECT_EQ(scale(y, 2, 1, second_), 0);
  EXPECT_EQ(cudaStreamSynchronize(second_), 0);
}

TEST_F(CudartCapture, TwoCapturesDoNotMix) {
  ASSERT_EQ(cudaStreamBeginCapture(first_, kRelaxed), 0);
  ASSERT_EQ(cudaStreamBeginCapture(second_, kRelaxed), 0);
  ASSERT_EQ(cudaEventRecord(forked_, first_), 0);
  EXPECT_EQ(cudaStreamWaitEvent(second_, forked_, 0), error(Code::kStreamCaptureMerge));
  // An invalid operation invalidates all captures that it concerns.
  expect_end(second_, Code::kStreamCaptureInvalidated);
  expect_end(first_, Code::kStreamCaptureInvalidated);
}

TEST_F(CudartCapture, ItsEventsHaveNoTime) {
  ASSERT_EQ(cudaEventRecord(joined_, second_), 0);
  ASSERT_EQ(cudaStreamBeginCapture(first_, kRelaxed), 0);
  ASSERT_EQ(cudaEventRecord(forked_, first_), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, joined_, forked_), error(Code::kCapturedEvent));
  EXPECT_EQ(cudaEventQuery(forked_), error(Code::kCapturedEvent));
  expect_end(first_, Code::kStreamCaptureInvalidated);
  constexpr unsigned kExternal = 1;
  EXPECT_EQ(cudaEventRecordWithFlags(forked_, first_, kExternal), error(Code::kIllegalState))
      << "only in a capture";
}

// An event of a launch's attributes (programmatic dependent launch) is recorded behind the launch.
TEST_F(CudartCapture, ALaunchRecordsItsEvents) {
  constexpr unsigned kNoTiming = 2;
  constexpr int kProgrammaticEvent = 7, kCompletionEvent = 12;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, kNoTiming), 0);
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t launch{{1, 1, 1}, {32, 1, 1}, 0, first_, &attribute, 1};
  const auto launched = [&](int id, const void* handle) {
    attribute.id = id;
    std::memcpy(attribute.value, &handle, sizeof handle);
    return cudaLaunchKernelExC(&launch, &count_stub, nullptr);
  };
  for (const int id : {kProgrammaticEvent, kCompletionEvent}) {
    EXPECT_EQ(launched(id, nullptr), error(Code::kInvalidResourceHandle));
    EXPECT_EQ(launched(id, forked_), error(Code::kInvalidValue)) << "it takes the time";
    ASSERT_EQ(cudaStreamBeginCapture(first_, kRelaxed), 0);
    ASSERT_EQ(launched(id, event), 0);
    ASSERT_EQ(cudaStreamWaitEvent(second_, event, 0), 0);
    ASSERT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, second_), 0);
    ASSERT_EQ(cudaEventRecord(joined_, second_), 0);
    ASSERT_EQ(cudaStreamWaitEvent(first_, joined_, 0), 0);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(first_, &graph), 0);
    cudaGraphNode_t from = nullptr, to = nullptr;
    size_t count = 1;
    std::array<unsigned char, 16> data{};
    data.fill(0xff);
    EXPECT_EQ(cudaGraphGetEdges(graph, &from, &to, data.data(), &count), 0);
    EXPECT_EQ(count, 1u) << "the second kernel comes after the first";
    for (size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], i < 8 ? 0 : 0xff);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
  }
  EXPECT_EQ(launched(kProgrammaticEvent, event), 0);
  EXPECT_EQ(cudaStreamSynchronize(first_), 0);
  EXPECT_EQ(cudaEventQuery(event), 0);
  EXPECT_EQ(cudaEventDestroy(event), 0);
}

}  // namespace
}  // namespace gpusim::runtime::test_program
