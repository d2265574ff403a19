// Memory as a program of the CUDA runtime sees it: managed, mapped and registered, pools, advice and batches
// of copies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t, unsigned);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                cudaMemcpyKind);
char __cudaInitModule(void**);
cudaError_t cudaMallocManaged(void**, size_t, unsigned);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaFree(void*);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaMallocFromPoolAsync(void**, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t*, int);
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, int, void*);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t);
cudaError_t cudaMemAdvise(const void*, size_t, int, cudaMemLocation);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned);
cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t, void*, size_t, unsigned);
cudaError_t cudaGetSymbolAddress(void**, const void*);
cudaError_t cudaGetSymbolSize(size_t*, const void*);
cudaError_t cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
cudaError_t cudaMemRangeGetAttributes(void**, size_t*, const int*, size_t, const void*, size_t);
cudaError_t cudaMemPrefetchBatchAsync(void**, size_t*, size_t, cudaMemLocation*, size_t*, size_t,
                                      unsigned long long, cudaStream_t);
cudaError_t cudaMemcpyBatchAsync(void* const*, const void* const*, const size_t*, size_t, const void*,
                                 const size_t*, size_t, cudaStream_t);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemGetMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemSetMemPool(cudaMemLocation*, int, cudaMemPool_t);
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int, int);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t*, const cudaChannelFormatDesc*, int);
}

namespace gpusim::runtime::test_program {
namespace {

TEST_F(Cudart, ManagedMappedAndRegisteredMemoryIsTheProgramsOwn) {
  void *managed = nullptr, *mapped = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 400, 1), 0);
  ASSERT_EQ(cudaHostAlloc(&mapped, 400, 2), 0);
  std::vector<float> own(100, 7);
  ASSERT_EQ(cudaHostRegister(own.data(), 400, 0), 0);
  for (auto* memory : {static_cast<float*>(managed), static_cast<float*>(mapped), own.data()}) {
    for (int i = 0; i < 100; ++i) memory[i] = static_cast<float>(i);
    ASSERT_EQ(scale(memory, 3, 100), 0);
    ASSERT_EQ(cudaDeviceSynchronize(), 0);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(memory[i], static_cast<float>(3 * i));
  }
  cudaPointerAttributes a;
  ASSERT_EQ(cudaPointerGetAttributes(&a, managed), 0);
  EXPECT_EQ(a.type, 3);
  ASSERT_EQ(cudaPointerGetAttributes(&a, mapped), 0);
  EXPECT_EQ(a.type, 1);
  ASSERT_EQ(cudaPointerGetAttributes(&a, &a), 0);
  EXPECT_EQ(a.type, 0);
  EXPECT_EQ(cudaFree(managed), 0);
  EXPECT_EQ(cudaFreeHost(mapped), 0);
}

TEST_F(Cudart, AnExportBringsWhatTheHostHasWritten) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "exported";
  setenv("GPUSIM_EXPORT", folder.c_str(), 1);
  const auto program = [this] {
    const cudaChannelFormatDesc format{32, 0, 0, 0, 2};
    void* memory = nullptr;
    bool good = __cudaInitModule(program_) == 1 && cudaMalloc(&memory, 12) == 0 &&
                cudaMemcpy(static_cast<char*>(memory) + 3, "abc", 3, cudaMemcpyHostToDevice) == 0;
    for (const float value : {1.0f, 2.0f}) {
      cudaArray_t array = nullptr;
      good = good && cudaMallocArray(&array, &format, 1, 1, 0) == 0 &&
             cudaMemcpy2DToArray(array, 0, 0, &value, 4, 4, 1, cudaMemcpyHostToDevice) == 0;
      *managed_variable += 100;
      good = good && cudaLaunchKernel(&share_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr) == 0 &&
             cudaDeviceSynchronize() == 0;
    }
    std::exit(good && *managed_variable == 269 ? 0 : 1);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  std::ifstream in(folder / "case.toml");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("name = \"array\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("name = \"array_2\"\n"), std::string::npos) << text;
  const size_t first = text.find("[[launch]]"), second = text.rfind("[[launch]]");
  const size_t written = text.find("copy(shared_total, ", first);
  EXPECT_LT(first, written) << text;
  EXPECT_LT(written, second) << text;
  // What is brought has the variable's type, and copies whole elements.
  const std::string source = text.substr(written + 19, text.find(')', written) - written - 19);
  EXPECT_NE(text.find("name = \"" + source + "\"\ntype = \"b8\"\ncount = 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("offset = 0\nbytes = 8\ninit"), std::string::npos) << text;
  std::filesystem::remove_all(folder);
}

TEST_F(Cudart, AManagedVariableIsManagedMemory) {
  ASSERT_EQ(__cudaInitModule(program_), 1);
  ASSERT_NE(managed_variable, nullptr);
  EXPECT_EQ(*managed_variable, 5u);
  cudaPointerAttributes a;
  ASSERT_EQ(cudaPointerGetAttributes(&a, managed_variable), 0);
  EXPECT_EQ(a.type, 3);
  EXPECT_EQ(a.devicePointer, managed_variable);
  EXPECT_EQ(a.hostPointer, managed_variable);
  EXPECT_EQ(cudaMemPrefetchAsync(managed_variable, 4, {1, 0}, 0, nullptr), 0);
  EXPECT_EQ(cudaMemAdvise(managed_variable, 4, 3, {1, 0}), 0);
  EXPECT_EQ(cudaStreamAttachMemAsync(nullptr, managed_variable, 0, 1), 0);
  EXPECT_EQ(cudaStreamAttachMemAsync_ptsz(nullptr, managed_variable, 0, 1), 0);
  // Programs pass what the variable is, where of others they pass its shadow.
  void* address = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, managed_variable), 0);
  EXPECT_EQ(address, managed_variable);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, managed_variable), 0);
  EXPECT_EQ(bytes, 4u);
}

TEST_F(Cudart, FreedMemoryIsGivenBack) {
  size_t before = 0, with = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), 0);
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 1 << 20), 0);
  ASSERT_EQ(cudaMemGetInfo(&with, &total), 0);
  EXPECT_EQ(before - with, size_t{1} << 20);
  ASSERT_EQ(cudaFree(p), 0);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), 0);
  EXPECT_EQ(after, before);
}

TEST_F(Cudart, APoolCountsItsOwnMemory) {
  // Of a pool: reserved, at most, used, at most.
  using Counts = std::vector<uint64_t>;
  const auto counts = [](cudaMemPool_t pool) {
    Counts all;
    for (int attribute = 5; attribute <= 8; ++attribute) {
      uint64_t value = 99;
      EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), 0);
      all.push_back(value);
    }
    return all;
  };
  void *other = nullptr, *p = nullptr, *q = nullptr;
  cudaMemPool_t standard = nullptr, own = nullptr, current = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 1 << 20), 0);
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), 0);
  cudaMemPoolProps properties{};
  properties.allocType = 1;
  properties.location = {1, 0};
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 0, 0, 0}));
  ASSERT_EQ(cudaMallocAsync(&p, 4000, nullptr), 0);
  ASSERT_EQ(cudaMallocFromPoolAsync(&q, 600, own, nullptr), 0);
  EXPECT_EQ(counts(standard), (Counts{4000, 4000, 4000, 4000}));
  EXPECT_EQ(counts(own), (Counts{600, 600, 600, 600}));
  ASSERT_EQ(cudaFreeAsync(p, nullptr), 0);
  ASSERT_EQ(cudaFree(q), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 4000, 0, 4000}));
  EXPECT_EQ(counts(own), (Counts{0, 600, 0, 600}));
  uint64_t value = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 8, &value), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 4000, 0, 0}));
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 6, &value), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 7, &value), error(Code::kInvalidValue));
  value = 1;
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 8, &value), error(Code::kInvalidValue));
  // The pool of the device is what the program says.
  ASSERT_EQ(cudaDeviceSetMemPool(0, own), 0);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cudaMallocAsync(&p, 32, nullptr), 0);
  EXPECT_EQ(counts(own), (Counts{32, 600, 32, 600}));
  EXPECT_EQ(cudaMemPoolDestroy(own), 0);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cudaFree(p), 0);
}

TEST_F(Cudart, BatchesAndAdvice) {
  constexpr int kOnDevice = 1, kInvalidDevice = -2;
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, 1), 0);
  const auto asked = [&](int attribute) {
    int value = 99;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, 4, attribute, managed, 4096), 0);
    return value;
  };
  EXPECT_EQ(asked(1), 0);
  EXPECT_EQ(asked(2), kInvalidDevice);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 1, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 3, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 5, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 9, {kOnDevice, 0}), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemAdvise(managed, 4097, 1, {kOnDevice, 0}), error(Code::kInvalidValue));
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  size_t bytes = 4096, first_of = 0;
  cudaMemLocation location{kOnDevice, 0};
  EXPECT_EQ(cudaMemPrefetchBatchAsync(&managed, &bytes, 1, &location, &first_of, 1, 0, stream), 0);
  EXPECT_EQ(asked(1), 1);
  EXPECT_EQ(asked(2), 0);
  EXPECT_EQ(asked(4), 0);
  int read_mostly = 0, accessed[2] = {9, 9};
  void* data[] = {&read_mostly, accessed};
  size_t data_bytes[] = {4, 8};
  const int attributes[] = {1, 3};
  EXPECT_EQ(cudaMemRangeGetAttributes(data, data_bytes, attributes, 2, managed, 4096), 0);
  EXPECT_EQ(read_mostly, 1);
  EXPECT_EQ(accessed[0], 0);
  EXPECT_EQ(accessed[1], kInvalidDevice);
  EXPECT_EQ(cudaFree(managed), 0);
  // Two copies at once, one to the device and one inside it
  float* const x = device_floats({1, 2});
  float* const y = device_floats({0, 0});
  const std::vector<float> seven{7};
  void* const to[] = {x, y};
  const void* const from[] = {seven.data(), x + 1};
  const size_t sizes[] = {4, 4};
  ASSERT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(host_floats(x, 2), (std::vector<float>{7, 2}));
  EXPECT_EQ(host_floats(y, 2), (std::vector<float>{2, 0}));
  const size_t too_much[] = {4, 4096};
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, too_much, 2, nullptr, nullptr, 0, stream),
            error(Code::kInvalidValue));
  cudaMemPool_t of_location = nullptr, standard = nullptr;
  EXPECT_EQ(cudaMemGetDefaultMemPool(&of_location, &location, 1), 0);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), 0);
  EXPECT_EQ(of_location, standard);
  constexpr int kPinned = 1;
  cudaMemPool_t own = nullptr, current = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = kPinned;
  // Of no place it is no pool (as an H100 with driver 580.159 answers).
  EXPECT_EQ(cudaMemPoolCreate(&own, &properties), error(Code::kInvalidValue));
  properties.location = location;
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), 0);
  ASSERT_EQ(cudaMemSetMemPool(&location, kPinned, own), 0);
  ASSERT_EQ(cudaMemGetMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, own) << "the device is that location";
  ASSERT_EQ(cudaMemGetDefaultMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, standard);
  cudaMemLocation another{1, 1}, host{2, 0};
  EXPECT_EQ(cudaMemGetMemPool(&current, &another, kPinned), error(Code::kInvalidDevice));
  EXPECT_EQ(cudaMemSetMemPool(&host, kPinned, own), error(Code::kInvalidValue)) << "a pool of the device";
  EXPECT_EQ(cudaMemGetMemPool(&current, &location, 3), error(Code::kInvalidValue)) << "no type of memory";
  EXPECT_EQ(cudaMemGetMemPool(nullptr, &location, kPinned), error(Code::kInvalidValue));
  ASSERT_EQ(cudaMemPoolDestroy(own), 0);
  ASSERT_EQ(cudaMemGetMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, standard) << "its place is the standard one's again";
  constexpr int kCurrentDevice = 0, kOwner = 100;
  EXPECT_EQ(cudaDeviceFlushGPUDirectRDMAWrites(kCurrentDevice, kOwner), error(Code::kNotSupported));
  EXPECT_EQ(cudaDeviceFlushGPUDirectRDMAWrites(kCurrentDevice, 0), error(Code::kInvalidValue));
  size_t width = 0;
  const cudaChannelFormatDesc format{32, 0, 0, 0, 2};
  EXPECT_EQ(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0), 0);
  EXPECT_GE(width, size_t{1} << 27);
}

}  // namespace
}  // namespace gpusim::runtime::test_program
