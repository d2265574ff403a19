// The end of a program whose threads go on.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/cudart/test_program.h"

namespace gpusim::runtime::test_program {
namespace {

/// Ends while another thread launches kernels.
[[noreturn]] void end_in_the_middle() {
  std::thread([] {
    for (;;) (void)cudaLaunchKernel(&count_stub, {8, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  std::exit(0);
}

TEST_F(TimedCudart, TheEndWaitsForWhatOtherThreadsDo) {
  for (int i = 0; i < 2; ++i) EXPECT_EXIT(end_in_the_middle(), ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace gpusim::runtime::test_program
