// The linker of the driver library as a program sees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/device/error.h"

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, size_t*);
int cuLinkDestroy(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetGlobal_v2(unsigned long long*, size_t*, void*, const char*);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
}

namespace gpusim::runtime {
namespace {

char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

TEST(JitLinker, AModuleIsLoadedFromWhatWasLinked) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  const auto error = [](Code code) { return static_cast<int>(code); };
  void *link = nullptr, *image = nullptr, *module = nullptr, *function = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), 0);
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), error(Code::kInvalidValue)) << "nothing was added";
  EXPECT_EQ(cuLinkAddFile_v2(link, 1, "no such file", 0, nullptr, nullptr), error(Code::kFileNotFound));
  EXPECT_EQ(cuLinkAddData_v2(link, 0, ptx, sizeof ptx, "cubin", 0, nullptr, nullptr),
            error(Code::kNotSupported));
  ASSERT_EQ(cuLinkAddData_v2(link, 1, ptx, sizeof ptx, "text", 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), 0);
  EXPECT_EQ(bytes, sizeof ptx);
  ASSERT_EQ(cuModuleLoadData(&module, image), 0);
  EXPECT_EQ(cuLinkDestroy(link), 0);
  EXPECT_EQ(cuLinkDestroy(link), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), 0) << "the module outlives the linker";
}

char caller[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .global .u32 number;\n"
    ".extern .func twice();\n.visible .entry start()\n{\n  call.uni twice, ();\n  ret;\n}\n";
char called[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 number = 21;\n"
    ".visible .func twice()\n{\n  .reg .u32 %r;\n  ld.global.u32 %r, [number];\n  add.u32 %r, %r, %r;\n"
    "  st.global.u32 [number], %r;\n  ret;\n}\n";

TEST(JitLinker, TextsCallEachOther) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  void *link = nullptr, *image = nullptr, *module = nullptr, *function = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), 0);
  ASSERT_EQ(cuLinkAddData_v2(link, 1, caller, sizeof caller, "caller", 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkAddData_v2(link, 1, called, sizeof called - 1, nullptr, 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), 0);
  EXPECT_EQ(cuLinkAddData_v2(link, 1, called, sizeof called, "late", 0, nullptr, nullptr),
            static_cast<int>(Code::kInvalidValue));
  // The image is the program's to keep.
  const std::vector<char> kept(static_cast<char*>(image), static_cast<char*>(image) + bytes);
  EXPECT_EQ(cuLinkDestroy(link), 0);
  ASSERT_EQ(cuModuleLoadData(&module, kept.data()), 0);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "start"), 0);
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), 0);
  unsigned long long number = 0;
  unsigned value = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&number, nullptr, module, "number"), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(&value, number, 4), 0);
  EXPECT_EQ(value, 42u);
}

}  // namespace
}  // namespace gpusim::runtime
