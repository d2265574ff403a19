// Memory, events and pools of another process. The other process is this program again, which it executes for
// the purpose: a forked one has no device of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMallocFromPoolAsync(void**, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*);
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned);
cudaError_t cudaIpcCloseMemHandle(void*);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolGetAccess(int*, cudaMemPool_t, cudaMemLocation*);
cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, int, unsigned);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, int, unsigned);
cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*);
cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
}

namespace gpusim::runtime {
namespace {

constexpr size_t kBytes = 10'000;
const int kInvalidValue = static_cast<int>(Code::kInvalidValue);
const int kInvalidHandle = static_cast<int>(Code::kInvalidResourceHandle);

/// What the other process is given.
struct Given {
  cudaIpcMemHandle_t memory, gone;
  cudaIpcEventHandle_t event;
  cudaMemPoolPtrExportData pooled;
};

std::vector<uint8_t> bytes_at(const void* memory) {
  std::vector<uint8_t> values(kBytes);
  EXPECT_EQ(cudaMemcpy(values.data(), memory, kBytes, cudaMemcpyDeviceToHost), 0);
  return values;
}

class Ipc : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
  }
  static void* allocation(int value) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, kBytes), 0);
    EXPECT_EQ(cudaMemset(memory, value, kBytes), 0);
    return memory;
  }
  static cudaMemPool_t pool(int handle_types) {
    cudaMemPoolProps properties{};
    properties.allocType = 1, properties.handleTypes = handle_types, properties.location = {1, 0};
    cudaMemPool_t made = nullptr;
    EXPECT_EQ(cudaMemPoolCreate(&made, &properties), 0);
    return made;
  }
  /// Runs the tests of that name in a process of its own, which reads what it is given from standard input.
  static int other_process(const std::string& test, const Given& given, int pool) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[0], 0);
      close(ends[1]);
      dup2(pool, 100);
      setenv("IPC_TEST_OTHER", "1", 1);
      const std::string filter = "--gtest_filter=" + test;
      execl("/proc/self/exe", "cudart_test", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
      _exit(99);
    }
    EXPECT_EQ(write(ends[1], &given, sizeof given), static_cast<ssize_t>(sizeof given));
    close(ends[0]);
    close(ends[1]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(Ipc, TwoProcessesSeeTheSameBytes) {
  Given given{};
  void *const memory = allocation(7), *const gone = allocation(8);
  ASSERT_EQ(cudaIpcGetMemHandle(&given.memory, memory), 0);
  cudaIpcMemHandle_t again{};
  ASSERT_EQ(cudaIpcGetMemHandle(&again, static_cast<std::byte*>(memory) + 100), 0);
  EXPECT_EQ(std::memcmp(&again, &given.memory, sizeof again), 0) << "a handle is that of the allocation";
  ASSERT_EQ(cudaIpcGetMemHandle(&given.gone, gone), 0);
  ASSERT_EQ(cudaFree(gone), 0);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 2 | 4), 0);
  ASSERT_EQ(cudaIpcGetEventHandle(&given.event, event), 0);
  ASSERT_EQ(cudaEventRecord(event, nullptr), 0);
  cudaMemPool_t const exported = pool(1);
  int file = -1;
  ASSERT_EQ(cudaMemPoolExportToShareableHandle(&file, exported, 1, 0), 0);
  void* pooled = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&pooled, kBytes, exported, nullptr), 0);
  ASSERT_EQ(cudaMemset(pooled, 9, kBytes), 0);
  ASSERT_EQ(cudaMemPoolExportPointer(&given.pooled, pooled), 0);
  // What was there before memory was shared is still there, and so is what is written afterwards.
  EXPECT_EQ(bytes_at(memory), std::vector<uint8_t>(kBytes, 7));
  ASSERT_EQ(cudaMemset(memory, 5, kBytes / 2), 0);
  EXPECT_EQ(other_process("Ipc.DISABLED_TheOtherProcess", given, file), 0);
  EXPECT_EQ(bytes_at(memory), std::vector<uint8_t>(kBytes, 42));
  EXPECT_EQ(bytes_at(pooled), std::vector<uint8_t>(kBytes, 43));
  close(file);
  EXPECT_EQ(cudaFreeAsync(pooled, nullptr), 0);
  EXPECT_EQ(cudaMemPoolDestroy(exported), 0);
  EXPECT_EQ(cudaEventDestroy(event), 0);
  EXPECT_EQ(cudaFree(memory), 0);
}

// Run by the test above.
TEST_F(Ipc, DISABLED_TheOtherProcess) {
  if (std::getenv("IPC_TEST_OTHER") == nullptr) GTEST_SKIP() << "is run by TwoProcessesSeeTheSameBytes";
  Given given{};
  ASSERT_EQ(read(0, &given, sizeof given), static_cast<ssize_t>(sizeof given));
  void *memory = nullptr, *same = nullptr, *none = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&memory, given.memory, 0), kInvalidValue);
  ASSERT_EQ(cudaIpcOpenMemHandle(&memory, given.memory, 1), 0);
  EXPECT_EQ(cudaIpcOpenMemHandle(&none, given.gone, 1), kInvalidHandle);
  cudaIpcMemHandle_t damaged = given.memory;
  damaged.reserved[0] ^= 1;
  EXPECT_EQ(cudaIpcOpenMemHandle(&none, damaged, 1), kInvalidValue);
  std::memcpy(&damaged, &given.event, sizeof damaged);
  EXPECT_EQ(cudaIpcOpenMemHandle(&none, damaged, 1), kInvalidValue);
  ASSERT_EQ(cudaIpcOpenMemHandle(&same, given.memory, 1), 0);
  EXPECT_EQ(same, memory);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaIpcOpenEventHandle(&event, given.event), 0);
  ASSERT_EQ(cudaStreamWaitEvent(nullptr, event, 0), 0);
  EXPECT_EQ(cudaEventQuery(event), 0);
  std::vector<uint8_t> expected(kBytes, 7);
  std::fill_n(expected.begin(), kBytes / 2, uint8_t{5});
  EXPECT_EQ(bytes_at(memory), expected);
  EXPECT_EQ(cudaMemset(memory, 42, kBytes), 0);
  EXPECT_EQ(cudaMemset(static_cast<std::byte*>(memory) + 1, 42, kBytes), kInvalidValue);  // leaves it
  EXPECT_EQ(cudaFree(memory), kInvalidValue);  // it belongs to the other process
  cudaIpcMemHandle_t again{};
  EXPECT_EQ(cudaIpcGetMemHandle(&again, memory), kInvalidValue);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), 0);
  EXPECT_EQ(bytes_at(memory), std::vector<uint8_t>(kBytes, 42)) << "it was opened twice";
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), 0);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), kInvalidValue);
  EXPECT_EQ(cudaEventDestroy(event), 0);

  cudaMemPool_t imported = nullptr;
  ASSERT_EQ(cudaMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{100}), 1, 0), 0);
  EXPECT_EQ(cudaMallocFromPoolAsync(&none, 64, imported, nullptr), kInvalidValue);
  void* pooled = nullptr;
  ASSERT_EQ(cudaMemPoolImportPointer(&pooled, imported, &given.pooled), 0);
  EXPECT_EQ(bytes_at(pooled), std::vector<uint8_t>(kBytes, 9));
  EXPECT_EQ(cudaMemset(pooled, 43, kBytes), 0);
  EXPECT_EQ(cudaFreeAsync(pooled, nullptr), 0);
  EXPECT_EQ(cudaFreeAsync(pooled, nullptr), kInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(imported), 0);
}

TEST_F(Ipc, ErrorsAreThoseOfTheManual) {
  cudaIpcMemHandle_t handle{};
  void *const memory = allocation(1), *managed = nullptr, *opened = nullptr;
  int on_host = 0;
  EXPECT_EQ(cudaIpcGetMemHandle(nullptr, memory), kInvalidValue);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, &on_host), kInvalidValue);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), kInvalidValue);
  ASSERT_EQ(cudaMallocManaged(&managed, 64, 1), 0);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, managed), kInvalidValue);
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, 1), kInvalidValue);  // of zeros
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, memory), 0);
  // In the process that it comes from.
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, 1), static_cast<int>(Code::kDeviceUninitialized));
  EXPECT_EQ(cudaIpcOpenMemHandle(nullptr, handle, 1), kInvalidValue);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), kInvalidValue);
  EXPECT_EQ(cudaFree(managed), 0);
  EXPECT_EQ(cudaFree(memory), 0);
}

TEST_F(Ipc, EventsOfSeveralProcessesHaveNoTime) {
  cudaEvent_t event = nullptr, plain = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, 4), kInvalidValue);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 2 | 4), 0);
  ASSERT_EQ(cudaEventCreateWithFlags(&plain, 2), 0);
  cudaIpcEventHandle_t handle{};
  EXPECT_EQ(cudaIpcGetEventHandle(&handle, plain), kInvalidHandle);
  EXPECT_EQ(cudaIpcGetEventHandle(nullptr, event), kInvalidValue);
  ASSERT_EQ(cudaIpcGetEventHandle(&handle, event), 0);
  cudaEvent_t opened = nullptr;
  EXPECT_EQ(cudaIpcOpenEventHandle(&opened, handle), static_cast<int>(Code::kDeviceUninitialized));
  ASSERT_EQ(cudaEventRecord(event, nullptr), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), kInvalidHandle);
  EXPECT_EQ(cudaEventDestroy(event), 0);
  EXPECT_EQ(cudaEventDestroy(plain), 0);
}

TEST_F(Ipc, PoolsAreSharedIfTheyWereMadeForIt) {
  int types = 0, file = -1, access = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&types, 119, 0), 0);
  EXPECT_EQ(types, 1);
  cudaMemPool_t const own = pool(0), shared = pool(1);
  EXPECT_EQ(cudaMemPoolExportToShareableHandle(&file, own, 1, 0), kInvalidValue);
  EXPECT_EQ(cudaMemPoolExportToShareableHandle(&file, shared, 2, 0), kInvalidValue);
  EXPECT_EQ(cudaMemPoolExportToShareableHandle(nullptr, shared, 1, 0), kInvalidValue);
  cudaMemLocation here{1, 0}, elsewhere{1, 5};
  ASSERT_EQ(cudaMemPoolGetAccess(&access, shared, &here), 0);
  EXPECT_EQ(access, 3);
  EXPECT_EQ(cudaMemPoolGetAccess(&access, shared, &elsewhere), kInvalidValue);
  cudaMemPool_t imported = nullptr;
  const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(cudaMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{other}), 1, 0),
            kInvalidValue);
  close(other);
  cudaMemPoolProps properties{};
  properties.handleTypes = 8;
  EXPECT_EQ(cudaMemPoolCreate(&imported, &properties), static_cast<int>(Code::kNotSupported));
  cudaMemPoolPtrExportData data{};
  void* pointer = nullptr;
  EXPECT_EQ(cudaMemPoolImportPointer(&pointer, shared, &data), kInvalidValue);  // it is not imported
  EXPECT_EQ(cudaMemPoolDestroy(own), 0);
  EXPECT_EQ(cudaMemPoolDestroy(shared), 0);
}

}  // namespace
}  // namespace gpusim::runtime
