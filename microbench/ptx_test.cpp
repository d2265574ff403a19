// What the compiler of the CUDA toolkit makes of the PTX of the microbenchmarks, which a real GPU's driver
// compiles in the same way. Not tested where there is none.
#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "microbench/constant_caches.h"
#include "microbench/cuda_device.h"
#include "microbench/kernels.h"
#include "microbench/operations.h"

namespace gpusim::microbench {
namespace {

constexpr int kInstruction = 16;  // bytes, from 7.0 on

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Bytes of each kernel's code, from the sections of a cubin.
std::map<std::string, uint64_t> code_bytes(const std::string& cubin) {
  std::map<std::string, uint64_t> bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof header);
  const auto section = [&](size_t i) {
    Elf64_Shdr s;
    std::memcpy(&s, cubin.data() + header.e_shoff + i * sizeof s, sizeof s);
    return s;
  };
  const uint64_t names = section(header.e_shstrndx).sh_offset;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const std::string name = cubin.data() + names + section(i).sh_name;
    if (name.starts_with(".text.")) bytes[name.substr(6)] = section(i).sh_size;
  }
  return bytes;
}

class CompiledPtx : public testing::TestWithParam<int> {
 protected:
  CompiledPtx() { device_.capability = GetParam(); }
  /// The bytes of the kernels' code; none, and a failure, if ptxas does not take the PTX.
  [[nodiscard]] std::map<std::string, uint64_t> compiled(const std::string& name,
                                                         const std::string& ptx) const {
    const std::string file = testing::TempDir() + name;
    std::ofstream(file + ".ptx") << ptx;
    const std::string command = fmt::format("{0} -arch=sm_{1} {2}.ptx -o {2}.cubin 2>{2}.log", GPUSIM_PTXAS,
                                            device_.capability, file);
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << name << ": " << text_of_file(file + ".log");
      return {};
    }
    return code_bytes(text_of_file(file + ".cubin"));
  }
  DeviceProperties device_;
};

TEST_P(CompiledPtx, IsTakenAndNoLoadIsLeftOut) {
  for (const char* const name : {"burst", "cache_read", "probe", "stream"})
    EXPECT_FALSE(compiled(name, kernel_file(name, device_)).empty());
  EXPECT_FALSE(compiled("own", own_kernels(device_)).empty());
  EXPECT_GE(compiled("chase", kernel_file("chase", device_))["chase"], 128 * kInstruction);
  EXPECT_GE(compiled("constant", constant_chase(device_, 256, 256))["chase_constant"], 128 * kInstruction);
  auto shared = compiled("shared_pattern", kernel_file("shared_pattern", device_));
  EXPECT_GE(shared["shared_pattern"], 256 * kInstruction);
  EXPECT_GE(shared["shared_chase"], 64 * kInstruction);
}

TEST_P(CompiledPtx, HasAllOperationsOfAChain) {
  constexpr int kShort = 32, kLong = 64;
  const std::vector<OperationRow> rows = operations_of(device_);
  auto few = compiled("short", operation_module(device_, rows, 1, kShort));
  auto many = compiled("long", operation_module(device_, rows, 1, kLong));
  for (const OperationRow& row : rows) {
    const std::string name(row.name);
    EXPECT_GE(many[name], few[name] + uint64_t{kLong - kShort} * kInstruction * row.operations) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Capabilities, CompiledPtx, testing::Values(75, 80, 90));

}  // namespace
}  // namespace gpusim::microbench
