// The linker of the driver library as a program sees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "runtime/device/error.h"

extern "C" {
int cuInit(unsigned);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, size_t*);
int cuLinkDestroy(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
}

namespace gpusim::runtime {
namespace {

char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

TEST(JitLinker, AModuleIsLoadedFromWhatWasLinked) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  const auto error = [](Code code) { return static_cast<int>(code); };
  void *link = nullptr, *image = nullptr, *module = nullptr, *function = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), 0);
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), error(Code::kInvalidValue)) << "nothing was added";
  EXPECT_EQ(cuLinkAddFile_v2(link, 1, "no such file", 0, nullptr, nullptr), error(Code::kFileNotFound));
  EXPECT_EQ(cuLinkAddData_v2(link, 0, ptx, sizeof ptx, "cubin", 0, nullptr, nullptr),
            error(Code::kNotSupported));
  ASSERT_EQ(cuLinkAddData_v2(link, 1, ptx, sizeof ptx, "text", 0, nullptr, nullptr), 0);
  EXPECT_EQ(cuLinkAddData_v2(link, 1, ptx, sizeof ptx, "text", 0, nullptr, nullptr),
            error(Code::kNotSupported));
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), 0);
  EXPECT_EQ(bytes, sizeof ptx);
  ASSERT_EQ(cuModuleLoadData(&module, image), 0);
  EXPECT_EQ(cuLinkDestroy(link), 0);
  EXPECT_EQ(cuLinkDestroy(link), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), 0) << "the module outlives the linker";
}

}  // namespace
}  // namespace gpusim::runtime
