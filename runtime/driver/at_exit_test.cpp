// What the driver library answers a program that ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxGetCurrent(void**);
}

namespace gpusim::runtime {
namespace {

void* primary = nullptr;

/// Ends after the variables of the main thread, as a program's static objects do.
struct EndsLate {
  ~EndsLate() {
    void* current = nullptr;
    const bool same = cuCtxGetCurrent(&current) == 0 && current == primary;
    _exit(same && cuCtxSetCurrent(nullptr) == 0 ? 0 : 1);
  }
};

TEST(AtExit, TheContextIsCurrentForStaticObjectsToo) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  const auto program = [] {
    static EndsLate object;
    if (cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&primary, 0) != 0 || cuCtxSetCurrent(primary) != 0)
      _exit(2);
    exit(3);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gpusim::runtime
