// Libraries that a program loads itself, and what they hold.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                                unsigned);
cudaError_t cudaLibraryLoadFromFile(void**, const char*, const int*, void**, unsigned, const int*, void**,
                                    unsigned);
cudaError_t cudaLibraryUnload(void*);
cudaError_t cudaLibraryGetKernel(void**, void*, const char*);
cudaError_t cudaLibraryGetGlobal(void**, size_t*, void*, const char*);
cudaError_t cudaLibraryGetManaged(void**, size_t*, void*, const char*);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaLibraryGetKernelCount(unsigned*, void*);
cudaError_t cudaLibraryEnumerateKernels(void**, unsigned, void*);
cudaError_t cudaLibraryGetUnifiedFunction(void**, void*, const char*);
cudaError_t cudaKernelSetAttributeForDevice(void*, int, int, int);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
cudaError_t cudaFuncGetName(const char**, const void*);
cudaError_t cudaGetFuncBySymbol(void**, const void*);
}

namespace gpusim::runtime {
class Module;  // behind the handles of the driver's functions
class Kernel;
}  // namespace gpusim::runtime

namespace gpusim::runtime::test_program {
namespace {

cudaError_t load(void** library, const void* code) {
  return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

TEST_F(Cudart, ALibraryIsLoadedAndItsKernelsAreLaunched) {
  void *library = nullptr, *kernel = nullptr, *counter = nullptr;
  ASSERT_EQ(load(&library, kPtx), 0);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "count"), 0);
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "nothing"), error(Code::kSymbolNotFound));
  size_t bytes = 0;
  ASSERT_EQ(cudaLibraryGetGlobal(&counter, &bytes, library, "counter"), 0);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cudaLibraryGetGlobal(&counter, nullptr, library, "nothing"), error(Code::kSymbolNotFound));
  EXPECT_EQ(cudaLibraryGetGlobal(nullptr, nullptr, library, "counter"), error(Code::kInvalidValue));
  ASSERT_EQ(cudaLaunchKernel(kernel, {2, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr), 0);
  unsigned count = 0;
  ASSERT_EQ(cudaMemcpy(&count, counter, 4, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(count, 64u);
  ASSERT_EQ(cudaLibraryGetKernelCount(&count, library), 0);
  ASSERT_EQ(count, 6u);
  std::vector<void*> kernels(7);
  ASSERT_EQ(cudaLibraryEnumerateKernels(kernels.data(), 7, library), 0);
  EXPECT_EQ(kernels[2], kernel);
  EXPECT_EQ(kernels[6], nullptr);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernels[0]), 0);
  EXPECT_EQ(std::string_view(name), "scale");
  void* function = nullptr;
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(&function, library, "count"), error(Code::kSymbolNotFound));
  ASSERT_EQ(cudaLibraryUnload(library), 0);
  EXPECT_EQ(cudaLibraryUnload(library), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaLibraryGetKernelCount(&count, library), error(Code::kInvalidResourceHandle));
}

TEST_F(Cudart, AManagedVariableOfALibraryIsSharedWithTheHost) {
  void *library = nullptr, *kernel = nullptr, *managed = nullptr, *global = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(load(&library, kPtx), 0);
  ASSERT_EQ(cudaLibraryGetManaged(&managed, &bytes, library, "shared_total"), 0);
  EXPECT_EQ(bytes, 4u);
  ASSERT_EQ(cudaLibraryGetGlobal(&global, nullptr, library, "shared_total"), 0);
  EXPECT_EQ(global, managed);
  EXPECT_EQ(cudaLibraryGetManaged(&managed, &bytes, library, "counter"), error(Code::kSymbolNotFound));
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, managed), 0);
  constexpr int kManaged = 3, kDevice = 2;
  EXPECT_EQ(attributes.type, kManaged);
  EXPECT_EQ(attributes.hostPointer, managed);
  auto* const total = static_cast<unsigned*>(managed);
  EXPECT_EQ(*total, 5u);
  *total = 100;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "share"), 0);
  ASSERT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(*total, 132u);
  ASSERT_EQ(cudaLibraryGetGlobal(&global, nullptr, library, "counter"), 0);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, global), 0);
  EXPECT_EQ(attributes.type, kDevice);
}

TEST_F(Cudart, AttributesOfAKernelOfALibraryAreSet) {
  void *library = nullptr, *kernel = nullptr;
  ASSERT_EQ(load(&library, fat_binary().c_str()), 0);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "scale"), 0);
  constexpr int kMaxDynamicShared = 8;
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, kMaxDynamicShared, 65536, 1),
            error(Code::kInvalidDevice));
  ASSERT_EQ(cudaKernelSetAttributeForDevice(kernel, kMaxDynamicShared, 65536, 0), 0);
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernel), 0);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 65536);
}

TEST_F(Cudart, WhatIsWrongWithALibraryIsInItsLog) {
  void* library = nullptr;
  char log[200] = "before";
  const int options[] = {6, 5, 3};  // the size of the log of errors, that log, the one of information
  char information[8] = "before";
  void* values[] = {reinterpret_cast<void*>(sizeof log), log, information};
  EXPECT_EQ(cudaLibraryLoadData(&library, ".version 7.0\n.target sm_70\nnonsense\n", options, values, 3,
                                nullptr, nullptr, 0),
            error(Code::kInvalidPtx));
  EXPECT_NE(std::string_view(log).find("nonsense"), std::string_view::npos) << log;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values[0]), std::string_view(log).size());
  EXPECT_EQ(std::string_view(information), "");
  // Without a log, what is wrong is told when something of the library is asked for (as an H100 with driver
  // 580.159 answers).
  ASSERT_EQ(load(&library, ""), 0);
  void* none = nullptr;
  EXPECT_EQ(cudaLibraryGetKernel(&none, library, "k"), error(Code::kInvalidPtx));
  EXPECT_EQ(load(&library, nullptr), error(Code::kInvalidValue));
  const int unknown = 2, preserved = 1;
  void* yes = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, &unknown, &yes, 1),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, &preserved, &yes, 1), 0);
}

TEST_F(Cudart, ALibraryInAFileMayBeCutOff) {
  void* library = nullptr;
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "library.fatbin";
  const auto loaded = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    return cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  const std::string whole = fat_binary();
  EXPECT_EQ(loaded(whole), 0);
  EXPECT_EQ(loaded(kPtx), 0);
  EXPECT_EQ(loaded(whole.substr(0, whole.size() - 1)), error(Code::kInvalidKernelImage));
  EXPECT_EQ(loaded(whole.substr(0, 8)), error(Code::kInvalidKernelImage));
  const int preserved = 1;
  void* yes = nullptr;
  EXPECT_EQ(cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, &preserved, &yes, 1),
            error(Code::kInvalidValue));
  std::filesystem::remove(file);
  EXPECT_EQ(cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            error(Code::kFileNotFound));
}

TEST_F(Cudart, TheProgramsOwnCodeIsAModuleThatIsNotUnloaded) {
  const auto entry = [](const char* name) {
    void* function = nullptr;
    int status = 0;
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &function, 13000, 0, &status), 0);
    return function;
  };
  void* kernel = nullptr;
  Module* module = nullptr;
  ASSERT_EQ(cudaGetFuncBySymbol(&kernel, &count_stub), 0);
  ASSERT_EQ(reinterpret_cast<int (*)(Module**, Kernel*)>(entry("cuFuncGetModule"))(
                &module, static_cast<Kernel*>(kernel)),
            0);
  unsigned count = 0;
  ASSERT_EQ(reinterpret_cast<int (*)(unsigned*, Module*)>(entry("cuModuleGetFunctionCount"))(&count, module),
            0);
  EXPECT_EQ(count, 6u);
  Kernel* again = nullptr;
  ASSERT_EQ(reinterpret_cast<int (*)(Kernel**, Module*, const char*)>(entry("cuModuleGetFunction"))(
                &again, module, "count"),
            0);
  EXPECT_EQ(again, kernel);
  EXPECT_EQ(reinterpret_cast<int (*)(Module*)>(entry("cuModuleUnload"))(module),
            error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
}

}  // namespace
}  // namespace gpusim::runtime::test_program
