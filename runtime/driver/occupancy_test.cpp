// Questions about occupancy, as a program asks them of the driver library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "runtime/device/error.h"

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuFuncGetAttribute(int*, int, void*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, size_t);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t*, void*, int, int);
int cuOccupancyMaxPotentialBlockSizeWithFlags(int*, int*, void*, size_t (*)(int), size_t, int, unsigned);
int cuOccupancyMaxPotentialBlockSize(int*, int*, void*, size_t (*)(int), size_t, int);
}

namespace gpusim::runtime {
namespace {

/// A kernel that needs more than 64 registers: no block of 1024 threads has them unless some are spilled.
std::string many_registers() {
  constexpr int kValues = 90;
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry many(.param .u64 p)\n{\n"
      "  .reg .u64 %p;\n  .reg .f32 %f<100>, %s;\n  ld.param.u64 %p, [p];\n  mov.f32 %s, 0f00000000;\n";
  for (int i = 0; i < kValues; ++i) text += fmt::format("  ld.global.f32 %f{}, [%p+{}];\n", i, 4 * i);
  // In pairs from both ends, so that all values are needed at once.
  for (int i = 0; i < kValues; ++i)
    text += fmt::format("  fma.rn.f32 %s, %f{}, %f{}, %s;\n", i, kValues - 1 - i);
  return text + "  st.global.f32 [%p], %s;\n  ret;\n}\n";
}

TEST(Occupancy, QuestionsLeaveTheKernelAsItIs) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  constexpr int kMaxThreads = 0, kRegisters = 4;
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, many_registers().c_str()), 0);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "many"), 0);
  int registers = 0, of_256 = 0, of_1024 = 0, after = 0, value = 0, grid = 0, block = 0;
  ASSERT_EQ(cuFuncGetAttribute(&registers, kRegisters, function), 0);
  ASSERT_GT(registers, 64);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_256, function, 256, 0), 0);
  EXPECT_EQ(of_256, 65536 / 256 / ((registers + 7) / 8 * 8));
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_1024, function, 1024, 0), 0);
  EXPECT_EQ(of_1024, 0) << "as the kernel is; a launch of such blocks takes fewer registers";
  ASSERT_EQ(cuFuncGetAttribute(&value, kMaxThreads, function), 0);
  EXPECT_EQ(value, 65536 / ((registers + 7) / 8 * 8) / 128 * 128) << "warps are dealt to four schedulers";
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0), 0);
  ASSERT_EQ(cuFuncGetAttribute(&after, kRegisters, function), 0);
  EXPECT_EQ(after, registers);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0), 0);
  EXPECT_EQ(value, of_256);
  // As much shared memory as leaves room for so many blocks.
  size_t bytes = 0;
  ASSERT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, of_256, 256), 0);
  EXPECT_EQ(bytes, size_t{96 * 1024} / static_cast<size_t>(of_256) / 256 * 256);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, bytes), 0);
  EXPECT_EQ(value, of_256);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, bytes + 256), 0);
  EXPECT_LT(value, of_256);
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 0, 256),
            static_cast<int>(Code::kInvalidValue));
  int same_grid = 0, same_block = 0;
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&same_grid, &same_block, function, nullptr, 0, 0, 0),
            0);
  EXPECT_EQ(same_block, block);
}

}  // namespace
}  // namespace gpusim::runtime
