// What the system was told of a program's memory: flags of a mapping, as /proc/self/smaps names them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "simcore/memory/address_sanitizer.h"
#include "simcore/memory/page_arena.h"
#include "simcore/memory/small_pages.h"

namespace gpusim::core {
namespace {

/// Whether huge pages are wanted where the address lies; also where the system never gives any.
bool wants_huge_pages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      here = begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  ADD_FAILURE() << "no mapping holds " << address;
  return false;
}

class HugePages : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef GPUSIM_ADDRESS_SANITIZER
    GTEST_SKIP() << "a sanitizer's heap";
#endif
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0)
      GTEST_SKIP() << "the system has none";
  }
};

TEST_F(HugePages, HoldTheHeapOfAProgram) {
  constexpr size_t kBytes = size_t{3} << 20;  // more than the heap has free at the start
  const auto place = std::make_unique<char[]>(kBytes);
  EXPECT_TRUE(wants_huge_pages(place.get() + kBytes - 1));
}

TEST_F(HugePages, HoldArenasUnlessLittleOfThemIsTouched) {
  PageArena usual;
  EXPECT_TRUE(wants_huge_pages(usual.allocate(5'000'000)));
  prefer_small_pages();
  PageArena sparse;
  EXPECT_FALSE(wants_huge_pages(sparse.allocate(5'000'000)));
}

}  // namespace
}  // namespace gpusim::core
