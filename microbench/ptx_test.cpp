// Whether the compiler of the CUDA toolkit takes the PTX of the microbenchmarks, as a real GPU's driver has
// to. Not tested where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "microbench/constant_caches.h"
#include "microbench/cuda_device.h"
#include "microbench/kernels.h"
#include "microbench/operations.h"

namespace gpusim::microbench {
namespace {

class PtxForGpus : public testing::TestWithParam<int> {
 protected:
  PtxForGpus() { device_.capability = GetParam(); }
  void expect_compiles(const std::string& name, const std::string& ptx) const {
    const std::string path = fmt::format("{}_{}.ptx", name, device_.capability);
    std::ofstream(path) << ptx;
    const std::string command =
        fmt::format("{0} -arch=sm_{1} {2} -o {2}.cubin 2>{2}.log", GPUSIM_PTXAS, device_.capability, path);
    const int result = std::system(command.c_str());
    std::ifstream log(path + ".log");
    EXPECT_EQ(result, 0) << name << ": " << std::string(std::istreambuf_iterator<char>(log), {});
  }
  DeviceProperties device_;
};

TEST_P(PtxForGpus, IsTakenByPtxas) {
  for (const char* const name : {"burst", "cache_read", "chase", "probe", "shared_pattern", "stream"})
    expect_compiles(name, kernel_file(name, device_));
  expect_compiles("constant", constant_chase(device_, 256, 256));
  expect_compiles("one_chain", operation_module(device_, operations_of(device_), 1, 32));
  expect_compiles("chains", operation_module(device_, operations_of(device_), 12, 16));
  expect_compiles("own", own_kernels(device_));
}

INSTANTIATE_TEST_SUITE_P(Capabilities, PtxForGpus, testing::Values(75, 80, 90));

}  // namespace
}  // namespace gpusim::microbench
