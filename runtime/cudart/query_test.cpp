// Questions whether work is done: simulated time stands still while the program computes, so that what was
// just submitted is under way, and goes on as it waits or asks again.
#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                                unsigned);
cudaError_t cudaLibraryGetKernel(void**, void*, const char*);
}

namespace gpusim::runtime::test_program {
namespace {

constexpr unsigned kValues = 20000;

/// How often a question is answered with no until it is answered with yes.
template <class Ask>
int vain_questions(Ask ask) {
  constexpr int kMost = 1000;
  int asked = 0;
  while (asked < kMost && ask() != 0) ++asked;
  return asked;
}

/// The parameter: values only.
class Query : public Cudart, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    ASSERT_EQ(cudaStreamCreate(&first_), 0);
    ASSERT_EQ(cudaStreamCreate(&second_), 0);
    ASSERT_EQ(cudaEventCreate(&before_), 0);
    ASSERT_EQ(cudaEventCreate(&after_), 0);
    y_ = device_floats(std::vector<float>(kValues, 1));
  }
  [[nodiscard]] bool functional() const override { return GetParam(); }

  const int not_ready_ = error(Code::kNotReady);
  cudaStream_t first_ = nullptr, second_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
  float* y_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(ForValues, Query, ::testing::Values(true));
INSTANTIATE_TEST_SUITE_P(Timed, Query, ::testing::Values(false));

TEST_P(Query, WorkIsUnderWayUntilTheProgramHasWaited) {
  EXPECT_EQ(cudaStreamQuery(first_), 0) << "nothing was submitted";
  EXPECT_EQ(cudaEventQuery(after_), 0) << "it was not recorded";
  ASSERT_EQ(cudaEventRecord(before_, first_), 0);
  ASSERT_EQ(scale(y_, 2, kValues, first_), 0);
  ASSERT_EQ(cudaEventRecord(after_, first_), 0);
  EXPECT_EQ(cudaStreamQuery(first_), not_ready_);
  EXPECT_EQ(cudaEventQuery(after_), not_ready_);
  EXPECT_EQ(cudaStreamQuery(nullptr), not_ready_) << "the null stream waits for the others";
  EXPECT_EQ(cudaStreamQuery(second_), 0);
  ASSERT_EQ(cudaStreamSynchronize(first_), 0);
  EXPECT_EQ(cudaStreamQuery(first_), 0);
  EXPECT_EQ(cudaStreamQuery(nullptr), 0);
  EXPECT_EQ(cudaEventQuery(after_), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(host_floats(y_, kValues), std::vector<float>(kValues, 2));
}

TEST_P(Query, WhoAsksUntilWorkIsDoneSeesItDone) {
  ASSERT_EQ(cudaEventRecord(before_, first_), 0);
  ASSERT_EQ(scale(y_, 2, kValues, first_), 0);
  ASSERT_EQ(cudaEventRecord(after_, first_), 0);
  EXPECT_EQ(cudaEventQuery(after_), not_ready_);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), not_ready_);
  const int few = vain_questions([&] { return cudaEventQuery(after_); });
  EXPECT_LT(few, 20);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), 0);
  EXPECT_GT(milliseconds, 0);
  // Questions take time: who asks for much work asks more often, but not for each piece of it.
  for (int i = 0; i < 500; ++i) ASSERT_EQ(scale(y_, 1, 1, second_), 0);
  const int more = vain_questions([&] { return cudaStreamQuery(second_); });
  EXPECT_GT(more, 2);
  EXPECT_LT(more, 30);
  EXPECT_EQ(vain_questions([&] { return cudaStreamQuery(nullptr); }), 0);
}

TEST_P(Query, LongerWorkOfAnotherStreamIsUnderWayWhenShorterIsDone) {
  ASSERT_EQ(scale(y_, 2, 1, first_), 0);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(scale(y_ + 128, 2, kValues - 128, second_), 0);
  EXPECT_EQ(cudaStreamQuery(first_), not_ready_);
  EXPECT_EQ(cudaStreamQuery(second_), not_ready_);
  ASSERT_EQ(cudaStreamSynchronize(first_), 0);
  EXPECT_EQ(cudaStreamQuery(first_), 0);
  EXPECT_EQ(cudaStreamQuery(second_), not_ready_);
  EXPECT_EQ(cudaStreamQuery(nullptr), not_ready_);
  // What waits for an event is as late as it.
  ASSERT_EQ(cudaEventRecord(after_, second_), 0);
  ASSERT_EQ(cudaStreamWaitEvent(first_, after_, 0), 0);
  EXPECT_EQ(cudaStreamQuery(first_), not_ready_);
  ASSERT_EQ(cudaEventSynchronize(after_), 0);
  EXPECT_EQ(cudaStreamQuery(second_), 0);
  EXPECT_EQ(cudaStreamQuery(first_), 0);
}

TEST_P(Query, ACopyThatBlocksIsAWait) {
  ASSERT_EQ(cudaEventRecord(before_, first_), 0);
  ASSERT_EQ(scale(y_, 2, kValues, first_), 0);
  EXPECT_EQ(host_floats(y_, kValues), std::vector<float>(kValues, 2));
  EXPECT_EQ(cudaStreamQuery(first_), 0);
  // An event behind work that is done has its time at once.
  ASSERT_EQ(cudaEventRecord(after_, first_), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), 0);
  EXPECT_GT(milliseconds, 0);
}

/// Waits for so many nanoseconds.
const char* const kSleep = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry sleep(.param .u64 time)
{
  .reg .b64 %rd<4>; .reg .pred %p;
  ld.param.u64 %rd0, [time];
  mov.u64 %rd1, %globaltimer;
wait:
  mov.u64 %rd2, %globaltimer;
  sub.u64 %rd3, %rd2, %rd1;
  setp.lt.u64 %p, %rd3, %rd0;
  @%p bra wait;
  ret;
}
)";

TEST_P(Query, TheTimeThatAKernelWaitsForPasses) {
  uint64_t wanted = GetParam() ? 20'000'000 : 20'000;
  void *library = nullptr, *kernel = nullptr, *arguments[] = {&wanted};
  ASSERT_EQ(cudaLibraryLoadData(&library, kSleep, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "sleep"), 0);
  ASSERT_EQ(cudaEventRecord(before_, first_), 0);
  ASSERT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, arguments, 0, first_), 0);
  ASSERT_EQ(cudaEventRecord(after_, first_), 0);
  ASSERT_EQ(cudaStreamSynchronize(first_), 0);
  float milliseconds = 0;
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), 0);
  EXPECT_GE(milliseconds, static_cast<float>(wanted) * 1e-6F);
  EXPECT_LT(milliseconds, static_cast<float>(wanted) * 2e-6F);
  // Another stream goes on meanwhile.
  ASSERT_EQ(cudaEventRecord(before_, second_), 0);
  ASSERT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, arguments, 0, first_), 0);
  ASSERT_EQ(cudaEventRecord(after_, second_), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), 0);
  EXPECT_LT(milliseconds, static_cast<float>(wanted) * 1e-6F);
}

}  // namespace
}  // namespace gpusim::runtime::test_program
