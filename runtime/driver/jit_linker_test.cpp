// The linker of the driver library as a program sees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/device/error.h"

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuLinkCreate(unsigned, int*, void**, void**);
int cuLinkAddData(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile(void*, int, const char*, unsigned, int*, void**);
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
  EXPECT_EQ(cuLinkAddData_v2(link, 3, ptx, sizeof ptx, "object", 0, nullptr, nullptr),
            error(Code::kNotSupported));
  constexpr int kNoSuchType = 6;
  EXPECT_EQ(cuLinkAddData_v2(link, kNoSuchType, ptx, sizeof ptx, "text", 0, nullptr, nullptr),
            error(Code::kInvalidValue));
  char wrong[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\n  bogus;\n}\n";
  EXPECT_EQ(cuLinkAddData_v2(link, 1, wrong, sizeof wrong, "text", 0, nullptr, nullptr),
            error(Code::kInvalidPtx))
      << "what others define makes it no better";
  ASSERT_EQ(cuLinkAddData_v2(link, 1, ptx, sizeof ptx, "text", 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), 0);
  EXPECT_EQ(bytes, std::strlen(static_cast<char*>(image)) + 1);
  ASSERT_EQ(cuModuleLoadData(&module, image), 0);
  EXPECT_EQ(cuLinkDestroy(link), 0);
  EXPECT_EQ(cuLinkDestroy(link), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), 0) << "the module outlives the linker";
}

/// A program by itself defines what it declares .extern, if it says how large it is. All of constant memory,
/// as OpenCL's pocl has it.
TEST(JitLinker, AProgramByItselfDefinesItsExternVariables) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  const auto text = [](const char* variable) {
    return std::string(".version 7.0\n.target sm_70\n.address_size 64\n.extern ") + variable +
           ";\n.visible .entry k()\n{\n  .reg .b64 %a;\n  mov.u64 %a, region;\n  ret;\n}\n";
  };
  for (const char* const variable :
       {".const .align 4 .b8 region[65536]", ".global .align 4 .b8 region[65536]"}) {
    void* module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, text(variable).c_str()), 0);
    unsigned long long address = 0;
    size_t bytes = 0;
    ASSERT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "region"), 0);
    EXPECT_EQ(bytes, 65536u);
    unsigned last = 1;
    ASSERT_EQ(cuMemcpyDtoH_v2(&last, address + bytes - sizeof last, sizeof last), 0);
    EXPECT_EQ(last, 0u);
  }
  void* module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, text(".global .align 4 .b8 region[]").c_str()),
            static_cast<int>(Code::kInvalidPtx));
  // What is declared first, as a variable that holds its own address has to be, is defined once.
  const std::string declared = text(
      ".const .align 8 .u64 region[2];\n.extern .const .align 8 .u64 region[2];\n.visible .const .align 8 "
      ".u64 "
      "region[2] = {region+8, 7}");
  ASSERT_EQ(cuModuleLoadData(&module, declared.c_str()), 0);
  unsigned long long address = 0, words[2] = {};
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "region"), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(words, address, sizeof words), 0);
  EXPECT_EQ(words[0], address + 8);
  EXPECT_EQ(words[1], 7u);
}

TEST(JitLinker, TheFirstFormsLinkToo) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void *primary = nullptr, *link = nullptr, *image = nullptr, *module = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), 0);
  EXPECT_EQ(cuLinkAddFile(link, 1, "no such file", 0, nullptr, nullptr),
            static_cast<int>(Code::kFileNotFound));
  ASSERT_EQ(cuLinkAddData(link, 1, ptx, sizeof ptx, "text", 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkComplete(link, &image, nullptr), 0);
  EXPECT_EQ(cuModuleLoadData(&module, image), 0);
  EXPECT_EQ(cuLinkDestroy(link), 0);
}

TEST(JitLinker, LogsAreEmptyOrSayWhatIsWrong) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  constexpr int kInfoLog = 3, kInfoBytes = 4, kErrorLog = 5, kErrorBytes = 6;
  char info[32], errors[32];
  std::memset(info, 'x', sizeof info), std::memset(errors, 'x', sizeof errors);
  int options[] = {kErrorBytes, kErrorLog, kInfoLog, kInfoBytes};
  void* values[] = {reinterpret_cast<void*>(sizeof errors), errors, info,
                    reinterpret_cast<void*>(sizeof info)};
  void *link = nullptr, *image = nullptr, *module = nullptr;
  EXPECT_EQ(cuLinkCreate_v2(4, nullptr, values, &link), static_cast<int>(Code::kInvalidValue));
  EXPECT_EQ(cuLinkCreate_v2(4, options, nullptr, &link), static_cast<int>(Code::kInvalidValue));
  ASSERT_EQ(cuLinkCreate_v2(4, options, values, &link), 0);
  EXPECT_STREQ(info, "");
  EXPECT_STREQ(errors, "");
  EXPECT_EQ(values[0], nullptr) << "how much was written";
  char machine_code[] = "\177ELF and what only a GPU reads";
  for (int again = 0; again < 2; ++again) {
    errors[0] = '\0';
    EXPECT_EQ(cuLinkAddData_v2(link, 0, machine_code, sizeof machine_code, "cubin", 0, nullptr, nullptr),
              static_cast<int>(Code::kNoKernelImageForDevice));
    EXPECT_STREQ(errors, "cubin: is machine code of a rea") << "as much as there is room for";
    EXPECT_EQ(values[0], reinterpret_cast<void*>(sizeof errors - 1));
  }
  size_t bytes = 0;
  ASSERT_EQ(cuLinkAddData_v2(link, 0, ptx, sizeof ptx, "NVRTC's", 0, nullptr, nullptr), 0);
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), 0);
  ASSERT_EQ(cuModuleLoadData(&module, image), 0);
  EXPECT_EQ(cuLinkDestroy(link), 0);
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

/// The compiler takes all functions of a text, the linker those that kernels reach.
TEST(JitLinker, AFunctionThatIsDefinedNowhereIsAnErrorOfTheLoadOrTheLink) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  ASSERT_EQ(cuInit(0), 0);
  void* primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  const auto text = [](const char* kind) {
    return std::string(".version 7.0\n.target sm_70\n.address_size 64\n.extern .func missing();\n") + kind +
           " f()\n{\n  call missing;\n  ret;\n}\n.visible .entry k()\n{\n  ret;\n}\n";
  };
  const std::string by_kernel = text(".visible .entry"), by_function = text(".visible .func");
  void* module = nullptr;
  for (const std::string& program : {by_kernel, by_function}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cuModuleLoadData(&module, program.c_str()), static_cast<int>(Code::kInvalidPtx));
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("module:7:3: error: function 'missing'"), std::string::npos) << told;
  }
  const auto link_with = [&module](std::vector<std::string> texts, std::string& told) {
    std::string log(200, '\0');
    int names[] = {5, 6};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    void *link = nullptr, *image = nullptr;
    EXPECT_EQ(cuLinkCreate_v2(2, names, values, &link), 0);
    for (std::string& t : texts)
      EXPECT_EQ(cuLinkAddData_v2(link, 1, t.data(), t.size() + 1, "part", 0, nullptr, nullptr), 0);
    const int result = cuLinkComplete(link, &image, nullptr);
    if (result == 0) {
      EXPECT_EQ(cuModuleLoadData(&module, image), 0);
    }
    EXPECT_EQ(cuLinkDestroy(link), 0);
    told = log.c_str();
    return result;
  };
  const std::string library =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func missing()\n{\n  ret;\n}\n";
  std::string told;
  EXPECT_EQ(link_with({by_kernel}, told), static_cast<int>(Code::kInvalidKernelImage));
  EXPECT_NE(told.find("part:7:3: error: function 'missing'"), std::string::npos) << told;
  EXPECT_EQ(link_with({by_function}, told), 0);
  EXPECT_EQ(told, "");
  EXPECT_EQ(link_with({by_kernel, library}, told), 0);
}

}  // namespace
}  // namespace gpusim::runtime
