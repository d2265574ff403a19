// Arrays and copies to and from them, as programs use them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t, unsigned);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                cudaMemcpyKind);
cudaError_t cudaMemcpy2DFromArray(void*, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t,
                                  cudaMemcpyKind);
}

namespace gpusim::runtime {
namespace {

class CudartArray : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
  }
  static cudaArray_t floats(size_t width, size_t height) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(&array, &format, width, height, 0), 0);
    return array;
  }
};

TEST_F(CudartArray, OneRowNeedsNoPitchAndSeveralDo) {
  const cudaArray_t array = floats(8, 3);
  std::vector<float> values(24), back(8);
  std::iota(values.begin(), values.end(), 1.0f);
  const int bad_pitch = static_cast<int>(Code::kInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 32, 3, cudaMemcpyHostToDevice), bad_pitch);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 3, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 8, 1, values.data(), 0, 16, 1, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 0, array, 0, 1, 32, 1, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(back, (std::vector<float>{9, 10, 1, 2, 3, 4, 15, 16}));
  EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 0, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost), bad_pitch);
  EXPECT_EQ(cudaFreeArray(array), 0);
}

}  // namespace
}  // namespace gpusim::runtime
